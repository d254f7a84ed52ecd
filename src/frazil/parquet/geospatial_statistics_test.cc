#include "frazil/parquet/geospatial_statistics.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/hex.h"

namespace frazil::parquet {
namespace {

using ::testing::ElementsAre;

std::string little(uint32_t type, const std::vector<double>& coordinates, std::vector<uint32_t> counts = {}) {
  std::string out(1, '\1');
  const auto append = [&](const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  append(type);
  for (uint32_t count : counts) append(count);
  for (double coordinate : coordinates) append(coordinate);
  return out;
}

std::optional<ChunkGeospatialStatistics> statistics_of(const std::vector<std::string>& values,
                                                       LogicalType::Kind kind = LogicalType::Kind::kGeometry) {
  GeospatialStatisticsBuilder builder(kind);
  for (const std::string& value : values) builder.add(value);
  return builder.finish();
}

TEST(GeospatialStatistics, HoldAllPointsAndTypes) {
  const auto found = statistics_of({little(1, {30, 10}), little(2, {1, 2, -3, 40}, {2}), little(1001, {5, 6, 7})});
  ASSERT_TRUE(found && found->bounds);
  EXPECT_THAT(found->types, ElementsAre(1, 2, 1001));
  EXPECT_EQ(found->bounds->x_min, -3);
  EXPECT_EQ(found->bounds->x_max, 30);
  EXPECT_EQ(found->bounds->y_min, 2);
  EXPECT_EQ(found->bounds->y_max, 40);
  EXPECT_EQ(found->bounds->z, std::pair(7.0, 7.0));
  EXPECT_FALSE(found->bounds->m);
}

// Of the standard's examples, as PostGIS writes them with ST_AsBinary: POINT(2 4) in big-endian order and a
// MULTIPOINT of little-endian parts within a big-endian whole.
TEST(GeospatialStatistics, ReadBothByteOrders) {
  const auto point = decode_hex("000000000140000000000000004010000000000000").value();
  const auto found = statistics_of({point});
  ASSERT_TRUE(found && found->bounds);
  EXPECT_EQ(found->bounds->x_min, 2);
  EXPECT_EQ(found->bounds->y_max, 4);
  const std::string multi = decode_hex("000000000400000002").value() + little(1, {1, 2}) + point;
  const auto mixed = statistics_of({multi});
  ASSERT_TRUE(mixed && mixed->bounds);
  EXPECT_EQ(mixed->bounds->x_min, 1);
  EXPECT_EQ(mixed->bounds->x_max, 2);
  EXPECT_THAT(mixed->types, ElementsAre(4));
}

TEST(GeospatialStatistics, PassOverNaNsByDimension) {
  const double nan = std::nan("");
  const auto empty = statistics_of({little(1, {nan, nan})});
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->bounds);
  EXPECT_THAT(empty->types, ElementsAre(1));
  const auto half = statistics_of({little(3001, {1, nan, nan, 4}), little(3001, {nan, 2, nan, nan})});
  ASSERT_TRUE(half && half->bounds);
  EXPECT_EQ(half->bounds->x_max, 1);
  EXPECT_EQ(half->bounds->y_max, 2);
  EXPECT_FALSE(half->bounds->z);
  EXPECT_EQ(half->bounds->m, std::pair(4.0, 4.0));
}

TEST(GeospatialStatistics, HaveNoBoxOfGeographies) {
  const auto found = statistics_of({little(1, {30, 10})}, LogicalType::Kind::kGeography);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->bounds);
  EXPECT_THAT(found->types, ElementsAre(1));
}

TEST(GeospatialStatistics, AreNoneOfWhatIsNotUnderstood) {
  EXPECT_FALSE(statistics_of({}));
  const std::string line = little(2, {1, 2, -3, 40}, {2});
  for (size_t size = 0; size < line.size(); ++size) EXPECT_FALSE(statistics_of({line.substr(0, size)})) << size;
  EXPECT_FALSE(statistics_of({line + "x"}));
  EXPECT_FALSE(statistics_of({little(8, {1, 2})}));
  EXPECT_FALSE(statistics_of({little(4001, {1, 2})}));
  EXPECT_FALSE(statistics_of({little(1, {1, 2}), "\2"}));
  EXPECT_FALSE(statistics_of({little(2, {}, {0xFFFFFFFF})}));
  // Collections within collections, too deep.
  std::string deep = little(1, {1, 2});
  for (int i = 0; i < 1000; ++i) deep = little(7, {}, {1}) + deep;
  EXPECT_FALSE(statistics_of({deep}));
}

RC_GTEST_PROP(GeospatialStatistics, ReadNothingBehindTheValue, (const std::string& bytes)) {
  const std::string value = "\1" + bytes;
  const std::vector<char> exact(value.begin(), value.end());
  GeospatialStatisticsBuilder builder(LogicalType::Kind::kGeometry);
  builder.add({exact.data(), exact.size()});
}

}  // namespace
}  // namespace frazil::parquet
