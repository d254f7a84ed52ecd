#include "frazil/scan/filter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/catalog/path_table.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/file_systems.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/random_predicates_test.h"
#include "frazil/runtime/context.h"
#include "frazil/scan/scan.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {
namespace {

using spec::Literal;
using spec::NestedField;
using spec::TypeKind;

constexpr size_t kMiB = size_t{1} << 20;
const std::string kTables = std::string(FRAZIL_TEST_CORPORA) + "/iceberg-tables/";

NestedField field(int32_t id, std::string name, spec::TypePtr type) {
  NestedField made;
  made.id = id;
  made.name = std::move(name);
  made.type = std::move(type);
  return made;
}

// A table of a: int, s: struct<x: int, y: int = 7>, c: int; of which the file has a and s.x.
struct Partly {
  spec::Schema table = make_table();
  std::vector<ColumnSource> sources;
  SchemaPtr decoded;
  MemoryPool pool;

  static spec::Schema make_table() {
    auto y = field(4, "y", spec::primitive(TypeKind::kInt));
    y.initial_default = std::make_shared<Literal>(Literal::int_(7));
    return spec::Schema({field(1, "a", spec::primitive(TypeKind::kInt)),
                         field(2, "s", spec::struct_({field(3, "x", spec::primitive(TypeKind::kInt)), y})),
                         field(5, "c", spec::primitive(TypeKind::kInt))});
  }

  // What is left of the filter: its text form, by the order of its columns.
  std::string bind(const std::string& where) {
    const auto filter = bind_filter(predicate::parse(where), table, table);
    if (!filter) return "all";
    const auto int32 = primitive(TypeId::kInt32);
    ColumnSource leaf;
    leaf.kind = ColumnSource::Kind::kWhole;
    ColumnSource seven;
    seven.constant = Literal::int_(7);
    ColumnSource group;
    group.kind = ColumnSource::Kind::kStruct;
    group.children = {leaf, seven};
    ColumnSource missing;
    missing.constant = Literal::null(spec::primitive(TypeKind::kInt));
    std::vector<ColumnSource> all{leaf, group, missing};
    number_places(all);
    const SchemaPtr schema =
        Schema::make({{.name = "a", .type = int32}, {.name = "s", .type = struct_({{.name = "x", .type = int32}})}});
    const auto bound = bind_to_file(*filter, all, schema, pool);
    if (bound.always_true()) return "all";
    if (bound.always_false()) return "none";
    std::string text;
    for (const auto& column : bound.columns()) {
      for (const size_t index : column.path) text += std::to_string(index);
      text += " ";
    }
    return text;
  }
};

TEST(Filter, OfColumnsThatTheFileLacksIsDecidedByTheirConstants) {  // reports.md W10
  Partly file;
  const std::pair<const char*, const char*> cases[] = {
      {"c IS NULL", "all"},
      {"c IS NOT NULL", "none"},
      {"c = 1", "none"},
      {"NOT (c = 1)", "none"},
      {"c IN ()", "none"},
      {"c NOT IN ()", "all"},
      {"a = 1 OR c IS NULL", "all"},
      {"a = 1 AND c IS NULL", "0 "},
      {"a = 1 AND c = 2", "none"},
      {"a = 1 OR c = 2", "0 "},
      {"s.x = 1", "10 "},
      {"s.x = 1 AND a = 2", "10 0 "},
      {"TRUE", "all"},
  };
  for (const auto& [where, left] : cases) EXPECT_EQ(file.bind(where), left) << where;
}

TEST(Filter, OfAFieldThatTheFilesStructLacksDependsOnTheStruct) {
  Partly file;
  const std::pair<const char*, const char*> cases[] = {
      {"s.y = 7", "1 "},      // the struct is not null
      {"s.y = 8", "none"},    // nor is it where it is null
      {"s.y IS NULL", "1 "},  // the struct is null
      {"s.y IS NOT NULL", "1 "}, {"s.y > 3 OR s IS NULL", "1 "}, {"s.y NOT IN (8)", "1 "},
  };
  for (const auto& [where, left] : cases) EXPECT_EQ(file.bind(where), left) << where;
}

TEST(Filter, ReadsWhatIsGivenOutAndWhatIsTested) {
  const spec::Schema table = Partly::make_table();
  const auto selected = spec::select_columns(table, std::vector<std::string>{"c"});
  EXPECT_EQ(bind_filter(predicate::parse("s.y = 1"), table, *selected)->columns->to_string(),
            spec::select_columns(table, std::vector<std::string>{"s.y", "c"})->to_string());
  EXPECT_THROW(bind_filter(predicate::parse("nothing = 1"), table, *selected), Error);
  const spec::Schema variant({field(1, "v", spec::primitive(TypeKind::kVariant))});
  EXPECT_TRUE(bind_filter(predicate::parse("v IS NULL"), variant, variant));
  EXPECT_THROW(bind_filter(predicate::parse("v.value IS NULL"), variant, variant), Error);
}

// ---- Whole scans ----

// A table of the corpora, its rows in task order.
struct Rows {
  explicit Rows(const std::string& name)
      : context({.memory_budget_bytes = 256 * kMiB, .threads = 3}),
        table(catalog::open_table_by_path(kTables + name, FileSystems(), context.memory_pool())) {
    auto stream = open();
    schema = stream->schema();
    while (auto batch = stream->next()) batches.push_back(*batch);
  }

  std::unique_ptr<Stream> open(const Options& options = {}) {
    return scan::open(context, {.metadata = table.metadata, .files = table.files.get()}, options);
  }

  std::vector<std::string> read(const Options& options) {
    std::vector<std::string> rows;
    auto stream = open(options);
    while (auto batch = stream->next()) {
      EXPECT_GT(batch->row_count(), 0);
      validate_full(*batch);
      for (int64_t i = 0; i < batch->row_count(); ++i) append_row_json(rows.emplace_back(), *batch, i);
    }
    return rows;
  }

  Context context;
  catalog::LoadedTable table;
  SchemaPtr schema;
  std::vector<RecordBatch> batches;
};

// Parquet by ids, by a name mapping, by position; partitioned, with columns added with and without defaults, promoted,
// nested, and several row groups.
const char* const kWhereTables[] = {
    "dremio/v2/orders",
    "duckdb/add_columns_with_defaults/default.db/add_columns_with_defaults",
    "duckdb/expression_filter",
    "duckdb/is_null_is_not_null",
    "duckdb/column_mapping/warehouse/default.db/my_table",
    "duckdb/hive_partitioned_table",
    "duckdb/partition_decimal_bigint",
    "icebird/hyperparam-iceberg/spark/rename_column",
    "impala/hadoop_catalog/iceberg_resolution_test/functional_parquet/iceberg_resolution_test",
    "impala/hadoop_catalog/ice/iceberg_legacy_partition_schema_evolution",
    "impala/iceberg_v3/test_complex_default",
};

// The fields that predicates can compare.
std::vector<Field> without_lists(const std::vector<Field>& fields) {
  std::vector<Field> kept;
  for (Field each : fields) {
    if (each.type->id() == TypeId::kList || each.type->id() == TypeId::kMap) continue;
    if (each.type->id() == TypeId::kStruct) {
      std::vector<Field> children = without_lists(each.type->children());
      if (children.empty()) continue;
      each.type = struct_(std::move(children));
    }
    kept.push_back(std::move(each));
  }
  return kept;
}

Rows& rows_of(size_t index) {
  static std::vector<std::unique_ptr<Rows>> opened(std::size(kWhereTables));
  if (!opened[index]) opened[index] = std::make_unique<Rows>(kWhereTables[index]);
  return *opened[index];
}

RC_GTEST_PROP(Filter, GivesTheRowsThatOneReadsAndFiltersAfterwards, (uint64_t seed)) {  // reports.md W01, W05, W13
  predicate::test::RandomPredicates random(seed);
  Rows& rows = rows_of(static_cast<size_t>(random.below(std::size(kWhereTables))));
  predicate::Predicate where = random.predicate(*Schema::make(without_lists(rows.schema->fields())), 2);
  if (random.coin(2)) {
    // Random literals seldom are values of the table: one that is.
    const RecordBatch& batch =
        rows.batches[static_cast<size_t>(random.below(static_cast<int64_t>(rows.batches.size())))];
    for (size_t i = 0; i < rows.schema->field_count(); ++i) {
      const TypeId id = rows.schema->field(i).type->id();
      const int64_t row = random.below(batch.row_count());
      if (batch.column(i)->is_null(row) || (id != TypeId::kInt32 && id != TypeId::kInt64 && id != TypeId::kUtf8))
        continue;
      predicate::Literal literal;
      if (id == TypeId::kUtf8) {
        literal = std::string(batch.column(i)->bytes_value(row));
      } else {
        const ArrayPtr& column = batch.column(i);
        literal =
            predicate::integer(id == TypeId::kInt32 ? column->values<int32_t>()[row] : column->values<int64_t>()[row]);
      }
      where =
          predicate::compare(rows.schema->field(i).name, static_cast<predicate::Comparator>(random.below(6)), literal);
      if (random.coin(3)) break;
    }
  }
  RC_LOG() << rows.table.name << ": " << where.to_text() << "\n";

  Options options;
  for (size_t i = rows.schema->field_count(); i-- > 0;) {
    if (random.coin(2) && rows.schema->field(i).name.find('.') == std::string::npos) {
      options.select.push_back(rows.schema->field(i).name);
    }
  }
  const std::vector<std::string> all = rows.read(options);
  std::vector<std::string> expected;
  size_t index = 0;
  for (const RecordBatch& batch : rows.batches) {
    for (int64_t row = 0; row < batch.row_count(); ++row, ++index) {
      if (predicate::test::evaluate_row(where, batch, row) == predicate::test::Truth::kTrue)
        expected.push_back(all[index]);
    }
  }
  options.where = where;
  for (const bool skip : {true, false}) {
    options.skip = skip;
    RC_ASSERT(rows.read(options) == expected);
    options.threads = 1;
    options.batch_rows = 1 + random.below(20);
    options.memory_budget_bytes = 16 * kMiB;
    RC_ASSERT(rows.read(options) == expected);
  }
}

TEST(Filter, KeepsToTheBudgetAndSkips) {
  Rows rows("duckdb/iceberg/lineitem_iceberg_gz");
  for (const char* where : {"l_orderkey < 0", "l_quantity >= 49", "l_comment LIKE 'a%' OR l_linenumber = 7"}) {
    Options options;
    options.where = predicate::parse(where);
    options.skip = false;
    const auto expected = rows.read(options);
    options.skip = true;
    for (const size_t budget : {8 * kMiB, 24 * kMiB}) {
      options.memory_budget_bytes = budget;
      EXPECT_EQ(rows.read(options), expected) << where;
      auto stream = rows.open(options);
      while (stream->next()) {
      }
      EXPECT_LE(stream->stats().pool.held_peak_bytes, budget) << where;
    }
  }
}

TEST(Filter, ALimitCountsTheRowsThatItLeaves) {  // reports.md P32
  Rows rows("dremio/v2/orders");
  Options options{.where = predicate::parse("order_year = 2021")};
  const auto all = rows.read(options);
  ASSERT_GT(all.size(), 3u);
  for (const size_t limit : {size_t{1}, all.size() - 1, all.size(), all.size() + 1}) {
    options.limit = static_cast<int64_t>(limit);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
    EXPECT_EQ(rows.read(options), std::vector<std::string>(all.begin(), end)) << limit;
  }
}

TEST(Filter, NothingMatchesAndTheSchemaIsWhole) {  // reports.md W11
  Rows rows("duckdb/iceberg/lineitem_iceberg_gz");
  auto stream = rows.open({.where = predicate::parse("l_orderkey = -1")});
  EXPECT_TRUE(stream->schema()->equals(*rows.schema));
  EXPECT_FALSE(stream->next());
}

}  // namespace
}  // namespace frazil::scan
