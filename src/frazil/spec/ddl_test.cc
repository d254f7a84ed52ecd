#include "frazil/spec/ddl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil::spec {
namespace {

using testing::HasSubstr;

template <typename Parse>
std::string error_of(Parse parse) {
  try {
    parse();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

std::string schema_error(std::string_view text) {
  return error_of([&] { parse_schema(text); });
}

TEST(Ddl, ReadsEveryTypeWithFreshIds) {
  EXPECT_EQ(
      parse_schema("id BIGINT NOT NULL, ts timestamptz, \"odd \"\"name\" varchar(20) comment 'it''s', f fixed[16], "
                   "d numeric( 9 , 2 ), tags array<text not null>, m map<int, struct<a: int not null, `b c` date>>, "
                   "g geography(OGC:CRS84, karney)")
          ->to_string(),
      "table {\n"
      "  1: id: required long\n"
      "  2: ts: optional timestamptz\n"
      "  3: odd \"name: optional string (it's)\n"
      "  4: f: optional fixed[16]\n"
      "  5: d: optional decimal(9, 2)\n"
      "  6: tags: optional list<9: required string>\n"
      "  7: m: optional map<10: int, 11: optional struct<12: a: required int, 13: b c: optional date>>\n"
      "  8: g: optional geography(OGC:CRS84, karney)\n"
      "}");
}

TEST(Ddl, ShowsThePlaceOfAnError) {
  EXPECT_THAT(schema_error("id bigin"), HasSubstr("'bigin' is no type at character 4 of 'id bigin', before 'bigin'"));
  EXPECT_THAT(schema_error("id int not"), HasSubstr("expected 'null' at character 11"));
  EXPECT_THAT(schema_error("id int, "), HasSubstr("expected the name of a column or field"));
  EXPECT_THAT(schema_error(""), HasSubstr("expected the name of a column"));
  EXPECT_THAT(schema_error("a list<int"), HasSubstr("expected '>'"));
  EXPECT_THAT(schema_error("a decimal(9"), HasSubstr("a bracket has no end at character 10"));
  EXPECT_THAT(schema_error("\"a int"), HasSubstr("a quote has no end at character 1"));
  EXPECT_THAT(schema_error("a int b int"), HasSubstr("expected ',' or the end at character 7"));
  EXPECT_THAT(schema_error("a int, a int"), HasSubstr("'a'"));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "list<";
  EXPECT_THAT(schema_error("a " + deep), HasSubstr("types nest too deep"));
}

class DdlOfTable : public testing::Test {
 protected:
  SchemaPtr schema_ = parse_schema("id long, ts timestamptz, name string, p struct<x: int, y: double>");

  std::string partition(std::string_view text) {
    const PartitionSpec spec = parse_partition_spec(*schema_, text);
    std::string names;
    for (const PartitionField& field : spec.fields) names += " " + std::to_string(field.field_id) + ":" + field.name;
    return spec.to_string(*schema_) + names;
  }
};

TEST_F(DdlOfTable, ReadsPartitions) {
  EXPECT_EQ(partition("day(ts), bucket(16, id), TRUNCATE(name, 4), Id, years(ts) as y, bucket[8](p.x)"),
            "day(ts), bucket[16](id), truncate[4](name), id, year(ts), bucket[8](p.x) "
            "1000:ts_day 1001:id_bucket 1002:name_trunc 1003:id 1004:y 1005:p.x_bucket");
  EXPECT_EQ(partition("\"p\".`y`, hours(ts), months(ts), void(id)"),
            "p.y, hour(ts), month(ts), void(id) 1000:p.y 1001:ts_hour 1002:ts_month 1003:id_null");
  const auto error = [&](std::string_view text) { return error_of([&] { parse_partition_spec(*schema_, text); }); };
  EXPECT_THAT(error("day(tss)"), HasSubstr("there is no column 'tss' at character 5"));
  EXPECT_THAT(error("day(name)"), HasSubstr("'day' cannot be applied to 'name', a string at character 1"));
  EXPECT_THAT(error("bucket(id)"), HasSubstr("'bucket' takes a number too"));
  EXPECT_THAT(error("day(3, ts)"), HasSubstr("'day' takes no number"));
  EXPECT_THAT(error("zorder(id)"), HasSubstr("'zorder' is no transform"));
  EXPECT_THAT(error("bucket(0, id)"), HasSubstr("bucket"));
  EXPECT_THAT(error("bucket(99999999999, id)"), HasSubstr("the number is too large"));
  EXPECT_THAT(error("id, id"), HasSubstr("two partition fields have the name 'id'"));
  EXPECT_THAT(error("id ts"), HasSubstr("expected ',' or the end"));
}

TEST_F(DdlOfTable, ReadsSortOrders) {
  const auto sort = [&](std::string_view text) { return parse_sort_order(*schema_, text).to_string(*schema_); };
  EXPECT_EQ(sort("ts desc, bucket(16, id), name ASC NULLS LAST, p.x desc nulls first"),
            "ts desc nulls last, bucket[16](id) asc nulls first, name asc nulls last, p.x desc nulls first");
  // What is printed is read back.
  const SortOrder order = parse_sort_order(*schema_, "day(ts) desc, name");
  EXPECT_EQ(parse_sort_order(*schema_, order.to_string(*schema_)), order);
  EXPECT_THAT(error_of([&] { sort("ts nulls"); }), HasSubstr("expected 'last'"));
}

}  // namespace
}  // namespace frazil::spec
