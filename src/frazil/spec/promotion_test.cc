#include "frazil/spec/promotion.h"

#include <gtest/gtest.h>

#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::type_of;

TEST(Promotion, OnlyThoseOfTheSpecAreLegal) {
  const char* const types[] = {"unknown",
                               "boolean",
                               "int",
                               "long",
                               "float",
                               "double",
                               "decimal(9, 2)",
                               "decimal(18, 2)",
                               "decimal(18, 3)",
                               "date",
                               "time",
                               "timestamp",
                               "timestamptz",
                               "timestamp_ns",
                               "timestamptz_ns",
                               "string",
                               "uuid",
                               "fixed[4]",
                               "fixed[16]",
                               "binary",
                               "variant",
                               "geometry",
                               "geometry(srid:4326)",
                               "geography",
                               "list<1: optional int>",
                               "map<1: int, 2: int>",
                               "struct<1: a: optional int>"};
  const std::pair<std::string_view, std::string_view> legal[] = {{"int", "long"},
                                                                 {"float", "double"},
                                                                 {"decimal(9, 2)", "decimal(18, 2)"},
                                                                 {"date", "timestamp"},
                                                                 {"date", "timestamp_ns"}};
  for (std::string_view from : types) {
    for (std::string_view to : types) {
      bool listed = std::find(std::begin(legal), std::end(legal), std::pair(from, to)) != std::end(legal);
      bool expected = from == to || from == "unknown" || listed;
      EXPECT_EQ(promotion(*type_of(from), *type_of(to)).has_value(), expected) << from << " to " << to;
      if (from == to) {
        EXPECT_EQ(promotion(*type_of(from), *type_of(to)), Promotion::kNone);
      }
    }
  }
}

TEST(Promotion, DatesAndUnknownNeedVersion3) {
  EXPECT_TRUE(can_promote(*type_of("int"), *type_of("long"), 1));
  EXPECT_FALSE(can_promote(*type_of("date"), *type_of("timestamp"), 2));
  EXPECT_TRUE(can_promote(*type_of("date"), *type_of("timestamp"), 3));
  EXPECT_FALSE(can_promote(*type_of("date"), *type_of("timestamptz"), 3)) << "never";
  EXPECT_FALSE(can_promote(*type_of("unknown"), *type_of("int"), 2));
  EXPECT_TRUE(can_promote(*type_of("unknown"), *type_of("int"), 3));
}

TEST(Promotion, ValuesBecomeWider) {
  EXPECT_EQ(promote(Literal::int_(-7), type_of("long")), Literal::long_(-7));
  EXPECT_EQ(promote(Literal::float_(0.1F), type_of("double")), Literal::double_(double{0.1F}));
  EXPECT_EQ(promote(Literal(type_of("decimal(9, 2)"), Int128{5}), type_of("decimal(18, 2)")).as<Int128>(), Int128{5});
  EXPECT_EQ(promote(Literal::date(-1), type_of("timestamp")).as<int64_t>(), -86'400'000'000);
  EXPECT_TRUE(promote(Literal::null(type_of("int")), type_of("long")).is_null());
  EXPECT_TRUE(promote(Literal(), type_of("string")).is_null());
}

TEST(Promotion, ADateOutOfRangeIsAnError) {
  // 2262-04-11 is the last whole day of 64-bit nanoseconds.
  EXPECT_NO_THROW(promote(Literal::date(106751), type_of("timestamp_ns")));
  EXPECT_THROW(promote(Literal::date(106752), type_of("timestamp_ns")), Error);
  EXPECT_NO_THROW(promote(Literal::date(106752), type_of("timestamp")));
  EXPECT_THROW(promote(Literal::date(INT32_MAX), type_of("timestamp")), Error);
  EXPECT_THROW(promote(Literal::date(0), type_of("timestamptz")), Error);
}

}  // namespace
}  // namespace frazil::spec
