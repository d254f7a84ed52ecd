#include "frazil/commit/append.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/commit/snapshot_manifests.h"
#include "frazil/commit/table_fixture_test.h"
#include "frazil/commit/written_files.h"
#include "frazil/manifest/data_file.h"
#include "frazil/manifest/manifest_writer.h"
#include "frazil/spec/new_table.h"
#include "frazil/testing/faulty_file_system.h"

namespace frazil::commit {
namespace {

using test::data_file;
using test::live_files;
using test::new_table;
using test::row_count;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kPath = "memory://lake/t";

// Fixtures of one test stand for several programs: no two make the same names.
uint64_t next_seed() {
  static uint64_t seed = 0;
  return ++seed;
}

// One thread, a clock that stands, chance from a seed.
struct Fixture {
  FakeClock clock;
  SeededRandom random{next_seed()};
  Context context{{.threads = 1, .clock = &clock, .random = &random}};
  MemoryFileSystem memory;
  FileSystems files = test::over_memory(memory);

  catalog::LoadedTable create(const spec::NewTable& table) {
    return catalog::create_table_by_path(context, kPath, files, context.memory_pool(), table);
  }
  catalog::LoadedTable open() { return catalog::open_table_by_path(kPath, files, context.memory_pool()); }
  catalog::LoadedTable append_rows(const catalog::LoadedTable& table, const std::string& name, int64_t rows,
                                   const AppendOptions& options = {}) {
    return append(context, table, {data_file(table, name, rows)}, options);
  }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

std::map<std::string, std::string> summary_of(const catalog::LoadedTable& table) {
  const spec::Summary& summary = table.metadata->current_snapshot()->summary;
  return {summary.begin(), summary.end()};
}

TEST(Append, MakesASnapshotInEachFormatVersion) {
  for (int version : {1, 2, 3}) {
    Fixture fixture;
    catalog::LoadedTable table = fixture.create(new_table(version));
    table = fixture.append_rows(table, "a", 3);
    table = fixture.append_rows(table, "b", 5);
    // What was committed is what is found.
    const catalog::LoadedTable found = fixture.open();
    EXPECT_EQ(found.metadata_location, table.metadata_location);
    EXPECT_EQ(json::write(table_metadata_to_json(*found.metadata)),
              json::write(table_metadata_to_json(*table.metadata)));
    EXPECT_EQ(row_count(live_files(found, fixture.context.memory_pool())), 8);

    const spec::TableMetadata& metadata = *found.metadata;
    ASSERT_EQ(metadata.snapshots.size(), 2u);
    const spec::Snapshot& first = metadata.snapshots[0];
    const spec::Snapshot& second = metadata.snapshots[1];
    EXPECT_EQ(metadata.current_snapshot_id, second.snapshot_id);
    EXPECT_EQ(first.parent_snapshot_id, std::nullopt);
    EXPECT_EQ(second.parent_snapshot_id, first.snapshot_id);
    EXPECT_EQ(second.schema_id, 0);
    EXPECT_EQ(metadata.last_sequence_number, version == 1 ? 0 : 2);
    EXPECT_EQ(second.sequence_number, version == 1 ? 0 : 2);
    EXPECT_EQ(metadata.snapshot_log.size(), 2u);
    EXPECT_EQ(metadata.metadata_log.size(), 2u);
    EXPECT_EQ(metadata.metadata_log[1].metadata_file, std::string(kPath) + "/metadata/v2.metadata.json");
    EXPECT_EQ(metadata.next_row_id, version == 3 ? 8 : 0);
    EXPECT_EQ(second.first_row_id, version == 3 ? std::optional<int64_t>(3) : std::nullopt);
    EXPECT_EQ(second.added_rows, version == 3 ? std::optional<int64_t>(5) : std::nullopt);
  }
}

TEST(Append, CountsInTheSummaryAndCarriesTotals) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table(2, true, {{"write.summary.partition-limit", "2"}}));
  table = append(fixture.context, table, {data_file(table, "aa", 3, 0), data_file(table, "bbb", 4, 1)},
                 {.summary = {{"engine-name", "test"}, {"total-records", "99"}, {"operation", "delete"}}});
  EXPECT_EQ(summary_of(table), (std::map<std::string, std::string>{
                                   {"operation", "append"},
                                   {"engine-name", "test"},
                                   {"added-data-files", "2"},
                                   {"added-records", "7"},
                                   {"added-files-size", "5"},
                                   {"changed-partition-count", "2"},
                                   {"partition-summaries-included", "true"},
                                   {"partitions.id_bucket=0", "added-data-files=1,added-records=3,added-files-size=2"},
                                   {"partitions.id_bucket=1", "added-data-files=1,added-records=4,added-files-size=3"},
                                   {"manifests-created", "1"},
                                   {"manifests-kept", "0"},
                                   {"manifests-replaced", "0"},
                                   {"total-records", "7"},
                                   {"total-files-size", "5"},
                                   {"total-data-files", "2"},
                                   {"total-delete-files", "0"},
                                   {"total-position-deletes", "0"},
                                   {"total-equality-deletes", "0"},
                               }));
  EXPECT_EQ(table.metadata->current_snapshot()->summary.front().second, "append");
  table = append(fixture.context, table, {data_file(table, "c", 1, 3)}, {});
  EXPECT_EQ(summary_of(table)["total-records"], "8");
  EXPECT_EQ(summary_of(table)["total-data-files"], "3");
  EXPECT_EQ(summary_of(table)["manifests-kept"], "1");
  // Nothing added: a snapshot all the same.
  table = append(fixture.context, table, {}, {});
  EXPECT_EQ(summary_of(table).count("added-records"), 0u);
  EXPECT_EQ(summary_of(table)["total-records"], "8");
  EXPECT_EQ(summary_of(table)["changed-partition-count"], "0");
  EXPECT_EQ(row_count(live_files(table, fixture.context.memory_pool())), 8);
}

TEST(Append, GivesUnknownTotalsNoValue) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table());
  table = fixture.append_rows(table, "a", 3);
  spec::TableMetadata changed = *table.metadata;
  std::erase_if(changed.snapshots[0].summary, [](const auto& entry) { return entry.first == "total-records"; });
  for (auto& [key, value] : changed.snapshots[0].summary) {
    if (key == "total-data-files") value = "-7";
  }
  table.metadata = std::make_shared<const spec::TableMetadata>(changed);
  table = fixture.append_rows(table, "b", 2);
  EXPECT_EQ(summary_of(table).count("total-records"), 0u);
  EXPECT_EQ(summary_of(table).count("total-data-files"), 0u);
  EXPECT_EQ(summary_of(table)["total-files-size"], "2");
}

// interop.md 10: first-row-id is the table's next-row-id at each attempt, also when another commit came first; rows of
// files that an upgraded table had are numbered by its first v3 commit.
TEST(Append, NumbersRows) {
  Fixture fixture;
  const catalog::LoadedTable created = fixture.create(new_table(2));
  catalog::LoadedTable table = fixture.append_rows(created, "old", 10);
  const spec::TableUpdate upgrade[] = {spec::UpgradeFormatVersion{3}};
  table = table.store->commit(fixture.context, table, {}, upgrade);
  EXPECT_EQ(table.metadata->next_row_id, 0);
  const catalog::LoadedTable stale = table;
  table = fixture.append_rows(table, "first", 4);
  EXPECT_EQ(table.metadata->current_snapshot()->first_row_id, 0);
  EXPECT_EQ(table.metadata->current_snapshot()->added_rows, 14);
  EXPECT_EQ(table.metadata->next_row_id, 14);
  table = fixture.append_rows(stale, "second", 5);
  EXPECT_EQ(table.metadata->current_snapshot()->first_row_id, 14);
  EXPECT_EQ(table.metadata->next_row_id, 19);
  table = append(fixture.context, table, {}, {});
  EXPECT_EQ(table.metadata->current_snapshot()->first_row_id, 19);
  EXPECT_EQ(table.metadata->current_snapshot()->added_rows, 0);

  std::set<int64_t> ids;
  MemoryPool& pool = fixture.context.memory_pool();
  for (const auto& file : manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool)) {
    const manifest::Manifest read = manifest::read_manifest(table.files->open_input(file.path), file, pool);
    for (size_t i = 0; i < read.size(); ++i) {
      ASSERT_TRUE(read[i].first_row_id().has_value());
      for (int64_t row = 0; row < read[i].record_count(); ++row) {
        EXPECT_TRUE(ids.insert(*read[i].first_row_id() + row).second);
      }
    }
  }
  EXPECT_EQ(ids.size(), 19u);
  EXPECT_EQ(*ids.rbegin(), 18);
}

// Of one v3 table, through merges: rows keep their ids.
TEST(Append, MergesManifests) {
  for (int version : {1, 2, 3}) {
    Fixture fixture;
    catalog::LoadedTable table =
        fixture.create(new_table(version, false, {{"commit.manifest.min-count-to-merge", "3"}}));
    std::map<std::string, std::pair<int64_t, int64_t>> seen;  // path -> sequence number, first row id
    MemoryPool& pool = fixture.context.memory_pool();
    for (int i = 0; i < 8; ++i) {
      const std::string name = "f" + std::to_string(i);
      table = fixture.append_rows(table, name, i + 1);
      const auto manifests = manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool);
      // 1, 2, 3 -> 1, 2, 3 -> 1, ...
      EXPECT_EQ(manifests.size(), static_cast<size_t>(i % 2 == 0 ? 1 : 2)) << i;
      for (const auto& file : manifests) {
        const manifest::Manifest read = manifest::read_manifest(table.files->open_input(file.path), file, pool);
        for (size_t entry = 0; entry < read.size(); ++entry) {
          const std::pair<int64_t, int64_t> now = {read[entry].sequence_number().value_or(-1),
                                                   read[entry].first_row_id().value_or(-1)};
          const auto [place, is_new] = seen.emplace(std::string(read[entry].file_path()), now);
          EXPECT_EQ(place->second, now) << read[entry].file_path();
          if (is_new) {
            EXPECT_EQ(read[entry].status(), manifest::EntryStatus::kAdded);
          }
        }
      }
      EXPECT_EQ(live_files(table, pool).size(), static_cast<size_t>(i + 1));
      EXPECT_EQ(summary_of(table)["manifests-replaced"], i > 0 && i % 2 == 0 ? "2" : "0");
    }
    // Manifests that went into others are not left lying.
    std::set<std::string> named;
    for (const spec::Snapshot& snapshot : table.metadata->snapshots) {
      for (const auto& file : manifests_of(snapshot, *table.metadata, *table.files, pool)) named.insert(file.path);
    }
    for (const std::string& path : test::files_below(*table.files, kPath)) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (name.find("-m") != std::string::npos && name.ends_with(".avro")) {
        EXPECT_TRUE(named.contains(path)) << path;
      }
    }
  }
}

// Delete files keep what they say of themselves: numbers, content, what they refer to.
TEST(Append, MergesDeleteManifests) {
  for (int version : {2, 3}) {
    Fixture fixture;
    MemoryPool& pool = fixture.context.memory_pool();
    catalog::LoadedTable table =
        fixture.create(new_table(version, false, {{"commit.manifest.min-count-to-merge", "3"}}));
    for (int i = 0; i < 4; ++i) table = fixture.append_rows(table, "f" + std::to_string(i), 10);
    // Somebody deletes rows of each file: a manifest of deletes a commit, the newest first.
    ManifestNames names("deletes");
    WrittenFiles written(table.files);
    std::vector<manifest::ManifestFile> manifests =
        manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool);
    std::vector<manifest::ManifestFile> deletes;
    for (int i = 0; i < 4; ++i) {
      manifest::DataFile file = data_file(table, "d" + std::to_string(i), i + 1);
      if (i == 2) {
        file.content = manifest::FileContent::kEqualityDeletes;
        file.equality_ids = {1};
      } else {
        file.content = manifest::FileContent::kPositionDeletes;
        file.referenced_data_file = std::string(kPath) + "/data/f" + std::to_string(i);
        if (version == 3) {
          file.format = manifest::FileFormat::kPuffin;
          file.content_offset = 4;
          file.content_size_bytes = 40 + i;
        }
      }
      manifest::ManifestWriterOptions options;
      options.format_version = version;
      options.content = manifest::ManifestContent::kDeletes;
      options.schema = table.metadata->current_schema();
      options.spec = table.metadata->default_spec();
      options.snapshot_id = 1000 + i;
      manifest::ManifestWriter writer(table.files->open_output(names.next(*table.metadata)), options, pool);
      writer.add(file);
      deletes.push_back(writer.finish());
      deletes.back().sequence_number = 5 + i;
      deletes.back().min_sequence_number = 5 + i;
    }
    for (const manifest::ManifestFile& file : deletes) manifests.push_back(file);
    const ManifestWriting writing{
        .files = *table.files, .pool = pool, .names = names, .written = written, .snapshot_id = 77, .publish = {}};
    const MergedManifests merged = merge_manifests(manifests, *table.metadata, writing);
    std::map<std::string, std::string> seen;
    size_t delete_manifests = 0;
    for (const manifest::ManifestFile& file : merged.manifests) {
      if (file.content == manifest::ManifestContent::kData) {
        EXPECT_EQ(delete_manifests, 0u) << "data manifests come first";
        continue;
      }
      ++delete_manifests;
      manifest::ManifestOptions all;
      all.with_metrics = true;
      const manifest::Manifest read = manifest::read_manifest(table.files->open_input(file.path), file, pool, all);
      for (size_t i = 0; i < read.size(); ++i) {
        const manifest::DataFile entry = manifest::data_file_of(read[i]);
        seen[entry.path.substr(entry.path.rfind('/') + 1)] = message(
            "{} {} {} {} {} {}", static_cast<int>(entry.content), read[i].sequence_number().value_or(-1),
            read[i].snapshot_id().value_or(-1), entry.record_count,
            entry.equality_ids.empty() ? -1 : entry.equality_ids.front(), entry.content_size_bytes.value_or(-1));
        if (entry.content == manifest::FileContent::kPositionDeletes) {
          EXPECT_THAT(entry.referenced_data_file.value_or(""), HasSubstr("/data/f"));
        }
      }
    }
    EXPECT_EQ(delete_manifests, 1u) << version;
    const auto size = [&](int i) { return version == 3 ? 40 + i : -1; };
    EXPECT_EQ(seen["d0"], message("1 5 1000 1 -1 {}", size(0)));
    EXPECT_EQ(seen["d1"], message("1 6 1001 2 -1 {}", size(1)));
    EXPECT_EQ(seen["d2"], "2 7 1002 3 1 -1");
    EXPECT_EQ(seen["d3"], message("1 8 1003 4 -1 {}", size(3)));
  }
}

TEST(Append, LeavesManifestsAloneIfTheTableSaysSo) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(
      new_table(2, false, {{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest-merge.enabled", "FALSE"}}));
  for (int i = 0; i < 4; ++i) table = fixture.append_rows(table, std::to_string(i), 1);
  MemoryPool& pool = fixture.context.memory_pool();
  EXPECT_EQ(manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool).size(), 4u);
  // The newest first, as Iceberg Java and PyIceberg list them.
  EXPECT_EQ(manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool)[0].sequence_number,
            4);
  table = fixture.append_rows(table, "m", 1, {.merge_manifests = true});
  EXPECT_EQ(manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, pool).size(), 1u);
}

TEST(Append, BeginsNewManifestsAtTheTargetSize) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table(
      2, false, {{"commit.manifest.target-size-bytes", "20000"}, {"commit.manifest-merge.enabled", "false"}}));
  std::vector<manifest::DataFile> files;
  for (int i = 0; i < 3000; ++i) {
    manifest::DataFile file = i == 0 ? data_file(table, "x", 1) : files.front();
    file.path = message("{}/data/{}-{}", kPath, i, fixture.random.next());
    write_file(*table.files, file.path, {}, {});
    files.push_back(std::move(file));
  }
  table = append(fixture.context, table, files);
  const auto manifests =
      manifests_of(*table.metadata->current_snapshot(), *table.metadata, *table.files, fixture.context.memory_pool());
  EXPECT_GE(manifests.size(), 2u);
  for (const auto& file : manifests) EXPECT_LT(file.length, 40000);
  EXPECT_EQ(live_files(table, fixture.context.memory_pool()).size(), 3000u);
}

// A second writer that began from the same version: both are there, and the new files' manifest is written once.
TEST(Append, TriesAgainAfterAConflict) {
  Fixture fixture;
  const catalog::LoadedTable base = fixture.create(new_table());
  fixture.append_rows(base, "a", 1);
  fixture.append_rows(base, "b", 1);
  const auto before = fixture.clock.steady_now();
  const catalog::LoadedTable table = fixture.append_rows(base, "c", 1);
  // One conflict, one wait: between half of commit.retry.min-wait-ms and all of it.
  EXPECT_GE(fixture.clock.steady_now() - before, std::chrono::milliseconds(50));
  EXPECT_LE(fixture.clock.steady_now() - before, std::chrono::milliseconds(100));
  EXPECT_EQ(live_files(table, fixture.context.memory_pool()).size(), 3u);
  EXPECT_EQ(table.metadata->last_sequence_number, 3);
  int lists = 0;
  int manifests = 0;
  for (const std::string& path : test::files_below(*table.files, std::string(kPath) + "/metadata")) {
    lists += path.find("/snap-") != std::string::npos ? 1 : 0;
    manifests += path.find("-m") != std::string::npos && path.ends_with(".avro") ? 1 : 0;
  }
  EXPECT_EQ(lists, 3);
  EXPECT_EQ(manifests, 3);
  // Java counts attempts from 1.
  EXPECT_THAT(*table.metadata->current_snapshot()->manifest_list, HasSubstr("-2-"));
}

// Lets somebody else commit before each attempt.
class CrowdedStore final : public catalog::TableStore {
 public:
  CrowdedStore(Fixture& fixture, std::shared_ptr<catalog::TableStore> inner, int others)
      : fixture_(fixture), inner_(std::move(inner)), others_(others) {}
  catalog::LoadedTable load() override {
    catalog::LoadedTable table = inner_->load();
    inner_ = table.store;
    table.store = self.lock();
    return table;
  }
  catalog::LoadedTable commit(Context& context, const catalog::LoadedTable& base,
                              std::span<const spec::TableRequirement> requirements,
                              std::span<const spec::TableUpdate> updates,
                              const catalog::CommitOptions& options) override {
    if (others_-- > 0) before_attempt(fixture_.open());
    return inner_->commit(context, base, requirements, updates, options);
  }
  std::function<void(const catalog::LoadedTable&)> before_attempt = [this](const catalog::LoadedTable& table) {
    const spec::TableUpdate update[] = {spec::SetProperties{{{"n", std::to_string(others_)}}}};
    table.store->commit(fixture_.context, table, {}, update);
  };
  std::weak_ptr<CrowdedStore> self;

 private:
  Fixture& fixture_;
  std::shared_ptr<catalog::TableStore> inner_;
  int others_;
};

std::shared_ptr<CrowdedStore> crowd(Fixture& fixture, catalog::LoadedTable& table, int others) {
  auto store = std::make_shared<CrowdedStore>(fixture, table.store, others);
  store->self = store;
  table.store = store;
  return store;
}

TEST(Append, GivesUpAfterItsRetriesAndLeavesNothing) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(
      new_table(2, false, {{"commit.retry.num-retries", "2"}, {"commit.manifest.min-count-to-merge", "1"}}));
  const auto store = crowd(fixture, table, 100);
  const std::string error = error_of([&] { fixture.append_rows(table, "lost", 1); });
  EXPECT_THAT(error, AllOf(HasSubstr("conflict"), HasSubstr("gave up after 3 attempts"), HasSubstr("num-retries")));
  for (const std::string& path : test::files_below(fixture.memory, kPath)) {
    EXPECT_TRUE(path.ends_with(".metadata.json") || path.ends_with("version-hint.text")) << path;
  }
  EXPECT_THAT(live_files(fixture.open(), fixture.context.memory_pool()), IsEmpty());

  table = fixture.open();
  const auto patient = crowd(fixture, table, 2);
  table = fixture.append_rows(table, "kept", 1);
  EXPECT_EQ(live_files(fixture.open(), fixture.context.memory_pool()).size(), 1u);
}

TEST(Append, GivesUpAtItsDeadline) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(
      new_table(2, false, {{"commit.retry.num-retries", "1000"}, {"commit.retry.total-timeout-ms", "5000"}}));
  const auto store = crowd(fixture, table, 100);
  const auto before = fixture.clock.steady_now();
  EXPECT_THAT(error_of([&] { fixture.append_rows(table, "lost", 1); }), HasSubstr("conflict"));
  EXPECT_LE(fixture.clock.steady_now() - before, std::chrono::seconds(5));
  EXPECT_GE(fixture.clock.steady_now() - before, std::chrono::seconds(1));
}

TEST(Append, StopsBetweenAttempts) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table());
  const auto store = crowd(fixture, table, 100);
  std::stop_source stop;
  store->before_attempt = [&, before = store->before_attempt](const catalog::LoadedTable& now) {
    before(now);
    stop.request_stop();
  };
  EXPECT_THAT(error_of([&] { fixture.append_rows(table, "lost", 1, {.stop = stop.get_token()}); }),
              HasSubstr("cancelled"));
  EXPECT_FALSE(fixture.memory.stat(std::string(kPath) + "/data/lost").has_value());
}

// The table was upgraded between two attempts: manifests of the old version would not do.
TEST(Append, WritesManifestsAnewForAnUpgradedTable) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table(1));
  const auto store = crowd(fixture, table, 1);
  store->before_attempt = [&](const catalog::LoadedTable& now) {
    const spec::TableUpdate upgrade[] = {spec::UpgradeFormatVersion{3}};
    now.store->commit(fixture.context, now, {}, upgrade);
  };
  table = fixture.append_rows(table, "a", 6);
  EXPECT_EQ(table.metadata->format_version, 3);
  EXPECT_EQ(table.metadata->next_row_id, 6);
  EXPECT_EQ(row_count(live_files(fixture.open(), fixture.context.memory_pool())), 6);
}

TEST(Append, RefusesATableThatWasReplaced) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table());
  const auto store = crowd(fixture, table, 1);
  store->before_attempt = [&](const catalog::LoadedTable&) {
    for (const std::string& path : test::files_below(fixture.memory, std::string(kPath) + "/metadata")) {
      if (!path.ends_with(".avro")) fixture.memory.remove(path);
    }
    const catalog::LoadedTable other = fixture.create(new_table());
    const spec::TableUpdate update[] = {spec::SetProperties{{{"a", "b"}}}};
    other.store->commit(fixture.context, other, {}, update);
  };
  EXPECT_THAT(error_of([&] { fixture.append_rows(table, "lost", 1); }), HasSubstr("was replaced by another one"));
}

TEST(Append, GoesToBranches) {
  Fixture fixture;
  catalog::LoadedTable table = fixture.create(new_table(3));
  table = fixture.append_rows(table, "a", 2);
  spec::SnapshotRef branch;
  branch.name = "audit";
  branch.snapshot_id = *table.metadata->current_snapshot_id;
  branch.min_snapshots_to_keep = 5;
  spec::SnapshotRef tag = branch;
  tag.name = "v1";
  tag.type = spec::RefType::kTag;
  tag.min_snapshots_to_keep.reset();
  const spec::TableUpdate updates[] = {spec::SetSnapshotRef{branch}, spec::SetSnapshotRef{tag}};
  table = table.store->commit(fixture.context, table, {}, updates);
  table = fixture.append_rows(table, "b", 3, {.branch = "audit"});
  table = fixture.append_rows(table, "c", 4);
  table = fixture.append_rows(table, "d", 5, {.branch = "audit"});
  EXPECT_EQ(table.metadata->find_ref("audit")->min_snapshots_to_keep, 5);
  EXPECT_EQ(table.metadata->next_row_id, 14);
  MemoryPool& pool = fixture.context.memory_pool();
  EXPECT_EQ(row_count(live_files(table, pool)), 6);
  EXPECT_EQ(row_count(live_files(table, pool, "audit")), 10);
  EXPECT_EQ(table.metadata->snapshot_log.size(), 2u);  // what was current: main's alone
  EXPECT_THAT(error_of([&] { fixture.append_rows(table, "x", 1, {.branch = "v1"}); }), HasSubstr("is a tag"));
  EXPECT_THAT(error_of([&] { fixture.append_rows(table, "x", 1, {.branch = "none"}); }),
              HasSubstr("not_found: table memory://lake/t has no branch 'none'"));
}

TEST(Append, RefusesFilesThatDoNotFit) {
  Fixture fixture;
  const catalog::LoadedTable table = fixture.create(new_table(2, true));
  const auto refused = [&](const std::function<void(manifest::DataFile&)>& change) {
    manifest::DataFile file = data_file(table, "f", 1, 2);
    change(file);
    const std::string error = error_of([&] { append(fixture.context, table, {file}); });
    EXPECT_THAT(test::files_below(fixture.memory, kPath).size(), 2u) << error;
    return error;
  };
  EXPECT_THAT(refused([](auto& file) { file.spec_id = 7; }), HasSubstr("its partition spec does not exist"));
  EXPECT_THAT(refused([](auto& file) { file.partition.clear(); }), HasSubstr("are not those of its spec"));
  EXPECT_THAT(refused([](auto& file) { file.partition = {spec::Literal::string("x")}; }),
              HasSubstr("invalid_argument"));
  EXPECT_THAT(refused([](auto& file) { file.record_count = -1; }), HasSubstr("negative"));
  EXPECT_THAT(refused([](auto& file) { file.content = manifest::FileContent::kPositionDeletes; }),
              HasSubstr("delete file"));
  const manifest::DataFile twice = data_file(table, "f", 1, 2);
  EXPECT_THAT(error_of([&] { append(fixture.context, table, {twice, twice}); }), HasSubstr("twice"));
  catalog::LoadedTable alone = table;
  alone.store = nullptr;
  EXPECT_THAT(error_of([&] { append(fixture.context, alone, {}); }), HasSubstr("can only be read"));
}

// Every call fails in turn, in each way: the table is the old one or the new one, whole; what failed left nothing, what
// is unknown kept everything, and what was said to be done is there.
TEST(Append, SurvivesEveryIoFailure) {
  for (int version : {2, 3}) {
    for (FaultKind kind : {FaultKind::kError, FaultKind::kShort, FaultKind::kAfterward}) {
      for (bool lasting : {false, true}) {
        SCOPED_TRACE(message("v{} {} {}", version, static_cast<int>(kind), lasting));
        size_t old_file_count = 0;
        bool unknown = false;
        std::string what;
        const uint64_t struck = for_each_failing_call({
            .prepare =
                [&](FileSystem& memory) {
                  Fixture fixture;
                  FileSystems files = test::over_memory(memory);
                  catalog::LoadedTable table = catalog::create_table_by_path(
                      fixture.context, kPath, files, fixture.context.memory_pool(),
                      new_table(version, false, {{"commit.manifest.min-count-to-merge", "2"}}));
                  fixture.append_rows(table, "old", 5);
                  old_file_count = test::files_below(memory, kPath).size();
                  // The data file of the append that is to come: written by somebody else.
                  write_file(memory, std::string(kPath) + "/data/new", std::as_bytes(std::span("new", 3)), {});
                },
            .run =
                [&](FaultyFileSystem& faulty) {
                  unknown = false;
                  what.clear();
                  Fixture fixture;
                  FileSystems files = test::over_memory(faulty);
                  try {
                    catalog::LoadedTable table =
                        catalog::open_table_by_path(kPath, files, fixture.context.memory_pool());
                    manifest::DataFile file;
                    file.path = std::string(kPath) + "/data/new";
                    file.record_count = 7;
                    file.file_size_bytes = 3;
                    for (const std::string& notice : append(fixture.context, table, {file}).notices) what += notice;
                  } catch (const CommitStateUnknownError& error) {
                    unknown = true;
                    what = error.what();
                    throw;
                  } catch (const Error& error) {
                    what = error.what();
                    throw;
                  }
                },
            .check =
                [&](FileSystem& memory, bool failed) {
                  Fixture fixture;
                  FileSystems files = test::over_memory(memory);
                  const catalog::LoadedTable table =
                      catalog::open_table_by_path(kPath, files, fixture.context.memory_pool());
                  const catalog::LoadedTable newest = table.store->load();
                  const int64_t rows = row_count(live_files(newest, fixture.context.memory_pool()));
                  EXPECT_TRUE(rows == 5 || rows == 12) << rows;
                  const std::vector<std::string> left = test::files_below(memory, kPath);
                  if (!failed) {
                    EXPECT_EQ(rows, 12);
                    // Readers that go by the hint see it too, or the user is told.
                    if (newest.metadata_location != table.metadata_location) {
                      EXPECT_THAT(what, HasSubstr("readers that go by it see an older one"));
                    }
                  } else if (unknown) {
                    EXPECT_GT(left.size(), old_file_count + 1) << "something was deleted: " << what;
                    EXPECT_THAT(what, AllOf(HasSubstr("nothing was deleted"), HasSubstr("/metadata/snap-")));
                  } else {
                    EXPECT_EQ(rows, 5) << what;
                    // Where removing fails too, files stay; none of them has a name that a reader takes for a version.
                    if (!lasting) {
                      const size_t data_left = memory.stat(std::string(kPath) + "/data/new") ? 1 : 0;
                      EXPECT_EQ(left.size() - data_left, old_file_count) << what;
                    }
                  }
                  // And one can go on.
                  catalog::LoadedTable more = append(fixture.context, newest, {data_file(newest, "more", 1)});
                  EXPECT_EQ(row_count(live_files(more, fixture.context.memory_pool())), rows + 1);
                },
            .kind = kind,
            .lasting = lasting,
        });
        EXPECT_GT(struck, 15u);
      }
    }
  }
}

}  // namespace
}  // namespace frazil::commit
