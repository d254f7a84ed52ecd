#include "frazil/spec/table_update.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/spec/new_table.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::error_of;
using test::field;
using ::testing::HasSubstr;

// What PyIceberg makes of tables and updates (testdata/make_updates.py).
json::Value vectors() {
  return json::parse(test::read_file(test::corpora() / "../../src/frazil/spec/testdata/updates.json"));
}

std::string text_of(const TableMetadata& metadata) {
  return json::write(table_metadata_to_json(metadata), 1);
}

TEST(TableUpdateVectors, NewTablesAreThoseOfPyIceberg) {
  const json::Value all = vectors();
  ASSERT_FALSE(all.at("tables").as_array().empty());
  for (const json::Value& vector : all.at("tables").as_array()) {
    NewTable table;
    table.schema = schema_from_json(vector.at("schema"));
    table.spec = partition_spec_from_json(vector.at("spec"));
    table.sort_order = sort_order_from_json(vector.at("order"));
    table.location = "file:///t";
    table.properties = {{"a", "b"}};
    const TableMetadata theirs = table_metadata_from_json(vector.at("metadata"));
    TableMetadata ours = new_table_metadata(table, parse_uuid(*theirs.table_uuid), theirs.last_updated_ms);
    // PyIceberg writes zstd where a table says nothing, and does not record it.
    ours.properties = {{"a", "b"}};
    EXPECT_EQ(text_of(ours), text_of(theirs));
  }
}

TEST(TableUpdateVectors, UpdatesDoWhatPyIcebergDoes) {
  const json::Value all = vectors();
  ASSERT_GE(all.at("updates").as_array().size(), 10u);
  for (const json::Value& vector : all.at("updates").as_array()) {
    SCOPED_TRACE(vector.at("name").as_string());
    const TableMetadata base = table_metadata_from_json(vector.at("base"));
    std::vector<TableUpdate> updates;
    for (const json::Value& item : vector.at("updates").as_array()) {
      updates.push_back(table_update_from_json(item));
      EXPECT_EQ(action_of(updates.back()), item.at("action").as_string());
    }
    TableMetadata theirs = table_metadata_from_json(vector.at("metadata"));
    TableMetadata ours = apply_updates(base, updates, {.now_ms = theirs.last_updated_ms});
    EXPECT_GE(ours.last_updated_ms, base.last_updated_ms);
    ours.last_updated_ms = theirs.last_updated_ms = 0;
    // PyIceberg forgets parents that were removed, and keeps the log of a main branch that was: Java does neither.
    for (Snapshot& each : ours.snapshots) {
      if (each.parent_snapshot_id && ours.find_snapshot(*each.parent_snapshot_id) == nullptr) {
        each.parent_snapshot_id.reset();
      }
    }
    if (!theirs.current_snapshot_id) theirs.snapshot_log.clear();
    EXPECT_EQ(text_of(ours), text_of(theirs));
  }
}

TEST(TableUpdateJson, RoundTrips) {
  const json::Value all = vectors();
  for (const json::Value& vector : all.at("updates").as_array()) {
    for (const json::Value& item : vector.at("updates").as_array()) {
      const json::Value written = table_update_to_json(table_update_from_json(item));
      // All that came in goes out. (It may say more: the deprecated last-column-id.)
      for (const auto& [key, value] : item.as_object()) {
        ASSERT_NE(written.find(key), nullptr) << key;
        if (key != "snapshot" && key != "schema" && key != "spec" && key != "sort-order" && key != "statistics" &&
            key != "partition-statistics") {
          EXPECT_EQ(json::write(written.at(key)), json::write(value));
        }
      }
      EXPECT_EQ(json::write(table_update_to_json(table_update_from_json(written))), json::write(written));
    }
  }
  for (const json::Value& item : all.at("requirements").as_array()) {
    EXPECT_EQ(table_requirement_to_json(table_requirement_from_json(item)), item) << json::write(item);
  }
  // Those that PyIceberg does not have.
  for (const char* text : {
           R"({"action":"add-encryption-key","encryption-key":{"key-id":"k","encrypted-key-metadata":"AAA="}})",
           R"({"action":"remove-encryption-key","key-id":"k"})",
           R"({"action":"add-spec","spec":{"spec-id":0,"fields":[{"name":"a","transform":"identity","source-id":1},)"
           R"({"name":"b","transform":"void","source-id":2,"field-id":1004}]}})",
       }) {
    EXPECT_EQ(json::write(table_update_to_json(table_update_from_json(json::parse(text)))), text);
  }
}

TEST(TableUpdateJson, RefusesWhatItDoesNotKnow) {
  const auto refused = [](ErrorKind kind, std::string_view text) {
    return error_of(kind, [&] { table_update_from_json(json::parse(text)); });
  };
  EXPECT_THAT(refused(ErrorKind::kUnsupported, R"({"action":"add-view-version"})"), HasSubstr("'add-view-version'"));
  EXPECT_THAT(refused(ErrorKind::kCorrupt, R"({"action":7})"), HasSubstr("key 'action'"));
  EXPECT_THAT(refused(ErrorKind::kCorrupt, R"([])"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refused(ErrorKind::kCorrupt, R"({"action":"set-location"})"), HasSubstr("'location' is missing"));
  EXPECT_THAT(refused(ErrorKind::kCorrupt, R"({"action":"set-properties"})"), HasSubstr("'updates' is missing"));
  EXPECT_THAT(refused(ErrorKind::kCorrupt, R"({"action":"add-spec","spec":{"fields":[{"name":"a"}]}})"),
              HasSubstr("reading the table update 'add-spec'"));
  EXPECT_THAT(error_of(ErrorKind::kUnsupported, [] { table_requirement_from_json(json::parse(R"({"type":"x"})")); }),
              HasSubstr("'x'"));
  // As it was before version 1.0 of the specification.
  EXPECT_EQ(
      std::get<SetProperties>(table_update_from_json(json::parse(R"({"action":"set-properties","updated":{"a":"b"}})")))
          .updates.size(),
      1u);
}

// ---- Rules

constexpr int64_t kNow = 1'700'000'000'000;

TableMetadata new_metadata(int version = 2) {
  NewTable table;
  table.schema = std::make_shared<const Schema>(std::vector<NestedField>{
      field(1, "id", primitive(TypeKind::kLong), true), field(2, "name", primitive(TypeKind::kString))});
  table.location = "file:///t";
  table.format_version = version;
  return new_table_metadata(table, parse_uuid("9c12d441-03fe-4693-9a96-a0705ddf69c1"), kNow);
}

Snapshot snapshot(int64_t id, std::optional<int64_t> parent, int64_t sequence_number, int64_t timestamp_ms = kNow) {
  Snapshot result;
  result.snapshot_id = id;
  result.parent_snapshot_id = parent;
  result.sequence_number = sequence_number;
  result.timestamp_ms = timestamp_ms;
  result.manifest_list = "list";
  result.summary = {{"operation", "append"}};
  return result;
}

SetSnapshotRef main_at(int64_t id) {
  SnapshotRef ref;
  ref.name = "main";
  ref.snapshot_id = id;
  return {ref};
}

TableMetadata applied(const TableMetadata& base, std::vector<TableUpdate> updates, ApplyOptions options = {kNow, ""}) {
  return apply_updates(base, updates, options);
}

std::string refused(const TableMetadata& base, std::vector<TableUpdate> updates,
                    ErrorKind kind = ErrorKind::kInvalidArgument) {
  return error_of(kind, [&] { applied(base, std::move(updates)); });
}

TEST(ApplyUpdates, LogsWhatWasCurrentAndNothingElse) {
  // Of three snapshots in one commit, the last was current.
  TableMetadata table = applied(new_metadata(), {AddSnapshot{snapshot(1, {}, 1)}, main_at(1),
                                                 AddSnapshot{snapshot(2, 1, 2, kNow + 5)}, main_at(2)});
  ASSERT_EQ(table.snapshot_log.size(), 1u);
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, 2);
  EXPECT_EQ(table.snapshot_log[0].timestamp_ms, kNow + 5);
  table = applied(table, {AddSnapshot{snapshot(3, 2, 3, kNow + 9)}, main_at(3)});
  table = applied(table, {AddSnapshot{snapshot(4, 3, 4, kNow + 12)}, main_at(4)});
  ASSERT_EQ(table.snapshot_log.size(), 3u);
  // Without 3 it would seem that 2 was current until 4 came.
  table = applied(table, {RemoveSnapshots{{3}}});
  ASSERT_EQ(table.snapshot_log.size(), 1u);
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, 4);
  // Back to an old snapshot: now, not then.
  table = applied(table, {main_at(2)}, {kNow + 100, ""});
  EXPECT_EQ(table.snapshot_log.back().snapshot_id, 2);
  EXPECT_EQ(table.snapshot_log.back().timestamp_ms, kNow + 100);
  // Nothing moves: nothing is logged.
  EXPECT_EQ(applied(table, {main_at(2)}).snapshot_log.size(), table.snapshot_log.size());
  EXPECT_TRUE(applied(table, {RemoveSnapshotRef{"main"}}).snapshot_log.empty());
}

TEST(ApplyUpdates, NeverGoesBackInTime) {
  TableMetadata table = applied(new_metadata(), {AddSnapshot{snapshot(1, {}, 1, kNow + 50)}, main_at(1)});
  EXPECT_EQ(table.last_updated_ms, kNow + 50);
  table = applied(table, {AddSnapshot{snapshot(2, 1, 2, kNow - 1'000'000)}, main_at(2)}, {kNow - 1'000'000, ""});
  EXPECT_EQ(table.last_updated_ms, kNow + 50);
  EXPECT_EQ(table.snapshot_log.back().timestamp_ms, kNow + 50);
  EXPECT_EQ(applied(table, {SetLocation{"x"}}, {0, ""}).last_updated_ms, kNow + 50);
}

TEST(ApplyUpdates, KeepsALogOfMetadataFiles) {
  TableMetadata table = new_metadata();
  for (int i = 0; i < 150; ++i) {
    table = applied(table, {SetProperties{{{"i", std::to_string(i)}}}}, {kNow + i, "m" + std::to_string(i)});
  }
  ASSERT_EQ(table.metadata_log.size(), 100u);
  EXPECT_EQ(table.metadata_log.front().metadata_file, "m50");
  EXPECT_EQ(table.metadata_log.back().metadata_file, "m149");
  EXPECT_EQ(table.metadata_log.back().timestamp_ms, kNow + 148);
  // The new limit counts at once; less than one is one.
  for (const char* limit : {"3", "0", "-5"}) {
    const TableMetadata less =
        applied(table, {SetProperties{{{"write.metadata.previous-versions-max", limit}}}}, {kNow, "m150"});
    EXPECT_EQ(less.metadata_log.size(), *limit == '3' ? 3u : 1u);
    EXPECT_EQ(less.metadata_log.back().metadata_file, "m150");
  }
}

TEST(ApplyUpdates, UsesEqualSchemasSpecsAndOrdersAgain) {
  const TableMetadata base = new_metadata();
  const auto same = std::make_shared<const Schema>(
      std::vector<NestedField>(base.schemas[0]->fields().begin(), base.schemas[0]->fields().end()), 42);
  TableMetadata table = applied(base, {AddSchema{same}, SetCurrentSchema{}});
  EXPECT_EQ(table.schemas.size(), 1u);
  EXPECT_EQ(table.current_schema_id, 0);

  PartitionSpec by_id;
  by_id.fields.resize(1);
  by_id.fields[0].source_ids = {1};
  by_id.fields[0].name = "id";
  table = applied(table, {AddPartitionSpec{by_id}, SetDefaultSpec{}});
  EXPECT_EQ(table.default_spec_id, 1);
  EXPECT_EQ(table.partition_specs[1].fields[0].field_id, 1000);
  table = applied(table, {AddPartitionSpec{{}}, SetDefaultSpec{}});
  EXPECT_EQ(table.default_spec_id, 0);
  table = applied(table, {AddPartitionSpec{by_id}, SetDefaultSpec{}});
  EXPECT_EQ(table.partition_specs.size(), 2u);
  EXPECT_EQ(table.default_spec_id, 1);
  // A field that an older spec has keeps its id, a new one gets the next.
  PartitionSpec two = by_id;
  two.fields.insert(two.fields.begin(), by_id.fields[0]);
  two.fields[0].transform = Transform::bucket(8);
  two.fields[0].name = "id_bucket";
  table = applied(table, {AddPartitionSpec{two}});
  EXPECT_EQ(table.partition_specs[2].fields[0].field_id, 1001);
  EXPECT_EQ(table.partition_specs[2].fields[1].field_id, 1000);
  EXPECT_EQ(table.last_partition_id, 1001);
  two.fields[0].field_id = 1000;
  two.fields[1].field_id = 1000;
  two.fields[1].transform = Transform::truncate(5);
  two.fields[1].name = "id_truncated";
  EXPECT_THAT(refused(table, {AddPartitionSpec{two}}), HasSubstr("two partition fields have the id 1000"));

  SortOrder order;
  order.fields.resize(1);
  order.fields[0].source_ids = {2};
  table = applied(table, {AddSortOrder{order}, SetDefaultSortOrder{}});
  EXPECT_EQ(table.default_sort_order_id, 1);
  table = applied(table, {AddSortOrder{{}}, SetDefaultSortOrder{}, AddSortOrder{order}});
  EXPECT_EQ(table.default_sort_order_id, 0);
  EXPECT_EQ(table.sort_orders.size(), 2u);
}

TEST(ApplyUpdates, NumbersPartitionFieldsOfVersionOneByPlace) {
  TableMetadata table = new_metadata(1);
  PartitionSpec spec;
  spec.fields.resize(1);
  spec.fields[0].source_ids = {1};
  spec.fields[0].name = "id";
  table = applied(table, {AddPartitionSpec{spec}});
  spec.fields[0].source_ids = {2};
  spec.fields[0].name = "name";
  table = applied(table, {AddPartitionSpec{spec}});
  EXPECT_EQ(table.partition_specs.back().fields[0].field_id, 1000);
  spec.fields[0].field_id = 1005;
  spec.fields[0].transform = Transform::truncate(3);
  spec.fields[0].name = "n";
  EXPECT_THAT(refused(table, {AddPartitionSpec{spec}}), HasSubstr("must have the id 1000 in format version 1"));
}

TEST(ApplyUpdates, TellsConflictsFromMistakes) {
  const TableMetadata table = applied(new_metadata(3), {[] {
                                                          Snapshot first = snapshot(1, {}, 1);
                                                          first.first_row_id = 0;
                                                          first.added_rows = 10;
                                                          return AddSnapshot{first};
                                                        }(),
                                                        main_at(1)});
  EXPECT_EQ(table.next_row_id, 10);
  Snapshot late = snapshot(2, 1, 1);
  late.first_row_id = 10;
  late.added_rows = 1;
  EXPECT_THAT(refused(table, {AddSnapshot{late}}, ErrorKind::kConflict), HasSubstr("the table is at 1 already"));
  late.sequence_number = 2;
  late.first_row_id = 9;
  EXPECT_THAT(refused(table, {AddSnapshot{late}}, ErrorKind::kConflict), HasSubstr("the table is at 10 already"));
  late.first_row_id.reset();
  EXPECT_THAT(refused(table, {AddSnapshot{late}}), HasSubstr("needs first-row-id and added-rows"));
  late.first_row_id = 10;
  late.added_rows = INT64_MAX;
  EXPECT_THAT(refused(table, {AddSnapshot{late}}), HasSubstr("adds 9223372036854775807 rows"));
  late.added_rows = 5;
  EXPECT_EQ(applied(table, {AddSnapshot{late}}).next_row_id, 15);
  EXPECT_THAT(refused(new_metadata(), {AddSnapshot{late}}), HasSubstr("need format version 3"));
  EXPECT_THAT(refused(table, {AddSnapshot{snapshot(1, {}, 9)}}), HasSubstr("exists already"));
}

TEST(ApplyUpdates, RefusesWhatCannotBe) {
  const TableMetadata table = new_metadata();
  EXPECT_THAT(refused(table, {SetLocation{"a"}, main_at(5)}),
              HasSubstr("applying the table update 'set-snapshot-ref'"));
  EXPECT_THAT(refused(table, {UpgradeFormatVersion{1}}), HasSubstr("cannot become one of version 1"));
  EXPECT_THAT(refused(table, {UpgradeFormatVersion{4}}), HasSubstr("cannot be written"));
  EXPECT_THAT(refused(table, {SetProperties{{{"format-version", "two"}}}}), HasSubstr("must be a number"));
  EXPECT_THAT(refused(table, {AssignUuid{"x"}}), HasSubstr("is not a UUID"));
  EXPECT_THAT(refused(table, {AssignUuid{"9c12d441-03fe-4693-9a96-a0705ddf69c2"}}), HasSubstr("keeps it"));
  EXPECT_THAT(refused(table, {SetCurrentSchema{7}}), HasSubstr("schema 7 does not exist"));
  EXPECT_THAT(refused(table, {SetCurrentSchema{}}), HasSubstr("no schema has been added"));
  EXPECT_THAT(refused(table, {SetDefaultSpec{7}}), HasSubstr("partition spec 7 does not exist"));
  EXPECT_THAT(refused(table, {SetDefaultSortOrder{7}}), HasSubstr("sort order 7 does not exist"));
  EXPECT_THAT(refused(table, {RemoveSchemas{{0}}}), HasSubstr("the current one"));
  EXPECT_THAT(refused(table, {RemovePartitionSpecs{{0}}}), HasSubstr("the default one"));
  EXPECT_THAT(refused(table, {SetLocation{""}}), HasSubstr("must not be empty"));
  SetSnapshotRef tag = main_at(1);
  tag.ref.type = RefType::kTag;
  EXPECT_THAT(refused(table, {AddSnapshot{snapshot(1, {}, 1)}, tag}), HasSubstr("cannot become a tag"));
  const auto nanoseconds =
      std::make_shared<const Schema>(std::vector<NestedField>{field(3, "n", primitive(TypeKind::kTimestampNs))});
  EXPECT_THAT(refused(table, {AddSchema{nanoseconds}}), HasSubstr("needs format version 3"));
  EXPECT_EQ(applied(table, {UpgradeFormatVersion{3}, AddSchema{nanoseconds}}).last_column_id, 3);
  // A v1 table without a UUID gets one with its upgrade.
  TableMetadata old = new_metadata(1);
  old.table_uuid.reset();
  EXPECT_THAT(refused(old, {UpgradeFormatVersion{2}}), HasSubstr("table-uuid is required"));
  EXPECT_EQ(applied(old, {AssignUuid{"9c12d441-03fe-4693-9a96-a0705ddf69c2"}, UpgradeFormatVersion{2}}).format_version,
            2);
}

TEST(ApplyUpdates, MendsCountersThatOthersLeftBehind) {
  TableMetadata table = new_metadata();
  table.last_column_id = 0;
  const TableMetadata after = applied(table, {SetLocation{"x"}});
  EXPECT_EQ(after.last_column_id, 2);
  EXPECT_EQ(applied(table, {}).last_column_id, 0);  // nothing to do: nothing changes
}

TEST(ApplyUpdates, TreatsReservedPropertiesAsJavaDoes) {
  const TableMetadata table = applied(
      new_metadata(1), {SetProperties{{{"format-version", "2"}, {"uuid", "x"}, {"snapshot-count", "9"}, {"k", "v"}}}});
  EXPECT_EQ(table.format_version, 2);
  EXPECT_EQ(table.property("k"), "v");
  EXPECT_EQ(table.property("uuid"), std::nullopt);
  EXPECT_EQ(table.property("format-version"), std::nullopt);
}

TEST(CheckRequirements, SayWhatIsThere) {
  const TableMetadata table = applied(new_metadata(), {AddSnapshot{snapshot(1, {}, 1)}, main_at(1)});
  const TableRequirement good[] = {AssertTableUuid{"9C12D441-03FE-4693-9A96-A0705DDF69C1"},
                                   AssertRefSnapshotId{"main", 1},
                                   AssertRefSnapshotId{"other", std::nullopt},
                                   AssertLastAssignedFieldId{2},
                                   AssertCurrentSchemaId{0},
                                   AssertLastAssignedPartitionId{999},
                                   AssertDefaultSpecId{0},
                                   AssertDefaultSortOrderId{0}};
  check_requirements(&table, good);
  const TableRequirement create[] = {AssertCreate{}};
  check_requirements(nullptr, create);
  const auto broken = [&](TableRequirement requirement) {
    return error_of(ErrorKind::kConflict, [&] { check_requirements(&table, {&requirement, 1}); });
  };
  EXPECT_THAT(broken(AssertCreate{}), HasSubstr("the table exists already"));
  EXPECT_THAT(broken(AssertTableUuid{"x"}), HasSubstr("the table's UUID should be x, but is 9c12d441"));
  EXPECT_THAT(broken(AssertRefSnapshotId{"main", std::nullopt}), HasSubstr("'main' should be none, but is 1"));
  EXPECT_THAT(broken(AssertRefSnapshotId{"other", 1}), HasSubstr("'other' should be 1, but is none"));
  EXPECT_THAT(broken(AssertLastAssignedFieldId{1}), HasSubstr("should be 1, but is 2"));
  EXPECT_THAT(broken(AssertCurrentSchemaId{1}), HasSubstr("should be 1, but is 0"));
  EXPECT_THAT(broken(AssertLastAssignedPartitionId{1}), HasSubstr("should be 1, but is 999"));
  EXPECT_THAT(broken(AssertDefaultSpecId{1}), HasSubstr("should be 1, but is 0"));
  EXPECT_THAT(broken(AssertDefaultSortOrderId{1}), HasSubstr("should be 1, but is 0"));
  EXPECT_THAT(error_of(ErrorKind::kConflict, [&] { check_requirements(nullptr, good); }),
              HasSubstr("the table does not exist"));
}

}  // namespace
}  // namespace frazil::spec
