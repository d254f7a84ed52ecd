#include "frazil/base/byte_reader.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/hex.h"

namespace frazil {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  const std::string bytes = decode_hex(hex).value();
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

uint64_t offset_of_failure(auto&& action) {
  try {
    action();
  } catch (const CorruptError& error) {
    return error.offset();
  }
  ADD_FAILURE() << "expected CorruptError";
  return 0;
}

TEST(ByteReader, ReadsLittleEndianValuesAtAnyAlignment) {
  const auto data = bytes_of("ff0201040302010807060504030201000000000000f03f");
  ByteReader reader(data, 100);
  EXPECT_EQ(reader.read<uint8_t>(), 0xff);
  EXPECT_EQ(reader.read<int16_t>(), 0x0102);
  EXPECT_EQ(reader.read<int32_t>(), 0x01020304);
  EXPECT_EQ(reader.offset(), 107U);
  EXPECT_EQ(reader.read<uint64_t>(), 0x0102030405060708U);
  EXPECT_EQ(reader.remaining(), 8U);
  EXPECT_EQ(reader.read<double>(), 1.0);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.position(), data.size());
}

TEST(ByteReader, RefusesEveryReadPastTheEndAndStaysWhereItIs) {
  const auto data = bytes_of("01020304050607");
  for (size_t used = 0; used <= data.size(); ++used) {
    ByteReader reader(data, 1000);
    reader.skip(used);
    EXPECT_EQ(offset_of_failure([&] { reader.read<uint64_t>("count"); }), 1000 + used);
    EXPECT_EQ(offset_of_failure([&] { reader.read_bytes(data.size() - used + 1); }), 1000 + used);
    EXPECT_EQ(offset_of_failure([&] { reader.skip(std::numeric_limits<uint64_t>::max()); }), 1000 + used);
    EXPECT_EQ(offset_of_failure([&] { reader.read_text(uint64_t{1} << 63); }), 1000 + used);
    EXPECT_EQ(reader.position(), used);
    EXPECT_EQ(reader.rest().size(), data.size() - used);
  }
}

TEST(ByteReader, NamesWhatIsMissing) {
  const auto data = bytes_of("0102");
  ByteReader reader(data, 40);
  try {
    reader.read<uint32_t>("footer length");
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_STREQ(error.what(), "footer length needs 4 bytes, 2 are left (at byte 40)");
  }
}

TEST(ByteReader, ReadsVarints) {
  struct Row {
    std::string_view hex;
    uint64_t value;
  };
  for (auto [hex, value] : {Row{"00", 0}, Row{"7f", 127}, Row{"8001", 128}, Row{"ac02", 300}, Row{"8000", 0},
                            Row{"ffffffff0f", UINT32_MAX}, Row{"ffffffffffffffffff01", UINT64_MAX}}) {
    const auto data = bytes_of(hex);
    ByteReader reader(data);
    EXPECT_EQ(reader.read_varint(), value) << hex;
    EXPECT_TRUE(reader.at_end()) << hex;
    for (size_t cut = 0; cut < data.size(); ++cut) {
      ByteReader shorter(std::span<const std::byte>(data).first(cut), 7);
      EXPECT_EQ(offset_of_failure([&] { shorter.read_varint(); }), 7U) << hex << " cut to " << cut;
    }
  }
  for (std::string_view hex :
       {"ffffffffffffffffff02", "ffffffffffffffffff7f", "8080808080808080808001", "ffffffffffffffffffffffffffffff"}) {
    const auto data = bytes_of(hex);
    ByteReader reader(data, 9);
    EXPECT_EQ(offset_of_failure([&] { reader.read_varint(); }), 9U) << hex;
  }
}

TEST(ByteReader, ReadsZigzag) {
  struct Row {
    std::string_view hex;
    int64_t value;
  };
  for (auto [hex, value] : {Row{"00", 0}, Row{"01", -1}, Row{"02", 1}, Row{"7f", -64}, Row{"8001", 64},
                            Row{"feffffffffffffffff01", INT64_MAX}, Row{"ffffffffffffffffff01", INT64_MIN}}) {
    const auto data = bytes_of(hex);
    ByteReader reader(data);
    EXPECT_EQ(reader.read_zigzag(), value) << hex;
  }
}

RC_GTEST_PROP(ByteReader, NeverReadsBeyondItsBytes, (std::vector<uint8_t> values)) {
  // The sanitizer checks the claim: any bytes, any operations.
  ByteReader reader(std::as_bytes(std::span(values)));
  try {
    while (!reader.at_end()) {
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          reader.read_varint();
          break;
        case 1:
          reader.read<uint32_t>();
          break;
        case 2:
          reader.read_text(reader.read_varint());
          break;
        default:
          reader.skip(*rc::gen::inRange<uint64_t>(0, 9));
          break;
      }
      RC_ASSERT(reader.position() + reader.remaining() == values.size());
    }
  } catch (const CorruptError& error) {
    RC_ASSERT(error.offset() <= values.size());
  }
}

}  // namespace
}  // namespace frazil
