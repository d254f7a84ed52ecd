#include "frazil/write/data_paths.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::write {
namespace {

spec::TableMetadata metadata(spec::Properties properties, std::string location = "s3://bucket/db/t") {
  spec::TableMetadata table;
  table.location = std::move(location);
  table.properties = std::move(properties);
  spec::PartitionField field;
  field.source_ids = {1};
  field.field_id = 1000;
  field.name = "a b";
  table.partition_specs.push_back({.spec_id = 0, .fields = {field}, .extra = {}});
  return table;
}

std::string path(spec::Properties properties, std::string value = "x/y", std::string location = "s3://bucket/db/t") {
  const spec::TableMetadata table = metadata(std::move(properties), std::move(location));
  const std::vector<spec::Literal> partition = {spec::Literal::string(std::move(value))};
  return DataPaths(table, 3, "op").path(partition, 12);
}

TEST(DataPaths, EncodeLikeJavasUrlEncoder) {
  EXPECT_EQ(path({}), "s3://bucket/db/t/data/a+b=x%2Fy/00000-3-op-00012.parquet");
  EXPECT_EQ(path({}, "\u00e9=*~'"), "s3://bucket/db/t/data/a+b=%C3%A9%3D*%7E%27/00000-3-op-00012.parquet");
  EXPECT_EQ(path({{"write.data.path", "file:///d/"}}), "file:///d/a+b=x%2Fy/00000-3-op-00012.parquet");
  EXPECT_EQ(path({{"write.folder-storage.path", "/f"}}), "/f/a+b=x%2Fy/00000-3-op-00012.parquet");
}

// Known answers of Iceberg Java's and PyIceberg's own tests of their location providers.
TEST(DataPaths, HashLikeJavasObjectStoreLocations) {
  EXPECT_EQ(object_storage_hash("a"), "0101/0110/1001/10110010");
  EXPECT_EQ(object_storage_hash("b"), "1110/0111/1110/00000011");
  EXPECT_EQ(object_storage_hash("c"), "0010/1101/0110/01011111");
  EXPECT_EQ(object_storage_hash("d"), "1001/0001/0100/01110011");
}

TEST(DataPaths, OfObjectStoragePutTheHashInFront) {
  const std::string name = "a+b=x%2Fy/00000-3-op-00012.parquet";
  EXPECT_EQ(path({{"write.object-storage.enabled", "true"}}),
            "s3://bucket/db/t/data/" + object_storage_hash(name) + "/" + name);
  EXPECT_EQ(path({{"write.object-storage.enabled", "TRUE"}, {"write.data.path", "s3://other/x"}}),
            "s3://other/x/" + object_storage_hash(name) + "/db/t/" + name);
  const std::string file = "00000-3-op-00012.parquet";
  EXPECT_EQ(path({{"write.object-storage.enabled", "true"}, {"write.object-storage.partitioned-paths", "false"}}),
            "s3://bucket/db/t/data/" + object_storage_hash(file) + "-" + file);
  EXPECT_THROW(path({{"write.object-storage.enabled", "yes"}}), Error);
}

// What Iceberg Java 1.12.0's LocationProviders gave (tests/interop/java/LocationVectors.java, which has the columns).
TEST(DataPaths, AreThoseOfJavasLocationProviders) {
  using spec::TypeKind;
  const std::vector<spec::TypePtr> columns = {spec::primitive(TypeKind::kString),
                                              spec::primitive(TypeKind::kString),
                                              spec::primitive(TypeKind::kTimestampTz),
                                              spec::primitive(TypeKind::kDate),
                                              spec::decimal(9, 2),
                                              spec::primitive(TypeKind::kUuid),
                                              spec::primitive(TypeKind::kBinary),
                                              spec::primitive(TypeKind::kLong),
                                              spec::primitive(TypeKind::kDouble),
                                              spec::primitive(TypeKind::kBoolean),
                                              spec::primitive(TypeKind::kTime),
                                              spec::primitive(TypeKind::kTimestamp)};
  std::ifstream vectors(std::string(FRAZIL_TEST_CORPORA) + "/../../src/frazil/write/testdata/java-locations.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(vectors, line); ++count) {
    const json::Value vector = json::parse(line);
    spec::TableMetadata table;
    table.location = vector.at("location").as_string();
    for (const auto& [key, value] : vector.at("properties").as_object()) {
      table.properties.emplace_back(key, value.as_string());
    }
    table.partition_specs.push_back(spec::partition_spec_from_json(vector.at("spec")));
    std::vector<spec::Literal> values;
    for (const json::Value& value : vector.at("values").as_array()) {
      const spec::PartitionField& field = table.partition_specs[0].fields[values.size()];
      const spec::TypePtr type = field.transform.result_type(columns.at(static_cast<size_t>(field.source_id() - 1)));
      values.push_back(value.is_null() ? spec::Literal::null(type) : spec::literal_from_json(type, value));
    }
    // "00000-TASK-OPERATION-COUNT.parquet"
    const std::string file = vector.at("file").as_string();
    const size_t task_end = file.find('-', 6);
    const size_t count_at = file.rfind('-') + 1;
    const DataPaths paths(table, std::stoll(file.substr(6)), file.substr(task_end + 1, count_at - task_end - 2));
    EXPECT_EQ(paths.path(values, std::stoull(file.substr(count_at))), vector.at("path").as_string()) << line;
  }
  EXPECT_EQ(count, 200U);
}

}  // namespace
}  // namespace frazil::write
