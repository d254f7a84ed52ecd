#include "frazil/base/number_text.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(NumberText, PrintsTheShortestTextOfADouble) {
  struct Row {
    double value;
    std::string_view text;
  };
  for (auto [value, text] : {
           Row{0.0, "0.0"},
           Row{-0.0, "-0.0"},
           Row{3.0, "3.0"},
           Row{0.1, "0.1"},
           Row{-4.5, "-4.5"},
           Row{123.456, "123.456"},
           Row{1.0 / 3, "0.3333333333333333"},
           Row{1e300, "1e+300"},
           Row{5e-324, "5e-324"},
           Row{1.7976931348623157e308, "1.7976931348623157e+308"},
           Row{HUGE_VAL, "Infinity"},
           Row{-HUGE_VAL, "-Infinity"},
           Row{std::nan(""), "NaN"},
           Row{9007199254740993.0, "9007199254740992.0"},
       }) {
    EXPECT_EQ(number_to_string(value), text);
  }
  EXPECT_EQ(number_to_string(0.1f), "0.1");
  EXPECT_EQ(number_to_string(1.23f), "1.23");
  EXPECT_EQ(number_to_string(16777216.0f), "16777216.0");
  EXPECT_EQ(number_to_string(3.4028235e38f), "3.4028235e+38");
}

TEST(NumberText, PrintsIntegers) {
  std::string text;
  append_number(text, INT64_MIN);
  text += ' ';
  append_number(text, UINT64_MAX);
  EXPECT_EQ(text, "-9223372036854775808 18446744073709551615");
}

TEST(NumberText, ParsesIntegersWholeOrNotAtAll) {
  EXPECT_EQ(parse_int64("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_int64("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_int64("+7"), 7);
  EXPECT_EQ(parse_int64("007"), 7);
  EXPECT_EQ(parse_uint64("18446744073709551615"), UINT64_MAX);
  for (std::string_view text : {"", "+", "-", "+-1", "-+1", "1 ", " 1", "1.0", "1e3", "0x1", "9223372036854775808",
                                "-9223372036854775809", "99999999999999999999999"}) {
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
  }
  for (std::string_view text : {"-1", "18446744073709551616", "", "+-1"}) {
    EXPECT_EQ(parse_uint64(text), std::nullopt) << text;
  }
}

TEST(NumberText, ParsesFloatingPointNumbers) {
  struct Row {
    std::string_view text;
    double value;
  };
  for (auto [text, value] : {
           Row{"0", 0},
           Row{"1.5", 1.5},
           Row{"+1.5", 1.5},
           Row{"-1.5e2", -150},
           Row{".5", 0.5},
           Row{"5.", 5},
           Row{"1E+2", 100},
           Row{"inf", HUGE_VAL},
           Row{"-Infinity", -HUGE_VAL},
           Row{"+INF", HUGE_VAL},
           // Out of range: what IEEE 754 rounds to.
           Row{"1e400", HUGE_VAL},
           Row{"-1e400", -HUGE_VAL},
           Row{"1e-400", 0},
           Row{"1e99999999999999999999", HUGE_VAL},
           Row{"0.00001e500", HUGE_VAL},
           Row{"100000e-500", 0},
           Row{"1e-99999999999999999999", 0},
           Row{"1.7976931348623159e308", HUGE_VAL},
           Row{"2e-324", 0},
           Row{"3e-324", 5e-324},
       }) {
    const auto parsed = parse_double(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, value) << text;
  }
  EXPECT_EQ(parse_double("1" + std::string(400, '0')), HUGE_VAL);
  EXPECT_EQ(parse_double("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(parse_double("0." + std::string(400, '0') + "1e5"), 0.0);
  EXPECT_EQ(parse_double("1" + std::string(400, '0') + "e-5"), HUGE_VAL);
  EXPECT_TRUE(std::signbit(parse_double("-0.0").value()));
  EXPECT_TRUE(std::signbit(parse_double("-1e-400").value()));
  EXPECT_TRUE(std::isnan(parse_double("NaN").value()));
  EXPECT_TRUE(std::isnan(parse_float("-nan").value()));
  EXPECT_EQ(parse_float("1e39"), HUGE_VALF);
  EXPECT_EQ(parse_float("1e-46"), 0.0f);
  EXPECT_EQ(parse_float("16777217"), 16777216.0f);
  for (std::string_view text : {"",    "+",   "-",   ".",   "e5",   "1e", "1e+",     "1.5x", " 1",    "1 ",
                                "--1", "+-1", "-+1", "1,5", "0x10", "in", "infinit", "nano", "1.2.3", "1_000"}) {
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(NumberText, DoublesOfAnyBitsRoundTrip, (uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits * 0x9e3779b97f4a7c15);
  const auto parsed = parse_double(number_to_string(value));
  RC_ASSERT(parsed.has_value());
  if (std::isnan(value)) {
    RC_ASSERT(std::isnan(*parsed));
  } else {
    RC_ASSERT(std::bit_cast<uint64_t>(*parsed) == std::bit_cast<uint64_t>(value));
  }
}

RC_GTEST_PROP(NumberText, FloatsOfAnyBitsRoundTrip, (uint32_t bits)) {
  const auto value = std::bit_cast<float>(bits * 0x9e3779b9U);
  const auto parsed = parse_float(number_to_string(value));
  RC_ASSERT(parsed.has_value());
  if (std::isnan(value)) {
    RC_ASSERT(std::isnan(*parsed));
  } else {
    RC_ASSERT(std::bit_cast<uint32_t>(*parsed) == std::bit_cast<uint32_t>(value));
  }
}

}  // namespace
}  // namespace frazil
