#include "frazil/base/floor_division.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(FloorDivision, RoundsTowardsMinusInfinity) {
  struct Row {
    int64_t value;
    int64_t quotient;
    int64_t remainder;
  };
  for (auto [value, quotient, remainder] :
       {Row{0, 0, 0}, Row{1, 0, 1}, Row{9, 0, 9}, Row{10, 1, 0}, Row{-1, -1, 9}, Row{-10, -1, 0}, Row{-11, -2, 9},
        Row{INT64_MAX, 922337203685477580, 7}, Row{INT64_MIN, -922337203685477581, 2}}) {
    EXPECT_EQ(floor_divide(value, 10), quotient) << value;
    EXPECT_EQ(floor_modulo(value, 10), remainder) << value;
  }
  EXPECT_EQ(floor_divide(INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(floor_divide(INT64_MIN, INT64_MAX), -2);
}

RC_GTEST_PROP(FloorDivision, QuotientAndRemainderBelongTogether, (int32_t value)) {
  const auto divisor = *rc::gen::inRange<int32_t>(1, 1000);
  const int32_t remainder = floor_modulo(value, divisor);
  RC_ASSERT(remainder >= 0 && remainder < divisor);
  RC_ASSERT(int64_t{floor_divide(value, divisor)} * divisor + remainder == value);
  RC_ASSERT(floor_divide(value, divisor) == std::floor(static_cast<double>(value) / divisor));
}

}  // namespace
}  // namespace frazil
