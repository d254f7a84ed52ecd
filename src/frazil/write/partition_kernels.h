// The transforms on spans: what decides the partition of each value (PartitionKeys), a loop each. Nulls are not looked at:
// whatever lies under them is transformed like any value.
#pragma once

#include <cstdint>
#include <span>

namespace frazil::write::kernel {

// The hash of int, long, date, time and timestamps, for the loops below: equal to spec::kernel::hash_integer.
inline uint32_t hash_of_8_bytes(int64_t value) noexcept {
  constexpr uint32_t kMultiplier1 = 0xCC9E2D51U;
  constexpr uint32_t kMultiplier2 = 0x1B873593U;
  uint32_t hash = 0;
  for (int part = 0; part < 2; ++part) {
    auto word = static_cast<uint32_t>(static_cast<uint64_t>(value) >> (32 * part));
    word *= kMultiplier1;
    word = word << 15 | word >> 17;
    word *= kMultiplier2;
    hash ^= word;
    hash = hash << 13 | hash >> 19;
    hash = hash * 5 + 0xE6546B64U;
  }
  hash ^= 8;
  hash ^= hash >> 16;
  hash *= 0x85EBCA6BU;
  hash ^= hash >> 13;
  hash *= 0xC2B2AE35U;
  hash ^= hash >> 16;
  return hash;
}

// Each: out[i] from values[i]; as many of both.
void widen(std::span<const int32_t> values, int64_t* out) noexcept;
// Bits of floats, with one pattern for all NaNs.
void float_bits(std::span<const float> values, int64_t* out) noexcept;
void double_bits(std::span<const double> values, int64_t* out) noexcept;
// floor(values[i] / divisor): days or hours of timestamps.
void floor_divide(std::span<const int64_t> values, int64_t divisor, int64_t* out) noexcept;
// In place: the bucket of each.
void bucket(std::span<int64_t> values, int32_t count) noexcept;
// In place: the largest multiple of width <= the value. The index of the first one that does not fit 64 bits, or the
// size; what is behind it is not defined.
size_t truncate(std::span<int64_t> values, int32_t width) noexcept;

}  // namespace frazil::write::kernel
