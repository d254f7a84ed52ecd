#include "frazil/parquet/convert.h"

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/decimal.h"
#include "frazil/base/int128.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using Kind = LogicalType::Kind;

SchemaNode leaf(PhysicalType type, LogicalType logical = {}, int32_t length = 0) {
  SchemaNode node;
  node.name = "a";
  node.type = type;
  node.logical = logical;
  node.type_length = length;
  return node;
}

LogicalType logical(Kind kind, TimeUnit unit = TimeUnit::kMicro) {
  LogicalType type;
  type.kind = kind;
  type.unit = unit;
  return type;
}

LogicalType integer(int8_t bits, bool is_signed) {
  LogicalType type;
  type.kind = Kind::kInteger;
  type.bit_width = bits;
  type.is_signed = is_signed;
  return type;
}

LogicalType decimal_of(int32_t precision, int32_t scale) {
  LogicalType type;
  type.kind = Kind::kDecimal;
  type.precision = precision;
  type.scale = scale;
  return type;
}

// The values after the conversion; nothing if one was out of range.
template <typename Target>
std::optional<std::vector<Target>> convert(const SchemaNode& node, const DataTypePtr& type, std::string source) {
  const auto conversion = find_conversion(node, *type);
  EXPECT_TRUE(conversion.has_value()) << type->to_string();
  if (!conversion) return std::nullopt;
  EXPECT_EQ(static_cast<size_t>(conversion->target_width), sizeof(Target));
  const size_t count = source.size() / static_cast<size_t>(conversion->source_width);
  source.resize(source.size() + 64);
  std::vector<Target> out(count);
  const auto* from = reinterpret_cast<const std::byte*>(source.data());
  if (conversion->convert == nullptr) {
    std::memcpy(out.data(), from, count * sizeof(Target));
  } else if (!conversion->convert(from, count, reinterpret_cast<std::byte*>(out.data()), conversion->parameters)) {
    return std::nullopt;
  }
  return out;
}

std::string int96(int64_t nanos_of_day, int32_t julian_day) {
  std::string out;
  testing::append(out, nanos_of_day);
  testing::append(out, julian_day);
  return out;
}

// reports.md Q01, Q02: before 1970 exact, beyond the int64 range of nanoseconds exact in microseconds and no wrapping in
// nanoseconds.
TEST(Int96, IsExactBeforeTheEpochAndFarFromIt) {
  const SchemaNode node = leaf(PhysicalType::kInt96);
  struct Case {
    int64_t nanos;
    int32_t day;
    int64_t micros;
    std::optional<int64_t> nanos_since;
  };
  const std::vector<Case> cases = {
      {0, 2'440'588, 0, 0},
      {86'399'999'999'999, 2'440'587, -1, -1},                                // 1969-12-31T23:59:59.999999999
      {0, 2'299'161, -12'219'292'800'000'000, std::nullopt},                  // 1582-10-15
      {0, 2'415'021, -2'208'988'800'000'000, -2'208'988'800'000'000'000},     // 1900-01-01
      {3'600'000'000'000, 2'086'303, -30'610'220'400'000'000, std::nullopt},  // 1000-01-01T01
      {0, 5'373'484, 253'402'214'400'000'000, std::nullopt},                  // 9999-12-31
      {-1, 2'440'588, -1, -1},                                                // nanoseconds below 0
  };
  for (const Case& test : cases) {
    EXPECT_EQ(convert<int64_t>(node, timestamp(TimeUnit::kMicro), int96(test.nanos, test.day)),
              std::vector<int64_t>{test.micros})
        << test.day;
    const auto nanos = convert<int64_t>(node, timestamp(TimeUnit::kNano), int96(test.nanos, test.day));
    ASSERT_EQ(nanos.has_value(), test.nanos_since.has_value()) << test.day;
    if (nanos) {
      EXPECT_EQ((*nanos)[0], *test.nanos_since) << test.day;
    }
  }
  // The first nanosecond that an int64 has, 1677-09-21T00:12:43.145224192: its day alone is out of range.
  const auto lowest = convert<int64_t>(node, timestamp(TimeUnit::kNano), int96(763'145'224'192, 2'333'836));
  ASSERT_TRUE(lowest.has_value());
  EXPECT_EQ((*lowest)[0], std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(convert<int64_t>(node, timestamp(TimeUnit::kNano), int96(763'145'224'191, 2'333'836)).has_value());
}

// parquet-testing int96_from_spark.md states 9089380393200000000 microseconds for this one.
TEST(Int96, ComesBackAsSparkWroteIt) {
  const auto micros =
      convert<int64_t>(leaf(PhysicalType::kInt96), timestamp(TimeUnit::kMicro),
                       int96(static_cast<int64_t>(0xffffe26ec7b96000), static_cast<int32_t>(0xf9b0aba8)));
  ASSERT_TRUE(micros.has_value());
  EXPECT_EQ((*micros)[0], 9'089'380'393'200'000'000);
}

// Q20: decimals on byte arrays wider and narrower than their precision needs.
TEST(Decimals, AreSignExtendedFromAnyWidth) {
  for (int32_t width : {2, 3, 7, 8, 9, 15, 16, 17, 20}) {
    const SchemaNode node = leaf(PhysicalType::kFixedLenByteArray, decimal_of(4, 2), width);
    std::string bytes;
    for (int64_t value : {-123, 0, 1, -1, 9999, -9999}) {
      std::string big_endian;
      for (int i = width - 1; i >= 0; --i) {
        big_endian += static_cast<char>(i >= 8 ? (value < 0 ? -1 : 0) : value >> (8 * i));
      }
      bytes += big_endian;
    }
    const auto values = convert<Int128>(node, decimal(4, 2), bytes);
    ASSERT_TRUE(values.has_value()) << width;
    EXPECT_TRUE((*values == std::vector<Int128>{-123, 0, 1, -1, 9999, -9999})) << width;
  }
  // Wider than 128 bits with something in the upper ones.
  const SchemaNode wide = leaf(PhysicalType::kFixedLenByteArray, decimal_of(38, 0), 17);
  EXPECT_FALSE(convert<Int128>(wide, decimal(38, 0), std::string(1, '\x01') + std::string(16, '\0')).has_value());
  EXPECT_FALSE(convert<Int128>(wide, decimal(38, 0), std::string(1, '\0') + std::string(16, '\xff')).has_value());
  EXPECT_TRUE(convert<Int128>(wide, decimal(38, 0), std::string(17, '\xff')).has_value());
  const auto from_int =
      convert<Int128>(leaf(PhysicalType::kInt32, decimal_of(9, 2)), decimal(18, 2), testing::plain<int32_t>({-5, 7}));
  ASSERT_TRUE(from_int.has_value());
  EXPECT_TRUE((*from_int == std::vector<Int128>{-5, 7}));
}

// Every width against the value of its bytes, one after the other.
TEST(Decimals, OfEveryFixedWidth) {
  using Wide = std::array<uint64_t, 4>;
  for (int32_t width = 1; width <= 40; ++width) {
    const SchemaNode node = leaf(PhysicalType::kFixedLenByteArray, decimal_of(5, 2), width);
    for (const char* digits : {"\x01\x23\x45\x67\x89\xab\xcd\xef\x10\x32\x54\x76\x98\xba\xdc\xfe", "\xfe\x01\x80",
                               "\x80", "\x7f\xff\xff\xff\xff\xff\xff\xff\xff"}) {
      const std::string used = std::string(digits).substr(0, static_cast<size_t>(width));
      const bool is_negative = (used[0] & 0x80) != 0;
      const std::string value =
          std::string(static_cast<size_t>(width) - used.size(), is_negative ? '\xff' : '\0') + used;
      UInt128 expected = is_negative ? ~UInt128{0} : UInt128{0};
      for (char byte : value) expected = expected << 8 | static_cast<uint8_t>(byte);
      const auto narrow = convert<Int128>(node, decimal(38, 2), value + value);
      ASSERT_TRUE(narrow.has_value()) << width;
      EXPECT_TRUE((*narrow)[0] == static_cast<Int128>(expected)) << width;
      EXPECT_TRUE((*narrow)[1] == static_cast<Int128>(expected)) << width;
      const auto wide = convert<Wide>(node, decimal(76, 2, TypeId::kDecimal256), value + value);
      ASSERT_TRUE(wide.has_value()) << width;
      const uint64_t sign = is_negative ? ~uint64_t{0} : 0;
      const Wide words = {static_cast<uint64_t>(expected), static_cast<uint64_t>(expected >> 64), sign, sign};
      EXPECT_EQ((*wide)[0], words) << width;
      EXPECT_EQ((*wide)[1], words) << width;
    }
  }
  const SchemaNode wide = leaf(PhysicalType::kFixedLenByteArray, decimal_of(76, 0), 33);
  const DataTypePtr type = decimal(76, 0, TypeId::kDecimal256);
  EXPECT_FALSE(convert<Wide>(wide, type, std::string(1, '\x01') + std::string(32, '\0')).has_value());
  EXPECT_FALSE(convert<Wide>(wide, type, std::string(1, '\0') + std::string(32, '\xff')).has_value());
  EXPECT_TRUE(convert<Wide>(wide, type, std::string(33, '\xff')).has_value());
  const auto from_int = convert<Wide>(leaf(PhysicalType::kInt64, decimal_of(18, 2)),
                                      decimal(40, 2, TypeId::kDecimal256), testing::plain<int64_t>({-5, 7}));
  ASSERT_TRUE(from_int.has_value());
  EXPECT_EQ((*from_int)[0], (Wide{~uint64_t{4}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}));
  EXPECT_EQ((*from_int)[1], (Wide{7, 0, 0, 0}));
}

TEST(Decimals, OnByteArraysOfAnyLength) {
  const auto conversion = find_conversion(leaf(PhysicalType::kByteArray, decimal_of(10, 2)), *decimal(10, 2));
  ASSERT_TRUE(conversion && conversion->convert_bytes != nullptr);
  const auto read = [&](std::string bytes) {
    Int128 value = 0;
    EXPECT_TRUE(conversion->convert_bytes(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(),
                                          reinterpret_cast<std::byte*>(&value)));
    return value;
  };
  EXPECT_TRUE(read("") == 0);
  EXPECT_TRUE(read("\x05\x8c") == 1420);
  EXPECT_TRUE(read("\xff") == -1);
  EXPECT_TRUE(read(std::string(20, '\xff')) == -1);
}

TEST(Integers, OfNarrowAnnotationsAreChecked) {
  const auto narrow = [](LogicalType type) { return leaf(PhysicalType::kInt32, type); };
  EXPECT_EQ(convert<int8_t>(narrow(integer(8, true)), primitive(TypeId::kInt8), testing::plain<int32_t>({-128, 127})),
            (std::vector<int8_t>{-128, 127}));
  EXPECT_FALSE(convert<int8_t>(narrow(integer(8, true)), primitive(TypeId::kInt8), testing::plain<int32_t>({128})));
  EXPECT_FALSE(
      convert<uint16_t>(narrow(integer(16, false)), primitive(TypeId::kUInt16), testing::plain<int32_t>({-1})));
  // As Iceberg reads them: an unsigned 32-bit value as a long.
  EXPECT_EQ(convert<int64_t>(narrow(integer(32, false)), primitive(TypeId::kInt64),
                             testing::plain<uint32_t>({3'000'000'000})),
            (std::vector<int64_t>{3'000'000'000}));
  EXPECT_FALSE(convert<int32_t>(narrow(integer(32, false)), primitive(TypeId::kInt32),
                                testing::plain<uint32_t>({3'000'000'000})));
  EXPECT_EQ(convert<int64_t>(narrow({}), primitive(TypeId::kInt64), testing::plain<int32_t>({-7})),
            (std::vector<int64_t>{-7}));
  EXPECT_EQ(convert<double>(leaf(PhysicalType::kFloat), primitive(TypeId::kDouble), testing::plain<float>({1.5F})),
            (std::vector<double>{1.5}));
}

TEST(Times, ChangeTheirUnit) {
  const SchemaNode millis = leaf(PhysicalType::kInt64, logical(Kind::kTimestamp, TimeUnit::kMilli));
  const SchemaNode nanos = leaf(PhysicalType::kInt64, logical(Kind::kTimestamp, TimeUnit::kNano));
  const SchemaNode date = leaf(PhysicalType::kInt32, logical(Kind::kDate));
  EXPECT_EQ(convert<int64_t>(millis, timestamp(TimeUnit::kMicro, "UTC"), testing::plain<int64_t>({-1, 2})),
            (std::vector<int64_t>{-1000, 2000}));
  // reports.md Q03, reading: no wrapping.
  EXPECT_FALSE(convert<int64_t>(millis, timestamp(TimeUnit::kNano), testing::plain<int64_t>({int64_t{1} << 60})));
  // Before the epoch it rounds down, not towards it.
  EXPECT_EQ(convert<int64_t>(nanos, timestamp(TimeUnit::kMicro), testing::plain<int64_t>({-1, 1999})),
            (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(convert<int64_t>(date, timestamp(TimeUnit::kMicro), testing::plain<int32_t>({-1, 1})),
            (std::vector<int64_t>{-86'400'000'000, 86'400'000'000}));
  EXPECT_FALSE(convert<int64_t>(date, timestamp(TimeUnit::kNano), testing::plain<int32_t>({200'000})));
  EXPECT_FALSE(can_read_as(date, *timestamp(TimeUnit::kMicro, "UTC")));  // interop.md 10
  const SchemaNode time = leaf(PhysicalType::kInt32, logical(Kind::kTime, TimeUnit::kMilli));
  EXPECT_EQ(convert<int64_t>(time, time64(TimeUnit::kMicro), testing::plain<int32_t>({86'399'999})),
            (std::vector<int64_t>{86'399'999'000}));
}

TEST(Conversions, ThatCouldLoseValuesAreRefused) {
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt64), *primitive(TypeId::kInt32)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt32), *primitive(TypeId::kInt16)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt32), *primitive(TypeId::kUInt32)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kDouble), *primitive(TypeId::kFloat)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt32, decimal_of(9, 2)), *decimal(9, 3)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt32, decimal_of(9, 2)), *decimal(8, 2)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kInt64, logical(Kind::kTimestamp)), *primitive(TypeId::kInt64)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kByteArray), *primitive(TypeId::kInt32)));
  EXPECT_FALSE(can_read_as(leaf(PhysicalType::kFixedLenByteArray, {}, 16), *fixed_size_binary(15)));
}

}  // namespace
}  // namespace frazil::parquet
