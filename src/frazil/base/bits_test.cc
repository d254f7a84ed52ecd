#include "frazil/base/bits.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

// A bitmap of exactly the bytes that its bits need, on the heap: AddressSanitizer sees a read or write beyond them.
class Bitmap {
 public:
  explicit Bitmap(const std::vector<bool>& bits) : bytes_(new uint8_t[bytes_for_bits(bits.size())]), bits_(bits) {
    // Bits behind the last one are 1: functions must neither count nor change them.
    std::memset(bytes_.get(), 0xff, bytes_for_bits(bits.size()));
    for (size_t i = 0; i < bits.size(); ++i) assign_bit(bytes_.get(), i, bits[i]);
  }

  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  std::vector<bool> bits() const {
    std::vector<bool> result(bits_.size());
    for (size_t i = 0; i < bits_.size(); ++i) result[i] = get_bit(bytes_.get(), i);
    return result;
  }
  bool padding_untouched() const {
    for (size_t i = bits_.size(); i < bytes_for_bits(bits_.size()) * 8; ++i) {
      if (!get_bit(bytes_.get(), i)) return false;
    }
    return true;
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  std::vector<bool> bits_;
};

// `density`: how many of 100 bits are set. 0 and 100 happen often in validity bitmaps.
std::vector<bool> any_bits(size_t size) {
  const int density = *rc::gen::element(0, 1, 50, 99, 100);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  std::vector<bool> bits(size);
  uint64_t state = seed | 1;
  for (size_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bits[i] = static_cast<int>((state >> 33) % 100) < density;
  }
  return bits;
}

// A range of up to 400 bits that starts at any place of a byte or word.
struct Range {
  size_t offset;
  size_t count;
};
Range any_range() {
  return {*rc::gen::inRange<size_t>(0, 70), *rc::gen::inRange<size_t>(0, 400)};
}

std::vector<bool> slice(const std::vector<bool>& bits, Range range) {
  const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(range.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(range.count)};
}

TEST(Bits, SizesRoundUp) {
  EXPECT_EQ(bytes_for_bits(0), 0U);
  EXPECT_EQ(bytes_for_bits(1), 1U);
  EXPECT_EQ(bytes_for_bits(8), 1U);
  EXPECT_EQ(bytes_for_bits(9), 2U);
  EXPECT_EQ(bytes_for_bits(SIZE_MAX), SIZE_MAX / 8 + 1);
  EXPECT_EQ(divide_round_up(7U, 3U), 3U);
  EXPECT_EQ(divide_round_up(6U, 3U), 2U);
  EXPECT_EQ(divide_round_up(UINT64_MAX, uint64_t{2}), uint64_t{1} << 63);
  EXPECT_EQ(round_up(uint64_t{0}, 64), 0U);
  EXPECT_EQ(round_up(uint64_t{1}, 64), 64U);
  EXPECT_EQ(round_up(uint64_t{64}, 64), 64U);
  EXPECT_EQ(round_down(uint64_t{127}, 64), 64U);
}

TEST(Bits, BitWidthIsWhatParquetWritesForLevels) {
  struct Row {
    uint64_t max_value;
    int width;
  };
  for (auto [max_value, width] : {Row{0, 0}, Row{1, 1}, Row{2, 2}, Row{3, 2}, Row{4, 3}, Row{7, 3}, Row{8, 4},
                                  Row{UINT32_MAX, 32}, Row{UINT64_MAX, 64}}) {
    EXPECT_EQ(bit_width_of(max_value), width) << max_value;
  }
}

TEST(Bits, LowMaskCoversZeroTo64) {
  EXPECT_EQ(low_mask(0), 0U);
  EXPECT_EQ(low_mask(1), 1U);
  EXPECT_EQ(low_mask(63), UINT64_MAX >> 1);
  EXPECT_EQ(low_mask(64), UINT64_MAX);
}

TEST(Bits, NumbersFromTheLowestBitOfTheFirstByte) {
  const uint8_t bytes[] = {0b0000'0001, 0b1000'0000};
  EXPECT_TRUE(get_bit(bytes, 0));
  EXPECT_FALSE(get_bit(bytes, 1));
  EXPECT_TRUE(get_bit(bytes, 15));
  EXPECT_EQ(load_bits(bytes, 0, 16), 0x8001U);
  EXPECT_EQ(load_bits(bytes, 15, 1), 1U);
}

TEST(Bits, SetClearAssignChangeOneBit) {
  uint8_t bytes[2] = {0, 0xff};
  set_bit(bytes, 3);
  clear_bit(bytes, 8);
  assign_bit(bytes, 7, true);
  assign_bit(bytes, 15, false);
  assign_bit(bytes, 0, false);
  EXPECT_EQ(bytes[0], 0b1000'1000);
  EXPECT_EQ(bytes[1], 0b0111'1110);
}

TEST(Bits, LoadAndStoreEveryOffsetAndCount) {
  for (size_t offset = 0; offset < 16; ++offset) {
    for (size_t count = 0; count <= 64; ++count) {
      const uint64_t pattern = 0x9e3779b97f4a7c15;
      for (bool around : {false, true}) {
        std::vector<bool> bits(offset + count + (offset + count == 0), around);
        Bitmap bitmap(bits);
        store_bits(bitmap.data(), offset, count, pattern);
        for (size_t i = 0; i < count; ++i) bits[offset + i] = (pattern >> i) & 1;
        ASSERT_EQ(bitmap.bits(), bits) << offset << " " << count;
        ASSERT_TRUE(bitmap.padding_untouched()) << offset << " " << count;
        ASSERT_EQ(load_bits(bitmap.data(), offset, count), pattern & low_mask(static_cast<unsigned>(count)))
            << offset << " " << count;
      }
    }
  }
}

TEST(Bits, EmptyRangesTouchNothing) {
  EXPECT_EQ(count_set_bits(nullptr, 0, 0), 0U);
  EXPECT_EQ(find_bit(nullptr, 0, 0, true), 0U);
  EXPECT_TRUE(all_bits_set(nullptr, 0, 0));
  EXPECT_FALSE(any_bit_set(nullptr, 0, 0));
  EXPECT_EQ(load_bits(nullptr, 0, 0), 0U);
  fill_bits(nullptr, 0, 0, true);
  copy_bits(nullptr, 0, nullptr, 0, 0);
  EXPECT_TRUE(equal_bits(nullptr, 0, nullptr, 0, 0));
}

RC_GTEST_PROP(Bits, CountAndFindAgreeWithALoop, ()) {
  const Range range = any_range();
  const std::vector<bool> bits = any_bits(range.offset + range.count);
  const Bitmap bitmap(bits);
  const std::vector<bool> part = slice(bits, range);
  const size_t end = range.offset + range.count;

  size_t ones = 0;
  for (bool bit : part) ones += bit;
  RC_ASSERT(count_set_bits(bitmap.data(), range.offset, range.count) == ones);
  RC_ASSERT(all_bits_set(bitmap.data(), range.offset, range.count) == (ones == range.count));
  RC_ASSERT(any_bit_set(bitmap.data(), range.offset, range.count) == (ones != 0));
  for (bool value : {false, true}) {
    size_t expected = range.offset;
    while (expected < end && bits[expected] != value) ++expected;
    RC_ASSERT(find_bit(bitmap.data(), range.offset, end, value) == expected);
  }

  std::vector<size_t> visited;
  for_each_set_bit(bitmap.data(), range.offset, range.count, [&](size_t index) { visited.push_back(index); });
  RC_ASSERT(visited.size() == ones);
  std::vector<bool> from_visits(range.count);
  for (size_t index : visited) from_visits.at(index) = true;
  RC_ASSERT(from_visits == part);

  std::vector<bool> from_runs(range.count);
  size_t last_end = SIZE_MAX;
  for_each_set_run(bitmap.data(), range.offset, range.count, [&](size_t start, size_t length) {
    RC_ASSERT(length > 0U);
    RC_ASSERT(start != last_end);  // else the two runs are one
    last_end = start + length;
    for (size_t i = start; i < last_end; ++i) from_runs.at(i) = true;
  });
  RC_ASSERT(from_runs == part);
}

RC_GTEST_PROP(Bits, CopiesBetweenAnyOffsets, ()) {
  const Range range = any_range();
  const size_t target_offset = *rc::gen::inRange<size_t>(0, 70);
  const size_t behind = *rc::gen::inRange<size_t>(0, 20);
  const std::vector<bool> source = any_bits(range.offset + range.count);
  const std::vector<bool> target = any_bits(target_offset + range.count + behind);
  const Bitmap source_bitmap(source);

  for (bool inverted : {false, true}) {
    std::vector<bool> expected = target;
    for (size_t i = 0; i < range.count; ++i) expected[target_offset + i] = source[range.offset + i] != inverted;
    Bitmap bitmap(target);
    (inverted ? copy_inverted_bits : copy_bits)(source_bitmap.data(), range.offset, bitmap.data(), target_offset,
                                                range.count);
    RC_ASSERT(bitmap.bits() == expected);
    RC_ASSERT(bitmap.padding_untouched());
    if (!inverted) {
      RC_ASSERT(equal_bits(source_bitmap.data(), range.offset, bitmap.data(), target_offset, range.count));
      if (range.count != 0) {
        const size_t place = target_offset + *rc::gen::inRange<size_t>(0, range.count);
        assign_bit(bitmap.data(), place, !get_bit(bitmap.data(), place));
        RC_ASSERT(!equal_bits(source_bitmap.data(), range.offset, bitmap.data(), target_offset, range.count));
      }
    }
  }
}

RC_GTEST_PROP(Bits, FillsOnlyTheRange, (bool value)) {
  const Range range = any_range();
  const std::vector<bool> before = any_bits(range.offset + range.count + *rc::gen::inRange<size_t>(0, 20));
  std::vector<bool> expected = before;
  for (size_t i = 0; i < range.count; ++i) expected[range.offset + i] = value;
  Bitmap bitmap(before);
  fill_bits(bitmap.data(), range.offset, range.count, value);
  RC_ASSERT(bitmap.bits() == expected);
  RC_ASSERT(bitmap.padding_untouched());
}

RC_GTEST_PROP(Bits, CombinesBitmaps, ()) {
  const Range range = any_range();
  const size_t right_offset = *rc::gen::inRange<size_t>(0, 70);
  const size_t target_offset = *rc::gen::inRange<size_t>(0, 70);
  const std::vector<bool> left = any_bits(range.offset + range.count);
  const std::vector<bool> right = any_bits(right_offset + range.count);
  const std::vector<bool> target = any_bits(target_offset + range.count);
  const Bitmap left_bitmap(left);
  const Bitmap right_bitmap(right);
  struct Row {
    decltype(&and_bits) combine;
    bool (*expected)(bool, bool);
  };
  for (auto [combine, op] :
       {Row{and_bits, [](bool a, bool b) { return a && b; }}, Row{or_bits, [](bool a, bool b) { return a || b; }},
        Row{and_not_bits, [](bool a, bool b) { return a && !b; }}}) {
    std::vector<bool> expected = target;
    for (size_t i = 0; i < range.count; ++i) {
      expected[target_offset + i] = op(left[range.offset + i], right[right_offset + i]);
    }
    Bitmap bitmap(target);
    combine(left_bitmap.data(), range.offset, right_bitmap.data(), right_offset, bitmap.data(), target_offset,
            range.count);
    RC_ASSERT(bitmap.bits() == expected);
    RC_ASSERT(bitmap.padding_untouched());

    // In place.
    std::vector<bool> expected_left = left;
    for (size_t i = 0; i < range.count; ++i) {
      expected_left[range.offset + i] = op(left[range.offset + i], right[right_offset + i]);
    }
    Bitmap same(left);
    combine(same.data(), range.offset, right_bitmap.data(), right_offset, same.data(), range.offset, range.count);
    RC_ASSERT(same.bits() == expected_left);
  }
}

RC_GTEST_PROP(Bits, PacksAndUnpacksBools, (std::vector<uint8_t> bools)) {
  const size_t offset = *rc::gen::inRange<size_t>(0, 70);
  const std::vector<bool> before = any_bits(offset + bools.size() + 3);
  std::vector<bool> expected = before;
  for (size_t i = 0; i < bools.size(); ++i) expected[offset + i] = bools[i] != 0;
  Bitmap bitmap(before);
  pack_bools(bools.data(), bools.size(), bitmap.data(), offset);
  RC_ASSERT(bitmap.bits() == expected);

  std::vector<uint8_t> unpacked(bools.size(), 7);
  unpack_bools(bitmap.data(), offset, bools.size(), unpacked.data());
  for (size_t i = 0; i < bools.size(); ++i) RC_ASSERT(unpacked[i] == (bools[i] != 0));
}

TEST(Bits, PacksEachNonZeroByteAsOne) {
  for (int value = 0; value < 256; ++value) {
    for (size_t place = 0; place < 8; ++place) {
      uint8_t bools[8] = {};
      bools[place] = static_cast<uint8_t>(value);
      uint8_t byte = 0;
      pack_bools(bools, 8, &byte, 0);
      ASSERT_EQ(byte, value == 0 ? 0 : 1 << place) << value << " at " << place;
    }
  }
}

}  // namespace
}  // namespace frazil
