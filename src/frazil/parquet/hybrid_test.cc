#include "frazil/parquet/hybrid.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/levels.h"

namespace frazil::parquet {
namespace {

// Kernels may read 64 bytes behind the end, as behind a page.
struct Padded {
  explicit Padded(const std::string& text) : bytes(text.size() + 64), size(text.size()) {
    std::memcpy(bytes.data(), text.data(), text.size());
  }
  std::span<const std::byte> span() const { return {bytes.data(), size}; }
  std::vector<std::byte> bytes;
  size_t size;
};

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (const Kernels* found = find_kernels(name)) all.push_back(found);
  }
  return all;
}

std::vector<uint32_t> read_all(HybridReader reader, const Kernels& kernels, size_t count, size_t step) {
  std::vector<uint32_t> out(count + 64);
  size_t done = 0;
  while (done < count) {
    const size_t part = reader.read(kernels, out.data() + done, std::min(step, count - done));
    if (part == 0) break;
    done += part;
  }
  out.resize(done);
  return out;
}

RC_GTEST_PROP(Hybrid, RoundTripsAnyValuesInAnyStepsWithEveryKernel, ()) {
  const int width = *rc::gen::inRange(1, 33);
  const auto mask = static_cast<uint32_t>(low_mask(static_cast<unsigned>(width)));
  std::vector<uint32_t> values;
  const auto runs = *rc::gen::container<std::vector<std::pair<uint32_t, int>>>(
      rc::gen::pair(rc::gen::arbitrary<uint32_t>(), rc::gen::inRange(1, 40)));
  for (auto [value, count] : runs) {
    for (int i = 0; i < count; ++i)
      values.push_back((count > 20 ? value : value * static_cast<uint32_t>(i + 1)) & mask);
  }
  const Padded bytes(testing::hybrid(values, width));
  const auto step = static_cast<size_t>(*rc::gen::inRange(1, 100));
  for (const Kernels* kernels : all_kernels()) {
    RC_ASSERT(read_all(HybridReader(bytes.span(), width), *kernels, values.size(), step) == values);
  }
  // Skipping comes to the same place.
  const size_t skipped = values.empty() ? 0 : *rc::gen::inRange<size_t>(0, values.size());
  HybridReader reader(bytes.span(), width);
  RC_ASSERT(reader.skip(skipped) == skipped);
  RC_ASSERT(read_all(reader, kernels(), values.size() - skipped, step) ==
            std::vector<uint32_t>(values.begin() + static_cast<ptrdiff_t>(skipped), values.end()));
}

TEST(Hybrid, ReadsTheExampleOfTheSpecification) {
  // Encodings.md: 0..7 in 3 bits: 10001000 11000110 11111010.
  const Padded bytes(std::string("\x03\x88\xc6\xfa", 4));
  EXPECT_EQ(read_all(HybridReader(bytes.span(), 3), kernels(), 8, 8), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Hybrid, WidthZeroNeedsNoRuns) {
  const Padded bytes("");
  EXPECT_EQ(read_all(HybridReader(bytes.span(), 0), kernels(), 5, 2), std::vector<uint32_t>(5, 0));
}

TEST(Hybrid, ReadsACutLastGroupAndEmptyRuns) {
  const Padded cut(std::string("\x03\x21", 2));  // a group of 8 values of 4 bits, one byte of it there
  EXPECT_EQ(read_all(HybridReader(cut.span(), 4), kernels(), 8, 8), (std::vector<uint32_t>{1, 2}));
  const Padded empty_runs(std::string("\x00\x07\x01\x04\x05", 5));  // none, no groups, then twice 5
  EXPECT_EQ(read_all(HybridReader(empty_runs.span(), 3), kernels(), 9, 9), (std::vector<uint32_t>{5, 5}));
}

TEST(Hybrid, RefusesDamagedRuns) {
  EXPECT_THROW(HybridReader({}, 33), CorruptError);
  EXPECT_THROW(HybridReader({}, -1), CorruptError);
  for (const std::string& text : {std::string("\x80", 1), std::string("\x08", 1), std::string(10, '\xff')}) {
    const Padded bytes(text);
    HybridReader reader(bytes.span(), 9);
    uint32_t out[64];
    EXPECT_THROW(reader.read(kernels(), out, 4), CorruptError) << text.size();
  }
  // 2^60 groups: no overflow, only what is there.
  std::string huge;
  testing::append_varint(huge, (uint64_t{1} << 56) - 1);
  huge += "ab";
  const Padded bytes(huge);
  EXPECT_EQ(read_all(HybridReader(bytes.span(), 8), kernels(), 9, 9), (std::vector<uint32_t>{'a', 'b'}));
}

RC_GTEST_PROP(Levels, BitmapsAreWhereTheLevelIsTheHighest, ()) {
  const auto max_level = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
  const int width = bit_width_of(max_level);
  const auto levels = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, max_level + 1));
  const Padded bytes(testing::hybrid(levels, width));
  const auto offset = static_cast<size_t>(*rc::gen::inRange(0, 70));
  std::vector<uint8_t> bits((levels.size() + offset) / 8 + 1, 0xFF);
  HybridReader reader(bytes.span(), width);
  const bool all = all_at_max(reader, max_level, levels.size());
  size_t expected = 0;
  const size_t first = levels.size() / 3;
  size_t valid = read_validity(reader, max_level, max_level, first, bits.data(), offset);
  valid += read_validity(reader, max_level, max_level, levels.size() - first, bits.data(), offset + first);
  for (size_t i = 0; i < levels.size(); ++i) {
    RC_ASSERT(get_bit(bits.data(), offset + i) == (levels[i] == max_level));
    expected += levels[i] == max_level ? 1 : 0;
  }
  RC_ASSERT(valid == expected);
  if (all) RC_ASSERT(expected == levels.size());
  for (size_t i = 0; i < offset; ++i) RC_ASSERT(get_bit(bits.data(), i));
}

TEST(Levels, RefusesLevelsAboveTheHighestAndTooFew) {
  uint8_t bits[16] = {};
  const Padded repeated(testing::repeated_run(8, 3, 2));
  HybridReader first(repeated.span(), 2);
  EXPECT_THROW(read_validity(first, 2, 2, 8, bits, 0), CorruptError);
  const Padded packed(testing::packed_run({0, 1, 3, 2, 0, 0, 0, 0}, 2));
  HybridReader second(packed.span(), 2);
  EXPECT_THROW(read_validity(second, 2, 2, 8, bits, 0), CorruptError);
  HybridReader third(packed.span(), 2);
  EXPECT_THROW(read_validity(third, 3, 3, 9, bits, 0), CorruptError);
}

RC_GTEST_PROP(Kernels, AllTablesGiveTheSame, ()) {
  const auto indices = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 300));
  const auto limit = *rc::gen::inRange<uint32_t>(0, 301);
  const auto validity = *rc::gen::container<std::vector<bool>>(indices.size(), rc::gen::arbitrary<bool>());
  const auto offset = static_cast<size_t>(*rc::gen::inRange(0, 20));
  std::vector<uint64_t> dictionary8(300);
  std::vector<uint32_t> dictionary4(300);
  for (size_t i = 0; i < 300; ++i) {
    dictionary8[i] = i * 0x9E3779B97F4A7C15;
    dictionary4[i] = static_cast<uint32_t>(dictionary8[i] >> 32);
  }
  bool below = true;
  for (uint32_t index : indices) below = below && index < limit;
  std::vector<uint8_t> bits((indices.size() + offset) / 8 + 1);
  for (size_t i = 0; i < validity.size(); ++i) assign_bit(bits.data(), offset + i, validity[i]);

  for (const Kernels* table : all_kernels()) {
    RC_ASSERT(table->all_below(indices.data(), indices.size(), limit) == below);
    std::vector<uint64_t> out8(indices.size() + 16);
    std::vector<uint32_t> out4(indices.size() + 32);
    table->gather8(dictionary8.data(), indices.data(), indices.size(), out8.data());
    table->gather4(dictionary4.data(), indices.data(), indices.size(), out4.data());
    for (size_t i = 0; i < indices.size(); ++i) {
      RC_ASSERT(out8[i] == dictionary8[indices[i]]);
      RC_ASSERT(out4[i] == dictionary4[indices[i]]);
    }
    table->expand8(bits.data(), offset, indices.size(), out8.data());
    table->expand4(bits.data(), offset, indices.size(), out4.data());
    size_t dense = 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      RC_ASSERT(out8[i] == (validity[i] ? dictionary8[indices[dense]] : 0));
      RC_ASSERT(out4[i] == (validity[i] ? dictionary4[indices[dense]] : 0));
      dense += validity[i] ? 1 : 0;
    }
  }
}

TEST(Kernels, NoticeIndicesWithTheHighestBit) {
  for (const Kernels* table : all_kernels()) {
    for (uint32_t bad : {uint32_t{5}, uint32_t{1} << 31, UINT32_MAX, (uint32_t{1} << 31) + 4}) {
      std::vector<uint32_t> indices(40, 4);
      EXPECT_TRUE(table->all_below(indices.data(), indices.size(), 5)) << table->name;
      indices[33] = bad;
      EXPECT_FALSE(table->all_below(indices.data(), indices.size(), 5)) << table->name << bad;
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
