#include "frazil/parquet/file_reader.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/filter.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/indexed_file_test.h"
#include "frazil/predicate/parse.h"

namespace frazil::parquet {
namespace {

using predicate::Predicate;
using predicate::test::Truth;
using testing::IndexedFile;
using testing::StringFile;

// All rows in one batch; none: nothing.
std::optional<RecordBatch> read_all(FileReader& reader, MemoryPool& pool, int64_t batch_rows = INT64_MAX) {
  std::vector<std::vector<ArrayPtr>> parts(reader.schema()->field_count());
  int64_t row_count = 0;
  while (auto batch = reader.next()) {
    EXPECT_GT(batch->row_count(), 0) << "no batch is empty";
    EXPECT_LE(batch->row_count(), batch_rows);
    EXPECT_EQ(batch->schema(), reader.schema());
    validate_full(*batch);
    row_count += batch->row_count();
    for (size_t i = 0; i < parts.size(); ++i) parts[i].push_back(batch->column(i));
  }
  EXPECT_FALSE(reader.next()) << "nothing comes behind the end";
  if (row_count == 0) return std::nullopt;
  std::vector<ArrayPtr> columns;
  for (const auto& column : parts) columns.push_back(concatenate(column, pool));
  return RecordBatch(reader.schema(), row_count, std::move(columns));
}

std::optional<RecordBatch> read_all(const std::string& bytes, const FileReaderOptions& options, MemoryPool& pool) {
  FileReader reader(std::make_shared<StringFile>(bytes), options, pool);
  return read_all(reader, pool, options.batch_rows);
}

std::string compare(const std::optional<RecordBatch>& expected, const std::optional<RecordBatch>& actual) {
  if (expected.has_value() != actual.has_value()) {
    return message("{} rows != {}", expected ? expected->row_count() : 0, actual ? actual->row_count() : 0);
  }
  return expected ? difference(*expected, *actual, {.exact_floats = true}) : "";
}

// All rows in one batch, by steps that are never offered more than they last asked for, of a pool that is promised away
// and has no hole for a small block either.
std::optional<RecordBatch> step_all(FileReader& reader, MemoryPool& budget, MemoryPool& pool) {
  std::vector<RecordBatch> batches;
  std::vector<MutableBuffer> holes;
  const auto fill_holes = [&] {
    for (;;) {
      try {
        holes.push_back(budget.allocate(1));
      } catch (const MemoryLimitError&) {
        return;
      }
    }
  };
  for (;;) {
    Reservation offered = budget.reserve(reader.needed_bytes());
    std::optional<Reservation> others = budget.reserve(budget.available_bytes());
    fill_holes();
    std::optional<RecordBatch> batch;
    const FileReader::Step step = reader.step(offered, batch);
    if (step == FileReader::Step::kEnd) break;
    if (step == FileReader::Step::kNeedMemory) {
      EXPECT_FALSE(batch);
      if (reader.needed_bytes() > (size_t{64} << 20)) return std::nullopt;  // a test of no end
      continue;
    }
    EXPECT_GT(batch->row_count(), 0);
    batches.push_back(*std::move(batch));
  }
  if (batches.empty()) return std::nullopt;
  std::vector<ArrayPtr> columns;
  int64_t row_count = 0;
  for (const RecordBatch& batch : batches) row_count += batch.row_count();
  for (size_t i = 0; i < reader.schema()->field_count(); ++i) {
    std::vector<ArrayPtr> parts;
    for (const RecordBatch& batch : batches) parts.push_back(batch.column(i));
    columns.push_back(concatenate(parts, pool));
  }
  return RecordBatch(reader.schema(), row_count, std::move(columns));
}

RC_GTEST_PROP(FileReader, GivesTheRowsThatOneReadsAndFiltersAfterwards, (uint64_t seed)) {
  MemoryPool pool;
  IndexedFile file(seed, *rc::gen::inRange<int64_t>(1, 300), *rc::gen::inRange<size_t>(1, 4),
                   *rc::gen::inRange<size_t>(1, 4));
  const std::string bytes = file.finish();
  const RecordBatch all = file.rows();
  const Predicate wanted = file.random().predicate(*all.schema(), 2);
  RC_LOG() << wanted.to_text() << "\n" << all.schema()->to_string();

  FileReaderOptions options;
  RC_ASSERT(compare(all, read_all(bytes, options, pool)) == "");

  std::vector<IndexRange> asked;
  RowSelection asked_rows;
  for (int64_t row = 0; row < all.row_count();) {
    const int64_t end = std::min<int64_t>(all.row_count(), row + 1 + file.random().below(60));
    if (file.random().coin(2)) {
      asked.push_back({row, end});
      asked_rows.add({static_cast<uint64_t>(row), static_cast<uint64_t>(end)});
    }
    row = end;
  }
  const bool asks_rows = file.random().coin(2);
  std::vector<IndexRange> ranges;
  for (const IndexRange& range : asks_rows ? asked : std::vector<IndexRange>{{0, all.row_count()}}) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      if (predicate::test::evaluate_row(wanted, all, row) == Truth::kTrue) ranges.push_back({row, row + 1});
    }
  }
  std::vector<predicate::ColumnName> names;
  std::vector<ArrayPtr> columns;
  std::vector<Field> fields;
  for (size_t i = all.columns().size(); i-- > 0;) {
    if (file.random().coin(3)) continue;
    names.emplace_back(IndexedFile::name(i));
    fields.push_back(all.schema()->field(i));
    columns.push_back(all.column(i));
  }
  std::optional<RecordBatch> expected;
  if (!ranges.empty()) {
    expected = take_ranges(RecordBatch(Schema::make(fields), all.row_count(), columns), ranges, pool);
  }

  options.projection = names;
  options.predicate = wanted;
  if (asks_rows) options.rows = asked_rows;
  for (int way = 0; way < 8; ++way) {
    options.pruning = {.use_statistics = way == 0 || way == 1,
                       .use_page_index = way == 0 || way == 2,
                       .use_bloom_filters = way == 0 || way == 3,
                       .use_dictionaries = way == 0 || way == 4};
    options.late_materialization = way != 6;
    options.kept_bytes_max = way == 7 ? 0 : size_t{16} << 20;
    options.batch_rows = way % 2 == 0 ? 65536 : 1 + file.random().below(50);
    RC_LOG() << "way " << way;
    RC_ASSERT(compare(expected, read_all(bytes, options, pool)) == "");
    MemoryPool budget({.budget_bytes = size_t{256} << 20});
    FileReader stepped(std::make_shared<StringFile>(bytes), options, budget);
    RC_ASSERT(compare(expected, step_all(stepped, budget, pool)) == "");
  }
}

// Forged indexes, filters, statistics and footers: rows or an error, within a small budget.
RC_GTEST_PROP(FileReader, SurvivesDamageAnywhere, (uint64_t seed)) {
  MemoryPool pool({.budget_bytes = size_t{64} << 20});
  IndexedFile file(seed, *rc::gen::inRange<int64_t>(1, 100), *rc::gen::inRange<size_t>(1, 4), 2);
  std::string bytes = file.finish();
  FileReaderOptions options;
  options.predicate = file.random().predicate(*file.rows().schema(), 2);
  options.late_materialization = !file.random().coin(3);
  options.batch_rows = 20;
  for (int round = 0; round < 20; ++round) {
    std::string damaged = bytes;
    for (int64_t i = file.random().below(4); i >= 0; --i) {
      damaged[static_cast<size_t>(file.random().below(static_cast<int64_t>(damaged.size())))] =
          static_cast<char>(file.random().coin(2) ? 0xFF : file.random().below(256));
    }
    try {
      FileReader reader(std::make_shared<StringFile>(std::move(damaged)), options, pool);
      while (auto batch = reader.next()) validate_full(*batch);
    } catch (const Error& error) {
      // A changed type makes the predicate one that does not fit.
      RC_ASSERT(error.kind() != ErrorKind::kInternal);
    }
  }
}

// ---- Files of others ----

std::shared_ptr<const InputFile> open_corpus(const std::string& name) {
  LocalFileSystem files;
  return files.open_input(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/" + name);
}

TEST(FileReader, ReadsByNamesAndPredicatesInText) {
  MemoryPool pool;
  FileReader reader(open_corpus("alltypes_tiny_pages.parquet"),
                    {.projection = {{"string_col", "id"}}, .predicate = predicate::parse("id >= 7290 AND bool_col")},
                    pool);
  const auto rows = read_all(reader, pool);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->schema()->field(0).name, "string_col");
  EXPECT_EQ(rows->row_count(), 5);
  const FileReaderCounters counters = reader.counters();
  EXPECT_EQ(counters.rows_matched, 5U);
  EXPECT_GT(counters.pruning.pages_pruned, 100U);
  EXPECT_LT(counters.rows_evaluated, 7300U);
}

TEST(FileReader, ReadsFieldsOfStructsAlone) {
  MemoryPool pool;
  const auto file = open_corpus("nested_structs.rust.parquet");
  const auto path = [](std::vector<std::string> parts) { return predicate::ColumnName(std::move(parts)); };
  FileReaderOptions options;
  options.projection = {path({"roll_num", "max"}), path({"roll_num", "min"})};
  const std::vector<std::pair<const char*, int64_t>> cases = {{"roll_num.min IS NOT NULL", 1},
                                                              {"roll_num.min IS NULL", 0},
                                                              {"roll_num IS NOT NULL", 1},
                                                              {"roll_num IS NULL OR roll_num.max IS NULL", 0}};
  for (const auto& [wanted, count] : cases) {
    options.predicate = predicate::parse(wanted);
    for (const bool use_statistics : {true, false}) {
      options.pruning.use_statistics = use_statistics;
      FileReader reader(file, options, pool);
      ASSERT_EQ(reader.schema()->field_count(), 1U);
      const auto& fields = reader.schema()->field(0).type->children();
      ASSERT_EQ(fields.size(), 2U);
      EXPECT_EQ(fields[0].name, "min") << "in the file's order";
      EXPECT_EQ(fields[1].name, "max");
      const auto rows = read_all(reader, pool);
      EXPECT_EQ(rows ? rows->row_count() : 0, count) << wanted;
    }
  }
  options.predicate = {};
  options.projection = {path({"roll_num", "nothing"})};
  EXPECT_THROW(FileReader(file, options, pool), Error);
  options.projection = {path({"int_array", "list"})};
  EXPECT_THROW(FileReader(open_corpus("nullable.impala.parquet"), options, pool), Error) << "a path leads into no list";
}

TEST(FileReader, CountsWithoutReadingColumns) {
  MemoryPool pool;
  FileReader reader(open_corpus("alltypes_plain.parquet"), {.projection = std::vector<predicate::ColumnName>{}}, pool);
  int64_t rows = 0;
  while (auto batch = reader.next()) rows += batch->row_count();
  EXPECT_EQ(rows, 8);
}

TEST(FileReader, SkipsWhatNoPredicateNeeds) {
  MemoryPool pool;
  FileReader reader(open_corpus("alltypes_plain.parquet"), {.predicate = predicate::always(false)}, pool);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.counters().rows_evaluated, 0U);
}

TEST(FileReader, RefusesWhatDoesNotExist) {
  MemoryPool pool;
  const auto file = open_corpus("alltypes_plain.parquet");
  EXPECT_THROW(FileReader(file, {.projection = {{"nothing"}}}, pool), Error);
  EXPECT_THROW(FileReader(file, {.predicate = predicate::parse("nothing = 1")}, pool), Error);
  EXPECT_THROW(FileReader(file, {.predicate = predicate::parse("id = 'text'")}, pool), Error);
  EXPECT_THROW(FileReader(file, {.first_row_group = 2}, pool), Error);
  EXPECT_THROW(FileReader(file, {.first_row_group = 0, .row_group_count = 9}, pool), Error);
  EXPECT_THROW(FileReader(file, {.batch_rows = 0}, pool), Error);
  EXPECT_NO_THROW(FileReader(file, {.projection = {{"ID"}}, .case_sensitive = false}, pool));
  EXPECT_THROW(FileReader(file, {.projection = {{"ID"}}}, pool), Error);
}

TEST(FileReader, LeavesOutRowsThatTheFileDoesNotHave) {
  MemoryPool pool;
  FileReader reader(open_corpus("alltypes_plain.parquet"), {.rows = RowSelection::of({{6, 7}, {7, UINT64_MAX}})}, pool);
  const auto rows = read_all(reader, pool);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->row_count(), 2);
}

// ---- The footer cache ----

TEST(MetadataCache, ReadsAFooterOnce) {
  MemoryPool pool;
  MetadataCache cache(pool, size_t{1} << 20);
  IndexedFile content(1, 10, 2, 1);
  const StringFile file(content.finish(), "memory:a");
  const auto first = cache.read(file, "1");
  const uint64_t reads = file.read_count;
  EXPECT_EQ(cache.read(file, "1"), first);
  EXPECT_EQ(file.read_count, reads);
  EXPECT_EQ(cache.hits(), 1U);
  EXPECT_NE(cache.read(file, "2"), first) << "another version is another file";
  EXPECT_NE(cache.read(StringFile(content.finish(), "memory:b"), "1"), first);
  EXPECT_NE(cache.read(StringFile(content.finish(), "memory:"), "1:memory:a"), first);
  EXPECT_EQ(cache.held_bytes(), 4 * first->memory_bytes());
  cache.clear();
  EXPECT_EQ(cache.held_bytes(), 0U);
  EXPECT_EQ(first->row_count(), 10) << "what it gave out lives on";
}

TEST(MetadataCache, DropsTheLeastRecentlyUsed) {
  MemoryPool pool;
  IndexedFile content(1, 10, 2, 1);
  const std::string bytes = content.finish();
  const size_t one = read_metadata(StringFile(bytes), pool)->memory_bytes();
  MetadataCache cache(pool, 2 * one);
  const StringFile a(bytes, "memory:a");
  const StringFile b(bytes, "memory:b");
  const StringFile c(bytes, "memory:c");
  static_cast<void>(cache.read(a, ""));
  static_cast<void>(cache.read(b, ""));
  static_cast<void>(cache.read(a, ""));
  static_cast<void>(cache.read(c, ""));
  EXPECT_EQ(cache.held_bytes(), 2 * one);
  const uint64_t hits = cache.hits();
  static_cast<void>(cache.read(a, ""));
  EXPECT_EQ(cache.hits(), hits + 1);
  static_cast<void>(cache.read(b, ""));
  EXPECT_EQ(cache.hits(), hits + 1) << "b was dropped";
  MetadataCache tiny(pool, one - 1);
  EXPECT_NE(tiny.read(a, ""), nullptr);
  EXPECT_EQ(tiny.held_bytes(), 0U);
}

TEST(MetadataCache, ServesSeveralThreads) {
  MemoryPool pool;
  MetadataCache cache(pool, size_t{1} << 20);
  IndexedFile content(1, 10, 2, 1);
  const std::string bytes = content.finish();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const StringFile file(bytes, "memory:" + std::to_string(round % 5));
        EXPECT_EQ(cache.read(file, "")->row_count(), 10);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(cache.hits(), 150U);
}

}  // namespace
}  // namespace frazil::parquet
