#include "frazil/base/hex.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(Hex, MatchesTheSpecsValue) {
  const std::string_view bytes("\x00\x01\x02\xff", 4);  // Iceberg spec, Appendix D: binary, fixed[4]
  EXPECT_EQ(encode_hex(bytes), "000102ff");
  EXPECT_EQ(decode_hex("000102ff"), bytes);
  EXPECT_EQ(decode_hex("000102FF"), bytes);
  EXPECT_EQ(decode_hex(""), "");
}

TEST(Hex, RefusesOddCountsAndOtherCharacters) {
  for (std::string_view text : {"0", "111ff", "0g", "g0", " 00", "0x", "00 ", "+1", "-1", "\xff\xff"}) {
    EXPECT_EQ(decode_hex(text), std::nullopt) << text;
  }
}

TEST(Hex, DoesNotLookBehindTheText) {
  EXPECT_EQ(decode_hex(std::string_view("00").substr(0, 1)), std::nullopt);
}

RC_GTEST_PROP(Hex, RoundTrips, (std::string bytes)) {
  RC_ASSERT(decode_hex(encode_hex(bytes)) == bytes);
}

}  // namespace
}  // namespace frazil
