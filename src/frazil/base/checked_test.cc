#include "frazil/base/checked.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/int128.h"

namespace frazil {
namespace {

template <typename T>
void expect_like_wider_arithmetic(T left, T right) {
  const auto fits = [](Int128 value) {
    return value >= static_cast<Int128>(std::numeric_limits<T>::min()) &&
           value <= static_cast<Int128>(std::numeric_limits<T>::max());
  };
  const auto agrees = [&](std::optional<T> result, Int128 exact) {
    return result ? static_cast<Int128>(*result) == exact : !fits(exact);
  };
  RC_ASSERT(agrees(checked_add(left, right), static_cast<Int128>(left) + right));
  RC_ASSERT(agrees(checked_subtract(left, right), static_cast<Int128>(left) - right));
  if constexpr (sizeof(T) < 8 || std::is_signed_v<T>) {  // else 128 bits are one too few for the exact product
    RC_ASSERT(agrees(checked_multiply(left, right), static_cast<Int128>(left) * right));
  }
}

RC_GTEST_PROP(Checked, AgreesWithWiderArithmetic, (int64_t a, int64_t b)) {
  const int shift = *rc::gen::inRange(0, 64);
  expect_like_wider_arithmetic<int64_t>(a, b >> shift);
  expect_like_wider_arithmetic<uint64_t>(static_cast<uint64_t>(a), static_cast<uint64_t>(b) >> shift);
  expect_like_wider_arithmetic<int32_t>(static_cast<int32_t>(a), static_cast<int32_t>(b) >> (shift & 31));
  expect_like_wider_arithmetic<uint8_t>(static_cast<uint8_t>(a), static_cast<uint8_t>(b));
}

TEST(Checked, NoticesTheFirstValueThatDoesNotFit) {
  EXPECT_EQ(checked_add(SIZE_MAX, 0), SIZE_MAX);
  EXPECT_EQ(checked_add(SIZE_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_subtract(size_t{0}, 1), std::nullopt);
  EXPECT_EQ(checked_subtract(INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(uint64_t{1} << 32, uint64_t{1} << 31), uint64_t{1} << 63);
  EXPECT_EQ(checked_multiply(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_multiply(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checked_cast<int32_t>(int64_t{INT32_MAX}), INT32_MAX);
  EXPECT_EQ(checked_cast<int32_t>(int64_t{INT32_MAX} + 1), std::nullopt);
  EXPECT_EQ(checked_cast<uint32_t>(-1), std::nullopt);
  EXPECT_EQ(checked_cast<int64_t>(UINT64_MAX), std::nullopt);
}

TEST(Checked, ThrowsCorruptErrorsThatNameTheValue) {
  EXPECT_EQ(add_or_throw(1, 2, "x"), 3);
  EXPECT_EQ(multiply_or_throw(uint64_t{3}, 4, "x"), 12U);
  EXPECT_EQ(subtract_or_throw(3, 4, "x"), -1);
  EXPECT_EQ(narrow_or_throw<uint8_t>(255, "x"), 255);
  const auto text_of = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const CorruptError& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(text_of([] { add_or_throw(INT64_MAX, 1, "row count"); }), "row count: 9223372036854775807 + 1 overflows");
  EXPECT_EQ(text_of([] { subtract_or_throw(uint32_t{1}, 2, "offset"); }), "offset: 1 - 2 overflows");
  EXPECT_EQ(text_of([] { multiply_or_throw(INT32_MAX, 2, "bytes"); }), "bytes: 2147483647 * 2 overflows");
  EXPECT_EQ(text_of([] { narrow_or_throw<int32_t>(int64_t{1} << 31, "count"); }), "count is out of range: 2147483648");
}

}  // namespace
}  // namespace frazil
