#include "frazil/json/value.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/json/json_generators.h"

namespace frazil::json {
namespace {

Value number(std::string text) {
  return Value(Number{std::move(text)});
}

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const CorruptError& error) {
    return error.message();
  }
  return "no error";
}

TEST(JsonValue, ReadsIntegersByValueNotByText) {
  const std::pair<std::string, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"-7", -7},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"1.0", 1},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"-12.500e1", -125},
      {"1200e-2", 12},
      {"0.0000", 0},
      {"0e999999999999999999999999", 0},
      {"9.223372036854775807e18", INT64_MAX},
      {"-922337203685477580800e-2", INT64_MIN},
      {"1e18", 1000000000000000000},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(number(text).as_int64(), value) << text;
}

TEST(JsonValue, RefusesWhatIsNoIntegerOrDoesNotFit) {
  for (const char* text : {"1.5", "1e-1", "12e-2", "0.1", "1e-99999999999999999999", "abc", "", "-", "1e", "01x"}) {
    EXPECT_THAT(error_of([&] { number(text).as_int64(); }), testing::HasSubstr("expected an integer")) << text;
  }
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1e19", "1e400", "1e99999999999999999999",
                           "123456789012345678901234567890", "9223372036854775808.0"}) {
    EXPECT_THAT(error_of([&] { number(text).as_int64(); }), testing::HasSubstr("does not fit in 64 bits")) << text;
  }
  EXPECT_EQ(number("2147483647").as_int32(), INT32_MAX);
  EXPECT_EQ(number("-2147483648").as_int32(), INT32_MIN);
  EXPECT_THAT(error_of([] { number("2147483648").as_int32(); }), testing::HasSubstr("does not fit in 32 bits"));
  EXPECT_THAT(error_of([] { number("-2147483649").as_int32(); }), testing::HasSubstr("does not fit in 32 bits"));
}

TEST(JsonValue, ReadsDoubles) {
  EXPECT_EQ(number("0.1").as_double(), 0.1);
  EXPECT_EQ(number("1e3").as_double(), 1000);
  EXPECT_EQ(number("123456789012345678901234567890").as_double(), 123456789012345678901234567890.0);
  EXPECT_EQ(number("1.7976931348623157e308").as_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(number("1e-400").as_double(), 0);
  EXPECT_TRUE(std::signbit(number("-1e-400").as_double()));
  EXPECT_EQ(number("5e-324").as_double(), 5e-324);
  EXPECT_THAT(error_of([] { number("1e400").as_double(); }), testing::HasSubstr("does not fit in a double"));
  EXPECT_THAT(error_of([] { number("-1.8e308").as_double(); }), testing::HasSubstr("does not fit in a double"));
}

TEST(JsonValue, NamesWhatItFoundInsteadOfTheKindAskedFor) {
  EXPECT_EQ(error_of([] { Value("x").as_int64(); }), "expected an integer, found a string");
  EXPECT_EQ(error_of([] { Value().as_string(); }), "expected a string, found null");
  EXPECT_EQ(error_of([] { Value(true).as_object(); }), "expected an object, found a boolean");
  EXPECT_EQ(error_of([] { Value(Object{}).as_array(); }), "expected an array, found an object");
  EXPECT_EQ(error_of([] { Value(Array{}).as_bool(); }), "expected a boolean, found an array");
  EXPECT_EQ(error_of([] { number("1").as_bool(); }), "expected a boolean, found a number");
  EXPECT_EQ(error_of([] { Value(Object{}).at("format-version"); }), "required key 'format-version' is missing");
}

TEST(JsonValue, KeepsTheOrderOfMembers) {
  Value value{Object{}};
  value.set("b", Value(1));
  value.set("a", Value(2));
  value.set("b", Value("three"));
  EXPECT_EQ(write(value), R"({"b":"three","a":2})");
  value.erase("b");
  value.erase("nothing");
  EXPECT_EQ(write(value), R"({"a":2})");
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(value.at("a").as_int64(), 2);
}

TEST(JsonValue, ComparesNumbersByTextAndMembersInAnyOrder) {
  EXPECT_EQ(parse(R"({"a":1,"b":[2,{"c":3,"d":4}]})"), parse(R"({"b":[2,{"d":4,"c":3}],"a":1})"));
  EXPECT_NE(parse("1"), parse("1.0"));
  EXPECT_NE(parse("[1,2]"), parse("[2,1]"));
  EXPECT_NE(parse(R"({"a":1})"), parse(R"({"a":1,"b":1})"));
  EXPECT_NE(parse(R"({"a":1,"b":1})"), parse(R"({"a":1,"c":1})"));
  EXPECT_NE(parse("null"), parse("false"));
}

TEST(JsonWrite, EscapesOnlyWhatMustBe) {
  const std::pair<std::string, std::string> cases[] = {
      {"", R"("")"},
      {"a/b", R"("a/b")"},
      {"\"\\", R"("\"\\")"},
      {std::string("\0\x01\x1F", 3), R"("\u0000\u0001\u001f")"},
      {"\b\f\n\r\t\v", R"("\b\f\n\r\t\u000b")"},
      {"\x7F\u00e9\u2028\U0001F600", "\"\x7F\u00e9\u2028\U0001F600\""},
  };
  for (const auto& [text, quoted] : cases) {
    EXPECT_EQ(quote(text), quoted);
    EXPECT_EQ(write(Value(text)), quoted);
  }
}

TEST(JsonWrite, RefusesTextThatIsNotUtf8AndQuoteReplacesIt) {
  for (const char* text : {"a\x80z", "\xC3", "\xED\xA0\x80", "\xFF\xFF"}) {
    try {
      write(Value(Array{Value(text)}));
      ADD_FAILURE() << quote(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    }
    EXPECT_THROW(write(Value(Object{{text, Value()}})), Error);
  }
  EXPECT_EQ(quote("a\x80z"), "\"a\uFFFDz\"");
  EXPECT_EQ(quote("\xFF\xFE\n"), "\"\uFFFD\uFFFD\\n\"");
}

TEST(JsonWrite, Indents) {
  const Value value = parse(R"({"a":[],"b":{},"c":[1,[2]],"d":{"e":null}})");
  EXPECT_EQ(write(value, 2),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    [\n      2\n    ]\n  ],\n"
            "  \"d\": {\n    \"e\": null\n  }\n}");
}

TEST(JsonWrite, WritesDoublesThatReadBack) {
  EXPECT_EQ(write(Value(0.1)), "0.1");
  EXPECT_EQ(write(Value(3.0)), "3.0");
  EXPECT_EQ(write(Value(-0.0)), "-0.0");
  EXPECT_EQ(write(Value(int64_t{INT64_MIN})), "-9223372036854775808");
  for (double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL}) EXPECT_THROW(Value{wrong}, Error);
}

RC_GTEST_PROP(JsonWrite, MakesNumbersThatReadBackToTheBit, (double number)) {
  RC_PRE(std::isfinite(number));
  const double back = parse(write(Value(number))).as_double();
  RC_ASSERT(back == number && std::signbit(back) == std::signbit(number));
}

RC_GTEST_PROP(JsonWrite, QuotesAnyBytesAsJson, (const std::string& bytes)) {
  const std::string back = parse(quote(bytes)).as_string();
  RC_ASSERT(is_valid_utf8(back));
  if (is_valid_utf8(bytes)) RC_ASSERT(back == bytes);
}

}  // namespace
}  // namespace frazil::json
