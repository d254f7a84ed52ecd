// Many processes append to one table, and processes are killed while they do: every acknowledged append is there, once.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frazil/catalog/configuration.h"
#include "frazil/commit/table_fixture_test.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/io/uri.h"

namespace frazil::commit {
namespace {

using test::data_file;
using test::live_files;
using test::new_table;

constexpr int kProcesses = 8;

// FRAZIL_TEST_SECONDS below a minute: a CI run that wants it shorter.
int appends_each() {
  const char* seconds = std::getenv("FRAZIL_TEST_SECONDS");
  return seconds != nullptr && std::atoi(seconds) < 60 ? 5 : 20;
}

// How a process that knows nothing but a folder opens the table in it.
struct Place {
  std::string name;
  std::function<void(Context&, const std::string& folder, const spec::NewTable&)> create;
  std::function<catalog::LoadedTable(Context&, const std::string& folder)> open;
};

catalog::CatalogOptions options_of(const std::string& folder, const std::string& layout) {
  return {.overrides = {{"uri", "sqlite:///" + folder + "/lake.db"},
                        {"warehouse", folder + "/warehouse"},
                        {"schema_version", layout}},
          .location_rules = {}};
}

std::vector<Place> places() {
  std::vector<Place> all;
  for (const std::string layout : {"v0", "v1"}) {
    all.push_back({"SQLite " + layout,
                   [layout](Context& context, const std::string& folder, const spec::NewTable& table) {
                     const auto catalog = catalog::open_catalog(catalog::Configuration(), "lake", FileSystems(),
                                                                context.memory_pool(), options_of(folder, layout));
                     catalog->create_namespace({"web"});
                     catalog->create_table(context, {{"web"}, "hits"}, table);
                   },
                   [layout](Context& context, const std::string& folder) {
                     return catalog::open_catalog(catalog::Configuration(), "lake", FileSystems(),
                                                  context.memory_pool(), options_of(folder, layout))
                         ->load_table({{"web"}, "hits"});
                   }});
  }
  all.push_back({"path",
                 [](Context& context, const std::string& folder, const spec::NewTable& table) {
                   catalog::create_table_by_path(context, folder + "/t", FileSystems(), context.memory_pool(), table);
                 },
                 [](Context& context, const std::string& folder) {
                   return catalog::open_table_by_path(folder + "/t", FileSystems(), context.memory_pool());
                 }});
  return all;
}

// Runs `work` in a child process, which ends with its result.
pid_t start(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int result = 99;
  try {
    result = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  _exit(result);
}

spec::NewTable crowded_table(int version) {
  // The waits are short so that the test is; merging makes each attempt's work depend on the others'.
  return new_table(version, false,
                   {{"commit.retry.num-retries", "1000"},
                    {"commit.retry.min-wait-ms", "5"},
                    {"commit.retry.max-wait-ms", "100"},
                    {"commit.manifest.min-count-to-merge", "20"},
                    {"write.metadata.delete-after-commit.enabled", "true"},
                    {"write.metadata.previous-versions-max", "10"}});
}

TEST(CommitStorm, LosesAndDoublesNothing) {
  for (const Place& place : places()) {
    SCOPED_TRACE(place.name);
    TemporaryFolder folder;
    const std::string path = folder.path();
    {
      Context context({.threads = 1});
      place.create(context, path, crowded_table(3));
    }
    const int appends = appends_each();
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
      children.push_back(start([&place, path, process, appends] {
        Context context({.threads = 1});
        catalog::LoadedTable table = place.open(context, path);
        for (int i = 0; i < appends; ++i) {
          // Half begin from what they last saw, half look again.
          if (i % 2 == 0) table = table.store->load();
          const std::string name = message("{}-{}", process, i);
          table = append(context, table, {data_file(table, name, i + 1)});
        }
        return 0;
      }));
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    Context context({.threads = 1});
    const catalog::LoadedTable table = place.open(context, path);
    const auto files = live_files(table, context.memory_pool());
    EXPECT_EQ(files.size(), static_cast<size_t>(kProcesses * appends));
    EXPECT_EQ(table.metadata->snapshots.size(), static_cast<size_t>(kProcesses * appends));
    EXPECT_EQ(table.metadata->last_sequence_number, kProcesses * appends);
    const int64_t rows = kProcesses * appends * (appends + 1) / 2;
    EXPECT_EQ(test::row_count(files), rows);
    EXPECT_GE(table.metadata->next_row_id, rows);  // a merged manifest gets room for all of its rows, as in Java
    EXPECT_EQ(table.metadata->current_snapshot()->summary_value("total-records"), std::to_string(rows));
    EXPECT_EQ(table.metadata->metadata_log.size(), 10u);
    // Nothing of the attempts that failed is left.
    std::set<std::string> named;
    for (const spec::Snapshot& snapshot : table.metadata->snapshots) {
      named.insert(location_key(*snapshot.manifest_list));
      for (const auto& file : manifests_of(snapshot, *table.metadata, *table.files, context.memory_pool())) {
        named.insert(location_key(file.path));
      }
    }
    for (const std::string& file : test::files_below(*table.files, table.metadata->location + "/metadata")) {
      if (file.ends_with(".avro")) {
        EXPECT_TRUE(named.contains(location_key(file))) << file;
      }
    }
  }
}

// Each round starts a process that appends and says so for each, and kills it at any moment.
TEST(CommitStorm, SurvivesKills) {
  const int rounds = appends_each() * 2;
  SeededRandom random(std::chrono::steady_clock::now().time_since_epoch().count());
  for (const Place& place : places()) {
    SCOPED_TRACE(place.name);
    TemporaryFolder folder;
    const std::string path = folder.path();
    {
      Context context({.threads = 1});
      place.create(context, path, crowded_table(2));
    }
    std::set<std::string> acknowledged;
    for (int round = 0; round < rounds; ++round) {
      int pipe_ends[2];
      ASSERT_EQ(pipe(pipe_ends), 0);
      const pid_t child = start([&] {
        Context context({.threads = 1});
        catalog::LoadedTable table = place.open(context, path).store->load();
        for (int i = 0; i < 1000; ++i) {
          const std::string name = message("{}-{}", round, i);
          table = append(context, table, {data_file(table, name, 1)});
          const std::string line = name + "\n";
          if (write(pipe_ends[1], line.data(), line.size()) < 0) return 1;
        }
        return 0;
      });
      close(pipe_ends[1]);
      std::string said;
      char buffer[4096];
      if (round % 2 == 0) {
        // Not before it got somewhere, however slow the machine is.
        const ssize_t size = read(pipe_ends[0], buffer, sizeof(buffer));
        if (size > 0) said.assign(buffer, static_cast<size_t>(size));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(40'000)));
      kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status)) << status;
      for (ssize_t size = 0; (size = read(pipe_ends[0], buffer, sizeof(buffer))) > 0;) {
        said.append(buffer, static_cast<size_t>(size));
      }
      close(pipe_ends[0]);
      for (size_t at = 0, end = 0; (end = said.find('\n', at)) != std::string::npos; at = end + 1) {
        acknowledged.insert(said.substr(at, end - at));
      }

      // Readers, who go by the hint, see every acknowledged append.
      Context context({.threads = 1});
      const catalog::LoadedTable table = place.open(context, path);
      std::set<std::string> found;
      for (const auto& [file, rows] : live_files(table, context.memory_pool())) {
        found.insert(file.substr(file.rfind('/') + 1));
      }
      for (const std::string& name : acknowledged) EXPECT_TRUE(found.contains(name)) << name;
      // At most one more a round: that which was not acknowledged yet.
      EXPECT_LE(found.size(), acknowledged.size() + static_cast<size_t>(round) + 1);
    }
    EXPECT_GT(acknowledged.size(), 0u);
    // What is left behind can be told from what belongs to the table.
    Context context({.threads = 1});
    const catalog::LoadedTable table = place.open(context, path).store->load();
    for (const std::string& file : test::files_below(*table.files, table.metadata->location)) {
      const std::string name = file.substr(file.rfind('/') + 1);
      EXPECT_TRUE(is_temporary_name(name) || name.ends_with(".avro") || name.ends_with(".metadata.json") ||
                  name == "version-hint.text" || file.find("/data/") != std::string::npos)
          << file;
    }
    append(context, table, {data_file(table, "after", 1)});
  }
}

// Ten processes open a database that is not there: all of them can use it (reports C08).
TEST(CommitStorm, MakesOneCatalogTogether) {
  for (const std::string layout : {"v0", "v1"}) {
    TemporaryFolder folder;
    const std::string path = folder.path();
    std::vector<pid_t> children;
    for (int process = 0; process < 10; ++process) {
      children.push_back(start([&] {
        Context context({.threads = 1});
        const auto catalog = catalog::open_catalog(catalog::Configuration(), "lake", FileSystems(),
                                                   context.memory_pool(), options_of(path, layout));
        const std::string name = "n" + std::to_string(process);
        catalog->create_namespace({name});
        catalog->create_table(context, {{name}, "t"}, new_table());
        return 0;
      }));
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    Context context({.threads = 1});
    const auto catalog = catalog::open_catalog(catalog::Configuration(), "lake", FileSystems(), context.memory_pool(),
                                               options_of(path, layout));
    EXPECT_EQ(catalog->list_namespaces({}).size(), 10u);
  }
}

}  // namespace
}  // namespace frazil::commit
