#include "frazil/base/decimal.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"

namespace frazil {
namespace {

Int128 int128(std::string_view digits) {
  Int128 value = 0;
  const bool negative = digits.starts_with('-');
  for (char c : digits.substr(negative)) value = value * 10 + (negative ? -(c - '0') : c - '0');
  return value;
}

std::string hex(Int128 value) {
  return encode_hex(decimal_to_big_endian(value).bytes());
}

std::vector<std::byte> bytes_of(std::string_view hex_text) {
  const std::string bytes = decode_hex(hex_text).value();
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

// Small, large and boundary values alike: of any bit width.
Int128 any_int128() {
  const auto value = make_int128(*rc::gen::arbitrary<int64_t>(), *rc::gen::arbitrary<uint64_t>());
  const int shift = *rc::gen::inRange(0, 128);
  return value >> shift;
}

Int128 any_decimal38() {
  return any_int128() % power_of_ten(38);
}

TEST(Decimal, ParsesTheTextThatItPrints) {
  struct Row {
    std::string_view text;
    std::string_view unscaled;
    int32_t scale;
  };
  for (auto [text, unscaled, scale] : {
           Row{"14.20", "1420", 2},  // Iceberg spec, Appendix D
           Row{"0", "0", 0},
           Row{"0.00", "0", 2},
           Row{"0.05", "5", 2},
           Row{"-0.05", "-5", 2},
           Row{"-123.4567", "-1234567", 4},
           Row{"2E+20", "2", -20},  // apache/iceberg TestSingleValueParser, decimal(9,-20)
           Row{"123.4500", "1234500", 4},
           Row{"99999999999999999999999999999999999999", "99999999999999999999999999999999999999", 0},
           Row{"-9.9999999999999999999999999999999999999", "-99999999999999999999999999999999999999", 37},
           Row{"0.00000000000000000000000000000000000001", "1", 38},
       }) {
    const auto value = try_parse_decimal128(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(to_string(value->unscaled), unscaled) << text;
    EXPECT_EQ(value->scale, scale) << text;
    EXPECT_EQ(decimal_to_string(value->unscaled, value->scale), text);
  }
}

TEST(Decimal, ParsesOtherFormsOfTheSameValue) {
  struct Row {
    std::string_view text;
    std::string_view unscaled;
    int32_t scale;
  };
  for (auto [text, unscaled, scale] :
       {Row{"+1.5", "15", 1}, Row{".5", "5", 1}, Row{"5.", "5", 0}, Row{"-.5", "-5", 1}, Row{"1e3", "1", -3},
        Row{"1.5E-3", "15", 4}, Row{"1.50e+1", "150", 1}, Row{"-0", "0", 0}, Row{"0e5", "0", -5},
        Row{"0000000000000000000000000000000000000000000000001", "1", 0}, Row{"1e-1000", "1", 1000},
        Row{"00.10", "10", 2}}) {
    const auto value = try_parse_decimal128(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(to_string(value->unscaled), unscaled) << text;
    EXPECT_EQ(value->scale, scale) << text;
  }
}

TEST(Decimal, RefusesWhatIsNotOneAndSaysWhy) {
  struct Row {
    std::string_view text;
    std::string_view reason;
  };
  using std::string_view_literals::operator""sv;
  for (auto [text, reason] : {Row{"", "no digits"},
                              Row{"-", "no digits"},
                              Row{".", "no digits"},
                              Row{"+.", "no digits"},
                              Row{"e5", "no digits"},
                              Row{"--1", "no digits"},
                              Row{"NaN", "no digits"},
                              Row{" 1", "no digits"},
                              Row{"1 ", "unexpected character"},
                              Row{"1.2.3", "unexpected character"},
                              Row{"1,5", "unexpected character"},
                              Row{"0x10", "unexpected character"},
                              Row{"1\0"sv, "unexpected character"},
                              Row{"1e", "no digits in the exponent"},
                              Row{"1e+", "no digits in the exponent"},
                              Row{"1e5.5", "unexpected character"},
                              Row{"1ex", "unexpected character"},
                              Row{"100000000000000000000000000000000000000", "more than 38 digits"},
                              Row{"1e1001", "scale out of range"},
                              Row{"1e-1001", "scale out of range"},
                              Row{"1e99999999999999999999999999", "scale out of range"},
                              Row{"1e-99999999999999999999999999", "scale out of range"}}) {
    EXPECT_FALSE(try_parse_decimal128(text)) << text;
    try {
      parse_decimal128(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_NE(error.message().find(std::string("(") + std::string(reason) + ")"), std::string::npos)
          << error.message();
    }
  }
}

TEST(Decimal, ParsesAtATypesPrecisionAndScale) {
  EXPECT_TRUE(parse_decimal128("1.5", 9, 4) == 15000);
  EXPECT_TRUE(parse_decimal128("1.50", 9, 1) == 15);
  EXPECT_TRUE(parse_decimal128("2E+20", 9, -20) == 2);
  EXPECT_TRUE(parse_decimal128("-999.99", 5, 2) == -99999);
  EXPECT_TRUE(parse_decimal128("0e900", 1, 0) == 0);
  struct Row {
    std::string_view text;
    int32_t precision;
    int32_t scale;
    std::string_view message;
  };
  for (auto [text, precision, scale, message] :
       {Row{"123.456", 5, 2, "123.456 does not fit decimal(5,2): it has digits beyond the scale"},
        Row{"1000", 5, 2, "1000 does not fit decimal(5,2): it has too many digits"},
        Row{"1e37", 38, 2, "1e37 does not fit decimal(38,2): it has too many digits"},
        Row{"1e500", 38, 0, "1e500 does not fit decimal(38,0): it has too many digits"},
        Row{"1e-500", 38, 0, "1e-500 does not fit decimal(38,0): it has digits beyond the scale"}}) {
    EXPECT_FALSE(try_parse_decimal128(text, precision, scale)) << text;
    try {
      parse_decimal128(text, precision, scale);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), message);
    }
  }
  EXPECT_FALSE(try_parse_decimal128("x", 5, 2));
}

RC_GTEST_PROP(Decimal, TextRoundTripsAtEveryScale, ()) {
  const Int128 unscaled = any_decimal38();
  const int32_t scale = *rc::gen::inRange(-40, 60);
  const std::string text = decimal_to_string(unscaled, scale);
  const auto value = try_parse_decimal128(text);
  RC_ASSERT(value.has_value());
  RC_ASSERT(value->unscaled == unscaled);
  RC_ASSERT(value->scale == scale);
}

RC_GTEST_PROP(Decimal, ParsingSurvivesAnyText, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789+-.eE x")));
  const auto value = try_parse_decimal128(text);
  if (value) RC_ASSERT(fits_precision(value->unscaled, 38));
}

TEST(Decimal, NeverPrintsAsManyZerosAsAForgedScaleSays) {
  EXPECT_EQ(decimal_to_string(5, INT32_MAX), "5E-2147483647");
  EXPECT_EQ(decimal_to_string(-5, INT32_MIN), "-5E+2147483648");
  EXPECT_EQ(decimal_to_string(kInt128Min, 39), "-0.170141183460469231731687303715884105728");
  EXPECT_EQ(decimal_to_string(kInt128Min, 38), "-1.70141183460469231731687303715884105728");
}

TEST(Decimal, CountsDigits) {
  EXPECT_EQ(decimal_digits(0), 1);
  for (int32_t exponent = 0; exponent <= 38; ++exponent) {
    const Int128 power = power_of_ten(exponent);
    EXPECT_EQ(to_string(power), "1" + std::string(static_cast<size_t>(exponent), '0'));
    for (Int128 sign : {1, -1}) {
      EXPECT_EQ(decimal_digits(sign * power), exponent + 1) << exponent;
      EXPECT_EQ(decimal_digits(sign * (power - 1)), exponent == 0 ? 1 : exponent) << exponent;
      EXPECT_FALSE(fits_precision(sign * power, exponent));
      EXPECT_TRUE(fits_precision(sign * (power - 1), exponent));
    }
  }
  EXPECT_EQ(decimal_digits(kInt128Max), 39);
  EXPECT_EQ(decimal_digits(kInt128Min), 39);
  EXPECT_FALSE(fits_precision(kInt128Min, 38));
}

RC_GTEST_PROP(Decimal, DigitsAreThoseOfTheText, ()) {
  const Int128 value = any_int128();
  RC_ASSERT(decimal_digits(value) == static_cast<int32_t>(to_string(value).size() - (value < 0)));
}

TEST(Decimal, RescalesExactlyOrNotAtAll) {
  EXPECT_TRUE(rescale_decimal(15, 1, 3) == Int128{1500});
  EXPECT_TRUE(rescale_decimal(-1500, 3, 1) == Int128{-15});
  EXPECT_FALSE(rescale_decimal(151, 2, 1));
  EXPECT_TRUE(rescale_decimal(0, INT32_MIN, INT32_MAX) == Int128{0});
  EXPECT_FALSE(rescale_decimal(1, INT32_MIN, INT32_MAX));
  EXPECT_FALSE(rescale_decimal(1, INT32_MAX, INT32_MIN));
  EXPECT_TRUE(rescale_decimal(1, 0, 38) == power_of_ten(38));
  EXPECT_FALSE(rescale_decimal(2, 0, 38));  // 2 * 10^38 > 2^127
  EXPECT_FALSE(rescale_decimal(-2, 0, 38));
  EXPECT_FALSE(rescale_decimal(1, 0, 39));
  EXPECT_TRUE(rescale_decimal(kInt128Min, 7, 7) == kInt128Min);
  EXPECT_FALSE(rescale_decimal(kInt128Min, 7, 8));
  const Int128 limit = kInt128Max / 10;
  EXPECT_TRUE(rescale_decimal(limit, 0, 1) == limit * 10);
  EXPECT_FALSE(rescale_decimal(limit + 1, 0, 1));
  EXPECT_TRUE(rescale_decimal(-limit, 0, 1) == -limit * 10);
  EXPECT_FALSE(rescale_decimal(-limit - 1, 0, 1));
}

RC_GTEST_PROP(Decimal, RescalingBackGivesTheSame, ()) {
  const Int128 unscaled = any_int128();
  const int32_t from = *rc::gen::inRange(-50, 50);
  const int32_t to = *rc::gen::inRange(-50, 50);
  if (const auto scaled = rescale_decimal(unscaled, from, to)) {
    RC_ASSERT(rescale_decimal(*scaled, to, from) == unscaled);
    RC_ASSERT(std::is_eq(compare_decimals(unscaled, from, *scaled, to)));
  }
}

TEST(Decimal, ComparesByValueAtAnyScales) {
  // In rising order; equal values on one line.
  const std::vector<std::vector<Decimal128>> rising = {
      {{kInt128Min, -1000}},
      {{-1, -1000}},
      {{kInt128Min, 0}},
      {{-power_of_ten(38), 0}, {-1, -38}},
      {{kInt128Min, 1}},
      {{-2, 0}, {-20, 1}, {-2 * power_of_ten(37), 37}},
      {{-1999, 3}},
      {{kInt128Min, 38}},
      {{-1, 0}, {-10, 1}},
      {{-1, 1000}},
      {{0, 0}, {0, -1000}, {0, 1000}},
      {{1, 1000}},
      {{1, 3}, {100, 5}},
      {{kInt128Max - 1, 38}},
      {{kInt128Max, 38}},
      {{2, 0}, {2000, 3}},
      {{kInt128Max, 0}},
      {{2, -38}},
      {{1, -1000}},
  };
  for (size_t i = 0; i < rising.size(); ++i) {
    for (size_t k = 0; k < rising.size(); ++k) {
      for (const Decimal128& left : rising[i]) {
        for (const Decimal128& right : rising[k]) {
          EXPECT_EQ(left <=> right, i <=> k) << i << " " << k;
          EXPECT_EQ(left == right, i == k);
        }
      }
    }
  }
}

TEST(Decimal, WritesTheShortestBigEndianForm) {
  struct Row {
    std::string_view value;
    std::string_view hex;
  };
  for (auto [value, expected] : {
           Row{"1420", "058c"},  // Iceberg spec, Appendix B: 14.20
           // tests/corpora/iceberg-vectors.json, binary_single_value: apache/iceberg TestConversions
           Row{"345", "0159"},
           Row{"1234567", "12d687"},
           Row{"-1234567", "ed2979"},
           Row{"11", "0b"},
           // Python's int.to_bytes
           Row{"0", "00"},
           Row{"1", "01"},
           Row{"-1", "ff"},
           Row{"127", "7f"},
           Row{"128", "0080"},
           Row{"-128", "80"},
           Row{"-129", "ff7f"},
           Row{"255", "00ff"},
           Row{"32767", "7fff"},
           Row{"32768", "008000"},
           Row{"-32768", "8000"},
           Row{"-32769", "ff7fff"},
           Row{"9223372036854775808", "008000000000000000"},
           Row{"-9223372036854775808", "8000000000000000"},
           Row{"-18446744073709551616", "ff0000000000000000"},
           Row{"99999999999999999999999999999999999999", "4b3b4ca85a86c47a098a223fffffffff"},
           Row{"-99999999999999999999999999999999999999", "b4c4b357a5793b85f675ddc000000001"},
           Row{"170141183460469231731687303715884105727", "7fffffffffffffffffffffffffffffff"},
           Row{"-170141183460469231731687303715884105728", "80000000000000000000000000000000"},
       }) {
    EXPECT_EQ(hex(int128(value)), expected) << value;
    EXPECT_TRUE(decimal_from_big_endian(bytes_of(expected)) == int128(value)) << value;
    std::vector<std::byte> exact(expected.size() / 2);
    EXPECT_TRUE(decimal_to_big_endian(int128(value), exact)) << value;
    EXPECT_EQ(encode_hex(exact), expected);
    EXPECT_FALSE(decimal_to_big_endian(int128(value), std::span(exact).subspan(1))) << value;
  }
}

TEST(Decimal, ReadsSignExtendedBytesOfAnyLength) {
  EXPECT_TRUE(decimal_from_big_endian(bytes_of("00000001")) == Int128{1});
  EXPECT_TRUE(decimal_from_big_endian(bytes_of("ffffffff80")) == Int128{-128});
  EXPECT_TRUE(decimal_from_big_endian(bytes_of("00007fffffffffffffffffffffffffffffff")) == kInt128Max);
  EXPECT_TRUE(decimal_from_big_endian(bytes_of("ffff80000000000000000000000000000000")) == kInt128Min);
  for (std::string_view damaged : {"", "0080000000000000000000000000000000", "ff7fffffffffffffffffffffffffffffff",
                                   "0100000000000000000000000000000000", "8000000000000000000000000000000000",
                                   "00ff00000000000000000000000000000000"}) {
    EXPECT_FALSE(decimal_from_big_endian(bytes_of(damaged))) << damaged;
  }
}

RC_GTEST_PROP(Decimal, BytesRoundTripAndAreShortest, ()) {
  const Int128 value = any_int128();
  const DecimalBytes bytes = decimal_to_big_endian(value);
  RC_ASSERT(bytes.size >= 1 && bytes.size <= 16);
  RC_ASSERT(decimal_from_big_endian(bytes.bytes()) == value);
  if (bytes.size > 1) RC_ASSERT(!(decimal_from_big_endian(bytes.bytes().subspan(1)) == value));

  for (size_t width = 0; width <= 20; ++width) {
    std::vector<std::byte> fixed(width, std::byte{0x55});
    RC_ASSERT(decimal_to_big_endian(value, fixed) == (width >= bytes.size));
    if (width >= bytes.size) {
      RC_ASSERT(decimal_from_big_endian(fixed) == value);
    } else {
      RC_ASSERT(fixed == std::vector<std::byte>(width, std::byte{0x55}));
    }
  }
}

TEST(Decimal, BecomesTheNearestDouble) {
  struct Row {
    std::string_view unscaled;
    int32_t scale;
    double value;
  };
  for (auto [unscaled, scale, value] : {
           Row{"0", 0, 0.0},
           Row{"345", 2, 3.45},
           Row{"-1", 38, -1e-38},
           Row{"1", 22, 1e-22},
           Row{"1", 23, 1e-23},
           // Python's float(Decimal)
           Row{"12345678901234567890123456789012345678", 10, 1.2345678901234569e+27},
           Row{"99999999999999999999999999999999999999", 0, 1e38},
           Row{"99999999999999999999999999999999999999", 38, 1.0},
           Row{"123456789012345678", 9, 123456789.01234567},
           Row{"9007199254740993", 0, 9007199254740992.0},  // 2^53 + 1: a tie, to even
           Row{"9007199254740993", 3, 9007199254740.992},
           Row{"5", -30, 5e30},
           Row{"1", 1000, 0.0},
           Row{"-1", -1000, -HUGE_VAL},
       }) {
    EXPECT_EQ(decimal_to_double(int128(unscaled), scale), value) << unscaled << " " << scale;
  }
}

}  // namespace
}  // namespace frazil
