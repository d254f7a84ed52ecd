#include "frazil/parquet/pruning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/dictionary_page.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/predicate/evaluate.h"

namespace frazil::parquet {
namespace {

using predicate::BoundNode;
using predicate::BoundPredicate;
using predicate::BoundTest;
using predicate::TestKind;
using predicate::Value;

// One test on one column of the file's schema.
BoundPredicate one_test(const SchemaPtr& schema, size_t column, TestKind kind, Value value = {},
                        std::shared_ptr<const predicate::ValueSet> set = nullptr) {
  const Field& field = schema->field(column);
  return {schema,
          {{.path = {column}, .name = field.name, .field = field}},
          BoundNode{BoundTest{.column = 0, .kind = kind, .value = std::move(value), .set = std::move(set)}}};
}

// A flat column of a file, read whole.
struct Column {
  size_t leaf;
  std::vector<RecordBatch> batches;  // of each row group: one, with this column alone
};

std::optional<RecordBatch> read_group(const std::shared_ptr<const InputFile>& file,
                                      const std::shared_ptr<const FileMetadata>& metadata, size_t group, uint32_t node,
                                      const Field& field, MemoryPool& pool) {
  ReadOptions options;
  options.columns = {{.node = node, .field = field}};
  options.first_row_group = static_cast<int>(group);
  options.row_group_count = 1;
  BatchReader reader(file, metadata, options, pool);
  std::vector<ArrayPtr> parts;
  while (auto batch = reader.next()) parts.push_back(batch->column(0));
  if (parts.empty()) return std::nullopt;
  ArrayPtr whole = concatenate(parts, pool);
  return RecordBatch(reader.schema(), whole->length, {whole});
}

struct Outcome {
  PruningCounters with_all;
  uint64_t tests = 0;
};

void add(PruningCounters& sum, const PruningCounters& one) {
  sum.row_groups += one.row_groups;
  sum.row_groups_by_statistics += one.row_groups_by_statistics;
  sum.row_groups_by_page_index += one.row_groups_by_page_index;
  sum.row_groups_by_bloom_filter += one.row_groups_by_bloom_filter;
  sum.row_groups_by_dictionary += one.row_groups_by_dictionary;
  sum.row_groups_certain += one.row_groups_certain;
  sum.pages_pruned += one.pages_pruned;
  sum.defects += one.defects;
}

// The rows of every group that the predicate wants must be among those that pruning leaves; and be all of them where it
// says so.
void check(const InputFile& file, const FileMetadata& metadata, const BoundPredicate& on_file, size_t column,
           const std::vector<std::optional<RecordBatch>>& groups, const std::string& what, Outcome& outcome) {
  MemoryPool pool;
  Decompressor decompressor(pool);
  PruningOptions none;
  none.use_statistics = none.use_page_index = none.use_bloom_filters = none.use_dictionaries = false;
  // Each way alone, so that no other hides what it gets wrong; then all together.
  std::vector<PruningOptions> cases(5, none);
  cases[0].use_statistics = true;
  cases[1].use_page_index = true;
  cases[2].use_bloom_filters = true;
  cases[3].use_dictionaries = true;
  cases[4] = {};
  const TestKind kind = std::get<BoundTest>(on_file.root().form).kind;
  const bool is_equality = kind == TestKind::kEqual || kind == TestKind::kIn;
  const BoundPredicate on_batch = [&] {
    auto columns = on_file.columns();
    columns[0].path = {0};
    return BoundPredicate(Schema::make({on_file.schema()->field(column)}), columns, on_file.root());
  }();
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!is_equality && (i == 2 || i == 3)) continue;  // not asked
    RowGroupPruner pruner(file, metadata, on_file, predicate_leaves(on_file, metadata.schema()), cases[i],
                          &decompressor, pool);
    for (size_t group = 0; group < groups.size(); ++group) {
      if (!groups[group]) continue;
      const RowGroupPruner::Verdict verdict = pruner.prune(group);
      const predicate::Selection wanted = predicate::evaluate(on_batch, *groups[group], pool);
      const RowSelection rows = RowSelection::from_bitmap(wanted.bits(), 0, static_cast<size_t>(wanted.row_count()));
      ASSERT_EQ(verdict.rows.intersect(rows), rows) << what << ", way " << i << ", row group " << group;
      if (verdict.all_match) {
        ASSERT_EQ(verdict.rows, rows) << what << ", way " << i << ", row group " << group;
      }
    }
    if (i == 4) add(outcome.with_all, pruner.counters());
    ++outcome.tests;
  }
}

std::vector<Value> distinct_values(const std::vector<std::optional<RecordBatch>>& groups, size_t limit) {
  std::vector<Value> values;
  for (const auto& group : groups) {
    if (!group) continue;
    for (int64_t i = 0; i < group->row_count(); ++i) {
      auto value = predicate::value_at(*group->column(0), i);
      if (value && !predicate::is_nan(*value)) values.push_back(*std::move(value));
    }
  }
  std::sort(values.begin(), values.end(),
            [](const Value& left, const Value& right) { return predicate::compare(left, right) < 0; });
  values.erase(std::unique(values.begin(), values.end(),
                           [](const Value& left, const Value& right) { return predicate::compare(left, right) == 0; }),
               values.end());
  std::vector<Value> chosen;
  for (size_t i = 0; i < values.size(); i += std::max<size_t>(1, values.size() / limit)) chosen.push_back(values[i]);
  return chosen;
}

std::shared_ptr<const InputFile> in_memory(const std::string& path) {
  LocalFileSystem files;
  const auto file = files.open_input(path);
  std::string content(file->size(), '\0');
  file->read_at(0, std::as_writable_bytes(std::span(content)));
  return std::make_shared<testing::StringFile>(std::move(content), path);
}

void check_file(const std::string& path, Outcome& outcome) {
  MemoryPool pool;
  const std::shared_ptr<const InputFile> file = in_memory(path);
  std::shared_ptr<const FileMetadata> metadata;
  SchemaPtr schema;
  try {
    metadata = read_metadata(*file, pool);
    schema = arrow_schema(metadata->schema());
  } catch (const Error&) {
    return;  // the file's own tests say whether that is right
  }
  uint32_t node = 1;
  for (size_t column = 0; column < schema->field_count();
       ++column, node += metadata->schema().node(node).subtree_size) {
    const SchemaNode& described = metadata->schema().node(node);
    const Field& field = schema->field(column);
    if (described.is_group || described.max_repetition > 0 ||
        predicate::value_kind(*field.type) == predicate::ValueKind::kNone) {
      continue;
    }
    std::vector<std::optional<RecordBatch>> groups;
    try {
      for (size_t group = 0; group < metadata->row_groups().size(); ++group) {
        groups.push_back(read_group(file, metadata, group, node, field, pool));
      }
    } catch (const Error&) {
      continue;
    }
    const std::string what = path + ", column " + field.name;
    for (const TestKind kind : {TestKind::kNull, TestKind::kNotNull}) {
      check(*file, *metadata, one_test(schema, column, kind), column, groups, what, outcome);
    }
    const std::vector<Value> values = distinct_values(groups, 3);
    for (const Value& value : values) {
      for (const TestKind kind : {TestKind::kEqual, TestKind::kNotEqual, TestKind::kLess, TestKind::kLessOrEqual,
                                  TestKind::kGreater, TestKind::kGreaterOrEqual}) {
        check(*file, *metadata, one_test(schema, column, kind, value), column, groups, what, outcome);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
    if (values.size() > 2) {
      const auto set = std::make_shared<const predicate::ValueSet>(std::vector<Value>{values.front(), values[1]});
      for (const TestKind kind : {TestKind::kIn, TestKind::kNotIn}) {
        check(*file, *metadata, one_test(schema, column, kind, {}, set), column, groups, what, outcome);
      }
    }
  }
}

// corpora/README.md 7.4, and the rule of reports.md: rows with pruning = rows without.
TEST(Pruning, LosesNoRowOfAnyFileOfOthers) {
  Outcome outcome;
  size_t file_count = 0;
  for (const char* folder : {"parquet-testing/data", "parquet-extra"}) {
    const std::filesystem::path root = std::filesystem::path(FRAZIL_TEST_CORPORA) / folder;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".parquet" && entry.file_size() < 100'000) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      check_file(path, outcome);
      if (HasFatalFailure()) return;
      ++file_count;
    }
  }
  const PruningCounters& counters = outcome.with_all;
  std::cout << file_count << " files, " << outcome.tests << " tests; row groups: " << counters.row_groups
            << ", by statistics " << counters.row_groups_by_statistics << ", page index "
            << counters.row_groups_by_page_index << ", Bloom filters " << counters.row_groups_by_bloom_filter
            << ", dictionaries " << counters.row_groups_by_dictionary << ", certain " << counters.row_groups_certain
            << "; pages " << counters.pages_pruned << "; defects " << counters.defects << "\n";
  EXPECT_GT(file_count, 300U);
  EXPECT_GT(counters.row_groups_by_statistics, 0U);
  EXPECT_GT(counters.row_groups_certain, 0U);
  EXPECT_GT(counters.pages_pruned, 0U);
}

// parquet-cpp-arrow 4.0.1 wrote null counts of 0 for arrays of dictionaries with nulls (ARROW-12513).
TEST(Pruning, DoesNotBelieveWhatArrowDidNotCount) {
  Outcome outcome;
  const std::string path = std::string(FRAZIL_TEST_CORPORA) + "/parquet-extra/duckdb/h2oai/h2oai_group_small.parquet";
  check_file(path, outcome);
  EXPECT_GT(outcome.tests, 100U);
}

TEST(Pruning, FindsTheLeafOfANestedColumn) {
  MemoryPool pool;
  LocalFileSystem files;
  const auto file =
      files.open_input(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/nested_structs.rust.parquet");
  const auto metadata = read_metadata(*file, pool);
  const SchemaPtr schema = arrow_schema(metadata->schema());
  // roll_num: struct<min, max, mean, ...>
  const Field& outer = schema->field(0);
  ASSERT_EQ(outer.type->id(), TypeId::kStruct);
  std::vector<predicate::BoundColumn> columns = {
      {.path = {0, 1}, .name = outer.name + "." + outer.type->children()[1].name, .field = outer.type->children()[1]},
      {.path = {0}, .name = outer.name, .field = outer}};
  const BoundPredicate predicate(schema, columns, BoundNode{true});
  const auto leaves = predicate_leaves(predicate, metadata->schema());
  ASSERT_TRUE(leaves[0]);
  EXPECT_EQ(metadata->schema().path(metadata->schema().leaf_node(*leaves[0])), columns[0].name);
  EXPECT_FALSE(leaves[1]) << "a struct has no statistics of its own";
}

}  // namespace
}  // namespace frazil::parquet
