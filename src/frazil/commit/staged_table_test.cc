// Tables that are not there before their first commit: the rows and the table come together, or neither.

#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/commit/table_fixture_test.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/testing/faulty_file_system.h"

namespace frazil::commit {
namespace {

using test::data_file;
using test::live_files;
using test::new_table;
using test::over_memory;
using test::row_count;

size_t file_count(FileSystem& files, std::string_view folder) {
  return files.stat(folder) ? test::files_below(files, folder).size() : 0;
}

const catalog::TableIdentifier kTable = {{"web"}, "hits"};

// Where tables are staged: in a catalog, and in a folder. Both have their files at memory://wh/web/hits.
class Place {
 public:
  Place(Context& context, FileSystem& files, bool by_path, const std::string& folder)
      : context_(context), files_(over_memory(files)), by_path_(by_path) {
    if (by_path) return;
    catalog_ =
        catalog::open_catalog(catalog::Configuration(), "lake", files_, context.memory_pool(),
                              {.overrides = {{"uri", "sqlite:///" + folder + "/lake.db"}, {"warehouse", "memory://wh"}},
                               .location_rules = {}});
  }
  void create_namespace() {
    if (catalog_) catalog_->create_namespace({"web"});
  }
  catalog::LoadedTable stage(const spec::NewTable& table) {
    if (by_path_) return catalog::stage_table_by_path(context_, kPath, files_, context_.memory_pool(), table);
    return catalog_->stage_table(context_, kTable, table);
  }
  catalog::LoadedTable open() {
    return by_path_ ? catalog::open_table_by_path(kPath, files_, context_.memory_pool()) : catalog_->load_table(kTable);
  }
  bool exists() {
    try {
      open();
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kNotFound) << error.what();
      return false;
    }
  }

 private:
  static constexpr const char* kPath = "memory://wh/web/hits";
  Context& context_;
  FileSystems files_;
  const bool by_path_;
  std::unique_ptr<catalog::Catalog> catalog_;
};

TEST(StagedTable, ComesWithItsFirstRows) {
  for (const bool by_path : {false, true}) {
    for (const int version : {1, 2, 3}) {
      SCOPED_TRACE(message("{} v{}", by_path ? "path" : "catalog", version));
      TemporaryFolder folder;
      MemoryFileSystem memory;
      Context context({.threads = 1});
      Place place(context, memory, by_path, folder.path());
      place.create_namespace();
      const catalog::LoadedTable staged = place.stage(new_table(version));
      EXPECT_EQ(file_count(memory, "memory://wh"), 0u);
      EXPECT_FALSE(place.exists());
      EXPECT_THROW(staged.store->load(), Error);

      const catalog::LoadedTable made = append(context, staged, {data_file(staged, "a", 3)});
      const catalog::LoadedTable found = place.open();
      EXPECT_EQ(found.metadata_location, made.metadata_location);
      EXPECT_EQ(found.metadata->table_uuid, staged.metadata->table_uuid);
      EXPECT_EQ(found.metadata->snapshots.size(), 1u);
      EXPECT_TRUE(found.metadata->metadata_log.empty());
      EXPECT_EQ(row_count(live_files(found, context.memory_pool())), 3);
      // From then on it is a table as any other.
      append(context, made, {data_file(made, "b", 4)});
      EXPECT_EQ(row_count(live_files(place.open(), context.memory_pool())), 7);
    }
  }
}

TEST(StagedTable, YieldsToWhoeverCreatesTheTableFirst) {
  for (const bool by_path : {false, true}) {
    SCOPED_TRACE(by_path);
    TemporaryFolder folder;
    MemoryFileSystem memory;
    Context context({.threads = 1});
    Place place(context, memory, by_path, folder.path());
    place.create_namespace();
    const catalog::LoadedTable late = place.stage(new_table());
    const catalog::LoadedTable first = place.stage(new_table());
    append(context, first, {data_file(first, "a", 3)});
    const size_t before = file_count(memory, "memory://wh");
    try {
      append(context, late, {data_file(late, "b", 4)});
      ADD_FAILURE() << "two tables of one name";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kAlreadyExists) << error.what();
    }
    EXPECT_EQ(file_count(memory, "memory://wh"), before);
    EXPECT_EQ(place.open().metadata->table_uuid, first.metadata->table_uuid);
    EXPECT_THROW(place.stage(new_table()), Error);
  }
}

TEST(StagedTable, SurvivesEveryIoFailure) {
  for (const bool by_path : {false, true}) {
    for (const FaultKind kind : {FaultKind::kError, FaultKind::kShort, FaultKind::kAfterward}) {
      SCOPED_TRACE(message("{} {}", by_path, static_cast<int>(kind)));
      std::unique_ptr<TemporaryFolder> folder;
      const uint64_t struck = for_each_failing_call({
          .prepare =
              [&](FileSystem& memory) {
                folder = std::make_unique<TemporaryFolder>();
                Context context({.threads = 1});
                Place(context, memory, by_path, folder->path()).create_namespace();
                write_file(memory, "memory://wh/new", std::as_bytes(std::span("new", 3)), {});
              },
          .run =
              [&](FaultyFileSystem& faulty) {
                Context context({.threads = 1});
                const catalog::LoadedTable staged = Place(context, faulty, by_path, folder->path()).stage(new_table(3));
                manifest::DataFile file;
                file.path = "memory://wh/new";
                file.record_count = 7;
                file.file_size_bytes = 3;
                append(context, staged, {file});
              },
          .check =
              [&](FileSystem& memory, bool failed) {
                Context context({.threads = 1});
                Place place(context, memory, by_path, folder->path());
                if (!failed) {
                  EXPECT_EQ(row_count(live_files(place.open(), context.memory_pool())), 7);
                  return;
                }
                EXPECT_FALSE(place.exists());
                const size_t data_left = memory.stat("memory://wh/new") ? 1 : 0;
                EXPECT_EQ(file_count(memory, "memory://wh"), data_left);
              },
          .kind = kind,
      });
      EXPECT_GT(struck, 5u);
    }
  }
}

}  // namespace
}  // namespace frazil::commit
