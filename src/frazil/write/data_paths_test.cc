#include "frazil/write/data_paths.h"

#include <gtest/gtest.h>

#include "frazil/base/error.h"

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

}  // namespace
}  // namespace frazil::write
