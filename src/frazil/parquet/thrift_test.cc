#include "frazil/parquet/thrift.h"

#include <string>

#include <gtest/gtest.h>

#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::ThriftWriter;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(Thrift, ReadsEveryKindOfField) {
  std::string text = ThriftWriter()
                         .i32(1, -5)
                         .i64(2, int64_t{1} << 40)
                         .boolean(3, true)
                         .boolean(4, false)
                         .binary(5, "abc")
                         .i8(6, -7)
                         .structure(7, ThriftWriter().i32(3, 9))
                         .i32s(8, {1, -2, 3})
                         .i64(20, 42)
                         .finish();
  ThriftReader reader(bytes_of(text));
  std::vector<int> seen;
  for (ThriftFields fields(reader); fields.next();) {
    seen.push_back(fields.id());
    switch (fields.id()) {
      case 1:
        EXPECT_EQ(fields.i32(), -5);
        break;
      case 2:
        EXPECT_EQ(fields.i64(), int64_t{1} << 40);
        break;
      case 3:
        EXPECT_TRUE(fields.boolean());
        break;
      case 4:
        EXPECT_FALSE(fields.boolean());
        break;
      case 5:
        EXPECT_EQ(fields.binary(), "abc");
        break;
      case 6:
        EXPECT_EQ(fields.i8(), -7);
        break;
      case 7: {
        fields.expect_struct();
        ThriftFields inner(reader);
        EXPECT_TRUE(inner.next());
        EXPECT_EQ(inner.id(), 3);
        EXPECT_EQ(inner.i32(), 9);
        EXPECT_FALSE(inner.next());
        break;
      }
      case 8: {
        const auto list = fields.list(ThriftType::kI32);
        ASSERT_EQ(list.size, 3U);
        EXPECT_EQ(reader.read_i32(), 1);
        EXPECT_EQ(reader.read_i32(), -2);
        EXPECT_EQ(reader.read_i32(), 3);
        break;
      }
      default:
        EXPECT_EQ(fields.i64(), 42);
    }
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 20}));
  EXPECT_EQ(reader.position(), text.size());
}

// Skipping passes over all that reading would, and every cut is noticed.
TEST(Thrift, SkipsWhatItDoesNotKnowAndNoticesEveryCut) {
  std::string map(
      "\x1b\x02\x85\x01"
      "a\x04\x01"
      "b\x06",
      9);
  std::string text = ThriftWriter()
                         .structs(1, {ThriftWriter().i32(1, 1).binary(2, "xy"), ThriftWriter().boolean(1, true)})
                         .binaries(2, {"p", std::string(200, 'q')})
                         .i32s(3, std::vector<int32_t>(20, 7))
                         .structure(4, ThriftWriter().raw(map))
                         .finish();
  ThriftReader whole(bytes_of(text));
  whole.skip(ThriftType::kStruct);
  EXPECT_EQ(whole.position(), text.size());
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    ThriftReader reader(bytes_of(cut));
    EXPECT_THROW(reader.skip(ThriftType::kStruct), CorruptError) << size;
  }
}

TEST(Thrift, BoundsDepth) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += '\x1c';  // a struct in a struct ...
  ThriftReader reader(bytes_of(deep));
  EXPECT_THROW(reader.skip(ThriftType::kStruct), CorruptError);
  std::string lists;
  for (int i = 0; i < 100'000; ++i) lists += '\x19';  // a list of one list ...
  ThriftReader list_reader(bytes_of(lists));
  EXPECT_THROW(list_reader.skip(ThriftType::kList), CorruptError);
}

TEST(Thrift, ChecksListSizesAgainstWhatRemains) {
  std::string text("\x19\xf5\xff\xff\xff\xff\x0f\x02", 8);  // 2^32 - 1 integers in a byte
  {
    ThriftReader reader(bytes_of(text));
    ThriftFields fields(reader);
    ASSERT_TRUE(fields.next());
    EXPECT_THROW(fields.list(ThriftType::kI32), CorruptError);
  }
  ThriftReader reader(bytes_of(text));
  EXPECT_THROW(reader.skip(ThriftType::kStruct), CorruptError);
}

TEST(Thrift, RefusesOtherTypesAndRanges) {
  const std::string binary = ThriftWriter().binary(1, "abc").finish();
  const std::string large = ThriftWriter().i64(1, int64_t{1} << 33).finish();
  const std::string unknown("\x1e\x00", 2);
  {
    ThriftReader reader(bytes_of(binary));
    ThriftFields fields(reader);
    ASSERT_TRUE(fields.next());
    EXPECT_THROW(fields.i32(), CorruptError);
  }
  {
    ThriftReader reader(bytes_of(large));
    ThriftFields fields(reader);
    ASSERT_TRUE(fields.next());
    EXPECT_THROW(fields.i32(), CorruptError);
  }
  ThriftReader reader(bytes_of(unknown));
  ThriftFields fields(reader);
  EXPECT_THROW(fields.next(), CorruptError);
}

}  // namespace
}  // namespace frazil::parquet
