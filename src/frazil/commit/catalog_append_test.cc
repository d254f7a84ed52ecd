// Appends to tables of a SQL catalog: I/O failures around the database, what is synced, and what a purge removes.

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/commit/purge.h"
#include "frazil/commit/table_fixture_test.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/testing/faulty_file_system.h"

namespace frazil::commit {
namespace {

using test::data_file;
using test::live_files;
using test::new_table;
using test::row_count;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<catalog::Catalog> open_catalog(Context& context, FileSystem& files, const std::string& folder) {
  return catalog::open_catalog(
      catalog::Configuration(), "lake", test::over_memory(files), context.memory_pool(),
      {.overrides = {{"uri", "sqlite:///" + folder + "/lake.db"}, {"warehouse", "memory://wh"}}, .location_rules = {}});
}

const catalog::TableIdentifier kTable = {{"web"}, "hits"};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

TEST(CatalogAppend, SurvivesEveryIoFailure) {
  for (FaultKind kind : {FaultKind::kError, FaultKind::kShort, FaultKind::kAfterward}) {
    for (bool lasting : {false, true}) {
      SCOPED_TRACE(message("{} {}", static_cast<int>(kind), lasting));
      std::unique_ptr<TemporaryFolder> folder;
      size_t old_file_count = 0;
      const uint64_t struck = for_each_failing_call({
          .prepare =
              [&](FileSystem& memory) {
                folder = std::make_unique<TemporaryFolder>();
                Context context({.threads = 1});
                const auto catalog = open_catalog(context, memory, folder->path());
                catalog->create_namespace({"web"});
                const catalog::LoadedTable table = catalog->create_table(
                    context, kTable, new_table(3, false, {{"commit.manifest.min-count-to-merge", "2"}}));
                append(context, table, {data_file(table, "old", 5)});
                old_file_count = test::files_below(memory, "memory://wh").size();
                write_file(memory, "memory://wh/web/hits/data/new", std::as_bytes(std::span("new", 3)), {});
              },
          .run =
              [&](FaultyFileSystem& faulty) {
                Context context({.threads = 1});
                const catalog::LoadedTable table = open_catalog(context, faulty, folder->path())->load_table(kTable);
                manifest::DataFile file;
                file.path = "memory://wh/web/hits/data/new";
                file.record_count = 7;
                file.file_size_bytes = 3;
                append(context, table, {file});
              },
          .check =
              [&](FileSystem& memory, bool failed) {
                Context context({.threads = 1});
                const catalog::LoadedTable table = open_catalog(context, memory, folder->path())->load_table(kTable);
                const int64_t rows = row_count(live_files(table, context.memory_pool()));
                // No call of files comes after the row is set: an error means that nothing happened.
                EXPECT_EQ(rows, failed ? 5 : 12);
                if (failed && !lasting) {
                  const size_t data_left = memory.stat("memory://wh/web/hits/data/new") ? 1 : 0;
                  EXPECT_EQ(test::files_below(memory, "memory://wh").size() - data_left, old_file_count);
                }
              },
          .kind = kind,
          .lasting = lasting,
      });
      EXPECT_GT(struck, 12u);
    }
  }
}

// Notes which files are published, and how.
class PublishRecorder final : public FileSystem {
 public:
  std::vector<std::pair<std::string, bool>> published;  // path, synced

  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size) override {
    return inner_.open_input(path, size);
  }
  std::unique_ptr<OutputFile> open_output(std::string_view path) override {
    if (before_open && path.ends_with(before_name)) std::exchange(before_open, nullptr)();
    return std::make_unique<Output>(*this, inner_.open_output(path));
  }
  std::vector<FileInfo> list(std::string_view folder) override { return inner_.list(folder); }
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override {
    inner_.walk(folder, visit);
  }
  std::optional<FileInfo> stat(std::string_view path) override { return inner_.stat(path); }
  bool remove(std::string_view path) override { return inner_.remove(path); }

 private:
  class Output final : public OutputFile {
   public:
    Output(PublishRecorder& recorder, std::unique_ptr<OutputFile> inner)
        : recorder_(recorder), inner_(std::move(inner)) {}
    const std::string& path() const override { return inner_->path(); }
    void write(std::span<const std::byte> bytes) override { inner_->write(bytes); }
    uint64_t bytes_written() const override { return inner_->bytes_written(); }
    void publish(PublishOptions options) override {
      inner_->publish(options);
      recorder_.published.emplace_back(path(), options.sync);
      // As a local file whose folder cannot be synced: it has its name.
      if (options.sync && path().find(recorder_.unsyncable) != std::string::npos) throw IoError(EIO, "cannot sync");
    }
    void abort() noexcept override { inner_->abort(); }

   private:
    PublishRecorder& recorder_;
    std::unique_ptr<OutputFile> inner_;
  };
  MemoryFileSystem inner_;

 public:
  std::string unsyncable = "nothing";
  // Called once, when a file whose name ends so is opened.
  std::string before_name = {};
  std::function<void()> before_open = {};
};

TEST(CatalogAppend, SyncsEverythingIfAsked) {
  for (bool full : {false, true}) {
    TemporaryFolder folder;
    Context context({.threads = 1});
    PublishRecorder files;
    const catalog::CommitOptions options = {.durability =
                                                full ? catalog::Durability::kFull : catalog::Durability::kProcess};
    const auto catalog = open_catalog(context, files, folder.path());
    catalog->create_namespace({"web"});
    const catalog::LoadedTable table = catalog->create_table(context, kTable, new_table(), options);
    const manifest::DataFile file = data_file(table, "a", 1);
    files.published.erase(files.published.begin() + 1);  // the data file is its writer's
    append(context, table, {file}, {.durability = options.durability});
    const catalog::LoadedTable by_path = catalog::create_table_by_path(context, "memory://p", test::over_memory(files),
                                                                       context.memory_pool(), new_table(), {}, options);
    append(context, by_path, {}, {.durability = options.durability});
    // Twice metadata, a manifest and its list; twice v<N>, its hint, and a list.
    EXPECT_EQ(files.published.size(), 9u);
    for (const auto& [path, synced] : files.published) EXPECT_EQ(synced, full) << path;
  }
}

// The file is there, but may vanish with the power: neither a success nor a failure.
TEST(CatalogAppend, DoesNotKnowWhatItCouldNotSync) {
  Context context({.threads = 1});
  PublishRecorder files;
  const FileSystems all = test::over_memory(files);
  const catalog::LoadedTable table =
      catalog::create_table_by_path(context, "memory://p", all, context.memory_pool(), new_table());
  const manifest::DataFile file = data_file(table, "a", 1);
  files.unsyncable = "v2.metadata.json";
  const std::string error =
      error_of([&] { append(context, table, {file}, {.durability = catalog::Durability::kFull}); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("commit_state_unknown"), HasSubstr("may not survive a power cut"),
                    HasSubstr("nothing was deleted"), HasSubstr("its manifest list is memory://p/metadata/snap-")));
  EXPECT_EQ(row_count(live_files(table.store->load(), context.memory_pool())), 1);

  // A list that could not be synced is no commit: all of it goes.
  files.unsyncable = "/snap-";
  const catalog::LoadedTable now = table.store->load();
  const size_t before = test::files_below(files, "memory://p").size();
  EXPECT_THAT(
      error_of([&] { append(context, now, {data_file(now, "b", 1)}, {.durability = catalog::Durability::kFull}); }),
      HasSubstr("io: cannot sync"));
  EXPECT_EQ(test::files_below(files, "memory://p").size(), before);
}

// The name after a version becomes free again where old versions are deleted: a writer that was asleep must not take it.
TEST(PathCommit, TakesNoNameThatWasInUse) {
  for (int others : {1, 2, 4, 8}) {
    FakeClock clock;
    Context context({.threads = 1, .clock = &clock});
    PublishRecorder files;
    const FileSystems all = test::over_memory(files);
    const catalog::LoadedTable table = catalog::create_table_by_path(
        context, "memory://p", all, context.memory_pool(),
        new_table(
            2, false,
            {{"write.metadata.delete-after-commit.enabled", "true"}, {"write.metadata.previous-versions-max", "2"}}));
    files.before_name = "/v2.metadata.json";
    files.before_open = [&] {
      catalog::LoadedTable other = table;
      for (int i = 0; i < others; ++i) {
        clock.advance(std::chrono::milliseconds(1));
        other = append(context, other, {data_file(other, std::to_string(i), 1)});
      }
    };
    clock.advance(std::chrono::seconds(1));
    const catalog::LoadedTable committed = append(context, table, {data_file(table, "late", 1)});
    EXPECT_EQ(committed.metadata->last_sequence_number, others + 1);
    const catalog::LoadedTable found = catalog::open_table_by_path("memory://p", all, context.memory_pool());
    EXPECT_EQ(found.metadata_location, committed.metadata_location);
    EXPECT_EQ(live_files(found, context.memory_pool()).size(), static_cast<size_t>(others + 1));
  }
}

TEST(Purge, RemovesWhatTheTableNamesAndNothingElse) {
  for (int version : {1, 2, 3}) {
    TemporaryFolder folder;
    Context context({.threads = 1});
    MemoryFileSystem files;
    const auto catalog = open_catalog(context, files, folder.path());
    catalog->create_namespace({"web"});
    catalog::LoadedTable table = catalog->create_table(
        context, kTable, new_table(version, false, {{"commit.manifest.min-count-to-merge", "2"}}));
    for (const char* name : {"a", "b", "c"}) table = append(context, table, {data_file(table, name, 1)});
    spec::StatisticsFile statistics;
    statistics.snapshot_id = *table.metadata->current_snapshot_id;
    statistics.statistics_path = "memory://wh/web/hits/metadata/s.puffin";
    files.put(statistics.statistics_path, "x");
    const spec::TableUpdate update[] = {spec::SetStatistics{statistics}};
    table = table.store->commit(context, table, {}, update);
    files.put("memory://wh/web/hits/data/of-another", "x");
    files.remove("memory://wh/web/hits/data/b");  // gone already: nothing to report
    const PurgeResult result = drop_and_purge(context, *catalog, kTable);
    EXPECT_EQ(result.failure_count, 0) << (result.failures.empty() ? "" : result.failures.front());
    EXPECT_EQ(test::files_below(files, "memory://wh"),
              std::vector<std::string>{"memory://wh/web/hits/data/of-another"});
    EXPECT_GT(result.deleted_files, 10);
    EXPECT_TRUE(catalog->list_tables({"web"}).empty());
  }
}

TEST(Purge, ReportsWhatItCannotDoAndRefusesSharedFiles) {
  TemporaryFolder folder;
  Context context({.threads = 1});
  MemoryFileSystem files;
  const auto catalog = open_catalog(context, files, folder.path());
  catalog->create_namespace({"web"});
  catalog::LoadedTable table = catalog->create_table(context, kTable, new_table(2, false, {{"gc.enabled", "false"}}));
  table = append(context, table, {data_file(table, "a", 1)});
  EXPECT_THAT(error_of([&] { drop_and_purge(context, *catalog, kTable); }), HasSubstr("gc.enabled=false"));
  EXPECT_EQ(catalog->list_tables({"web"}).size(), 1u);
  const spec::TableUpdate update[] = {spec::RemoveProperties{{"gc.enabled"}}};
  table = table.store->commit(context, table, {}, update);
  for (const std::string& path : test::files_below(files, "memory://wh")) {
    if (path.find("/snap-") != std::string::npos) files.put(path, "damaged");
  }
  const PurgeResult result = drop_and_purge(context, *catalog, kTable);
  EXPECT_EQ(result.failure_count, 1);
  EXPECT_THAT(result.failures.front(), HasSubstr("cannot read the manifests of snapshot"));
}

}  // namespace
}  // namespace frazil::commit
