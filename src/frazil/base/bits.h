// Bits and bitmaps. A bitmap numbers its bits from the lowest bit of its first byte, as Arrow's validity buffers and
// Parquet's packed booleans do: bit i is (bytes[i / 8] >> (i % 8)) & 1.
//
// Offsets and counts are in bits and may be any number: nothing need be aligned. The functions touch only the bytes
// that hold bits of the range (buffers of others have no padding), and writers leave the bits around the range as they
// were. They work on 64-bit words; a call costs O(count / 64) plus a few nanoseconds at both ends.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace frazil {

// ---- Sizes ----

constexpr size_t bytes_for_bits(size_t bit_count) noexcept {
  return bit_count / 8 + (bit_count % 8 != 0);
}

template <std::unsigned_integral T>
constexpr T divide_round_up(T value, T divisor) noexcept {
  return static_cast<T>(value / divisor + (value % divisor != 0));
}

// The next multiple of `alignment`, a power of two. Requires that it fits T.
template <std::unsigned_integral T>
constexpr T round_up(T value, std::type_identity_t<T> alignment) noexcept {
  return static_cast<T>((value + (alignment - 1)) & ~(alignment - 1));
}

template <std::unsigned_integral T>
constexpr T round_down(T value, std::type_identity_t<T> alignment) noexcept {
  return static_cast<T>(value & ~(alignment - 1));
}

// Bits that values 0..max_value need: bit_width_of(0) = 0, (1) = 1, (7) = 3, (8) = 4. Parquet's levels and indices.
constexpr int bit_width_of(uint64_t max_value) noexcept {
  return static_cast<int>(std::bit_width(max_value));
}

// A word with the lowest `count` bits set, 0..64.
constexpr uint64_t low_mask(unsigned count) noexcept {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// ---- One bit ----

inline bool get_bit(const uint8_t* bits, size_t index) noexcept {
  return (bits[index >> 3] >> (index & 7)) & 1;
}
inline void set_bit(uint8_t* bits, size_t index) noexcept {
  bits[index >> 3] = static_cast<uint8_t>(bits[index >> 3] | (1U << (index & 7)));
}
inline void clear_bit(uint8_t* bits, size_t index) noexcept {
  bits[index >> 3] = static_cast<uint8_t>(bits[index >> 3] & ~(1U << (index & 7)));
}
inline void assign_bit(uint8_t* bits, size_t index, bool value) noexcept {
  uint8_t& byte = bits[index >> 3];
  byte = static_cast<uint8_t>((byte & ~(1U << (index & 7))) | (static_cast<unsigned>(value) << (index & 7)));
}

// ---- Up to 64 bits ----

// Bits [offset, offset + count) as the low bits of a word, the others 0. `count` is 0..64.
inline uint64_t load_bits(const uint8_t* bits, size_t offset, size_t count) noexcept {
  if (count == 0) return 0;
  const uint8_t* bytes = bits + (offset >> 3);
  const auto shift = static_cast<unsigned>(offset & 7);
  const size_t byte_count = (shift + count + 7) >> 3;  // 1..9
  uint64_t word = 0;
  if (byte_count >= 8) {
    std::memcpy(&word, bytes, 8);
  } else {
    for (size_t i = 0; i < byte_count; ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  }
  word >>= shift;
  if (byte_count == 9) word |= static_cast<uint64_t>(bytes[8]) << (64 - shift);
  return word & low_mask(static_cast<unsigned>(count));
}

// Sets bits [offset, offset + count) to the low bits of `word`. `count` is 0..64.
void store_bits(uint8_t* bits, size_t offset, size_t count, uint64_t word) noexcept;

// ---- Ranges ----

// How many bits of [offset, offset + count) are 1.
size_t count_set_bits(const uint8_t* bits, size_t offset, size_t count) noexcept;

bool all_bits_set(const uint8_t* bits, size_t offset, size_t count) noexcept;
bool any_bit_set(const uint8_t* bits, size_t offset, size_t count) noexcept;

// The first index >= `from` and < `end` whose bit is `value`; `end` if there is none.
size_t find_bit(const uint8_t* bits, size_t from, size_t end, bool value) noexcept;

void fill_bits(uint8_t* bits, size_t offset, size_t count, bool value) noexcept;

// The ranges must not overlap in memory, here and below.
void copy_bits(const uint8_t* source, size_t source_offset, uint8_t* target, size_t target_offset,
               size_t count) noexcept;
void copy_inverted_bits(const uint8_t* source, size_t source_offset, uint8_t* target, size_t target_offset,
                        size_t count) noexcept;

bool equal_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset,
                size_t count) noexcept;

// target = left & right, left | right, left & ~right, over `count` bits. The target may be one of the sources if
// its offset is the same.
void and_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
              size_t target_offset, size_t count) noexcept;
void or_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
             size_t target_offset, size_t count) noexcept;
void and_not_bits(const uint8_t* left, size_t left_offset, const uint8_t* right, size_t right_offset, uint8_t* target,
                  size_t target_offset, size_t count) noexcept;

// One byte a bit: bit i of the target = (bools[i] != 0); and back to 0 or 1.
void pack_bools(const uint8_t* bools, size_t count, uint8_t* target, size_t target_offset) noexcept;
void unpack_bools(const uint8_t* bits, size_t offset, size_t count, uint8_t* bools) noexcept;

// Calls visit(index) for each 1 of [offset, offset + count); indices count from the range's start.
template <typename Visit>
void for_each_set_bit(const uint8_t* bits, size_t offset, size_t count, Visit&& visit) {
  for (size_t start = 0; start < count; start += 64) {
    uint64_t word = load_bits(bits, offset + start, count - start < 64 ? count - start : 64);
    while (word != 0) {
      visit(start + static_cast<size_t>(std::countr_zero(word)));
      word &= word - 1;
    }
  }
}

// Calls visit(start, length) for each maximal run of 1s; starts count from the range's start.
template <typename Visit>
void for_each_set_run(const uint8_t* bits, size_t offset, size_t count, Visit&& visit) {
  const size_t end = offset + count;
  for (size_t position = offset; position < end;) {
    const size_t start = find_bit(bits, position, end, true);
    if (start == end) return;
    position = find_bit(bits, start, end, false);
    visit(start - offset, position - start);
  }
}

}  // namespace frazil
