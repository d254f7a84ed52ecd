#include "frazil/predicate/bind.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/columnar/builders.h"
#include "frazil/predicate/int256.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/random_predicates_test.h"

namespace frazil::predicate {
namespace {

std::string text_of(const Value& value) {
  struct Text {
    std::string operator()(bool held) const { return held ? "true" : "false"; }
    std::string operator()(int64_t held) const { return std::to_string(held); }
    std::string operator()(uint64_t held) const { return std::to_string(held) + "u"; }
    std::string operator()(double held) const { return number_to_string(held); }
    std::string operator()(Int128 held) const { return frazil::to_string(held) + "d"; }
    std::string operator()(const Int256& held) const {
      return held.fits_int128() ? frazil::to_string(held.to_int128()) + "w" : "wide";
    }
    std::string operator()(const std::string& held) const { return "'" + held + "'"; }
  };
  return std::visit(Text{}, value);
}

// "x <= 5", "(x IS NOT NULL AND ...)", "FALSE": the bound tree with values in the columns' own form.
std::string text_of(const BoundNode& node, const std::vector<BoundColumn>& columns) {
  if (const bool* value = std::get_if<bool>(&node.form)) return *value ? "TRUE" : "FALSE";
  auto join = [&](const std::vector<BoundNode>& operands, const char* word) {
    std::string out = "(";
    for (const BoundNode& operand : operands) out += (out.size() == 1 ? "" : word) + text_of(operand, columns);
    return out + ")";
  };
  if (const auto* group = std::get_if<BoundAnd>(&node.form)) return join(group->operands, " AND ");
  if (const auto* group = std::get_if<BoundOr>(&node.form)) return join(group->operands, " OR ");
  const auto& test = std::get<BoundTest>(node.form);
  constexpr const char* kNames[] = {
      " IS NULL", " IS NOT NULL", " IS NAN", " IS NOT NAN", " = ",      " != ",     " < ",
      " <= ",     " > ",          " >= ",    " IN ",        " NOT IN ", " STARTS ", " NOT STARTS "};
  std::string out = columns[test.column].name + kNames[static_cast<size_t>(test.kind)];
  if (test.set != nullptr) {
    for (const Value& value : test.set->values()) out += text_of(value) + ",";
    return out + (test.set->contains_nan() ? "NaN" : "");
  }
  return test.kind >= TestKind::kEqual ? out + text_of(test.value) : out;
}

std::string bound(std::string_view text, const SchemaPtr& schema, BindOptions options = {}) {
  const BoundPredicate predicate = bind_predicate(parse(text), schema, options);
  return text_of(predicate.root(), predicate.columns());
}

SchemaPtr one(const DataTypePtr& type, Metadata metadata = {}) {
  return Schema::make({{.name = "x", .type = type, .nullable = true, .metadata = std::move(metadata)}});
}

struct Case {
  DataTypePtr type;
  std::string_view text;
  std::string_view bound;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& each : cases) {
    EXPECT_EQ(bound(each.text, one(each.type)), each.bound) << each.type->to_string() << ": " << each.text;
  }
}

TEST(Bind, DecidesNumbersAgainstIntegersExactly) {
  const DataTypePtr byte = primitive(TypeId::kInt8);
  const DataTypePtr big = primitive(TypeId::kInt64);
  const DataTypePtr natural = primitive(TypeId::kUInt64);
  check({
      {byte, "x = 10", "x = 10"},
      {byte, "x = 10.0", "x = 10"},
      {byte, "x = 1e1", "x = 10"},
      {byte, "x = 100e-1", "x = 10"},
      {byte, "x = 1.5", "FALSE"},
      {byte, "x != 1.5", "x IS NOT NULL"},
      {byte, "x < 1.5", "x <= 1"},
      {byte, "x <= 1.5", "x <= 1"},
      {byte, "x > 1.5", "x > 1"},
      {byte, "x >= 1.5", "x > 1"},
      {byte, "x < -1.5", "x <= -2"},
      {byte, "x > -1.5", "x > -2"},
      {byte, "x < -0.5", "x <= -1"},
      {byte, "x = -0.0", "x = 0"},
      {byte, "x < 127.5", "x <= 127"},
      {byte, "x < 128", "x IS NOT NULL"},
      {byte, "x >= 128", "FALSE"},
      {byte, "x > -129", "x IS NOT NULL"},
      {byte, "x > -128.5", "x IS NOT NULL"},
      {byte, "x < -128.5", "FALSE"},
      {byte, "x IN (1, 1.0, 1.5, 300, 2)", "x IN 1,2,"},
      {byte, "x IN (1.5, 300)", "FALSE"},
      {byte, "x NOT IN (1.5, 300)", "x IS NOT NULL"},
      {byte, "x NOT IN (1.5, 3)", "x != 3"},
      {byte, "NOT (x < 1e30)", "FALSE"},
      {big, "x = 9223372036854775807", "x = 9223372036854775807"},
      {big, "x > 9223372036854775806.5", "x > 9223372036854775806"},
      {big, "x = 9223372036854775808", "FALSE"},
      {big, "x >= -9223372036854775808", "x >= -9223372036854775808"},
      {big, "x < 1e1000000000000", "x IS NOT NULL"},
      {big, "x > -1e1000000000000", "x IS NOT NULL"},
      {big, "x >= 1e-1000000000000", "x > 0"},
      {big, "x >= -1e-1000000000000", "x > -1"},
      {big, "x = 0e1000000000000", "x = 0"},
      {big, "x = DOUBLE '3'", "x = 3"},
      {big, "x > DOUBLE '2.5'", "x > 2"},
      {big, "x = DOUBLE '9007199254740993'", "x = 9007199254740992"},
      {big, "x < DOUBLE '9223372036854775808'", "x IS NOT NULL"},
      {big, "x < DOUBLE 'NaN'", "x IS NOT NULL"},
      {big, "x < DOUBLE '-Infinity'", "FALSE"},
      {natural, "x = 18446744073709551615", "x = 18446744073709551615u"},
      {natural, "x < 18446744073709551616", "x IS NOT NULL"},
      {natural, "x > -1", "x IS NOT NULL"},
      {natural, "x < 0.5", "x <= 0u"},
  });
}

TEST(Bind, ScalesNumbersToDecimals) {
  const DataTypePtr money = decimal(9, 2);
  check({
      {money, "x = 10", "x = 1000d"},
      {money, "x = 14.20", "x = 1420d"},
      {money, "x = '14.20'", "x = 1420d"},
      {money, "x = 14.205", "FALSE"},
      {money, "x < 14.205", "x <= 1420d"},
      {money, "x < -14.205", "x <= -1421d"},
      {money, "x = DOUBLE '0.1'", "x = 10d"},
      {money, "x < 1e40", "x IS NOT NULL"},
      {money, "x < 1e36", "x < 100000000000000000000000000000000000000d"},
      {decimal(9, 2, TypeId::kDecimal32), "x > 21474836.47", "x > 2147483647d"},
      {decimal(9, 2, TypeId::kDecimal32), "x > 21474836.48", "FALSE"},
      {decimal(18, 0, TypeId::kDecimal64), "x > -9223372036854775808", "x > -9223372036854775808d"},
      {decimal(5, -2), "x = 1200", "x = 12d"},
      {decimal(5, -2), "x = 1250", "FALSE"},
      {decimal(5, -2), "x < 1250", "x <= 12d"},
      {decimal(76, 2, TypeId::kDecimal256), "x = 10", "x = 1000w"},
      {decimal(76, 0, TypeId::kDecimal256), "x < -1.5", "x <= -2w"},
      {decimal(76, 0, TypeId::kDecimal256), "x < 1e76", "x < wide"},
      {decimal(76, 0, TypeId::kDecimal256), "x < 1e77", "x IS NOT NULL"},
  });
}

TEST(Bind, RoundsNumbersToTheColumnsFloat) {
  const DataTypePtr half = primitive(TypeId::kHalfFloat);
  const DataTypePtr single = primitive(TypeId::kFloat);
  const DataTypePtr real = primitive(TypeId::kDouble);
  check({
      {real, "x = 0.1", "x = 0.1"},
      {single, "x = 0.1", "x = 0.10000000149011612"},
      {single, "x = DOUBLE '0.1'", "x = 0.10000000149011612"},
      {half, "x = 0.1", "x = 0.0999755859375"},
      {half, "x = 2049", "x = 2048.0"},
      {half, "x = 2051", "x = 2052.0"},
      {half, "x < 65519.99", "x < 65504.0"},
      {half, "x < 65520", "x <= 65504.0"},
      {half, "x = 1e-9", "x = 0.0"},
      {single, "x < 1e39", "x <= 3.4028234663852886e+38"},
      {single, "x > 1e39", "x > 3.4028234663852886e+38"},
      {single, "x = 1e39", "FALSE"},
      {single, "x > -1e39", "x > -Infinity"},
      {single, "x >= -1e39", "x > -Infinity"},
      {single, "x < DOUBLE '-1e39'", "x <= -Infinity"},
      {real, "x < 1e400", "x <= 1.7976931348623157e+308"},
      {real, "x = DOUBLE 'Infinity'", "x = Infinity"},
      {real, "x = DOUBLE 'NaN'", "x IS NAN"},
      {real, "x >= DOUBLE 'NaN'", "x IS NAN"},
      {real, "x > DOUBLE 'NaN'", "FALSE"},
      {real, "x <= DOUBLE 'NaN'", "x IS NOT NULL"},
      {real, "x != DOUBLE 'NaN'", "(x IS NOT NULL AND x IS NOT NAN)"},
      {real, "x IN (1, 0, -0.0, DOUBLE 'NaN')", "x IN 0.0,1.0,NaN"},
      {real, "x IN (DOUBLE 'NaN', 1e400)", "x IS NAN"},
  });
}

TEST(Bind, PlacesDatesAndTimes) {
  const DataTypePtr day = primitive(TypeId::kDate32);
  const DataTypePtr us = timestamp(TimeUnit::kMicro);
  const DataTypePtr zoned = timestamp(TimeUnit::kSecond, "Europe/Berlin");
  check({
      {day, "x = '1970-01-02'", "x = 1"},
      {day, "x = DATE '1969-12-31'", "x = -1"},
      {day, "x < TIMESTAMP '1970-01-02 00:00:00'", "x < 1"},
      {day, "x < TIMESTAMP '1970-01-02 00:00:01'", "x <= 1"},
      {day, "x = '1969-12-31T12:00:00'", "FALSE"},
      {day, "x > '1969-12-31T12:00:00'", "x > -1"},
      {primitive(TypeId::kDate64), "x = DATE '1970-01-02'", "x = 86400000"},
      {us, "x = DATE '1970-01-02'", "x = 86400000000"},
      {us, "x >= '1970-01-01T00:00:00.000001'", "x >= 1"},
      {us, "x >= '1970-01-01T00:00:00.0000015'", "x > 1"},
      {us, "x < '1969-12-31T23:59:59.9999995'", "x <= -1"},
      {us, "x < '+300000-01-01'", "x IS NOT NULL"},
      {timestamp(TimeUnit::kNano), "x < '2300-01-01'", "x IS NOT NULL"},
      {timestamp(TimeUnit::kNano), "x < '1600-01-01'", "FALSE"},
      {timestamp(TimeUnit::kMilli), "x = TIMESTAMP '1970-01-01 00:00:01.5'", "x = 1500"},
      {zoned, "x = '1970-01-01T02:00:00+02:00'", "x = 0"},
      {zoned, "x = '1970-01-01T00:00:00'", "x = 0"},
      {zoned, "x < TIMESTAMP '1970-01-01 00:00:00.5Z'", "x <= 0"},
      {time32(TimeUnit::kSecond), "x = TIME '00:01'", "x = 60"},
      {time32(TimeUnit::kSecond), "x >= '00:00:00.5'", "x > 0"},
      {time64(TimeUnit::kNano), "x = '23:59:59.999999999'", "x = 86399999999999"},
  });
}

TEST(Bind, TakesTextBytesAndUuids) {
  const DataTypePtr sixteen = fixed_size_binary(16);
  check({
      {primitive(TypeId::kUtf8View), "x = 'a''b'", "x = 'a'b'"},
      {primitive(TypeId::kUtf8), "x STARTS WITH ''", "x IS NOT NULL"},
      {primitive(TypeId::kUtf8), "x NOT STARTS WITH ''", "FALSE"},
      {primitive(TypeId::kBinary), "x = X'6162'", "x = 'ab'"},
      {fixed_size_binary(2), "x > X'61'", "x > 'a'"},
      {sixteen, "x = UUID '61616161-6161-6161-6161-616161616161'", "x = 'aaaaaaaaaaaaaaaa'"},
      {primitive(TypeId::kBool), "x", "x = true"},
      {primitive(TypeId::kBool), "x IN (TRUE, FALSE)", "x IN false,true,"},
      {dictionary(primitive(TypeId::kInt8), primitive(TypeId::kInt64)), "x > 2.5", "x > 2"},
      {run_end_encoded({.name = "r", .type = primitive(TypeId::kInt32), .nullable = false},
                       {.name = "v", .type = primitive(TypeId::kUtf8)}),
       "x = 'a'", "x = 'a'"},
      {list({.name = "item", .type = primitive(TypeId::kInt8)}), "x IS NULL", "x IS NULL"},
      {primitive(TypeId::kNull), "x = 1 OR x != 'a' OR x STARTS WITH 'a' OR x IN (1)", "FALSE"},
      {primitive(TypeId::kNull), "x IS NOT NAN", "TRUE"},
  });
  EXPECT_EQ(bound("x = '61616161-6161-6161-6161-616161616161'", one(sixteen, {{"ARROW:extension:name", "arrow.uuid"}})),
            "x = 'aaaaaaaaaaaaaaaa'");
}

TEST(Bind, RefusesLiteralsOfAnotherKindWithColumnAndType) {
  const struct {
    DataTypePtr type;
    std::string_view text;
    std::string_view what;
  } kCases[] = {
      {primitive(TypeId::kInt64), "x = '5'",
       "column x of type int64 cannot be compared with '5' (numbers stand without quotes)"},
      {primitive(TypeId::kDouble), "x = 'NaN'",
       "column x of type double cannot be compared with 'NaN' (numbers stand without quotes)"},
      {primitive(TypeId::kUtf8), "x IN ('a', 5)",
       "column x of type utf8 cannot be compared with 5 (text stands in single quotes)"},
      {primitive(TypeId::kBool), "x = 1", "column x of type bool cannot be compared with 1"},
      {primitive(TypeId::kInt8), "x", "column x of type int8 cannot be compared with TRUE"},
      {primitive(TypeId::kBinary), "x = 'ab'",
       "column x of type binary cannot be compared with 'ab' (write bytes as X'00ff')"},
      {primitive(TypeId::kDate32), "x = 5", "column x of type date32 cannot be compared with 5"},
      {primitive(TypeId::kDate32), "x = 'tomorrow'",
       "column x of type date32 cannot be compared with 'tomorrow' (write dates as '2026-11-01' and timestamps as "
       "'2026-11-01T12:30:00')"},
      {timestamp(TimeUnit::kMicro), "x > '2026-11-01T00:00:00Z'",
       "column x of type timestamp[us] cannot be compared with '2026-11-01T00:00:00Z' (leave out the zone)"},
      {decimal(9, 2), "x = 'a'", "column x of type decimal128(9, 2) cannot be compared with 'a'"},
      {fixed_size_binary(16), "x = '61616161-6161-6161-6161-616161616161'",
       "column x of type fixed_size_binary[16] cannot be compared with '61616161-6161-6161-6161-616161616161' (write "
       "bytes as X'00ff')"},
      {duration(TimeUnit::kSecond), "x = 5", "column x of type duration[s] cannot be compared with 5"},
      {primitive(TypeId::kInt32), "x IS NAN", "column x of type int32 has no NaN"},
      {primitive(TypeId::kInt32), "x LIKE 'a%'", "column x of type int32 has no prefixes: it is not text"},
      {list({.name = "item", .type = primitive(TypeId::kInt8)}), "x = 1",
       "column x of type list<item: int8> can only be tested for NULL"},
  };
  for (const auto& [type, text, what] : kCases) {
    try {
      bound(text, one(type));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_STREQ(error.what(), std::string(what).c_str()) << text;
    }
  }
}

TEST(Bind, FindsColumnsByTheirPath) {
  const DataTypePtr inner = struct_({{.name = "c", .type = primitive(TypeId::kInt64)}});
  const DataTypePtr outer = struct_({{.name = "a", .type = primitive(TypeId::kUtf8)}, {.name = "b", .type = inner}});
  const SchemaPtr schema = Schema::make({{.name = "ID", .type = primitive(TypeId::kInt64)},
                                         {.name = "s", .type = outer},
                                         {.name = "s.a", .type = primitive(TypeId::kInt64)},
                                         {.name = "Two", .type = primitive(TypeId::kInt64)},
                                         {.name = "TWO", .type = primitive(TypeId::kInt64)},
                                         {.name = "x.y", .type = primitive(TypeId::kInt64)},
                                         {.name = "l", .type = list({.name = "item", .type = outer})}});
  const BoundPredicate predicate =
      bind_predicate(parse("s.b.c > 1 AND (s.a = 'x' OR s.b.c < 5) AND s.b IS NOT NULL AND \"s.a\" = 7"), schema);
  std::vector<std::pair<std::string, std::vector<size_t>>> columns;
  for (const BoundColumn& column : predicate.columns()) columns.emplace_back(column.name, column.path);
  EXPECT_EQ(columns, (std::vector<std::pair<std::string, std::vector<size_t>>>{
                         {"s.b.c", {1, 1, 0}}, {"s.a", {1, 0}}, {"s.b", {1, 1}}, {"\"s.a\"", {2}}}));
  const BindOptions kAnyCase{.case_sensitive = false};
  EXPECT_EQ(bound("id = 1 AND S.B.C = 2", schema, kAnyCase), "(ID = 1 AND s.b.c = 2)");
  EXPECT_EQ(bound("Two = 1", schema, kAnyCase), "Two = 1");
  const struct {
    std::string_view text;
    BindOptions options;
    ErrorKind kind;
    std::string_view what;
  } kErrors[] = {
      {"id = 1", {}, ErrorKind::kNotFound, "column id does not exist (names differ in upper and lower case: ID)"},
      {"nope = 1",
       {},
       ErrorKind::kNotFound,
       "column nope does not exist (there are ID, s, \"s.a\", Two, TWO, \"x.y\", l)"},
      {"s.z = 1", {}, ErrorKind::kNotFound, "column s.z does not exist: there is no field 'z' (there are a, b)"},
      {"x.y = 1", {}, ErrorKind::kNotFound, "column x.y does not exist (write \"x.y\" for the column of that name)"},
      {"two = 1", kAnyCase, ErrorKind::kInvalidArgument, "column two is ambiguous: 2 fields have that name"},
      {"ID.x = 1", {}, ErrorKind::kInvalidArgument, "column ID.x cannot be reached: ID is int64, not a struct"},
      {"l.a = 'x'",
       {},
       ErrorKind::kInvalidArgument,
       "column l.a cannot be reached: l is list<item: struct<a: utf8, b: struct<c: int64>>>, not a struct"},
  };
  for (const auto& [text, options, kind, what] : kErrors) {
    try {
      bind_predicate(parse(text), schema, options);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << text;
      EXPECT_STREQ(error.what(), std::string(what).c_str());
    }
  }
}

TEST(Bind, FoldsConstantsAndForgetsTheirColumns) {
  const SchemaPtr schema =
      Schema::make({{.name = "a", .type = primitive(TypeId::kInt8)}, {.name = "b", .type = primitive(TypeId::kUtf8)}});
  EXPECT_EQ(bound("a = 1000 OR b = 'x'", schema), "b = 'x'");
  EXPECT_EQ(bound("a = 1000 AND b = 'x'", schema), "FALSE");
  EXPECT_EQ(bound("a NOT IN () OR b = 'x'", schema), "TRUE");
  EXPECT_EQ(bound("NOT (a = 1000 OR b = 'x')", schema), "(a IS NOT NULL AND b != 'x')");
  // Cheap tests first, whatever the order of the text.
  EXPECT_EQ(bound("b IN ('x', 'y') AND b = 'x' AND a < 5 AND a IS NOT NULL", schema),
            "(a IS NOT NULL AND a < 5 AND b = 'x' AND b IN 'x','y',)");
  const BoundPredicate predicate = bind_predicate(parse("a = 1000 OR b = 'x'"), schema);
  ASSERT_EQ(predicate.columns().size(), 1U);
  EXPECT_EQ(predicate.columns()[0].name, "b");
  EXPECT_TRUE(bind_predicate(parse("a = 1000"), schema).always_false());
  EXPECT_TRUE(bind_predicate(parse("TRUE OR a = 5"), schema).always_true());
  // A constant hides no mistake.
  EXPECT_THROW(bind_predicate(parse("TRUE OR nope = 1"), schema), Error);
}

// ---- Values ----

RC_GTEST_PROP(Int256, OrdersAndNegatesAsIntegersDo, (int64_t a, int64_t b, int64_t c, int64_t d)) {
  const Int128 left = make_int128(a, static_cast<uint64_t>(b));
  const Int128 right = make_int128(c, static_cast<uint64_t>(d));
  RC_ASSERT((Int256(left) <=> Int256(right)) == (left <=> right));
  RC_ASSERT(Int256(left).to_int128() == left);
  if (left != kInt128Min) RC_ASSERT(negate(Int256(left)) == Int256(-left));
  RC_ASSERT(negate(negate(Int256(left))) == Int256(left));
}

TEST(Int256, StopsAtItsEnd) {
  Int256 value;
  for (int i = 0; i < 76; ++i) ASSERT_TRUE(append_digit(value, 9));
  EXPECT_TRUE(value > Int256(kInt128Max));
  EXPECT_FALSE(append_digit(value, 9));
  Int256 greatest = negate(Int256(Int128{1}));
  greatest.words[3] >>= 1;
  EXPECT_FALSE(increment(greatest));
}

TEST(Value, ComparesNanAndZeros) {
  const Value nan = std::nan("");
  EXPECT_TRUE(compare(nan, nan) == 0);
  EXPECT_TRUE(compare(nan, Value(INFINITY)) > 0);
  EXPECT_TRUE(compare(Value(-0.0), Value(0.0)) == 0);
  EXPECT_TRUE(compare(Value(std::string("\xff")), Value(std::string("a"))) > 0);
  EXPECT_THROW(compare(Value(int64_t{1}), Value(uint64_t{1})), Error);
}

RC_GTEST_PROP(ValueSet, HoldsWhatItWasGiven, (uint64_t seed)) {
  test::RandomPredicates random(seed);
  const int64_t scale = random.pick(std::vector<int64_t>{1, 7, 100'000, 1'000'000'007, int64_t{1} << 40});
  std::set<int64_t> expected;
  std::vector<Value> values;
  for (int64_t i = 1 + random.below(300); i > 0; --i) {
    const int64_t value = (random.below(400) - 200) * scale;
    expected.insert(value);
    values.emplace_back(value);
  }
  if (random.coin(4)) {
    for (const int64_t end : {INT64_MIN, INT64_MAX, int64_t{0}}) {
      expected.insert(end);
      values.emplace_back(end);
    }
  }
  const ValueSet set(std::move(values));
  RC_ASSERT(set.values().size() == expected.size());
  for (int64_t i = -210; i <= 210; ++i) {
    for (const int64_t value : {i * scale, i * scale + 1}) {
      RC_ASSERT(set.contains(value) == expected.contains(value));
      RC_ASSERT(set.overlaps(value, value + 5) ==
                (expected.lower_bound(value) != expected.end() && *expected.lower_bound(value) <= value + 5));
    }
  }
}

}  // namespace
}  // namespace frazil::predicate
