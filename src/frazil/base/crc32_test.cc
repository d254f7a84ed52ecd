#include "frazil/base/crc32.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(Crc32, MatchesKnownChecksums) {
  const std::string_view check = "123456789";  // the check value of the algorithm's catalogue
  EXPECT_EQ(crc32(std::as_bytes(std::span(check))), 0xcbf43926U);
  EXPECT_EQ(crc32({}), 0U);
  EXPECT_EQ(crc32({}, 0x12345678U), 0x12345678U);
  std::vector<uint8_t> values;
  for (int i = 0; i < 256 * 40; ++i) values.push_back(static_cast<uint8_t>(i));
  EXPECT_EQ(crc32(std::as_bytes(std::span(values))), 0xbbce3b9dU);  // Python's binascii.crc32
}

RC_GTEST_PROP(Crc32, AgreesWithTheDefinitionBitByBit, (std::vector<uint8_t> values)) {
  uint32_t expected = ~0U;
  for (uint8_t value : values) {
    expected ^= value;
    for (int i = 0; i < 8; ++i) expected = (expected >> 1) ^ ((expected & 1) != 0 ? 0xedb88320U : 0U);
  }
  RC_ASSERT(crc32(std::as_bytes(std::span(values))) == ~expected);
}

RC_GTEST_PROP(Crc32, CanBeTakenInParts, (std::vector<uint8_t> values)) {
  const auto bytes = std::as_bytes(std::span(values));
  const auto first = bytes.first(*rc::gen::inRange<size_t>(0, bytes.size() + 1));
  const auto second = bytes.subspan(first.size());
  RC_ASSERT(crc32(second, crc32(first)) == crc32(bytes));
}

}  // namespace
}  // namespace frazil
