#include "frazil/parquet/writer_options.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/base64.h"
#include "frazil/base/error.h"
#include "frazil/ipc/schema_message.h"

namespace frazil::parquet {
namespace {

using ::testing::HasSubstr;
using Properties = std::vector<std::pair<std::string, std::string>>;

TEST(WriterProperties, DefaultsAreThoseOfIceberg) {
  const WriterOptions options = options_from_properties(Properties{});
  EXPECT_EQ(options.row_group_bytes, 134'217'728U);
  EXPECT_EQ(options.row_group_rows, 1'048'576);
  EXPECT_EQ(options.columns.page_bytes, 1'048'576U);
  EXPECT_EQ(options.columns.page_rows, 20'000U);
  EXPECT_EQ(options.columns.dictionary_bytes, 2'097'152U);
  EXPECT_EQ(options.columns.codec, CompressionCodec::kZstd);
  EXPECT_EQ(options.columns.level, std::nullopt);
  EXPECT_EQ(options.columns.bloom_bytes_max, 1'048'576U);
  EXPECT_DOUBLE_EQ(options.columns.bloom_fpp, 0.01);
}

TEST(WriterProperties, AreTakenByTheirIcebergNames) {
  const WriterOptions options = options_from_properties(Properties{
      {"write.parquet.row-group-size-bytes", "1000000"},
      {"write.parquet.row-group-limit", "77"},
      {"write.parquet.page-size-bytes", "4096"},
      {"write.parquet.page-row-limit", "10"},
      {"write.parquet.dict-size-bytes", "100"},
      {"write.parquet.compression-codec", "GZIP"},
      {"write.parquet.compression-level", "9"},
      {"write.parquet.page-version", "v2"},
      {"write.parquet.bloom-filter-max-bytes", "2048"},
      {"write.parquet.bloom-filter-enabled.column.a.b", "true"},
      {"write.parquet.bloom-filter-fpp.column.a.b", "0.05"},
      {"write.parquet.bloom-filter-ndv.column.a.b", "5000000000"},
      {"write.parquet.stats-enabled.column.c", "false"},
      {"write.parquet.dict-encoding-enabled.column.c", "false"},
      {"write.parquet.row-group-check-min-record-count", "1"},
      {"write.parquet.shred-variants", "true"},
      {"write.format.default", "parquet"},
      {"write.delete.parquet.page-row-limit", "3"},
  });
  EXPECT_EQ(options.row_group_bytes, 1'000'000U);
  EXPECT_EQ(options.row_group_rows, 77);
  EXPECT_EQ(options.columns.page_bytes, 4096U);
  EXPECT_EQ(options.columns.page_rows, 10U);
  EXPECT_EQ(options.columns.dictionary_bytes, 100U);
  EXPECT_EQ(options.columns.codec, CompressionCodec::kGzip);
  EXPECT_EQ(options.columns.level, 9);
  EXPECT_TRUE(options.columns.page_v2);
  EXPECT_EQ(options.columns.bloom_bytes_max, 2048U);
  ASSERT_EQ(options.overrides.size(), 2U);
  EXPECT_EQ(options.overrides[0].path, "a.b");
  EXPECT_EQ(options.overrides[0].bloom_filter, true);
  EXPECT_EQ(options.overrides[0].bloom_fpp, 0.05);
  EXPECT_EQ(options.overrides[0].bloom_ndv, 5'000'000'000U);
  EXPECT_EQ(options.overrides[1].path, "c");
  EXPECT_EQ(options.overrides[1].statistics, false);
  EXPECT_EQ(options.overrides[1].dictionary, false);
}

TEST(WriterProperties, OfDeleteFilesStandAboveThoseOfData) {
  const Properties properties{{"write.delete.parquet.page-row-limit", "3"},
                              {"write.parquet.page-row-limit", "10"},
                              {"write.parquet.compression-codec", "snappy"}};
  const WriterOptions options = options_from_properties(properties, {}, "write.delete.parquet.");
  EXPECT_EQ(options.columns.page_rows, 3U);
  EXPECT_EQ(options.columns.codec, CompressionCodec::kSnappy);
}

// A table whose codec was changed from one with levels.
TEST(WriterProperties, ALevelOfACodecWithoutLevelsIsPassedOver) {
  const WriterOptions options = options_from_properties(
      Properties{{"write.parquet.compression-codec", "snappy"}, {"write.parquet.compression-level", "3"}});
  EXPECT_EQ(options.columns.level, std::nullopt);
}

TEST(WriterProperties, RefuseValuesThatCannotBe) {
  const Properties wrong{
      {"write.parquet.row-group-size-bytes", "0"},
      {"write.parquet.row-group-size-bytes", "128MB"},
      {"write.parquet.row-group-limit", "-1"},
      {"write.parquet.page-size-bytes", ""},
      {"write.parquet.page-size-bytes", "99999999999"},
      {"write.parquet.page-row-limit", "1.5"},
      {"write.parquet.dict-size-bytes", " 1"},
      {"write.parquet.compression-codec", "lzo"},
      {"write.parquet.compression-level", "high"},
      {"write.parquet.page-version", "v3"},
      {"write.parquet.bloom-filter-fpp.column.a", "1"},
      {"write.parquet.bloom-filter-fpp.column.a", "0"},
      {"write.parquet.bloom-filter-fpp.column.a", "nan"},
      {"write.parquet.bloom-filter-ndv.column.a", "0"},
      {"write.parquet.bloom-filter-enabled.column.a", "yes"},
  };
  for (const auto& property : wrong) {
    try {
      (void)options_from_properties(Properties{property});
      ADD_FAILURE() << property.first << " = " << property.second;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(property.first));
    }
  }
}

SchemaPtr nested_schema() {
  const Field x{.name = "x", .type = primitive(TypeId::kInt32)};
  return Schema::make({{.name = "points", .type = list({.name = "item", .type = struct_({x})})},
                       {.name = "props",
                        .type = map({.name = "key", .type = primitive(TypeId::kUtf8)},
                                    {.name = "value", .type = primitive(TypeId::kDouble)})}});
}

TEST(WritePlan, FindsColumnsByTheirPathInTheFileAndInIceberg) {
  WriterOptions options;
  options.overrides = {{.path = "points.element.x", .dictionary = false},
                       {.path = "points.list.element.x", .bloom_filter = true},
                       {.path = "props.value", .codec = CompressionCodec::kSnappy},
                       {.path = "gone", .may_be_absent = true, .statistics = false}};
  options.columns.level = 7;
  options.sorting_columns = {{.path = "props.key"}};
  const WritePlan plan(nested_schema(), options);
  ASSERT_EQ(plan.chunk_options().size(), 3U);
  EXPECT_FALSE(plan.chunk_options()[0].dictionary);
  EXPECT_TRUE(plan.chunk_options()[0].bloom_filter);
  EXPECT_EQ(plan.chunk_options()[1].level, 7);
  EXPECT_EQ(plan.chunk_options()[2].codec, CompressionCodec::kSnappy);
  EXPECT_EQ(plan.chunk_options()[2].level, std::nullopt);  // 7 was one of zstd
  EXPECT_THAT(plan.sorting_leaves(), ::testing::ElementsAre(1));
  EXPECT_THAT(plan.options().created_by, ::testing::StartsWith("frazil version "));
}

TEST(WritePlan, EmbedsTheArrowSchemaWhereItIsAskedTo) {
  EXPECT_THAT(WritePlan(nested_schema(), {}).options().key_values, ::testing::IsEmpty());
  const WritePlan plan(nested_schema(), {.key_values = {{"a", "b"}}, .embed_arrow_schema = true});
  ASSERT_EQ(plan.options().key_values.size(), 2U);
  EXPECT_EQ(plan.options().key_values[1].first, "ARROW:schema");
  const std::string bytes = decode_base64(plan.options().key_values[1].second).value();
  EXPECT_TRUE(ipc::SchemaMessage(std::as_bytes(std::span(bytes))).schema()->equals(*nested_schema(), true));
  const WriterOptions given{.key_values = {{"ARROW:schema", "given"}}, .embed_arrow_schema = true};
  EXPECT_EQ(WritePlan(nested_schema(), given).options().key_values, given.key_values);
}

TEST(WritePlan, RefusesColumnsThatAreNotThere) {
  WriterOptions options;
  options.overrides = {{.path = "gone"}};
  EXPECT_THROW(WritePlan(nested_schema(), options), Error);
  options.overrides.clear();
  options.sorting_columns = {{.path = "gone"}};
  EXPECT_THROW(WritePlan(nested_schema(), options), Error);
  options.sorting_columns.clear();
  options.row_group_rows = 0;
  EXPECT_THROW(WritePlan(nested_schema(), options), Error);
}

}  // namespace
}  // namespace frazil::parquet
