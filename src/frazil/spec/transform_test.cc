#include "frazil/spec/transform.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/civil_time.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::bytes_of;
using test::error_of;
using test::type_of;

Literal value(std::string_view type, std::string_view text) {
  return parse_literal(type_of(type), text);
}

TEST(Transform, TextsGoBothWays) {
  for (const char* text : {"identity", "bucket[16]", "truncate[2147483647]", "year", "month", "day", "hour", "void"}) {
    Transform transform = Transform::parse(text);
    EXPECT_EQ(transform.to_string(), text);
    EXPECT_FALSE(transform.is_unknown()) << text;
    EXPECT_EQ(Transform::parse(transform.to_string()), transform);
  }
  EXPECT_EQ(Transform::parse("BUCKET[4]"), Transform::bucket(4));
  EXPECT_EQ(Transform::parse("Day"), Transform::day());
}

TEST(Transform, UnknownTextsAreKeptAsTheyStand) {
  for (const char* text : {"zorder", "Geohash(5)", "bucket", "bucket[16", "days", "", "hash[4, 2]"}) {
    Transform transform = Transform::parse(text);
    EXPECT_TRUE(transform.is_unknown()) << text;
    EXPECT_EQ(transform.to_string(), text);
    EXPECT_EQ(transform.result_type(primitive(TypeKind::kInt))->kind(), TypeKind::kUnknown);
    EXPECT_THROW(transform.apply(Literal::int_(1)), Error);
    EXPECT_EQ(transform.try_apply(Literal::int_(1)), std::nullopt);
  }
  EXPECT_NE(Transform::parse("a"), Transform::parse("b"));
}

TEST(Transform, ParametersArePositive32BitIntegers) {
  for (const char* text : {"bucket[0]", "bucket[-1]", "truncate[0]", "bucket[2147483648]", "bucket[]", "bucket[x]",
                           "truncate[1.5]", "bucket[ 4 ]"}) {
    EXPECT_THROW(Transform::parse(text), CorruptError) << text;
  }
  EXPECT_THROW(Transform::bucket(0), Error);
  EXPECT_THROW(Transform::truncate(-1), Error);
}

TEST(Transform, TakesTheTypesThatTheSpecLists) {
  const char* const all[] = {
      "unknown", "boolean",  "int",       "long",        "float",        "double",         "decimal(9, 2)",
      "date",    "time",     "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string",
      "uuid",    "fixed[4]", "binary",    "variant",     "geometry",     "geography",      "list<1: optional int>"};
  const std::pair<const char*, std::string_view> taken[] = {
      // One letter a type, in the order above.
      {"identity", "xxxxxxxxxxxxxxxxx...."},    {"bucket[4]", "..xx..xxxxxxxxxxx...."},
      {"truncate[4]", "..xx..x......x..x...."}, {"year", ".......x.xxxx........"},
      {"month", ".......x.xxxx........"},       {"day", ".......x.xxxx........"},
      {"hour", ".........xxxx........"},        {"void", "xxxxxxxxxxxxxxxxxxxxx"},
  };
  for (const auto& [text, row] : taken) {
    for (size_t i = 0; i < std::size(all); ++i) {
      EXPECT_EQ(Transform::parse(text).can_transform(*type_of(all[i])), row[i] == 'x') << text << " of " << all[i];
    }
  }
}

TEST(Transform, NullGivesNullOfTheResultType) {
  for (const char* text : {"identity", "bucket[4]", "truncate[4]", "year", "day", "void"}) {
    Transform transform = Transform::parse(text);
    TypePtr source = type_of(transform.can_transform(*type_of("date")) ? "date" : "string");
    Literal result = transform.apply(Literal::null(source));
    EXPECT_TRUE(result.is_null()) << text;
    EXPECT_TRUE(result.type()->equals(*transform.result_type(source))) << text;
  }
  EXPECT_TRUE(Transform::always_null().apply(Literal::int_(5)).is_null());
}

TEST(Transform, P04_HoursBeyondTheRangeOfIntAreAnErrorNeverAWrap) {
  Literal far = value("timestamp", "+250000-01-01T00:00:00");
  EXPECT_EQ(Transform::hour().try_apply(far), std::nullopt) << "no pruning with that value";
  EXPECT_NE(error_of(ErrorKind::kInvalidArgument, [&] { Transform::hour().apply(far); }).find("out of range"),
            std::string::npos);
  EXPECT_EQ(Transform::year().apply(far), Literal::int_(250000 - 1970));
  EXPECT_EQ(Transform::month().apply(far), Literal::int_((250000 - 1970) * 12));
  EXPECT_EQ(Transform::day().apply(far).type()->kind(), TypeKind::kDate);

  int64_t hour_us = 3'600'000'000;
  auto hour_of = [](int64_t us) { return Transform::hour().try_apply(Literal(primitive(TypeKind::kTimestamp), us)); };
  EXPECT_EQ(hour_of(hour_us * INT32_MAX), Literal::int_(INT32_MAX));
  EXPECT_EQ(hour_of(hour_us * (int64_t{INT32_MAX} + 1)), std::nullopt);
  EXPECT_EQ(hour_of(hour_us * INT32_MIN), Literal::int_(INT32_MIN));
  EXPECT_EQ(hour_of(hour_us * INT32_MIN - 1), std::nullopt);
}

TEST(Transform, P06_TruncateOfNegativesRoundsDown) {
  const std::pair<int32_t, int32_t> cases[] = {{-1, -10}, {-10, -10}, {-11, -20}, {9, 0}, {0, 0}};
  for (const auto& [source, result] : cases) {
    EXPECT_EQ(Transform::truncate(10).apply(Literal::int_(source)), Literal::int_(result)) << source;
    EXPECT_EQ(Transform::truncate(10).apply(Literal::long_(source)), Literal::long_(result)) << source;
    EXPECT_EQ(Transform::truncate(10).apply(Literal(decimal(9, 2), Int128{source})),
              Literal(decimal(9, 2), Int128{result}));
  }
}

TEST(Transform, TruncateBelowTheSmallestValueIsAnError) {
  EXPECT_EQ(Transform::truncate(10).try_apply(Literal::int_(INT32_MIN)), std::nullopt);
  EXPECT_EQ(Transform::truncate(10).try_apply(Literal::long_(INT64_MIN)), std::nullopt);
  EXPECT_EQ(Transform::truncate(10).try_apply(Literal(decimal(38, 0), kInt128Min)), std::nullopt);
  EXPECT_EQ(Transform::truncate(8).try_apply(Literal::int_(INT32_MIN)), Literal::int_(INT32_MIN));
}

TEST(Transform, P11_TruncateOfStringsCountsCodePoints) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {"日本語", 2, "日本"},
      {"😀ab", 2, "😀a"},
      {"\u00e9", 2, "\u00e9"},
      {"e\u0301", 2, "e\u0301"},
      {"e\u0301x", 2, "e\u0301"},
      {"e\u0301", 1, "e"},
      {"", 3, ""},
      {"ab", 3, "ab"},
  };
  for (const auto& [source, width, result] : cases) {
    EXPECT_EQ(Transform::truncate(width).apply(Literal::string(source)), Literal::string(result)) << source;
  }
}

TEST(Transform, P13_BucketsOfNegativeDecimalsHashTheirMinimalBytes) {
  const std::pair<const char*, int> cases[] = {{"14.20", 3}, {"-1.28", 13}, {"-0.01", 13}, {"1.28", 5}, {"-327.68", 3}};
  for (const auto& [text, bucket] : cases) {
    EXPECT_EQ(Transform::bucket(16).apply(value("decimal(9, 2)", text)), Literal::int_(bucket)) << text;
  }
  EXPECT_EQ(kernel::hash_decimal(1420), -500754589);
}

TEST(Transform, P14_BucketsOfUuidsHashTheirBytes) {
  Literal uuid = value("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(kernel::hash_bytes(uuid.as<Uuid>().bytes), 1488055340);
  EXPECT_EQ(Transform::bucket(16).apply(uuid), Literal::int_(12));
}

TEST(Transform, NanosecondsBeforeTheEpochBucketLikeTheirMicroseconds) {
  Literal nano(type_of("timestamp_ns"), int64_t{-1});
  Literal micro(type_of("timestamp"), int64_t{-1});
  EXPECT_EQ(Transform::bucket(1000).apply(nano), Transform::bucket(1000).apply(micro)) << "floor, not truncation";
}

TEST(Transform, TimesBeforeTheEpochRoundDown) {
  Literal late = value("timestamp", "1969-12-31T23:00:00");
  EXPECT_EQ(Transform::day().apply(late), Literal::date(-1));
  EXPECT_EQ(Transform::hour().apply(late), Literal::int_(-1));
  EXPECT_EQ(Transform::month().apply(late), Literal::int_(-1));
  EXPECT_EQ(Transform::year().apply(late), Literal::int_(-1));
  EXPECT_EQ(Transform::hour().human_string(Literal::int_(-1)), "1969-12-31-23");
  EXPECT_EQ(Transform::month().human_string(Literal::int_(-1)), "1969-12");
}

TEST(Transform, HumanStringsOfOtherTransformsAreTheValues) {
  EXPECT_EQ(Transform::bucket(16).human_string(Literal::int_(3)), "3");
  EXPECT_EQ(Transform::truncate(3).human_string(Literal::string("ice")), "ice");
  EXPECT_EQ(Transform::identity().human_string(Literal::date(0)), "1970-01-01");
  EXPECT_EQ(Transform::year().human_string(Literal::null(primitive(TypeKind::kInt))), "null");
  EXPECT_EQ(Transform::day().human_string(Literal::int_(1)), "1970-01-02") << "stored as a plain int";
  EXPECT_EQ(Transform::parse("zorder").human_string(Literal::string("x")), "x");
}

RC_GTEST_PROP(TransformProperty, TimePartsAreTheCalendars, (int64_t us)) {
  Literal source(primitive(TypeKind::kTimestamp), us);
  DayTime parts = split_timestamp(us, TimeUnit::kMicro);
  CivilDate date = civil_from_days(parts.days);
  RC_ASSERT(Transform::year().apply(source).as<int32_t>() == date.year - 1970);
  RC_ASSERT(Transform::month().apply(source).as<int32_t>() == (date.year - 1970) * 12 + date.month - 1);
  RC_ASSERT(Transform::day().apply(source).as<int32_t>() == parts.days);
  if (auto hour = Transform::hour().try_apply(source)) {
    RC_ASSERT(hour->as<int32_t>() == parts.days * 24 + parts.units / 3'600'000'000);
  }
}

RC_GTEST_PROP(TransformProperty, OrderIsKeptWhereItIsClaimed, (int64_t a, int64_t b)) {
  for (const char* text : {"identity", "truncate[7]", "truncate[1000000]", "year", "month", "day", "hour"}) {
    Transform transform = Transform::parse(text);
    RC_ASSERT(transform.preserves_order());
    TypePtr type = primitive(transform.kind() == TransformKind::kTruncate ? TypeKind::kLong : TypeKind::kTimestampTz);
    auto left = transform.try_apply(Literal(type, std::min(a, b)));
    auto right = transform.try_apply(Literal(type, std::max(a, b)));
    if (left && right) RC_ASSERT((compare(*left, *right) <= 0));
  }
}

RC_GTEST_PROP(TransformProperty, TruncatedTextIsAValidPrefix, (std::vector<uint32_t> points, uint8_t width)) {
  std::string text;
  for (uint32_t point : points) text += point % 2 == 0 ? "a" : (point % 3 == 0 ? "\xc3\xa9" : "\xf0\x9f\x98\x80");
  std::string_view cut = kernel::truncate_text(text, width + 1);
  RC_ASSERT(std::string_view(text).starts_with(cut));
  size_t count = 0;
  for (char c : cut) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  RC_ASSERT(count == std::min<size_t>(points.size(), width + 1));
}

}  // namespace
}  // namespace frazil::spec
