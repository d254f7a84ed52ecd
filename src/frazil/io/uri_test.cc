#include "frazil/io/uri.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

using namespace std::string_literals;

TEST(Location, IsTakenApartLiterally) {
  struct Case {
    std::string_view text, scheme, authority, path;
    bool is_uri;
  };
  const Case cases[] = {
      {"/data/lake", "file", "", "/data/lake", false},
      {"data/x.parquet", "file", "", "data/x.parquet", false},
      {"./w", "file", "", "./w", false},
      {"../w", "file", "", "../w", false},
      {"x", "file", "", "x", false},
      {"/", "file", "", "/", false},
      {"file:/tmp/w", "file", "", "/tmp/w", true},
      {"file:///tmp/w", "file", "", "/tmp/w", true},
      {"file:////tmp/w", "file", "", "/tmp/w", true},
      {"file://localhost/tmp/w", "file", "", "/tmp/w", true},
      {"file://LOCALHOST/tmp", "file", "", "/tmp", true},
      {"FILE:/tmp", "file", "", "/tmp", true},
      {"file:tmp/w", "file", "", "tmp/w", true},
      {"file://./rel/w", "file", ".", "./rel/w", true},
      {"file://warehouse/db", "file", "warehouse", "warehouse/db", true},
      {"file://", "file", "", "/", true},
      // Nothing is decoded, and '?' and '#' are letters.
      {"file:/t/a b%20c%2Fd", "file", "", "/t/a b%20c%2Fd", true},
      {"file:///t/p=a%3Db/x?y#z+w.parquet", "file", "", "/t/p=a%3Db/x?y#z+w.parquet", true},
      {"/t/\xC3\xA9%", "file", "", "/t/\xC3\xA9%", false},
      // A single letter is a Windows drive, never a scheme.
      {"C:\\w\\t", "file", "", "C:\\w\\t", false},
      {"C:/w/t", "file", "", "C:/w/t", false},
      {"c:", "file", "", "c:", false},
      {"file:///C:/w", "file", "", "/C:/w", true},
      // Colons in names make no scheme.
      {"ts=2026-11-30T10:00:00/x", "file", "", "ts=2026-11-30T10:00:00/x", false},
      {"a:b/c", "file", "", "a:b/c", false},
      {"ab:c", "file", "", "ab:c", false},
      {"1ab:/c", "file", "", "1ab:/c", false},
      {"s3://bucket/a/b%20c", "s3", "bucket", "/a/b%20c", true},
      {"S3A://Bucket/Key", "s3a", "Bucket", "/Key", true},
      {"s3://bucket", "s3", "bucket", "", true},
      {"s3://bucket//a//b", "s3", "bucket", "//a//b", true},
      {"hdfs:/x/y", "hdfs", "", "/x/y", true},
      {"abfss://c@account.dfs.core.windows.net/p", "abfss", "c@account.dfs.core.windows.net", "/p", true},
      {"memory://x/y", "memory", "x", "/y", true},
  };
  for (const Case& c : cases) {
    const Location location = parse_location(c.text);
    EXPECT_EQ(location.scheme, c.scheme) << c.text;
    EXPECT_EQ(location.authority, c.authority) << c.text;
    EXPECT_EQ(location.path, c.path) << c.text;
    EXPECT_EQ(location.is_uri, c.is_uri) << c.text;
  }
  for (const std::string& wrong : {""s, "file:"s, "a\0b"s, "file:/a\0"s}) {
    EXPECT_THROW(parse_location(wrong), Error) << wrong;
  }
}

TEST(Location, HasOneCanonicalForm) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/data/lake", "file:///data/lake"},
      {"/data//lake/", "file:///data/lake"},
      {"/data/./x/../lake", "file:///data/lake"},
      {"/../..", "file:///"},
      {"w", "file:///home/me/w"},
      {"./w", "file:///home/me/w"},
      {"../w", "file:///home/w"},
      {".", "file:///home/me"},
      {"file:/tmp/w", "file:///tmp/w"},
      {"file:///tmp/w/", "file:///tmp/w"},
      {"file://localhost/tmp", "file:///tmp"},
      {"file://./rel", "file:///home/me/rel"},
      {"file://../rel", "file:///home/rel"},
      {"file:rel", "file:///home/me/rel"},
      {"C:\\w\\t", "file:///C:/w/t"},
      {"c:/w//t/", "file:///c:/w/t"},
      {"file:///C:/w", "file:///C:/w"},
      {"file:/t/a b%20c+d", "file:///t/a b%20c+d"},
      {"S3://Bucket/Key/", "s3://Bucket/Key"},
      {"s3://bucket/a//b/../c", "s3://bucket/a//b/../c"},
      {"hdfs:/x/", "hdfs:/x"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(canonical_location(text, "/home/me"), canonical) << text;
    EXPECT_EQ(canonical_location(canonical, "/elsewhere"), canonical) << text;
  }
  EXPECT_THROW(canonical_location("file://server/share", "/home/me"), Error);
  EXPECT_EQ(canonical_location("x").substr(0, 8), "file:///");
}

TEST(Location, JoinsAndSplits) {
  EXPECT_EQ(join_location("s3://b/x", "y"), "s3://b/x/y");
  EXPECT_EQ(join_location("s3://b/x/", "/y"), "s3://b/x/y");
  EXPECT_EQ(join_location("s3://b", "y"), "s3://b/y");
  EXPECT_EQ(join_location("/", "y"), "/y");
  EXPECT_EQ(join_location("file:/", "y"), "file:/y");
  EXPECT_EQ(join_location("", "y"), "y");
  struct Case {
    std::string_view text, parent, name;
  };
  const Case cases[] = {
      {"s3://b/x/y", "s3://b/x", "y"},
      {"s3://b/x/y/", "s3://b/x", "y"},
      {"s3://b/x", "s3://b", "x"},
      {"s3://b", "s3://b", ""},
      {"/a/b", "/a", "b"},
      {"/a", "/", "a"},
      {"/", "/", ""},
      {"a/b", "a", "b"},
      {"a", "", "a"},
      {"file:/a/b", "file:/a", "b"},
      {"file:///a", "file:///", "a"},
      {"file:/a", "file:/", "a"},
      {"hdfs:/x/y", "hdfs:/x", "y"},
      {"./w", ".", "w"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(parent_location(c.text), c.parent) << c.text;
    EXPECT_EQ(location_name(c.text), c.name) << c.text;
  }
}

TEST(Location, IsBelowOnSegmentBorders) {
  EXPECT_TRUE(is_below("file:///a/b/c", "/a/b"));
  EXPECT_TRUE(is_below("/a/b", "file:/a/b/"));
  EXPECT_TRUE(is_below("/a//b/c", "/a/b"));
  EXPECT_TRUE(is_below("/a", "/"));
  EXPECT_TRUE(is_below("s3://b/x/y", "S3://b/x"));
  EXPECT_TRUE(is_below("./a/b", "a"));
  EXPECT_FALSE(is_below("/a/bc", "/a/b"));
  EXPECT_FALSE(is_below("/a", "/a/b"));
  EXPECT_FALSE(is_below("s3://b2/x", "s3://b"));
  EXPECT_FALSE(is_below("s3://b/x", "/b"));
}

RC_GTEST_PROP(Location, IsTheParentJoinedWithTheName, ()) {
  const auto segment = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf("ab.%= :\xC3"s)));
  const auto segments = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(segment));
  std::string text = *rc::gen::element("/"s, "file:/"s, "file:///"s, "s3://bucket/"s);
  for (const std::string& part : segments) text = join_location(text, part);
  RC_ASSERT(location_name(text) == segments.back());
  RC_ASSERT(join_location(parent_location(text), location_name(text)) == text ||
            location_key(join_location(parent_location(text), location_name(text))) == location_key(text));
  RC_ASSERT(is_below(text, parent_location(text)));
}

}  // namespace
}  // namespace frazil
