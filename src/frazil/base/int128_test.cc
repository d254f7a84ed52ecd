#include "frazil/base/int128.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(Int128, PrintsInBaseTen) {
  EXPECT_EQ(to_string(Int128{0}), "0");
  EXPECT_EQ(to_string(Int128{-1}), "-1");
  EXPECT_EQ(to_string(Int128{INT64_MIN}), "-9223372036854775808");
  EXPECT_EQ(to_string(make_int128(0, UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(to_string(make_int128(1, 0)), "18446744073709551616");
  EXPECT_EQ(to_string(Int128{10'000'000'000'000'000'00} * 10 * 10), "100000000000000000000");  // zeros inside a chunk
  EXPECT_EQ(to_string(kInt128Max), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(kInt128Min), "-170141183460469231731687303715884105728");
}

TEST(Int128, HasAMagnitudeAtBothEnds) {
  EXPECT_TRUE(magnitude(kInt128Max) == (UInt128{1} << 127) - 1);
  EXPECT_TRUE(magnitude(kInt128Min) == UInt128{1} << 127);
  EXPECT_TRUE(magnitude(-5) == 5);
}

TEST(Int128, CountsBits) {
  EXPECT_EQ(bit_width(UInt128{0}), 0);
  EXPECT_EQ(bit_width(UInt128{1}), 1);
  EXPECT_EQ(bit_width(UInt128{UINT64_MAX}), 64);
  EXPECT_EQ(bit_width(UInt128{1} << 64), 65);
  EXPECT_EQ(bit_width(~UInt128{0}), 128);
}

RC_GTEST_PROP(Int128, IsMadeOfItsHalves, (int64_t high, uint64_t low)) {
  const Int128 value = make_int128(high, low);
  RC_ASSERT(high_bits(value) == high);
  RC_ASSERT(low_bits(value) == low);
  RC_ASSERT(swap_bytes(swap_bytes(static_cast<UInt128>(value))) == static_cast<UInt128>(value));
  RC_ASSERT((swap_bytes(static_cast<UInt128>(value)) & 0xff) == static_cast<uint64_t>(high) >> 56);
}

}  // namespace
}  // namespace frazil
