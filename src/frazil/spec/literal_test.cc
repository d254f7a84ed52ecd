#include "frazil/spec/literal.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/decimal.h"
#include "frazil/base/hex.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::bytes_of;
using test::error_of;
using test::type_of;

std::string raw(std::string_view hex) {
  return decode_hex(hex).value();
}

std::optional<Literal> bound(std::string_view type, std::string_view hex) {
  std::string bytes = raw(hex);
  return bound_from_bytes(type_of(type), bytes_of(bytes));
}

Literal json_literal(std::string_view type, std::string_view text) {
  return literal_from_json(type_of(type), json::parse(text));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- interop.md 10, "Filters and bounds".

TEST(Bounds, AreDecodedByTheirLengthAfterAPromotion) {
  EXPECT_EQ(bound("long", "ffffffff"), Literal::long_(-1)) << "written as int";
  EXPECT_EQ(bound("double", "000090c0"), Literal::double_(-4.5)) << "written as float";
  EXPECT_EQ(bound("timestamp", "01000000"), Literal(type_of("timestamp"), int64_t{86'400'000'000})) << "days";
  EXPECT_EQ(bound("timestamp", "ffffffff"), Literal(type_of("timestamp"), int64_t{-86'400'000'000}));
  EXPECT_EQ(bound("timestamp_ns", "01000000"), Literal(type_of("timestamp_ns"), int64_t{86'400'000'000'000}));
  EXPECT_EQ(bound("decimal(38, 2)", "058c"), Literal(type_of("decimal(38, 2)"), Int128{1420})) << "any width";
  EXPECT_EQ(bound("decimal(9, 2)", "ffffffff80"), Literal(type_of("decimal(9, 2)"), Int128{-128})) << "not minimal";
}

TEST(Bounds, OtherWidthsAreDamage) {
  const std::pair<const char*, std::vector<int>> widths[] = {
      {"boolean", {1}},
      {"int", {4}},
      {"long", {4, 8}},
      {"float", {4}},
      {"double", {4, 8}},
      {"date", {4}},
      {"time", {8}},
      {"timestamp", {4, 8}},
      {"timestamptz", {8}},
      {"timestamp_ns", {4, 8}},
      {"timestamptz_ns", {8}},
      {"uuid", {16}},
      {"geometry", {16, 24, 32}},
      {"geography", {16, 24, 32}},
  };
  for (const auto& [type, good] : widths) {
    for (int width = 0; width <= 40; ++width) {
      std::string hex(static_cast<size_t>(2 * width), '0');
      if (std::find(good.begin(), good.end(), width) != good.end()) {
        EXPECT_TRUE(bound(type, hex).has_value()) << type << " of " << width;
      } else {
        EXPECT_THROW(bound(type, hex), CorruptError) << type << " of " << width;
      }
    }
  }
  EXPECT_THROW(bound("decimal(9, 2)", ""), CorruptError);
  EXPECT_THROW(bound("decimal(38, 2)", "7f" + std::string(32, '0')), CorruptError) << "beyond 128 bits";
}

TEST(Bounds, ADateBeyondTheRangeOfNanosecondsIsAnErrorNotAWrap) {
  EXPECT_THROW(bound("timestamp_ns", "ffffff7f"), CorruptError);
  EXPECT_THROW(bound("timestamp_ns", "00000080"), CorruptError);
}

TEST(Bounds, ANaNBoundCountsAsAbsent) {
  EXPECT_EQ(bound("double", "000000000000f87f"), std::nullopt);
  EXPECT_EQ(bound("float", "0000c07f"), std::nullopt);
  EXPECT_EQ(bound("double", "0000c07f"), std::nullopt) << "a float's NaN in a promoted column";
  EXPECT_TRUE(bound("double", "000000000000f07f").has_value()) << "infinity is a bound";
}

TEST(Bounds, OfFixedMayBeCutShortButNotBeLonger) {
  EXPECT_EQ(bound("fixed[4]", "0102")->as<std::string>(), raw("0102"));
  EXPECT_THROW(bound("fixed[4]", "0102030405"), CorruptError);
  EXPECT_THROW(literal_from_bytes(fixed(4), bytes_of("ab")), CorruptError) << "a value is whole";
}

TEST(Bounds, OfGeometriesAreCoordinatesWithNaNForAZThatIsNotSet) {
  GeoBound xym{1, 2, std::nullopt, 4};
  std::string bytes = geo_bound_to_bytes(xym);
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_EQ(geo_bound_from_bytes(bytes_of(bytes)), xym);
  EXPECT_EQ(geo_bound_to_bytes({1, 2, {}, {}}).size(), 16U);
  EXPECT_EQ(geo_bound_to_bytes({1, 2, 3, {}}).size(), 24U);
  EXPECT_THROW(geo_bound_from_bytes(bytes_of(std::string(17, '\0'))), CorruptError);
}

TEST(Bounds, OfGeometriesWithoutXOrYAreNone) {
  for (const GeoBound& corner : {GeoBound{kNan, 2, 3, 4}, GeoBound{1, kNan, {}, {}}}) {
    EXPECT_EQ(bound_from_bytes(geometry(), bytes_of(geo_bound_to_bytes(corner))), std::nullopt);
  }
  GeoBound no_m{1, 2, 3, kNan};
  EXPECT_TRUE(bound_from_bytes(geometry(), bytes_of(geo_bound_to_bytes(no_m))).has_value());
}

TEST(Bounds, OfStringsMustBeText) {
  EXPECT_THROW(bound("string", "ff"), CorruptError);
  EXPECT_EQ(bound("binary", "ff")->as<std::string>(), "\xff");
}

// ---- Order and equality.

TEST(Literal, NaNEqualsNaNAndIsGreatestAndZerosAreEqual) {
  EXPECT_EQ(Literal::double_(kNan), Literal::double_(-kNan));
  EXPECT_EQ(compare(Literal::double_(kNan), Literal::double_(kNan)), std::strong_ordering::equal);
  EXPECT_EQ(compare(Literal::double_(kNan), Literal::double_(INFINITY)), std::strong_ordering::greater);
  EXPECT_EQ(compare(Literal::float_(1), Literal::float_(NAN)), std::strong_ordering::less);
  EXPECT_EQ(Literal::double_(-0.0), Literal::double_(0.0));
  EXPECT_EQ(compare(Literal::float_(-0.0F), Literal::float_(0.0F)), std::strong_ordering::equal);
}

TEST(Literal, BytesCompareUnsignedAndShorterFirst) {
  EXPECT_EQ(compare(Literal::string("a"), Literal::string("\xc3\xa9")), std::strong_ordering::less);
  EXPECT_EQ(compare(Literal::string("a"), Literal::string("ab")), std::strong_ordering::less);
  EXPECT_EQ(compare(Literal::binary(""), Literal::binary(std::string(1, '\0'))), std::strong_ordering::less);
  Uuid low = parse_uuid("20000000-0000-0000-0000-000000000000");
  Uuid high = parse_uuid("90000000-0000-0000-0000-000000000000");
  EXPECT_EQ(compare(Literal::uuid(low), Literal::uuid(high)), std::strong_ordering::less) << "unsigned, unlike Java";
}

TEST(Literal, DecimalsCompareByValueAcrossScales) {
  Literal a(decimal(9, 1), Int128{15});
  Literal b(decimal(9, 3), Int128{1500});
  EXPECT_EQ(compare(a, b), std::strong_ordering::equal);
  EXPECT_FALSE(a == b) << "not the same type";
}

TEST(Literal, IncomparableKindsAreAnError) {
  EXPECT_THROW(compare(Literal::int_(1), Literal::long_(1)), Error);
}

TEST(Literal, HoldsOnlyWhatItsTypeHolds) {
  EXPECT_THROW(Literal(primitive(TypeKind::kInt), int64_t{1}), Error);
  EXPECT_THROW(Literal(primitive(TypeKind::kString), true), Error);
  EXPECT_THROW(Literal(primitive(TypeKind::kUnknown), true), Error);
  TypePtr pair = type_of("struct<1: a: optional int, 2: b: optional int>");
  EXPECT_THROW(Literal(pair, std::vector<Literal>{Literal::int_(1)}), Error);
  EXPECT_THROW(Literal(type_of("map<1: int, 2: int>"), LiteralMap{{Literal::int_(1)}, {}}), Error);
  EXPECT_TRUE(Literal(primitive(TypeKind::kUnknown), Literal::Value()).is_null());
}

RC_GTEST_PROP(LiteralProperty, LongsKeepTheirOrderAndBytes, (int64_t a, int64_t b)) {
  RC_ASSERT((compare(Literal::long_(a), Literal::long_(b)) == (a <=> b)));
  RC_ASSERT(literal_from_bytes(primitive(TypeKind::kLong), bytes_of(literal_to_bytes(Literal::long_(a)))) ==
            Literal::long_(a));
}

RC_GTEST_PROP(LiteralProperty, DecimalsGoBothWays, (int64_t high, uint64_t low)) {
  // 10^38 does not fit the precision: one digit less than 128 bits.
  Int128 unscaled = make_int128(high, low) / 4;
  Literal value(decimal(38, 10), unscaled);
  RC_ASSERT(literal_from_bytes(value.type(), bytes_of(literal_to_bytes(value))) == value);
  if (fits_precision(unscaled, 38)) RC_ASSERT(literal_from_json(value.type(), literal_to_json(value)) == value);
}

RC_GTEST_PROP(LiteralProperty, TimestampsGoBothWaysThroughJson, (int64_t value)) {
  for (const char* name : {"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}) {
    Literal literal(type_of(name), value);
    RC_ASSERT(literal_from_json(literal.type(), literal_to_json(literal)) == literal);
  }
}

RC_GTEST_PROP(LiteralProperty, FloatsGoBothWaysThroughJson, (float single, double twice)) {
  RC_PRE(std::isfinite(single) && std::isfinite(twice));
  for (const Literal& literal : {Literal::float_(single), Literal::double_(twice)}) {
    json::Value through = json::parse(json::write(literal_to_json(literal)));
    RC_ASSERT(literal_from_json(literal.type(), through) == literal);
  }
}

RC_GTEST_PROP(LiteralProperty, AnyBytesAreAValueOrDamage, (std::vector<uint8_t> bytes)) {
  std::string text(bytes.begin(), bytes.end());
  for (const char* name :
       {"boolean", "int", "long", "float", "double", "decimal(9, 2)", "date", "time", "timestamp", "timestamptz",
        "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed[4]", "binary", "variant", "geometry", "geography"}) {
    try {
      std::optional<Literal> literal = bound_from_bytes(type_of(name), bytes_of(text));
      if (literal) RC_ASSERT(!to_human_string(*literal).empty() || text.empty());
    } catch (const CorruptError&) {
    }
  }
}

// ---- JSON.

TEST(LiteralJson, RejectsWhatIsNotOfTheType) {
  const std::pair<const char*, const char*> cases[] = {
      {"boolean", "1"},
      {"int", "2147483648"},
      {"int", "1.5"},
      {"int", R"("1")"},
      {"long", "9223372036854775808"},
      {"float", "1e39"},
      {"double", "1e400"},
      {"decimal(4, 2)", R"("123.00")"},
      {"decimal(4, 2)", R"("1.234")"},
      {"decimal(4, 2)", "1.23"},
      {"date", R"("2017-02-30")"},
      {"date", R"("2017-11-16T00:00")"},
      {"time", R"("25:00:00")"},
      {"time", R"("10:00:00.0000001")"},
      {"timestamp", R"("2017-11-16T22:31:08+00:00")"},
      {"timestamp", R"("2017-11-16")"},
      {"timestamptz", R"("2017-11-16T22:31:08")"},
      {"uuid", R"("f79c3e09677c4bbda4793f349cb785e7")"},
      {"fixed[2]", R"("11")"},
      {"binary", R"("0")"},
      {"binary", R"("zz")"},
      {"string", "1"},
      {"unknown", "1"},
      {"list<1: optional int>", "{}"},
      {"list<1: required int>", "[null]"},
      {"map<1: int, 2: int>", R"({"keys": [1]})"},
      {"map<1: int, 2: int>", R"({"keys": [null], "values": [1]})"},
      {"struct<1: a: required int, 2: b: optional int>", R"({"2": 1})"},
      {"struct<1: a: required int, 2: b: optional int>", R"({"1": null})"},
      {"struct<1: a: required int, 2: b: optional int>", R"({"1": 1, "3": 1})"},
      {"struct<1: a: required int, 2: b: optional int>", R"([1, 2])"},
  };
  for (const auto& [type, text] : cases) EXPECT_THROW(json_literal(type, text), CorruptError) << type << " " << text;
  EXPECT_NE(error_of(ErrorKind::kCorrupt, [] { json_literal("date", "1"); }).find("not a value of type date"),
            std::string::npos);
}

TEST(LiteralJson, ReadsWhatOthersWriteALittleDifferently) {
  EXPECT_EQ(json_literal("decimal(9, 2)", R"("1.5")").as<Int128>(), Int128{150});
  EXPECT_EQ(json_literal("int", "1.0"), Literal::int_(1));
  EXPECT_EQ(json_literal("double", "1"), Literal::double_(1));
  EXPECT_EQ(json_literal("timestamptz", R"("2017-11-16T22:31:08Z")"),
            json_literal("timestamptz", R"("2017-11-16T22:31:08+00:00")"));
  EXPECT_EQ(json_literal("uuid", R"("F79C3E09-677C-4BBD-A479-3F349CB785E7")"),
            json_literal("uuid", R"("f79c3e09-677c-4bbd-a479-3f349cb785e7")"));
}

TEST(LiteralJson, StructValuesTakeDefaultsForWhatIsLeftOut) {
  TypePtr inner = type_of("struct<1: a: optional int, 2: b: optional int>");
  std::vector<NestedField> fields(inner->fields().begin(), inner->fields().end());
  fields[1].initial_default = std::make_shared<const Literal>(Literal::int_(7));
  Literal value = literal_from_json(struct_(fields), json::parse(R"({"1": 1})"));
  EXPECT_EQ(value.as<std::vector<Literal>>().at(1), Literal::int_(7));
  EXPECT_EQ(json::write(literal_to_json(value)), R"({"1":1,"2":7})");
}

TEST(LiteralJson, WhatHasNoFormIsUnsupported) {
  EXPECT_THROW(literal_to_json(Literal::double_(kNan)), Error);
  EXPECT_THROW(literal_to_json(Literal::float_(INFINITY)), Error);
  EXPECT_THROW(literal_to_json(Literal(geometry(), GeoBound{1, 2, {}, {}})), Error);
  EXPECT_THROW(literal_to_bytes(Literal::null(primitive(TypeKind::kInt))), Error);
  EXPECT_THROW(literal_from_bytes(type_of("list<1: optional int>"), bytes_of("")), Error);
  EXPECT_THROW(json_literal("variant", "1"), Error);
}

// ---- Text.

TEST(LiteralText, PrintsAsListingsDo) {
  const std::pair<Literal, const char*> cases[] = {
      {Literal::boolean(true), "true"},
      {Literal::int_(-5), "-5"},
      {Literal::double_(1.5), "1.5"},
      {Literal(decimal(9, 2), Int128{-5}), "-0.05"},
      {Literal::date(-1), "1969-12-31"},
      {Literal(type_of("time"), int64_t{1}), "00:00:00.000001"},
      {Literal(type_of("timestamp"), int64_t{-1}), "1969-12-31T23:59:59.999999"},
      {Literal(type_of("timestamptz"), int64_t{0}), "1970-01-01T00:00:00+00:00"},
      {Literal(type_of("timestamptz_ns"), int64_t{1}), "1970-01-01T00:00:00.000000001+00:00"},
      {Literal::string("a/b c"), "a/b c"},
      {Literal::binary(raw("010203")), "AQID"},
      {Literal::null(primitive(TypeKind::kInt)), "null"},
      {Literal(geometry(), GeoBound{1, 2, {}, 3}), "(1.0 2.0 m=3.0)"},
  };
  for (const auto& [literal, text] : cases) EXPECT_EQ(to_human_string(literal), text);
}

TEST(LiteralText, IsParsedAsUsersTypeIt) {
  EXPECT_EQ(parse_literal(type_of("boolean"), "TRUE"), Literal::boolean(true));
  EXPECT_EQ(parse_literal(type_of("int"), "-5"), Literal::int_(-5));
  EXPECT_EQ(parse_literal(type_of("timestamptz"), "2017-11-16 14:31:08-08:00"),
            parse_literal(type_of("timestamptz"), "2017-11-16T22:31:08Z"));
  EXPECT_EQ(parse_literal(type_of("list<1: optional int>"), "[1]").as<std::vector<Literal>>().size(), 1U);
  for (const auto& [type, text] : {std::pair{"int", "2147483648"},
                                   {"int", "1x"},
                                   {"boolean", "yes"},
                                   {"date", "today"},
                                   {"decimal(4, 2)", "100"},
                                   {"unknown", "x"},
                                   {"float", "abc"}}) {
    EXPECT_THROW(parse_literal(type_of(type), text), Error) << type << " " << text;
  }
}

}  // namespace
}  // namespace frazil::spec
