#include "frazil/io/location_map.h"

#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

TEST(LocationMap, MovesWhatIsAtOrBelowAPrefix) {
  LocationMap map;
  map.add("s3://warehouse/db", "/copies/db");
  map.add("file:/home/iceberg/", "file:///mnt/iceberg/");
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"s3://warehouse/db/t/data/a b%20.parquet", "/copies/db/t/data/a b%20.parquet"},
      {"S3://warehouse/db", "/copies/db"},
      {"s3://warehouse/db/", "/copies/db/"},
      {"s3://warehouse/db2/t", "s3://warehouse/db2/t"},
      {"s3://warehouse", "s3://warehouse"},
      // Each form of a local path.
      {"/home/iceberg/t", "file:///mnt/iceberg/t"},
      {"file:///home/iceberg/t", "file:///mnt/iceberg/t"},
      {"file://localhost/home/iceberg", "file:///mnt/iceberg"},
      {"file:/home/iceberg//t", "file:///mnt/iceberg/t"},
      {"/home/icebergs/t", "/home/icebergs/t"},
      // The result is not mapped again, what is not covered stays as it is.
      {"relative//x", "relative//x"},
  };
  for (const auto& [from, to] : cases) EXPECT_EQ(map.apply(from), to) << from;
}

TEST(LocationMap, TakesTheLongestPrefixInWhateverOrderTheyCame) {
  for (bool longest_first : {true, false}) {
    LocationMap map;
    if (longest_first) map.add("/a/b", "/long");
    map.add("/a", "/short");
    if (!longest_first) map.add("/a/b", "/long");
    map.add("/", "/root");
    EXPECT_EQ(map.apply("/a/b/x"), "/long/x");
    EXPECT_EQ(map.apply("/a/c"), "/short/c");
    EXPECT_EQ(map.apply("/z"), "/root/z");
    EXPECT_EQ(map.apply("/"), "/root/");
    map.add("/a/b", "/newer");
    EXPECT_EQ(map.apply("/a/b/x"), "/newer/x");
  }
}

TEST(LocationMap, MapsToTheRootAndToNothing) {
  LocationMap map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.apply("anything//x/"), "anything//x/");
  map.add("s3://b", "/");
  EXPECT_EQ(map.apply("s3://b/x"), "/x");
  EXPECT_EQ(map.apply("s3://b"), "/");
}

TEST(LocationMap, ReadsRulesOfTheCommandLine) {
  struct Case {
    std::string_view rule, from, to;
  };
  const Case cases[] = {
      {"s3://b/w=/tmp/w", "s3://b/w/x", "/tmp/w/x"},
      {"/old=./new", "/old/x", "./new/x"},
      {"/old=new", "/old/x", "new/x"},
      {"/t/day=1=/copy", "/t/day=1/x", "/copy/x"},
      {"/t/day=1=s3://b/day=1", "/t/day=1/x", "s3://b/day=1/x"},
      {"file:/a=file:/b", "/a/x", "file:/b/x"},
      {"C:\\w=/w", "C:\\w", "/w"},
  };
  for (const Case& c : cases) {
    LocationMap map;
    map.add_rule(c.rule);
    EXPECT_EQ(map.apply(c.from), c.to) << c.rule;
  }
  for (const char* wrong : {"", "=", "/a", "/a=", "=/a"}) {
    LocationMap map;
    EXPECT_THROW(map.add_rule(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace frazil
