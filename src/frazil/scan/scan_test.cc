#include "frazil/scan/scan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/catalog/path_table.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/io/file_systems.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/predicate/parse.h"
#include "frazil/runtime/context.h"
#include "frazil/scan/planner.h"

namespace frazil::scan {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
const std::string kTables = std::string(FRAZIL_TEST_CORPORA) + "/iceberg-tables/";

// Tables that other engines wrote: 20 small files; 6 files in partitions; one file of 111,968 rows.
const char* const kManyFiles = "impala/hadoop_catalog/hadoop_catalog_test/functional_parquet/hadoop_catalog_test";
const char* const kPartitioned = "dremio/v2/orders";
const char* const kLineitem = "duckdb/iceberg/lineitem_iceberg_gz";
// One file of 200 row groups of 100 rows; its second snapshot has deletes.
const char* const kRowGroups = "impala/hadoop_catalog/ice/iceberg_lineitem_multiblock";
constexpr int64_t kRowGroupsSnapshot = 7963820769190930835;
const char* const kDeletes = "dremio/table_with_delete";

// A table of the corpora with a context of its own.
struct Fixture {
  explicit Fixture(const std::string& name, ContextOptions options = {.memory_budget_bytes = 256 * kMiB, .threads = 4})
      : context(options),
        table(catalog::open_table_by_path(kTables + name, FileSystems(), context.memory_pool())),
        files(*table.files) {}

  Source source() { return {.metadata = table.metadata, .files = &files}; }
  std::unique_ptr<Stream> open(const Options& options = {}) { return scan::open(context, source(), options); }

  Context context;
  catalog::LoadedTable table;
  CountingFileSystem files;
};

// Each row as JSON, in the order of the stream.
std::vector<std::string> rows_of(Stream& stream) {
  std::vector<std::string> rows;
  while (auto batch = stream.next()) {
    validate_full(*batch);
    for (int64_t i = 0; i < batch->row_count(); ++i) {
      rows.emplace_back();
      append_row_json(rows.back(), *batch, i);
    }
  }
  return rows;
}

std::vector<std::string> rows_of(Fixture& fixture, const Options& options = {}) {
  auto stream = fixture.open(options);
  return rows_of(*stream);
}

TEST(Scan, TaskOrderDoesNotDependOnThreadsBudgetOrBatchRows) {
  for (const auto* name : {kManyFiles, kPartitioned, kLineitem}) {
    Fixture fixture(name, {.memory_budget_bytes = 256 * kMiB, .threads = 8});
    const auto expected = rows_of(fixture);
    ASSERT_FALSE(expected.empty());
    for (size_t threads : {1, 2, 8}) {
      for (size_t budget : {8 * kMiB, 16 * kMiB, 64 * kMiB, MemoryPool::kUnlimited}) {
        EXPECT_EQ(rows_of(fixture, {.memory_budget_bytes = budget, .threads = threads}), expected)
            << name << ", " << threads << " threads, " << budget << " bytes";
      }
    }
    EXPECT_EQ(rows_of(fixture, {.batch_rows = 977}), expected) << name;
    EXPECT_EQ(rows_of(fixture, {.order = Order::kSequential}), expected) << name;
  }
}

TEST(Scan, BatchBoundariesDoNotDependOnThreads) {
  Fixture fixture(kPartitioned);
  std::vector<std::vector<int64_t>> boundaries;
  for (size_t threads : {1, 2, 4}) {
    auto stream = fixture.open({.batch_rows = 50, .threads = threads});
    boundaries.emplace_back();
    while (auto batch = stream->next()) boundaries.back().push_back(batch->row_count());
  }
  EXPECT_GT(boundaries[0].size(), 6u);
  EXPECT_EQ(boundaries[1], boundaries[0]);
  EXPECT_EQ(boundaries[2], boundaries[0]);
}

TEST(Scan, FewFilesAreSplitByColumnsIntoTheSameBatches) {
  Fixture fixture(kLineitem);
  for (const char* where : {"TRUE", "l_quantity < 25 AND l_comment LIKE 'c%'"}) {
    std::vector<RecordBatch> expected;
    for (size_t threads : {1, 2, 4}) {
      auto stream = fixture.open({.where = predicate::parse(where), .batch_rows = 20'000, .threads = threads});
      std::vector<RecordBatch> batches;
      while (auto batch = stream->next()) {
        validate_full(*batch);
        batches.push_back(*std::move(batch));
      }
      if (threads == 1) expected = batches;
      ASSERT_EQ(batches.size(), expected.size());
      for (size_t i = 0; i < batches.size(); ++i) {
        EXPECT_TRUE(equals(batches[i], expected[i])) << where << ", " << threads << " threads, batch " << i;
      }
      EXPECT_EQ(stream->stats().split_steps, threads == 1 ? 0 : expected.size());
    }
  }
}

TEST(Scan, FilesThatAreAsManyAsThreadsAreSplitForTheFirstBatchAlone) {
  Fixture fixture(kManyFiles);
  auto stream = fixture.open({.threads = 2});
  ASSERT_TRUE(stream->next());
  EXPECT_GE(stream->stats().split_steps, 1u);
  while (stream->next()) {
  }
  // The last file may find the other thread idle.
  EXPECT_LE(stream->stats().split_steps, 2u);
  EXPECT_GE(stream->stats().files, 10u);
}

TEST(Scan, RowGroupsAreReadSideBySideIntoTheSameBatches) {
  Fixture fixture(kRowGroups);
  Options options{.snapshot = spec::SnapshotById{kRowGroupsSnapshot}};
  for (const char* where : {"TRUE", "l_quantity < 25 AND l_comment LIKE 'c%'", "l_orderkey > 18000"}) {
    options.where = predicate::parse(where);
    for (size_t budget : {4 * kMiB, 64 * kMiB}) {
      options.memory_budget_bytes = budget;
      std::vector<std::vector<std::string>> expected;
      for (size_t threads : {1, 2, 4}) {
        options.threads = threads;
        auto stream = fixture.open(options);
        std::vector<std::vector<std::string>> batches;
        while (auto batch = stream->next()) {
          validate_full(*batch);
          batches.emplace_back();
          for (int64_t i = 0; i < batch->row_count(); ++i) append_row_json(batches.back().emplace_back(), *batch, i);
        }
        if (threads == 1) expected = batches;
        EXPECT_EQ(batches, expected) << where << ", " << threads << " threads";
        EXPECT_EQ(stream->stats().files, 1u);
        EXPECT_GE(stream->stats().parts, 2u) << "the file has 1.3 MB";
        EXPECT_LE(stream->stats().pool.held_peak_bytes, budget);
      }
    }
  }
}

TEST(Scan, TheFirstBatchIsSmallUnlessRowsAreFiltered) {
  Fixture fixture(kLineitem);
  for (const auto order : {Order::kTask, Order::kArrival, Order::kSequential}) {
    for (const auto& [where, rows] : {std::pair("TRUE", 8192), std::pair("l_orderkey >= 0", 65536)}) {
      auto stream = fixture.open({.where = predicate::parse(where), .order = order});
      EXPECT_EQ(stream->next()->row_count(), rows) << where;
    }
    EXPECT_EQ(fixture.open({.order = order, .batch_rows = 100})->next()->row_count(), 100);
  }
}

TEST(Scan, OtherThreadsReadTheRowGroupsBehindTheFirst) {
  Fixture fixture(kRowGroups);
  auto stream = fixture.open({.snapshot = spec::SnapshotById{kRowGroupsSnapshot}, .threads = 2});
  ASSERT_TRUE(stream->next());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (stream->stats().parts < 2 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(stream->stats().parts, 2u) << "nobody asked for more than the first batch";
  EXPECT_EQ(stream->stats().batches, 1);
  EXPECT_EQ(fixture.files.counters().files_opened.load(), 3u) << "list, manifest, data file";
  stream->close();
  EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
}

TEST(Scan, SplitFilesCanBeClosedEarly) {
  Fixture fixture(kLineitem);
  for (int i = 0; i < 50; ++i) {
    auto stream = fixture.open({.batch_rows = 10'000});
    std::thread closer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
      stream->close();
    });
    while (auto batch = stream->next()) {
    }
    closer.join();
    EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
  }
  EXPECT_EQ(fixture.context.memory_pool().stats().promised_bytes, 0u);
}

TEST(Scan, ArrivalOrderHasTheSameRows) {
  Fixture fixture(kManyFiles);
  auto expected = rows_of(fixture);
  auto rows = rows_of(fixture, {.order = Order::kArrival});
  std::sort(expected.begin(), expected.end());
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, expected);
}

TEST(Scan, PeakStaysWithinTheBudget) {
  Fixture fixture(kLineitem);
  for (size_t budget : {8 * kMiB, 16 * kMiB, 64 * kMiB}) {
    auto stream = fixture.open({.memory_budget_bytes = budget});
    int64_t rows = 0;
    while (auto batch = stream->next()) rows += batch->row_count();
    EXPECT_EQ(rows, 111968);
    EXPECT_LE(stream->stats().pool.held_peak_bytes, budget);
  }
}

TEST(Scan, ReturnsAllMemoryAtTheEnd) {
  Fixture fixture(kPartitioned);
  {
    auto stream = fixture.open();
    std::vector<RecordBatch> kept;
    while (auto batch = stream->next()) kept.push_back(*batch);
    stream.reset();  // batches outlive their stream
    for (const auto& batch : kept) validate_full(batch);
  }
  const auto stats = fixture.context.memory_pool().stats();
  EXPECT_EQ(stats.held_bytes - stats.idle_bytes, 0u);
  EXPECT_EQ(stats.promised_bytes, 0u);
  EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
}

TEST(Scan, AThousandStreamsClosedEarlyLeaveNothingRunningAndNoFileOpen) {
  Fixture fixture(kManyFiles);
  for (int i = 0; i < 1000; ++i) {
    auto stream = fixture.open({.order = i % 2 ? Order::kArrival : Order::kTask, .batch_rows = 1});
    for (int batches = 0; batches < i % 7; ++batches) ASSERT_TRUE(stream->next());
    stream->close();
    const auto opened = fixture.files.counters().files_opened.load();
    ASSERT_EQ(fixture.files.counters().files_open.load(), 0u) << "stream " << i;
    EXPECT_FALSE(stream->next());
    stream.reset();
    ASSERT_EQ(fixture.files.counters().files_opened.load(), opened) << "stream " << i;
  }
  EXPECT_EQ(fixture.context.memory_pool().stats().promised_bytes, 0u);
}

TEST(Scan, CanBeClosedFromAnotherThread) {
  Fixture fixture(kLineitem);
  for (int i = 0; i < 20; ++i) {
    auto stream = fixture.open({.batch_rows = 100});
    std::thread closer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(i));
      stream->close();
    });
    while (auto batch = stream->next()) {
    }
    closer.join();
    EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
  }
}

TEST(Scan, AConsumerThatHoardsBatchesGetsAMemoryLimitErrorAndNeverHangs) {
  for (auto order : {Order::kTask, Order::kArrival, Order::kSequential}) {
    Fixture fixture(kLineitem);
    auto stream = fixture.open({.order = order, .batch_rows = 4096, .memory_budget_bytes = 8 * kMiB});
    std::vector<RecordBatch> hoard;
    try {
      while (auto batch = stream->next()) hoard.push_back(*batch);
      FAIL() << "the whole table is larger than the budget";
    } catch (const MemoryLimitError& error) {
      EXPECT_THAT(error.hint(), testing::HasSubstr("release batches"));
    }
    EXPECT_FALSE(stream->next()) << "a failed stream has ended";
  }
}

TEST(Scan, WaitsForOtherThreadsThatStillHoldBatches) {
  Fixture fixture(kLineitem);
  auto stream = fixture.open({.batch_rows = 4096, .memory_budget_bytes = 8 * kMiB});
  std::vector<RecordBatch> held;
  std::vector<std::thread> consumers;
  int64_t rows = 0;
  while (auto batch = stream->next()) {
    rows += batch->row_count();
    // Each batch is kept for a while by a thread of its own.
    consumers.emplace_back([kept = std::move(*batch)]() mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::move(kept).columns();
      RecordBatch dropped = std::move(kept);
    });
    batch.reset();
  }
  for (auto& consumer : consumers) consumer.join();
  EXPECT_EQ(rows, 111968);
}

TEST(Scan, AFileThatDoesNotFitEvenAloneSaysHowMuchItNeeds) {
  Fixture fixture(kLineitem);
  auto stream = fixture.open({.memory_budget_bytes = 256 << 10});
  try {
    while (stream->next()) {
    }
    FAIL();
  } catch (const MemoryLimitError& error) {
    EXPECT_GT(error.needed_bytes(), size_t{256} << 10);
    EXPECT_THAT(error.hint(), testing::HasSubstr("raise the memory budget"));
  }
}

TEST(Scan, LimitCountsRowsOverFiles) {  // reports.md P32
  Fixture fixture(kManyFiles);
  const auto all = rows_of(fixture);
  ASSERT_EQ(all.size(), 20u);
  for (int64_t limit : {0, 1, 2, 19, 20, 21}) {
    const auto rows = rows_of(fixture, {.limit = limit});
    const size_t count = std::min<size_t>(static_cast<size_t>(limit), all.size());
    EXPECT_EQ(rows, std::vector<std::string>(all.begin(), all.begin() + static_cast<ptrdiff_t>(count)));
  }
}

TEST(Scan, SelectsColumnsInTheOrderAsked) {
  Fixture fixture(kLineitem);
  auto stream = fixture.open({.select = {"l_comment", "l_orderkey"}});
  ASSERT_EQ(stream->schema()->field_count(), 2u);
  EXPECT_EQ(stream->schema()->field(0).name, "l_comment");
  EXPECT_EQ(stream->next()->column(1)->type->id(), TypeId::kInt32);
  try {
    fixture.open({.select = {"l_coment"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  }
}

TEST(Scan, RefusesATableWithDeleteFilesInsteadOfGivingWrongRows) {
  Fixture fixture(kDeletes);
  try {
    fixture.open();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("delete file"));
  }
}

TEST(Scan, ReadsAnOlderSnapshotWithoutDeletes) {
  Fixture fixture(kDeletes);
  const auto first = fixture.table.metadata->snapshots.front().snapshot_id;
  EXPECT_EQ(rows_of(fixture, {.snapshot = spec::SnapshotById{first}}).size(), 600u);
}

TEST(Scan, ATableWithoutSnapshotsHasItsSchemaAndNoRows) {  // reports.md M15
  Fixture fixture("impala/hadoop_catalog/ice/iceberg_uppercase_col");
  auto stream = fixture.open();
  EXPECT_GT(stream->schema()->field_count(), 0u);
  EXPECT_FALSE(stream->next());
}

// Everything as in `inner`, but the file whose path ends in `hidden` does not exist.
class HidingFileSystem final : public FileSystem {
 public:
  HidingFileSystem(FileSystem& inner, std::string hidden) : inner_(inner), hidden_(std::move(hidden)) {}
  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size) override {
    if (path.ends_with(hidden_)) throw IoError(ENOENT, message("cannot open '{}': it is hidden", path));
    return inner_.open_input(path, size);
  }
  std::unique_ptr<OutputFile> open_output(std::string_view path) override { return inner_.open_output(path); }
  std::vector<FileInfo> list(std::string_view folder) override { return inner_.list(folder); }
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override {
    inner_.walk(folder, visit);
  }
  std::optional<FileInfo> stat(std::string_view path) override { return inner_.stat(path); }
  bool remove(std::string_view path) override { return inner_.remove(path); }

 private:
  FileSystem& inner_;
  std::string hidden_;
};

TEST(Scan, AMissingDataFileIsNamedAfterTheRowsBeforeIt) {
  Fixture fixture(kManyFiles);
  const auto plan = plan_scan(fixture.context, fixture.source(), {}, fixture.context.memory_pool());
  ASSERT_EQ(plan.tasks.size(), 20u);
  const std::string missing = plan.tasks[12].path.substr(plan.tasks[12].path.rfind('/'));
  HidingFileSystem files(fixture.files, missing);
  auto stream = scan::open(fixture.context, {.metadata = fixture.table.metadata, .files = &files}, {});
  int64_t rows = 0;
  try {
    while (auto batch = stream->next()) rows += batch->row_count();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), testing::HasSubstr(missing));
  }
  EXPECT_EQ(rows, 12) << "in task order what precedes the missing file is delivered";
  EXPECT_FALSE(stream->next());
  stream.reset();
  EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
}

// Three appends: three manifests with two files each.
const char* const kAppends = "impala/hadoop_catalog/ice/iceberg_multiple_storage_locations";

TEST(Scan, ReadsAManifestWhenItsFilesAreDue) {
  Fixture fixture(kAppends, {.memory_budget_bytes = 64 * kMiB, .threads = 1});
  const Planner planner(fixture.source(), {}, fixture.context.memory_pool());
  ASSERT_EQ(planner.manifest_count(), 3u);
  ASSERT_EQ(planner.read_manifest(0).size(), 2u);
  const uint64_t before = fixture.files.counters().files_opened.load();
  auto stream = fixture.open();
  ASSERT_TRUE(stream->next());
  EXPECT_EQ(fixture.files.counters().files_opened.load() - before, 3u) << "the list, a manifest, a data file";
  rows_of(*stream);
  EXPECT_EQ(fixture.files.counters().files_opened.load() - before, 1u + 3 + 6);
}

TEST(Scan, AMissingManifestIsNamedAfterTheRowsBeforeIt) {
  Fixture fixture(kAppends);
  const auto manifests =
      manifest::read_manifest_list(fixture.files.open_input(*fixture.table.metadata->current_snapshot()->manifest_list),
                                   fixture.context.memory_pool());
  const std::string missing = manifests[1].path.substr(manifests[1].path.rfind('/'));
  HidingFileSystem files(fixture.files, missing);
  int64_t rows_before = 0;
  for (const auto& task : Planner(fixture.source(), {}, fixture.context.memory_pool()).read_manifest(0)) {
    rows_before += task.record_count;
  }
  for (const auto order : {Order::kTask, Order::kArrival}) {
    auto stream = scan::open(fixture.context, {.metadata = fixture.table.metadata, .files = &files}, {.order = order});
    int64_t rows = 0;
    try {
      while (auto batch = stream->next()) rows += batch->row_count();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
      EXPECT_THAT(error.what(), testing::HasSubstr(missing));
    }
    if (order == Order::kTask) {
      EXPECT_EQ(rows, rows_before);
    }
    EXPECT_FALSE(stream->next());
  }
  EXPECT_EQ(fixture.files.counters().files_open.load(), 0u);
}

TEST(Scan, RunsInsideATaskOfAPoolWithOneThread) {
  Fixture fixture(kManyFiles, {.memory_budget_bytes = 64 * kMiB, .threads = 1});
  size_t rows = 0;
  std::atomic<bool> done = false;
  fixture.context.thread_pool().submit([&] {
    rows = rows_of(fixture).size();
    done = true;
    done.notify_one();
  });
  done.wait(false);
  EXPECT_EQ(rows, 20u);
}

}  // namespace
}  // namespace frazil::scan
