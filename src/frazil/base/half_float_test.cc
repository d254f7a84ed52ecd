#include "frazil/base/half_float.h"

#include <cmath>

#include <gtest/gtest.h>

namespace frazil {
namespace {

TEST(HalfFloat, EveryValueIsItsBitsByTheDefinition) {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    const auto exponent = static_cast<int>((bits >> 10) & 31);
    const auto mantissa = static_cast<float>(bits & 1023);
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(value), mantissa != 0) << bits;
      ASSERT_EQ(std::isinf(value), mantissa == 0) << bits;
    } else {
      const float expected = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
      ASSERT_EQ(std::fabs(value), expected) << bits;
    }
  }
}

}  // namespace
}  // namespace frazil
