// The metadata samples of iceberg-java, -rust and -go, and every metadata file of the tables of the corpora.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "frazil/base/number_text.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::bytes_of;
using test::corpora;
using test::read_file;

TableMetadataPtr parse_file(const std::filesystem::path& path) {
  MemoryPool pool;
  std::string content = read_file(path);
  return parse_metadata_file(bytes_of(content), pool);
}

std::string normal_type(std::string text) {
  std::erase(text, ' ');
  return text;
}

bool is_empty(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.kind() == json::Value::Kind::kArray) return value.as_array().empty();
  return value.kind() == json::Value::Kind::kObject && value.as_object().empty();
}

// Whether all that `before` says is in `after`. Null and empty members may be left out; numbers are equal by value;
// spaces in types do not count. Returns where the two differ, or an empty text.
std::string lost(const json::Value& before, const json::Value& after, const std::string& path) {
  using Kind = json::Value::Kind;
  if (before.kind() != after.kind()) return path + ": another kind of value";
  switch (before.kind()) {
    case Kind::kObject:
      for (const auto& [key, value] : before.as_object()) {
        const json::Value* found = after.find(key);
        if (found == nullptr && is_empty(value)) continue;
        if (found == nullptr) return path + "." + key + ": lost";
        if (key == "current-snapshot-id" && value.is_null()) continue;
        if (std::string where = lost(value, *found, path + "." + key); !where.empty()) return where;
      }
      return {};
    case Kind::kArray:
      if (before.as_array().size() != after.as_array().size()) return path + ": another length";
      for (size_t i = 0; i < before.as_array().size(); ++i) {
        std::string where = lost(before.as_array()[i], after.as_array()[i], path + "[" + std::to_string(i) + "]");
        if (!where.empty()) return where;
      }
      return {};
    case Kind::kString:
      if (path.ends_with(".type")) {
        return normal_type(before.as_string()) == normal_type(after.as_string()) ? "" : path + ": another type";
      }
      return before == after ? "" : path + ": another text";
    case Kind::kNumber:
      // Unsigned ids keep their bits.
      if (path.ends_with("snapshot-id") && parse_uint64(before.number_text())) {
        bool same = static_cast<int64_t>(*parse_uint64(before.number_text())) == after.as_int64();
        return same ? "" : path + ": another id";
      }
      return before.as_double() == after.as_double() ? "" : path + ": another number";
    default:
      return before == after ? "" : path + ": another value";
  }
}

std::filesystem::path samples() {
  return corpora() / "iceberg-metadata";
}

const char* const kValidSamples[] = {
    "iceberg-java/TableMetadataPartitionStatisticsFiles.json",
    "iceberg-java/TableMetadataStatisticsFiles.json",
    "iceberg-java/TableMetadataV1Valid.json",
    "iceberg-java/TableMetadataV2Valid.json",
    "iceberg-java/TableMetadataV2ValidMinimal.json",
    "iceberg-java/TableMetadataV3ValidMinimal.json",
    "iceberg-rust/table_metadata/TableMetadataV1Compat.json",
    "iceberg-rust/table_metadata/TableMetadataV1PartitionSpecsWithoutDefaultId.json",
    "iceberg-rust/table_metadata/TableMetadataV1SchemasWithoutCurrentId.json",
    "iceberg-rust/table_metadata/TableMetadataV1Valid.json",
    "iceberg-rust/table_metadata/TableMetadataV2Valid.json",
    "iceberg-rust/table_metadata/TableMetadataV2ValidMinimal.json",
    "iceberg-rust/table_metadata/TableMetadataV3ValidEncryption.json",
    "iceberg-rust/table_metadata/TableMetadataV3ValidMinimal.json",
    "iceberg-rust/datafusion/TableMetadataV2.json",
    "iceberg-rust/example_empty_table_metadata_v2.json",
    "iceberg-rust/example_table_metadata_v2.json",
    "iceberg-rust/example_table_metadata_v2_deep_history.json",
    "iceberg-rust/example_table_metadata_v2_partition_evolution.json",
    "iceberg-go/TableMetadataV1PartitionSpecsWithoutDefaultId.json",
    "iceberg-go/TableMetadataV1SchemasWithoutCurrentId.json",
    "iceberg-go/TableMetadataV2Valid.json",
    "iceberg-go/TableMetadataV2Valid.zstd.metadata.json",
    "iceberg-go/TableMetadataV2ValidMinimal.json",
    "iceberg-go/TableMetadataV3WithPartitionStatistics.json",
};

struct InvalidSample {
  const char* path;
  ErrorKind kind;
  const char* rule;  // what the error must say
};
const InvalidSample kInvalidSamples[] = {
    {"iceberg-java/TableMetadataUnsupportedVersion.json", ErrorKind::kUnsupported, "format-version 42"},
    {"iceberg-java/TableMetadataV1MissingSchemaType.json", ErrorKind::kCorrupt, "'type' is missing"},
    {"iceberg-java/TableMetadataV2CurrentSchemaNotFound.json", ErrorKind::kCorrupt,
     "current-schema-id 2 is not among the schemas"},
    {"iceberg-java/TableMetadataV2MissingLastPartitionId.json", ErrorKind::kCorrupt, "'last-partition-id' is missing"},
    {"iceberg-java/TableMetadataV2MissingPartitionSpecs.json", ErrorKind::kCorrupt, "'partition-specs' is missing"},
    {"iceberg-java/TableMetadataV2MissingSchemas.json", ErrorKind::kCorrupt, "'schemas' is missing"},
    {"iceberg-java/TableMetadataV2MissingSortOrder.json", ErrorKind::kCorrupt, "'sort-orders' is missing"},
    // Its format-version is 3, which is known by now, but what v3 requires is not there.
    {"iceberg-rust/table_metadata/TableMetadataUnsupportedVersion.json", ErrorKind::kCorrupt, "'schemas' is missing"},
    {"iceberg-rust/table_metadata/TableMetadataV1NoValidSchema.json", ErrorKind::kCorrupt,
     "'current-schema-id' is missing"},
    {"iceberg-rust/table_metadata/TableMetadataV2CurrentSchemaNotFound.json", ErrorKind::kCorrupt,
     "current-schema-id 2 is not among the schemas"},
    {"iceberg-rust/table_metadata/TableMetadataV2MissingLastPartitionId.json", ErrorKind::kCorrupt,
     "'last-partition-id' is missing"},
    {"iceberg-rust/table_metadata/TableMetadataV2MissingPartitionSpecs.json", ErrorKind::kCorrupt,
     "'partition-specs' is missing"},
    {"iceberg-rust/table_metadata/TableMetadataV2MissingSchemas.json", ErrorKind::kCorrupt, "'schemas' is missing"},
    {"iceberg-rust/table_metadata/TableMetadataV2MissingSortOrder.json", ErrorKind::kCorrupt,
     "'sort-orders' is missing"},
    {"iceberg-go/TableMetadataV1NoValidSchema.json", ErrorKind::kCorrupt, "'current-schema-id' is missing"},
    {"iceberg-go/TableMetadataV2CurrentSchemaNotFound.json", ErrorKind::kCorrupt,
     "current-schema-id 2 is not among the schemas"},
    {"iceberg-go/TableMetadataV2MissingLastPartitionId.json", ErrorKind::kCorrupt, "'last-partition-id' is missing"},
    {"iceberg-go/TableMetadataV2MissingPartitionSpecs.json", ErrorKind::kCorrupt, "'partition-specs' is missing"},
    {"iceberg-go/TableMetadataV2MissingSchemas.json", ErrorKind::kCorrupt, "'schemas' is missing"},
    {"iceberg-go/TableMetadataV2MissingSortOrder.json", ErrorKind::kCorrupt, "'sort-orders' is missing"},
};

// The same meaning after writing: all that was said is still said, and reading again gives the same text.
void expect_round_trip(const std::filesystem::path& path, bool valid_for_writers) {
  TableMetadataPtr metadata = parse_file(path);
  json::Value written = table_metadata_to_json(*metadata);
  json::Value again = table_metadata_to_json(table_metadata_from_json(written));
  EXPECT_EQ(json::write(again), json::write(written)) << path;
  if (valid_for_writers) {
    EXPECT_NO_THROW(validate(*metadata)) << path;
  }

  std::string content = read_file(path);
  if (content.empty() || content.front() != '{') return;  // compressed
  json::Value before = json::parse(content);
  // What v1 keeps twice: the lists win, and the old single members may say something else (iceberg_uppercase_col).
  if (before.find("schemas") != nullptr && before.find("current-schema-id") != nullptr) before.erase("schema");
  if (before.find("partition-specs") != nullptr) before.erase("partition-spec");
  if (!metadata->current_snapshot_id) before.erase("current-snapshot-id");
  EXPECT_EQ(lost(before, written, ""), "") << path;
}

TEST(MetadataSamples, ValidOnesRoundTripWithEqualMeaning) {
  for (const char* sample : kValidSamples) {
    // iceberg-go's sample of v3 has first-row-id without added-rows, and iceberg-rust's examples have a last-column-id
    // below their columns: readers take both, writers owe better.
    std::string_view name(sample);
    bool careless = name.find("V3WithPartition") != std::string_view::npos ||
                    name.find("rust/example_table_metadata_v2.json") != std::string_view::npos ||
                    name.find("rust/example_table_metadata_v2_partition_evolution.json") != std::string_view::npos ||
                    name.find("rust/example_empty_table_metadata_v2.json") != std::string_view::npos;
    SCOPED_TRACE(sample);
    expect_round_trip(samples() / sample, !careless);
  }
}

TEST(MetadataSamples, InvalidOnesNameTheRule) {
  for (const InvalidSample& sample : kInvalidSamples) {
    std::string text = test::error_of(sample.kind, [&] { parse_file(samples() / sample.path); });
    EXPECT_NE(text.find(sample.rule), std::string::npos) << sample.path << ": " << text;
  }
}

TEST(MetadataSamples, AllOfThemAreListedHere) {
  std::set<std::string> listed(std::begin(kValidSamples), std::end(kValidSamples));
  for (const InvalidSample& sample : kInvalidSamples) listed.insert(sample.path);
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(samples())) {
    std::string name = entry.path().filename().string();
    bool is_table = name.starts_with("TableMetadata") || name.find("table_metadata_v") != std::string::npos;
    if (!entry.is_regular_file() || !is_table) continue;
    ++found;
    EXPECT_TRUE(listed.contains(entry.path().lexically_relative(samples()).string())) << entry.path();
  }
  EXPECT_EQ(found, listed.size());
}

TEST(MetadataSamples, V2ValidHasWhatJavasTestStates) {
  TableMetadataPtr metadata = parse_file(samples() / "iceberg-java/TableMetadataV2Valid.json");
  EXPECT_EQ(metadata->format_version, 2);
  EXPECT_EQ(metadata->table_uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
  EXPECT_EQ(metadata->location, "s3://bucket/test/location");
  EXPECT_EQ(metadata->last_sequence_number, 34);
  EXPECT_EQ(metadata->last_column_id, 3);
  EXPECT_EQ(metadata->current_schema()->schema_id(), 1);
  EXPECT_EQ(metadata->current_schema()->find("y")->doc, "comment");
  EXPECT_TRUE(metadata->current_schema()->is_identifier(2));
  EXPECT_EQ(metadata->default_spec().to_string(*metadata->current_schema()), "x");
  EXPECT_EQ(metadata->default_sort_order().to_string(*metadata->current_schema()),
            "y asc nulls first, bucket[4](z) desc nulls last");
  EXPECT_EQ(metadata->snapshots.size(), 2U);
  EXPECT_EQ(metadata->current_snapshot()->parent_snapshot_id, 3051729675574597004);
  EXPECT_EQ(metadata->current_snapshot()->operation(), "append");
  ASSERT_NE(metadata->find_ref("main"), nullptr);
  EXPECT_EQ(metadata->find_ref("main")->snapshot_id, *metadata->current_snapshot_id);
}

TEST(MetadataSamples, ReferencesAreRead) {
  TableMetadataPtr metadata = parse_file(samples() / "iceberg-go/TableMetadataV3WithPartitionStatistics.json");
  ASSERT_NE(metadata->find_ref("test"), nullptr);
  EXPECT_EQ(metadata->find_ref("test")->type, RefType::kTag);
  EXPECT_EQ(metadata->find_ref("test")->max_ref_age_ms, 10000000);
  EXPECT_EQ(metadata->partition_statistics.size(), 2U);
  EXPECT_EQ(metadata->snapshots[0].first_row_id, 1000);
}

TEST(MetadataSamples, StatisticsFilesAreKept) {
  TableMetadataPtr metadata = parse_file(samples() / "iceberg-java/TableMetadataStatisticsFiles.json");
  ASSERT_EQ(metadata->statistics.size(), 1U);
  EXPECT_EQ(metadata->statistics[0].statistics_path, "s3://a/b/stats.puffin");
  EXPECT_EQ(metadata->statistics[0].file_footer_size_in_bytes, 42);
  EXPECT_EQ(metadata->statistics[0].blob_metadata.at(0).type, "ndv");
  EXPECT_EQ(metadata->statistics[0].blob_metadata.at(0).fields, std::vector<int32_t>{1});
}

TEST(MetadataSamples, EncryptionKeysAreData) {
  TableMetadataPtr metadata = parse_file(samples() / "iceberg-rust/table_metadata/TableMetadataV3ValidEncryption.json");
  ASSERT_EQ(metadata->encryption_keys.size(), 2U);
  EXPECT_EQ(metadata->encryption_keys[0].encrypted_by_id, "master-1");
  EXPECT_EQ(metadata->encryption_keys[0].properties.at(0).first, "KEY_TIMESTAMP");
  EXPECT_EQ(metadata->current_snapshot()->key_id, metadata->encryption_keys[1].key_id);
}

TEST(MetadataSamples, V1_PartitionSpecsWithoutADefaultTakeTheHighestId) {
  TableMetadataPtr metadata =
      parse_file(samples() / "iceberg-rust/table_metadata/TableMetadataV1PartitionSpecsWithoutDefaultId.json");
  EXPECT_EQ(metadata->default_spec_id, 2);
  EXPECT_EQ(metadata->last_partition_id, 1001);
}

TEST(MetadataSamples, M14_ZstdMetadataIsFoundByItsContent) {
  TableMetadataPtr compressed = parse_file(samples() / "iceberg-go/TableMetadataV2Valid.zstd.metadata.json");
  EXPECT_EQ(compressed->format_version, 2);
  EXPECT_EQ(compressed->table_uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
}

std::vector<std::filesystem::path> metadata_files_of_tables() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpora() / "iceberg-tables")) {
    std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && entry.path().parent_path().filename() == "metadata" &&
        (name.ends_with(".metadata.json") || name.ends_with(".metadata.json.gz"))) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(MetadataOfTables, EveryFileOfTheCorporaReadsAndRoundTrips) {
  size_t read = 0;
  for (const std::filesystem::path& path : metadata_files_of_tables()) {
    if (path.parent_path().parent_path().filename() == "big_query_error" && path.filename() == "v0.metadata.json") {
      // BigQuery left a stub there that is no table metadata at all.
      std::string text = test::error_of(ErrorKind::kCorrupt, [&] { parse_file(path); });
      EXPECT_NE(text.find("'format-version' is missing"), std::string::npos) << text;
      continue;
    }
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(expect_round_trip(path, false));
    ++read;
  }
  EXPECT_GE(read, 250U);
}

TEST(MetadataOfTables, EverySnapshotIsSelectedByIdRefAndTime) {
  size_t selected = 0;
  for (const std::filesystem::path& path : metadata_files_of_tables()) {
    if (path.parent_path().parent_path().filename() == "big_query_error" && path.filename() == "v0.metadata.json")
      continue;
    TableMetadataPtr metadata = parse_file(path);
    EXPECT_EQ(select_snapshot(*metadata, CurrentSnapshot{}).snapshot, metadata->current_snapshot()) << path;
    for (const Snapshot& snapshot : metadata->snapshots) {
      SelectedSnapshot by_id = select_snapshot(*metadata, SnapshotById{snapshot.snapshot_id});
      EXPECT_EQ(by_id.snapshot, &snapshot) << path;
      if (snapshot.schema_id) {
        EXPECT_EQ(by_id.schema->schema_id(), *snapshot.schema_id) << path;
      }
      ++selected;
    }
    for (const SnapshotRef& ref : metadata->refs) {
      EXPECT_EQ(select_snapshot(*metadata, SnapshotByRef{ref.name}).snapshot->snapshot_id, ref.snapshot_id) << path;
    }
    EXPECT_NO_THROW(metadata->all_partition_fields()) << path;
  }
  EXPECT_GE(selected, 300U);
}

TEST(MetadataOfTables, M14_GzipMetadataIsFoundByItsContent) {
  std::filesystem::path folder = corpora() / "iceberg-tables/duckdb/iceberg/lineitem_iceberg_gz/metadata";
  TableMetadataPtr metadata = parse_file(folder / "v2.gz.metadata.json");
  EXPECT_FALSE(metadata->snapshots.empty());
  std::string content = read_file(folder / "v2.gz.metadata.json");
  EXPECT_EQ(content.substr(0, 2), "\x1f\x8b");
}

TEST(MetadataOfTables, V1_ASnapshotMayHoldManifestsInsteadOfAList) {
  TableMetadataPtr metadata =
      parse_file(corpora() / "iceberg-tables/duckdb/iceberg_v1_deprecated/default/legacy_v1/metadata/v2.metadata.json");
  const Snapshot& snapshot = *metadata->current_snapshot();
  EXPECT_FALSE(snapshot.manifest_list.has_value());
  ASSERT_TRUE(snapshot.manifests.has_value());
  EXPECT_EQ(snapshot.manifests->size(), 1U);
  EXPECT_EQ(snapshot.sequence_number, 0);
}

}  // namespace
}  // namespace frazil::spec
