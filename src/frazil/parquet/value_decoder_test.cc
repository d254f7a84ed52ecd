// The values of a page are the same in every encoding that may hold them, however they are taken: in parts, with skips,
// with lengths looked up ahead, as every type that the column can be read as.
#include "frazil/parquet/value_decoder.h"

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/encoders_test.h"

namespace frazil::parquet {
namespace {

using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

struct Padded {
  explicit Padded(const std::string& text) : bytes(text.size() + kBlockPadding), size(text.size()) {
    std::memcpy(bytes.data(), text.data(), text.size());
  }
  std::span<const std::byte> span() const { return {bytes.data(), size}; }
  std::vector<std::byte> bytes;
  size_t size;
};

SchemaNode leaf(PhysicalType type, int32_t length = 0, LogicalType logical = {}) {
  SchemaNode node;
  node.name = "a";
  node.type = type;
  node.type_length = length;
  node.logical = logical;
  return node;
}

LogicalType decimal_of(int32_t precision) {
  LogicalType type;
  type.kind = LogicalType::Kind::kDecimal;
  type.precision = precision;
  return type;
}

LogicalType text() {
  LogicalType type;
  type.kind = LogicalType::Kind::kString;
  return type;
}

template <typename T>
std::vector<T> numbers_of(const Strings& values) {
  std::vector<T> out;
  for (const std::string& value : values) {
    T number;
    std::memcpy(&number, value.data(), sizeof(T));
    out.push_back(number);
  }
  return out;
}

// The page of these plain values (of a BYTE_ARRAY: without lengths) in an encoding.
std::string encode(const SchemaNode& node, Encoding encoding, const Strings& values,
                   const testing::DeltaShape& shape = {}) {
  std::string bytes;
  for (const std::string& value : values) bytes += value;
  switch (encoding) {
    case Encoding::kDeltaBinaryPacked:
      return node.type == PhysicalType::kInt32 ? testing::delta_packed(numbers_of<int32_t>(values), shape)
                                               : testing::delta_packed(numbers_of<int64_t>(values), shape);
    case Encoding::kDeltaLengthByteArray:
      return testing::delta_length(values, shape);
    case Encoding::kDeltaByteArray:
      return testing::delta_prefix(values, shape);
    case Encoding::kByteStreamSplit:
      return values.empty() ? "" : testing::split_bytes(bytes, values[0].size());
    default:
      return node.type == PhysicalType::kByteArray ? testing::plain(values) : bytes;
  }
}

// One page through a decoder. Where `random` is given, it takes the values in parts of any size, skips some, and looks
// ahead now and then; what was skipped is empty in the result.
class Decoding {
 public:
  Decoding(const SchemaNode& node, const DataTypePtr& type, bool validate_utf8 = false)
      : conversion_(*find_conversion(node, *type)),
        node_(node),
        decoder_(conversion_, node.type, validate_utf8),
        reservation_(pool_.reserve(size_t{1} << 20)),
        memory_(reservation_) {}

  bool start(Encoding encoding, const std::string& page) {
    page_ = Padded(page);
    if (!decoder_.start(encoding, page_.span())) return false;
    EXPECT_TRUE(decoder_.prepare(memory_));
    return true;
  }

  Strings take(size_t count) {
    if (conversion_.form == ValueForm::kBytes) return take_bytes<int32_t>(count, SIZE_MAX);
    if (conversion_.form == ValueForm::kLargeBytes) return take_bytes<int64_t>(count, SIZE_MAX);
    if (conversion_.form == ValueForm::kViews) return take_views(count, SIZE_MAX);
    const auto width = static_cast<size_t>(conversion_.target_width);
    std::vector<std::byte> target(count * width + kBlockPadding);
    decoder_.decode_fixed(count, target.data());
    Strings out;
    for (size_t i = 0; i < count; ++i) out.emplace_back(reinterpret_cast<const char*>(&target[i * width]), width);
    return out;
  }

  // With room for `room` bytes at a time.
  template <typename Offset>
  Strings take_bytes(size_t count, size_t room) {
    Strings out;
    while (out.size() < count) {
      const size_t left = count - out.size();
      const size_t capacity = std::min(room, std::max<size_t>(decoder_.value_bytes_bound(left), 1));
      std::vector<Offset> ends(left + 16);
      std::vector<std::byte> data(capacity + kBlockPadding);
      size_t used = 0;
      const size_t done = decoder_.decode_bytes(left, ends.data(), data.data(), capacity, used);
      size_t begin = 0;
      for (size_t i = 0; i < done; ++i) {
        const auto end = static_cast<size_t>(ends[i]);
        out.emplace_back(reinterpret_cast<const char*>(data.data()) + begin, end - begin);
        begin = end;
      }
      EXPECT_EQ(begin, used);
      if (done < left) {
        // Only for want of room.
        auto next = decoder_.cursor();
        uint32_t length = 0;
        decoder_.lengths(next, 1, &length);
        EXPECT_GT(used + length, capacity);
        if (used == 0) room = length;
      }
    }
    return out;
  }

  // With room for `room` bytes, made larger for a value that does not fit.
  Strings take_views(size_t count, size_t room) {
    size_t capacity = std::min(room, std::max<size_t>(decoder_.value_bytes_bound(count), 1));
    std::vector<std::byte> views(count * 16);
    std::vector<std::byte> data(capacity + kBlockPadding);
    size_t used = 0;
    for (size_t done = 0; done < count;) {
      done += decoder_.decode_views(count - done, views.data() + done * 16, data.data(), capacity, used);
      if (done == count) break;
      auto next = decoder_.cursor();
      uint32_t length = 0;
      decoder_.lengths(next, 1, &length);
      EXPECT_GT(used + length, capacity);
      capacity = used + length + 5;
      data.resize(capacity + kBlockPadding);
    }
    Strings out;
    size_t outside = 0;
    for (size_t i = 0; i < count; ++i) {
      uint32_t words[4];
      std::memcpy(words, views.data() + i * 16, 16);
      const char* inside = reinterpret_cast<const char*>(views.data()) + i * 16 + 4;
      if (words[0] <= 12) {
        out.emplace_back(inside, words[0]);
        EXPECT_EQ(std::string(inside + words[0], 12 - words[0]), std::string(12 - words[0], '\0'));
        continue;
      }
      EXPECT_EQ(words[2], 0U);
      EXPECT_EQ(words[3], outside);
      out.emplace_back(reinterpret_cast<const char*>(data.data()) + words[3], words[0]);
      EXPECT_EQ(out.back().substr(0, 4), std::string(inside, 4));
      outside += words[0];
    }
    EXPECT_EQ(outside, used);
    return out;
  }

  Strings take_somehow(size_t count, std::mt19937& random) {
    Strings out;
    while (out.size() < count) {
      const size_t part = std::min<size_t>(count - out.size(), 1 + random() % (random() % 4 == 0 ? 3000 : 40));
      const bool is_bytes = conversion_.form == ValueForm::kBytes || conversion_.form == ValueForm::kLargeBytes ||
                            conversion_.form == ValueForm::kViews;
      std::vector<uint32_t> lengths(std::min(part, ValueDecoder::kScratch));
      if (is_bytes) {
        auto cursor = decoder_.cursor();
        decoder_.lengths(cursor, lengths.size(), lengths.data());
      }
      if (random() % 4 == 0) {
        decoder_.skip(part);
        out.resize(out.size() + part);
        continue;
      }
      const size_t room = random() % 2 == 0 ? SIZE_MAX : 1 + random() % 200;
      const Strings values = conversion_.form == ValueForm::kBytes        ? take_bytes<int32_t>(part, room)
                             : conversion_.form == ValueForm::kLargeBytes ? take_bytes<int64_t>(part, room)
                             : conversion_.form == ValueForm::kViews      ? take_views(part, room)
                                                                          : take(part);
      if (is_bytes) {
        for (size_t i = 0; i < lengths.size(); ++i) EXPECT_EQ(lengths[i], values[i].size());
      }
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }

  ValueDecoder& decoder() { return decoder_; }

 private:
  MemoryPool pool_;
  Conversion conversion_;
  SchemaNode node_;
  ValueDecoder decoder_;
  Reservation reservation_;
  MemorySource memory_;
  Padded page_{""};
};

struct Column {
  SchemaNode node;
  DataTypePtr type;
  size_t width;  // of a plain value; 0: any
  std::vector<Encoding> encodings;
};

std::vector<Column> columns() {
  using enum Encoding;
  const std::vector<Encoding> integers = {kDeltaBinaryPacked, kByteStreamSplit};
  const std::vector<Encoding> split = {kByteStreamSplit};
  const std::vector<Encoding> bytes = {kDeltaLengthByteArray, kDeltaByteArray};
  const std::vector<Encoding> fixed = {kByteStreamSplit, kDeltaByteArray};
  LogicalType half;
  half.kind = LogicalType::Kind::kFloat16;
  LogicalType interval;
  interval.kind = LogicalType::Kind::kInterval;
  const auto flba = [](int32_t width, LogicalType logical = {}) {
    return leaf(PhysicalType::kFixedLenByteArray, width, logical);
  };
  std::vector<Column> all = {
      {leaf(PhysicalType::kInt32), primitive(TypeId::kInt32), 4, integers},
      {leaf(PhysicalType::kInt32), primitive(TypeId::kInt64), 4, integers},
      {leaf(PhysicalType::kInt32, 0, decimal_of(9)), decimal(9, 0), 4, integers},
      {leaf(PhysicalType::kInt64), primitive(TypeId::kInt64), 8, integers},
      {leaf(PhysicalType::kInt64, 0, decimal_of(18)), decimal(18, 0), 8, integers},
      {leaf(PhysicalType::kFloat), primitive(TypeId::kFloat), 4, split},
      {leaf(PhysicalType::kFloat), primitive(TypeId::kDouble), 4, split},
      {leaf(PhysicalType::kDouble), primitive(TypeId::kDouble), 8, split},
      {leaf(PhysicalType::kByteArray), primitive(TypeId::kBinary), 0, bytes},
      {leaf(PhysicalType::kByteArray), primitive(TypeId::kLargeBinary), 0, bytes},
      {leaf(PhysicalType::kByteArray), primitive(TypeId::kBinaryView), 0, bytes},
      {flba(2, half), primitive(TypeId::kHalfFloat), 2, fixed},
      {flba(12, interval), primitive(TypeId::kIntervalMonthDayNano), 12, fixed},
      {flba(11, decimal_of(20)), decimal(20, 0), 11, fixed},
      {flba(5, decimal_of(11)), decimal(11, 0), 5, fixed},
  };
  for (int32_t width : {1, 3, 7, 16, 33, 300}) {
    all.push_back({flba(width), fixed_size_binary(width), static_cast<size_t>(width), fixed});
    all.push_back({flba(width), primitive(TypeId::kBinary), static_cast<size_t>(width), fixed});
  }
  return all;
}

// Values that share much with the one before.
Strings random_values(size_t width, size_t count, std::mt19937& random) {
  Strings values;
  std::string value;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = width > 0 ? width : random() % (random() % 8 == 0 ? 300 : 20);
    value.resize(size);
    for (size_t at = value.empty() ? 0 : random() % size; at < size; ++at) value[at] = static_cast<char>(random() % 7);
    values.push_back(value);
  }
  return values;
}

RC_GTEST_PROP(Encodings, HoldTheSameValuesHoweverTheyAreTaken, (uint32_t seed)) {
  std::mt19937 random(seed);
  for (const Column& column : columns()) {
    const size_t count = random() % 3 == 0 ? random() % 3000 : random() % 200;
    const Strings values = random_values(column.width, count, random);
    Decoding plain(column.node, column.type);
    RC_ASSERT(plain.start(Encoding::kPlain, encode(column.node, Encoding::kPlain, values)));
    const Strings expected = plain.take(count);
    for (Encoding encoding : column.encodings) {
      const testing::DeltaShape shape{.block_values = size_t{128} << random() % 2,
                                      .miniblocks = size_t{1} << random() % 3};
      const std::string page = encode(column.node, encoding, values, shape);
      const std::string name = column.type->to_string() + " in " + std::string(to_string(encoding));
      Decoding decoding(column.node, column.type);
      for (int round = 0; round < 3; ++round) {  // of one decoder: a page leaves nothing to the next
        RC_ASSERT(decoding.start(encoding, page));
        const Strings got = round == 0 ? decoding.take(count) : decoding.take_somehow(count, random);
        for (size_t i = 0; i < count; ++i) {
          if (round > 0 && got[i].empty()) continue;
          EXPECT_EQ(got[i], expected[i]) << name << ", value " << i << " of " << count;
        }
        EXPECT_THROW(decoding.take(1), CorruptError) << name;
      }
    }
  }
}

TEST(Encodings, StandForTheTypesThatTheSpecificationGivesThem) {
  using enum Encoding;
  using enum PhysicalType;
  const std::vector<std::pair<Encoding, std::vector<PhysicalType>>> allowed = {
      {kPlain, {kBoolean, kInt32, kInt64, kInt96, kFloat, kDouble, kByteArray, kFixedLenByteArray}},
      {kRle, {kBoolean}},
      {kBitPacked, {}},
      {kDeltaBinaryPacked, {kInt32, kInt64}},
      {kDeltaLengthByteArray, {kByteArray}},
      {kDeltaByteArray, {kByteArray, kFixedLenByteArray}},
      {kByteStreamSplit, {kInt32, kInt64, kFloat, kDouble, kFixedLenByteArray}},
      {kAlp, {}},
      {Encoding::kUnknown, {}},
  };
  const Padded nothing("");
  for (const auto& [encoding, types] : allowed) {
    for (PhysicalType type : {kBoolean, kInt32, kInt64, kInt96, kFloat, kDouble, kByteArray, kFixedLenByteArray}) {
      const SchemaNode node = leaf(type, type == kFixedLenByteArray ? 5 : 0);
      ValueDecoder decoder(*find_conversion(node, *arrow_leaf_type(node)), type, false);
      EXPECT_EQ(decoder.start(encoding, nothing.span()), std::find(types.begin(), types.end(), type) != types.end())
          << to_string(encoding) << " of " << to_string(type);
    }
  }
}

std::string error_of(const Column& column, Encoding encoding, const std::string& page, size_t count) {
  try {
    Decoding decoding(column.node, column.type, true);
    EXPECT_TRUE(decoding.start(encoding, page));
    decoding.take(count);
  } catch (const CorruptError& error) {
    return error.message();
  }
  return "no error";
}

const Column kBinaryColumn = {leaf(PhysicalType::kByteArray), primitive(TypeId::kBinary), 0, {}};
const Column kTextColumn = {leaf(PhysicalType::kByteArray, 0, text()), primitive(TypeId::kUtf8), 0, {}};

TEST(DeltaLength, RefusesLengthsThatLie) {
  using testing::delta_packed;
  const auto error = [](const std::string& page, size_t count) {
    return error_of(kBinaryColumn, Encoding::kDeltaLengthByteArray, page, count);
  };
  EXPECT_EQ(error(delta_packed<int32_t>({1, 2}) + "abb", 2), "no error");
  EXPECT_THAT(error(delta_packed<int32_t>({1, 3}) + "abb", 2), HasSubstr("page ends"));
  EXPECT_THAT(error(delta_packed<int32_t>({4, -1}) + "abb", 2), HasSubstr("negative"));
  EXPECT_THAT(error(delta_packed<int32_t>({INT32_MAX, INT32_MAX, 2}) + "abb", 3), HasSubstr("page ends"));
  EXPECT_THAT(error(delta_packed<int32_t>({1}) + "a", 2), HasSubstr("1 delta-packed values where 2"));
}

TEST(DeltaPrefix, RefusesLengthsThatLie) {
  using testing::delta_length;
  using testing::delta_packed;
  const auto error = [](const std::string& page, size_t count, const Column& column = kBinaryColumn) {
    return error_of(column, Encoding::kDeltaByteArray, page, count);
  };
  EXPECT_EQ(error(delta_packed<int32_t>({0, 2}) + delta_length({"ab", "c"}), 2), "no error");
  EXPECT_THAT(error(delta_packed<int32_t>({1, 2}) + delta_length({"ab", "c"}), 2), HasSubstr("a prefix of 1 bytes"));
  EXPECT_THAT(error(delta_packed<int32_t>({0, 3}) + delta_length({"ab", "c"}), 2), HasSubstr("a prefix of 3 bytes"));
  EXPECT_THAT(error(delta_packed<int32_t>({0, -1}) + delta_length({"ab", "c"}), 2), HasSubstr("negative"));
  EXPECT_THAT(error(delta_packed<int32_t>({0}) + delta_length({"ab", "c"}), 2), HasSubstr("1 prefixes and 2 rests"));
  EXPECT_THAT(error(delta_packed<int32_t>({0, 0}) + delta_packed<int32_t>({2, 2}) + "abc", 2),
              HasSubstr("values of 4"));
  const Column fixed = {leaf(PhysicalType::kFixedLenByteArray, 3), fixed_size_binary(3), 3, {}};
  EXPECT_EQ(error(testing::delta_prefix({"abc", "abd"}), 2, fixed), "no error");
  EXPECT_THAT(error(testing::delta_prefix({"abc", "abde"}), 2, fixed),
              HasSubstr("a value of 4 bytes in a column of 3"));
}

// PARQUET-246 (reports.md Q16): pages that go on from the last value of the page before.
TEST(DeltaPrefix, GoesOnFromThePageBeforeAsOldWritersDid) {
  for (const DataTypePtr& type : {primitive(TypeId::kBinary), primitive(TypeId::kLargeBinary)}) {
    Decoding decoding(kBinaryColumn.node, type);
    const Strings first = {"alpha", "alphabet"};
    const Strings second = {"alphabetic" + std::string(200, 'x'), "b"};
    ASSERT_TRUE(decoding.start(Encoding::kDeltaByteArray, testing::delta_prefix(first)));
    EXPECT_EQ(decoding.take(2), first);
    ASSERT_TRUE(decoding.start(Encoding::kDeltaByteArray, testing::delta_prefix(second, {}, "alphabet")));
    EXPECT_EQ(decoding.take(2), second);
    // Not from a page that was passed over, and not from another row group.
    decoding.decoder().forget_previous();
    EXPECT_THROW(decoding.start(Encoding::kDeltaByteArray, testing::delta_prefix(second, {}, "alphabet")),
                 CorruptError);
  }
}

// A first value as long as the page, repeated without a byte: what is decoded is bounded by the room that is given.
TEST(DeltaPrefix, ABombTakesNoMoreThanTheRoomForIt) {
  std::vector<int32_t> prefixes(100'000, 10'000);
  prefixes[0] = 0;
  std::vector<int32_t> rests(100'000, 0);
  rests[0] = 10'000;
  Decoding decoding(kBinaryColumn.node, primitive(TypeId::kBinary));
  ASSERT_TRUE(decoding.start(Encoding::kDeltaByteArray, testing::delta_packed(prefixes) + testing::delta_packed(rests) +
                                                            std::string(10'000, 'x')));
  EXPECT_EQ(decoding.decoder().value_bytes_bound(100'000), size_t{1'000'000'000});
  EXPECT_LE(decoding.decoder().bytes_in_use(), 16'384U);
  std::vector<int32_t> ends(100'016);
  std::vector<std::byte> data(25'000 + kBlockPadding);
  size_t used = 0;
  EXPECT_EQ(decoding.decoder().decode_bytes(100'000, ends.data(), data.data(), 25'000, used), 2U);
  EXPECT_EQ(used, 20'000U);
}

// Skipping guesses where the next values stand: by any number of values, in runs of a length and between them, and never
// beyond the end.
TEST(PlainBytes, AreSkippedByAnyNumber) {
  Strings values;
  const std::pair<size_t, size_t> runs[] = {{50, 10}, {1, 3},  {20, 0},  {9, 10}, {4, 7},
                                            {3, 2},   {40, 1}, {2, 100}, {5, 33}};
  for (const auto& [count, length] : runs) {
    for (size_t i = 0; i < count; ++i) values.emplace_back(length, static_cast<char>('a' + values.size() % 26));
  }
  const std::string page = testing::plain(values);
  for (size_t skipped = 0; skipped <= values.size(); ++skipped) {
    Decoding decoding(kBinaryColumn.node, primitive(TypeId::kBinary));
    ASSERT_TRUE(decoding.start(Encoding::kPlain, page));
    decoding.decoder().skip(skipped);
    const Strings left(values.begin() + static_cast<ptrdiff_t>(skipped), values.end());
    ASSERT_EQ(decoding.take(left.size()), left) << skipped;
    EXPECT_THROW(decoding.decoder().skip(1), CorruptError);
  }
  for (size_t size = 0; size < page.size(); ++size) {
    Decoding decoding(kBinaryColumn.node, primitive(TypeId::kBinary));
    ASSERT_TRUE(decoding.start(Encoding::kPlain, page.substr(0, size)));
    EXPECT_THROW(decoding.decoder().skip(values.size()), CorruptError) << size;
  }
}

TEST(Split, RefusesPagesThatEndInsideOfAValue) {
  const Column column = {leaf(PhysicalType::kInt32), primitive(TypeId::kInt32), 4, {}};
  EXPECT_THAT(error_of(column, Encoding::kByteStreamSplit, "1234567", 1), HasSubstr("7 bytes of split values of 4"));
  EXPECT_THAT(error_of(column, Encoding::kByteStreamSplit, "12345678", 3), HasSubstr("page ends"));
}

// The UTF-8 check sees every encoding, and values that are valid only together.
TEST(Text, IsCheckedInEveryEncoding) {
  for (Encoding encoding : {Encoding::kPlain, Encoding::kDeltaLengthByteArray, Encoding::kDeltaByteArray}) {
    const auto error = [&](const Strings& values) {
      return error_of(kTextColumn, encoding, encode(kTextColumn.node, encoding, values), values.size());
    };
    EXPECT_EQ(error({"a", "\xc3\xa9", "\xc3\xa8"}), "no error") << to_string(encoding);
    EXPECT_THAT(error({"a", "\xff", "b"}), HasSubstr("UTF-8")) << to_string(encoding);
    EXPECT_THAT(error({"a", "\xc3", "\xa9"}), HasSubstr("UTF-8")) << to_string(encoding);
  }
}

// Decimals on byte arrays come value by value.
TEST(DecimalText, OnByteArraysInEveryEncoding) {
  const SchemaNode node = leaf(PhysicalType::kByteArray, 0, decimal_of(20));
  const Strings values = {std::string("\x01\x02", 2), "", "\xff", std::string("\x01\x02\x03", 3)};
  Decoding plain(node, decimal(20, 0));
  ASSERT_TRUE(plain.start(Encoding::kPlain, testing::plain(values)));
  const Strings expected = plain.take(values.size());
  EXPECT_EQ(expected[0].substr(0, 2), "\x02\x01");
  for (Encoding encoding : {Encoding::kDeltaLengthByteArray, Encoding::kDeltaByteArray}) {
    Decoding decoding(node, decimal(20, 0));
    ASSERT_TRUE(decoding.start(encoding, encode(node, encoding, values)));
    EXPECT_EQ(decoding.take(values.size()), expected) << to_string(encoding);
  }
}

// Every byte of a page changed, and every cut: values or CorruptError, and AddressSanitizer content.
TEST(Encodings, SurviveEveryCutAndChange) {
  std::mt19937 random(5);
  for (const Column& column : columns()) {
    if (column.width > 40) continue;
    const Strings values = random_values(column.width, 150, random);
    for (Encoding encoding : column.encodings) {
      const std::string whole = encode(column.node, encoding, values);
      const auto attempt = [&](const std::string& page) {
        try {
          Decoding decoding(column.node, column.type, true);
          if (decoding.start(encoding, page)) decoding.take_somehow(values.size(), random);
        } catch (const CorruptError&) {
        }
      };
      for (size_t size = 0; size < whole.size(); size += 1 + size / 40) attempt(whole.substr(0, size));
      for (size_t at = 0; at < whole.size(); at += 1 + at / 40) {
        for (char value : {'\0', '\x01', '\x80', '\xff'}) {
          std::string changed = whole;
          changed[at] = value;
          attempt(changed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
