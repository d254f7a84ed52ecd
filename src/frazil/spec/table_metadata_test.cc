// Rules of table metadata, one a test: what reading demands, what it forgives, and what time travel picks.
#include "frazil/spec/table_metadata.h"

#include <gtest/gtest.h>

#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::bytes_of;
using test::error_of;

json::Value schema_json(int32_t schema_id, int32_t columns) {
  json::Array fields;
  for (int32_t id = 1; id <= columns; ++id) {
    fields.push_back(json::parse(R"({"id":)" + std::to_string(id) + R"(,"name":"c)" + std::to_string(id) +
                                 R"(","required":false,"type":"long"})"));
  }
  json::Value schema = json::parse(R"({"type":"struct"})");
  schema.set("schema-id", json::Value(int64_t{schema_id}));
  schema.set("fields", json::Value(std::move(fields)));
  return schema;
}

// Two schemas, two snapshots on main, an older one under a tag.
json::Value base_json(int version = 2) {
  json::Value tree = json::parse(R"({
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://b/t",
    "last-sequence-number": 2, "last-updated-ms": 3000, "last-column-id": 2, "current-schema-id": 1,
    "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": [
      {"source-id": 1, "field-id": 1000, "name": "c1_bucket", "transform": "bucket[4]"}]}],
    "last-partition-id": 1000, "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
    "properties": {"a": "b"}, "current-snapshot-id": 20,
    "snapshots": [
      {"snapshot-id": 10, "sequence-number": 1, "timestamp-ms": 1000, "manifest-list": "s3://b/1.avro", "schema-id": 0,
       "summary": {"operation": "append"}},
      {"snapshot-id": 20, "parent-snapshot-id": 10, "sequence-number": 2, "timestamp-ms": 2000,
       "manifest-list": "s3://b/2.avro", "schema-id": 1, "summary": {"operation": "delete"}}],
    "snapshot-log": [{"timestamp-ms": 1000, "snapshot-id": 10}, {"timestamp-ms": 2000, "snapshot-id": 20}],
    "metadata-log": [], "refs": {"main": {"snapshot-id": 20, "type": "branch"},
      "old": {"snapshot-id": 10, "type": "tag"}, "work": {"snapshot-id": 10, "type": "branch"}}})");
  tree.set("format-version", json::Value(int64_t{version}));
  json::Array schemas;
  schemas.push_back(schema_json(0, 1));
  schemas.push_back(schema_json(1, 2));
  tree.set("schemas", json::Value(std::move(schemas)));
  if (version == 1) {
    tree.set("schema", schema_json(1, 2));
    tree.set("partition-spec", tree.at("partition-specs").as_array()[0].at("fields"));
  }
  if (version == 3) tree.set("next-row-id", json::Value(int64_t{0}));
  return tree;
}

// A copy of `tree` where the value at a path like "snapshots.0.schema-id" is `text` as JSON, or gone if it is empty.
json::Value with(json::Value tree, std::string_view path, std::string_view text) {
  json::Value* at = &tree;
  while (true) {
    size_t dot = path.find('.');
    std::string key(path.substr(0, dot));
    bool last = dot == std::string_view::npos;
    if (at->kind() == json::Value::Kind::kArray) {
      at = &at->as_array().at(std::stoul(key));
    } else if (last && text.empty()) {
      at->erase(key);
      return tree;
    } else if (last) {
      at->set(key, json::parse(text));
      return tree;
    } else {
      at = const_cast<json::Value*>(&at->at(key));
    }
    if (last) {
      *at = json::parse(text);
      return tree;
    }
    path.remove_prefix(dot + 1);
  }
}

std::string rule_of(const json::Value& tree, ErrorKind kind = ErrorKind::kCorrupt) {
  return error_of(kind, [&] { table_metadata_from_json(tree); });
}

void expect_rule(const json::Value& tree, std::string_view rule) {
  std::string text = rule_of(tree);
  EXPECT_NE(text.find(rule), std::string::npos) << "expected '" << rule << "' in: " << text;
}

TEST(TableMetadata, TheBaseOfTheseTestsIsValidInEveryVersion) {
  for (int version : {1, 2, 3}) {
    TableMetadata metadata = table_metadata_from_json(base_json(version));
    EXPECT_NO_THROW(validate(metadata)) << version;
    EXPECT_EQ(metadata.snapshots[1].sequence_number, version == 1 ? 0 : 2);
  }
}

TEST(TableMetadata, M16_EveryRequiredKeyIsNamedWhenMissingOrNull) {
  const std::pair<int, const char*> cases[] = {
      {2, "format-version"},
      {2, "table-uuid"},
      {2, "location"},
      {2, "last-sequence-number"},
      {2, "last-updated-ms"},
      {2, "last-column-id"},
      {2, "schemas"},
      {2, "current-schema-id"},
      {2, "partition-specs"},
      {2, "default-spec-id"},
      {2, "last-partition-id"},
      {2, "sort-orders"},
      {2, "default-sort-order-id"},
      {1, "location"},
      {1, "last-updated-ms"},
      {1, "last-column-id"},
      {3, "table-uuid"},
      {3, "schemas"},
      {2, "snapshots.0.snapshot-id"},
      {2, "snapshots.0.timestamp-ms"},
      {2, "snapshots.0.manifest-list"},
      {1, "snapshots.1.timestamp-ms"},
      {2, "partition-specs.0.spec-id"},
      {2, "partition-specs.0.fields"},
      {2, "partition-specs.0.fields.0.source-id"},
      {2, "partition-specs.0.fields.0.name"},
      {2, "partition-specs.0.fields.0.transform"},
      {2, "sort-orders.0.order-id"},
      {2, "sort-orders.0.fields"},
      {2, "schemas.0.schema-id"},
      {2, "schemas.1.fields.0.required"},
      {2, "schemas.1.fields.0.id"},
      {2, "snapshot-log.0.timestamp-ms"},
      {2, "snapshot-log.0.snapshot-id"},
      {2, "refs.old.snapshot-id"},
      {2, "refs.old.type"},
  };
  for (const auto& [version, path] : cases) {
    std::string_view key(path);
    if (size_t dot = key.rfind('.'); dot != std::string_view::npos) key.remove_prefix(dot + 1);
    for (const char* replacement : {"", "null"}) {
      std::string text = rule_of(with(base_json(version), path, replacement));
      EXPECT_NE(text.find("'" + std::string(key) + "' is "), std::string::npos) << path << ": " << text;
    }
  }
}

TEST(TableMetadata, KeysOfAnotherKindAreErrorsThatNameThem) {
  for (const char* path : {"format-version", "location", "last-updated-ms", "last-column-id", "schemas", "properties",
                           "snapshots", "current-snapshot-id", "refs", "snapshots.0.snapshot-id", "snapshots.0.summary",
                           "refs.old", "statistics", "partition-statistics", "snapshot-log"}) {
    EXPECT_THROW(table_metadata_from_json(with(base_json(), path, "true")), CorruptError) << path;
    EXPECT_THROW(table_metadata_from_json(with(base_json(), path, "[true]")), CorruptError) << path;
  }
  expect_rule(with(base_json(), "snapshots.0.timestamp-ms", R"("x")"), "'timestamp-ms'");
  expect_rule(json::parse("[]"), "expected a JSON object");
  expect_rule(with(base_json(), "last-column-id", "99999999999"), "'last-column-id'");
}

TEST(TableMetadata, RulesAcrossMembersAreChecked) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"format-version", "0", "format-version must be at least 1"},
      {"location", R"("")", "location must not be empty"},
      {"table-uuid", R"("not-a-uuid")", "not a UUID"},
      {"last-sequence-number", "-1", "last-sequence-number"},
      {"last-sequence-number", "1", "above last-sequence-number 1"},
      {"current-schema-id", "7", "current-schema-id 7 is not among"},
      {"schemas.0.schema-id", "1", "two schemas have the id 1"},
      {"default-spec-id", "7", "default-spec-id 7 is not among"},
      {"partition-specs.0.fields.0.transform", R"("hour")", "transform hour does not take the type long"},
      {"partition-specs.0.fields.0.transform", R"("bucket[0]")", "positive 32-bit parameter"},
      {"partition-specs.0.fields.0.source-ids", "[]", "'source-ids' must not be empty"},
      {"default-sort-order-id", "5", "default-sort-order-id 5 is not among"},
      {"current-snapshot-id", "30", "current-snapshot-id 30 is not among"},
      {"snapshots.1.snapshot-id", "10", "two snapshots have the id 10"},
      {"refs.main.snapshot-id", "10", "not the snapshot 10 of the branch main"},
      {"refs.main.type", R"("tag")", "'main' must be a branch"},
      {"refs.old.type", R"("label")", "'branch' or 'tag'"},
      {"refs.old.snapshot-id", "99", "leads to snapshot 99"},
      {"refs.old.min-snapshots-to-keep", "1", "tag 'old' must not have"},
      {"refs.work.min-snapshots-to-keep", "0", "must be positive"},
      {"refs.work.max-ref-age-ms", "-5", "must be positive"},
      {"current-snapshot-id", "null", "not the snapshot 20 of the branch main"},
      {"schemas.1.fields.1.id", "2147483448", "reserved range"},
      {"schemas.1.fields.1.name", R"("c1")", "have the name 'c1'"},
      {"sort-orders.0.fields",
       R"([{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-last"}])", "id 0 is reserved"},
  };
  for (const auto& [path, value, rule] : cases) expect_rule(with(base_json(), path, value), rule);
}

TEST(TableMetadata, PartitionSourcesArePrimitiveAndOutsideOfListsAndMaps) {
  json::Value tree = with(base_json(), "last-column-id", "9");
  expect_rule(with(tree, "schemas.1.fields.0.type",
                   R"({"type":"struct","fields":[{"id":5,"name":"x","required":false,"type":"int"}]})"),
              "not primitive");
  tree = with(tree, "schemas.1.fields.0.type",
              R"({"type":"list","element-id":5,"element-required":false,"element":"long"})");
  expect_rule(with(tree, "partition-specs.0.fields.0.source-id", "5"), "inside of the list or map");
}

TEST(TableMetadata, DuplicatesWithinASpecAreErrors) {
  std::string_view twice = R"([{"source-id":1,"field-id":1000,"name":"a","transform":"identity"},)"
                           R"({"source-id":2,"field-id":1000,"name":"b","transform":"identity"}])";
  expect_rule(with(base_json(), "partition-specs.0.fields", twice), "two fields have the id 1000");
  std::string_view names = R"([{"source-id":1,"field-id":1000,"name":"a","transform":"identity"},)"
                           R"({"source-id":2,"field-id":1001,"name":"a","transform":"identity"}])";
  expect_rule(with(base_json(), "partition-specs.0.fields", names), "two fields have the name 'a'");
}

TEST(TableMetadata, AFutureVersionIsUnsupportedWhateverElseIsThere) {
  std::string text = rule_of(json::parse(R"({"format-version": 4})"), ErrorKind::kUnsupported);
  EXPECT_NE(text.find("format-version 4"), std::string::npos);
}

TEST(TableMetadata, M15_NoCurrentSnapshotIsWrittenInThreeWays) {
  for (const char* none : {"", "null", "-1"}) {
    for (int version : {1, 2, 3}) {
      json::Value tree = with(base_json(version), "current-snapshot-id", none);
      for (const char* gone : {"refs", "snapshots", "snapshot-log"}) tree.erase(gone);
      TableMetadata metadata = table_metadata_from_json(tree);
      EXPECT_EQ(metadata.current_snapshot(), nullptr);
      SelectedSnapshot selected = select_snapshot(metadata, CurrentSnapshot{});
      EXPECT_EQ(selected.snapshot, nullptr);
      EXPECT_EQ(selected.schema->schema_id(), 1) << "an empty scan still has a schema";
      EXPECT_EQ(select_snapshot(metadata, SnapshotByRef{"main"}).snapshot, nullptr);

      json::Value written = table_metadata_to_json(metadata);
      if (version < 3) {
        EXPECT_EQ(written.at("current-snapshot-id").as_int64(), -1);
      } else {
        EXPECT_EQ(written.find("current-snapshot-id"), nullptr);
      }
    }
  }
}

TEST(TableMetadata, MainIsImpliedByTheCurrentSnapshot) {
  for (const char* refs : {"", "null", "{}", R"({"old":{"snapshot-id":10,"type":"tag"}})"}) {
    TableMetadata metadata = table_metadata_from_json(with(base_json(), "refs", refs));
    ASSERT_NE(metadata.find_ref("main"), nullptr) << refs;
    EXPECT_EQ(metadata.find_ref("main")->snapshot_id, 20);
    EXPECT_EQ(metadata.find_ref("main")->type, RefType::kBranch);
  }
}

TEST(TableMetadata, V1_OnlySchemaAndPartitionSpec) {
  json::Value tree = base_json(1);
  for (const char* later : {"schemas", "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id",
                            "sort-orders", "default-sort-order-id", "refs", "table-uuid", "last-sequence-number"}) {
    tree.erase(later);
  }
  tree = with(tree, "schema.schema-id", "");
  tree.set("partition-spec", json::parse(R"([{"source-id":2,"name":"c2","transform":"identity"},)"
                                         R"({"source-id":1,"name":"b","transform":"bucket[4]"}])"));
  tree = with(tree, "snapshots.0.schema-id", "");
  tree = with(tree, "snapshots.1.schema-id", "");
  TableMetadata metadata = table_metadata_from_json(tree);
  EXPECT_EQ(metadata.current_schema()->schema_id(), 0);
  EXPECT_EQ(metadata.schemas.size(), 1U);
  ASSERT_EQ(metadata.default_spec().fields.size(), 2U);
  EXPECT_EQ(metadata.default_spec().fields[0].field_id, 1000) << "ids from 1000 on, in order";
  EXPECT_EQ(metadata.default_spec().fields[1].field_id, 1001);
  EXPECT_EQ(metadata.last_partition_id, 1001);
  EXPECT_TRUE(metadata.default_sort_order().is_unsorted());
  EXPECT_EQ(metadata.last_sequence_number, 0);
  EXPECT_EQ(metadata.table_uuid, std::nullopt);
  EXPECT_NE(metadata.find_ref("main"), nullptr);
  EXPECT_NO_THROW(validate(metadata));

  json::Value written = table_metadata_to_json(metadata);
  EXPECT_NE(written.find("schema"), nullptr) << "v1 readers look there";
  EXPECT_NE(written.find("partition-spec"), nullptr);
  EXPECT_EQ(written.find("last-sequence-number"), nullptr);
  EXPECT_EQ(written.at("snapshots").as_array()[0].find("sequence-number"), nullptr);
}

TEST(TableMetadata, V1_IdsOfSomeFieldsAreNotEnough) {
  expect_rule(with(base_json(1), "partition-specs.0.fields",
                   R"([{"source-id":1,"field-id":1000,"name":"a","transform":"identity"},)"
                   R"({"source-id":2,"name":"b","transform":"identity"}])"),
              "'field-id' is missing");
}

TEST(TableMetadata, V1_SnapshotsHoldAManifestListOrManifests) {
  json::Value tree = with(base_json(1), "snapshots.0.manifest-list", "");
  expect_rule(tree, "'manifest-list' is missing");
  TableMetadata metadata = table_metadata_from_json(with(tree, "snapshots.0.manifests", R"(["a.avro","b.avro"])"));
  EXPECT_EQ(metadata.snapshots[0].manifests, (std::vector<std::string>{"a.avro", "b.avro"}));
  EXPECT_EQ(metadata.snapshots[0].manifest_list, std::nullopt);
}

TEST(TableMetadata, SnapshotsOfAnUpgradedTableKeepWhatV1Allowed) {
  json::Value tree = with(base_json(2), "snapshots.0.sequence-number", "");
  tree = with(tree, "snapshots.0.summary", "");
  tree = with(tree, "snapshots.0.manifest-list", "");
  tree = with(tree, "snapshots.0.manifests", R"(["a.avro"])");
  TableMetadata metadata = table_metadata_from_json(tree);
  EXPECT_EQ(metadata.snapshots[0].sequence_number, 0);
  EXPECT_EQ(metadata.snapshots[0].operation(), "");
}

TEST(TableMetadata, UnsignedSnapshotIdsKeepTheirBits) {
  json::Value tree = with(base_json(), "snapshots.1.snapshot-id", "9876543210123456789");
  tree = with(tree, "current-snapshot-id", "9876543210123456789");
  tree = with(tree, "refs", "");
  EXPECT_EQ(table_metadata_from_json(tree).current_snapshot()->snapshot_id, -8570200863586094827);
  expect_rule(with(base_json(), "current-snapshot-id", "98765432101234567890"), "'current-snapshot-id'");
}

TEST(TableMetadata, V3_RowLineageMembers) {
  json::Value tree = with(base_json(3), "snapshots.1.first-row-id", "5");
  tree = with(tree, "snapshots.1.added-rows", "7");
  expect_rule(with(tree, "next-row-id", ""), "'next-row-id' is missing");
  expect_rule(with(tree, "next-row-id", "11"), "beyond next-row-id 11");
  expect_rule(with(with(tree, "snapshots.1.added-rows", "9223372036854775807"), "next-row-id", "12"),
              "beyond next-row-id 12");
  expect_rule(with(tree, "snapshots.1.first-row-id", "-1"), "must not be negative");
  TableMetadata metadata = table_metadata_from_json(with(tree, "next-row-id", "12"));
  EXPECT_EQ(metadata.snapshots[1].first_row_id, 5);
  EXPECT_EQ(metadata.snapshots[1].added_rows, 7);
  EXPECT_EQ(metadata.snapshots[0].first_row_id, std::nullopt) << "a snapshot from before the upgrade";
  EXPECT_EQ(table_metadata_from_json(with(base_json(3), "next-row-id", "")).next_row_id, 0)
      << "nothing is numbered yet";
}

TEST(TableMetadata, V3_EncryptionKeysAreUniqueAndNamed) {
  json::Value tree = with(base_json(3), "encryption-keys",
                          R"([{"key-id":"k","encrypted-key-metadata":"YQ=="},)"
                          R"({"key-id":"k","encrypted-key-metadata":"Yg=="}])");
  expect_rule(tree, "two encryption keys have the id 'k'");
  expect_rule(with(base_json(3), "encryption-keys", R"([{"key-id":"k"}])"), "'encrypted-key-metadata' is missing");
}

TEST(TableMetadata, UnknownTransformsAndSeveralSourcesAreKept) {
  std::string_view fields = R"([{"source-ids":[1,2],"field-id":1000,"name":"z","transform":"zorder[4]","later":true},)"
                            R"({"source-id":2,"field-id":1001,"name":"g","transform":"Geohash[5]"}])";
  json::Value tree = with(with(base_json(3), "partition-specs.0.fields", fields), "last-partition-id", "1001");
  TableMetadata metadata = table_metadata_from_json(tree);
  const PartitionSpec& spec = metadata.default_spec();
  EXPECT_TRUE(spec.fields[0].is_opaque());
  EXPECT_EQ(spec.fields[0].source_ids, (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(spec.fields[1].transform.is_unknown());
  EXPECT_FALSE(spec.is_unpartitioned());
  EXPECT_EQ(table_metadata_to_json(metadata).at("partition-specs"), tree.at("partition-specs"));
  TypePtr partition = spec.partition_type(*metadata.current_schema());
  for (const NestedField& each : partition->fields()) EXPECT_EQ(each.type->kind(), TypeKind::kUnknown);
}

TEST(TableMetadata, UnknownMembersSurviveAtEveryLevel) {
  json::Value tree = with(base_json(3), "encryption-keys", R"([{"key-id":"k","encrypted-key-metadata":"YQ=="}])");
  tree.set("statistics", json::parse(R"([{"snapshot-id":10,"statistics-path":"p","file-size-in-bytes":1,)"
                                     R"("file-footer-size-in-bytes":1,"blob-metadata":[{"type":"t","snapshot-id":10,)"
                                     R"("sequence-number":1,"fields":[1],"properties":{"a":"b"}}]}])"));
  tree.set("partition-statistics", json::parse(R"([{"snapshot-id":10,"statistics-path":"q","file-size-in-bytes":2}])"));
  tree.set("metadata-log", json::parse(R"([{"timestamp-ms":1,"metadata-file":"f"}])"));
  tree.set("sort-orders", json::parse(R"([{"order-id":0,"fields":[]},{"order-id":1,"fields":[{"source-id":1,)"
                                      R"("transform":"identity","direction":"desc","null-order":"nulls-last"}]}])"));
  for (const char* place :
       {"later", "schemas.0.later", "schemas.0.fields.0.later", "partition-specs.0.later",
        "partition-specs.0.fields.0.later", "sort-orders.1.later", "sort-orders.1.fields.0.later", "snapshots.0.later",
        "refs.old.later", "snapshot-log.0.later", "metadata-log.0.later", "statistics.0.later",
        "statistics.0.blob-metadata.0.later", "partition-statistics.0.later", "encryption-keys.0.later"}) {
    tree = with(tree, place, R"({"exact": 1.250e0})");
  }
  EXPECT_EQ(table_metadata_to_json(table_metadata_from_json(tree)), tree);
}

TEST(TableMetadata, MembersOfLaterVersionsAreKeptUntilTheyAreWritten) {
  json::Value tree = with(base_json(2), "next-row-id", "5");
  TableMetadata metadata = table_metadata_from_json(tree);
  EXPECT_EQ(metadata.next_row_id, 0);
  EXPECT_EQ(table_metadata_to_json(metadata).at("next-row-id").as_int64(), 5);
  metadata.format_version = 3;
  EXPECT_NO_THROW(table_metadata_from_json(json::parse(json::write(table_metadata_to_json(metadata)))))
      << "no key is written twice";
}

TEST(TableMetadata, ScalarsInPropertiesAndSummariesAreText) {
  TableMetadata metadata =
      table_metadata_from_json(with(base_json(), "properties", R"({"n": 12345678901234567890, "b": true})"));
  EXPECT_EQ(metadata.property("n"), "12345678901234567890");
  EXPECT_EQ(metadata.property("b"), "true");
  EXPECT_EQ(metadata.property("c"), std::nullopt);
  expect_rule(with(base_json(), "properties", R"({"n": {}})"), "'n'");
  expect_rule(with(base_json(), "properties", R"({"n": null})"), "'n'");
}

TEST(TableMetadata, ADroppedSourceColumnIsNoError) {
  TableMetadata metadata = table_metadata_from_json(with(base_json(), "partition-specs.0.fields.0.source-id", "77"));
  EXPECT_EQ(metadata.default_spec().to_string(*metadata.current_schema()), "bucket[4](77)");
  EXPECT_EQ(metadata.default_spec().partition_type(*metadata.current_schema())->fields()[0].type->kind(),
            TypeKind::kInt);
}

TEST(TableMetadata, AllPartitionFieldsAreMergedByIdWithTheNewestName) {
  json::Value tree =
      with(base_json(), "partition-specs",
           R"([{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"a","transform":"identity"},)"
           R"({"source-id":2,"field-id":1001,"name":"b","transform":"bucket[4]"}]},)"
           R"({"spec-id":1,"fields":[{"source-id":1,"field-id":1000,"name":"void_a","transform":"void"},)"
           R"({"source-id":2,"field-id":1001,"name":"b2","transform":"bucket[4]"},)"
           R"({"source-id":1,"field-id":1002,"name":"c","transform":"truncate[10]"}]}])");
  TableMetadata metadata = table_metadata_from_json(with(tree, "last-partition-id", "1002"));
  EXPECT_EQ(metadata.all_partition_fields()->to_string(),
            "struct<1000: a: optional long, 1001: b2: optional int, 1002: c: optional long>");
}

// ---- What writers owe.

TEST(ValidateTableMetadata, AsksForMoreThanReadingDoes) {
  auto broken_by = [](int version, auto&& change) {
    TableMetadata metadata = table_metadata_from_json(base_json(version));
    change(metadata);
    EXPECT_NO_THROW(table_metadata_from_json(table_metadata_to_json(metadata))) << "readers take it";
    return error_of(ErrorKind::kCorrupt, [&] { validate(metadata); });
  };
  EXPECT_NE(broken_by(2, [](TableMetadata& m) { m.snapshots[0].schema_id = 9; }).find("schema id 9"),
            std::string::npos);
  EXPECT_NE(broken_by(3, [](TableMetadata& m) { m.snapshots[0].first_row_id = 0; }).find("without added-rows"),
            std::string::npos);
  EXPECT_NE(
      broken_by(2, [](TableMetadata& m) { m.last_column_id = 1; }).find("last-column-id 1 is below the field id 2"),
      std::string::npos);
  EXPECT_NE(broken_by(3, [](TableMetadata& m) { m.snapshots[0].key_id = "k"; }).find("names the key 'k'"),
            std::string::npos);
  EXPECT_NE(broken_by(2, [](TableMetadata& m) { m.partition_statistics = {{10, "a", 1, {}}, {10, "b", 1, {}}}; })
                .find("two partition statistics files"),
            std::string::npos);
  EXPECT_NE(broken_by(2,
                      [](TableMetadata& m) {
                        std::vector<NestedField> fields = {
                            test::field(1, "c1", primitive(TypeKind::kLong)),
                            test::field(2, "c2", list(3, primitive(TypeKind::kTimestampNs), false))};
                        m.last_column_id = 3;
                        m.schemas[1] = std::make_shared<const Schema>(std::move(fields), 1);
                      })
                .find("needs format version 3"),
            std::string::npos);
}

TEST(ValidateTableMetadata, ChecksWhatWasBuiltByHand) {
  TableMetadata metadata = table_metadata_from_json(base_json());
  metadata.refs.clear();
  EXPECT_NE(error_of(ErrorKind::kCorrupt, [&] { validate(metadata); }).find("no branch main"), std::string::npos);
  metadata = table_metadata_from_json(base_json());
  metadata.refs.push_back(metadata.refs.back());
  EXPECT_NE(error_of(ErrorKind::kCorrupt, [&] { validate(metadata); }).find("two references"), std::string::npos);
  metadata = table_metadata_from_json(base_json());
  metadata.next_row_id = 1;
  EXPECT_THROW(validate(metadata), CorruptError);
  metadata = table_metadata_from_json(base_json());
  metadata.schemas.clear();
  EXPECT_THROW(validate(metadata), CorruptError);
  metadata = table_metadata_from_json(base_json());
  metadata.partition_specs.clear();
  EXPECT_THROW(validate(metadata), CorruptError);
}

// ---- Time travel (interop.md 10, "Time and schema").

TEST(TimeTravel, AsOfLooksInTheSnapshotLogAlone) {
  // The log says that snapshot 20 was current, went, and came back; the snapshots' own times do not say that.
  TableMetadata metadata =
      table_metadata_from_json(with(base_json(), "snapshot-log",
                                    R"([{"timestamp-ms":1500,"snapshot-id":20},{"timestamp-ms":1600,"snapshot-id":10},)"
                                    R"({"timestamp-ms":1700,"snapshot-id":20}])"));
  const std::pair<int64_t, int64_t> cases[] = {{1500, 20}, {1599, 20}, {1600, 10}, {1699, 10}, {1700, 20}, {99999, 20}};
  for (const auto& [time, id] : cases) {
    EXPECT_EQ(select_snapshot(metadata, SnapshotAsOf{time}).snapshot->snapshot_id, id) << time;
  }
  std::string text = error_of(ErrorKind::kNotFound, [&] { select_snapshot(metadata, SnapshotAsOf{1499}); });
  EXPECT_NE(text.find("1970-01-01T00:00:01.5"), std::string::npos) << text;
}

TEST(TimeTravel, AsOfFailsWithoutALogOrWhenTheSnapshotIsGone) {
  TableMetadata empty = table_metadata_from_json(with(base_json(), "snapshot-log", ""));
  EXPECT_NE(error_of(ErrorKind::kNotFound, [&] { select_snapshot(empty, SnapshotAsOf{5000}); }).find("is empty"),
            std::string::npos);
  TableMetadata expired = table_metadata_from_json(with(
      base_json(), "snapshot-log", R"([{"timestamp-ms":500,"snapshot-id":5},{"timestamp-ms":2000,"snapshot-id":20}])"));
  EXPECT_NE(error_of(ErrorKind::kNotFound, [&] { select_snapshot(expired, SnapshotAsOf{600}); }).find("expired"),
            std::string::npos);
}

TEST(TimeTravel, TagsIdsAndTimesUseTheSnapshotsSchemaBranchesTheTables) {
  TableMetadata metadata = table_metadata_from_json(base_json());
  EXPECT_EQ(select_snapshot(metadata, CurrentSnapshot{}).schema->schema_id(), 1);
  EXPECT_EQ(select_snapshot(metadata, SnapshotByRef{"main"}).schema->schema_id(), 1);
  EXPECT_EQ(select_snapshot(metadata, SnapshotByRef{"work"}).schema->schema_id(), 1);
  EXPECT_EQ(select_snapshot(metadata, SnapshotByRef{"work"}).snapshot->snapshot_id, 10);
  EXPECT_EQ(select_snapshot(metadata, SnapshotByRef{"old"}).schema->schema_id(), 0);
  EXPECT_EQ(select_snapshot(metadata, SnapshotById{10}).schema->schema_id(), 0);
  EXPECT_EQ(select_snapshot(metadata, SnapshotAsOf{1000}).schema->schema_id(), 0);
}

TEST(TimeTravel, ASnapshotWithoutASchemaIdUsesTheCurrentOne) {
  TableMetadata metadata = table_metadata_from_json(with(base_json(), "snapshots.0.schema-id", ""));
  EXPECT_EQ(select_snapshot(metadata, SnapshotById{10}).schema->schema_id(), 1);
  TableMetadata gone = table_metadata_from_json(with(base_json(), "snapshots.0.schema-id", "8"));
  EXPECT_THROW(select_snapshot(gone, SnapshotById{10}), CorruptError);
}

TEST(TimeTravel, WhatDoesNotExistIsNotFound) {
  TableMetadata metadata = table_metadata_from_json(base_json());
  EXPECT_NE(error_of(ErrorKind::kNotFound, [&] { select_snapshot(metadata, SnapshotById{99}); }).find("99"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::kNotFound, [&] { select_snapshot(metadata, SnapshotByRef{"nope"}); }).find("'nope'"),
            std::string::npos);
}

// ---- Files.

TEST(MetadataFile, IsBoundedByMaxBytes) {
  MemoryPool pool;
  std::string text = json::write(base_json());
  MetadataParseOptions options;
  options.max_bytes = text.size();
  EXPECT_NO_THROW(parse_metadata_file(bytes_of(text), pool, options));
  options.max_bytes = text.size() - 1;
  EXPECT_THROW(parse_metadata_file(bytes_of(text), pool, options), Error);
}

TEST(MetadataFile, TheTreeCountsAgainstTheBudget) {
  MemoryPool pool({.budget_bytes = 4096});
  json::Value tree = base_json();
  tree.set("properties", json::parse("{\"a\":\"" + std::string(20000, 'x') + "\"}"));
  std::string text = json::write(tree);
  EXPECT_THROW(parse_metadata_file(bytes_of(text), pool), MemoryLimitError);
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0U) << "nothing stays charged";
}

TEST(MetadataFile, BottomlessNestingIsAnError) {
  MemoryPool pool;
  for (const char* token : {"[", "{\"a\":", "[[["}) {
    std::string text;
    while (text.size() < (1 << 20)) text += token;
    EXPECT_THROW(parse_metadata_file(bytes_of(text), pool), CorruptError) << token;
  }
}

TEST(MetadataFile, EmptyAndForeignContentIsAnError) {
  MemoryPool pool;
  for (std::string_view text : {std::string_view(""), std::string_view("PAR1"), std::string_view("\x1f\x8b", 2),
                                std::string_view("\x28\xb5\x2f\xfd", 4), std::string_view("null"),
                                std::string_view("[]"), std::string_view("{}"), std::string_view("\x00\x00", 2)}) {
    EXPECT_THROW(parse_metadata_file(bytes_of(text), pool), CorruptError) << text;
  }
}

}  // namespace
}  // namespace frazil::spec
