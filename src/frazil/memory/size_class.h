// Size classes of blocks: four steps a power of two, so that a block wastes at most a fifth of itself.
//
//   class bytes = 2^k + step * 2^(k-2)         step = 0..3, k >= 6
//   small block = class bytes + 64             where that is less than 64 KiB, in whole cache lines; carved from a slab
//   large block = class bytes + 4096           mapped on its own; the page beyond the class holds the padding, so that
//                                              the common power-of-two sizes need not take the next class
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace frazil {

inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Blocks of this many bytes or more are mapped on their own.
inline constexpr size_t kLargeBlockBytes = size_t{64} << 10;
inline constexpr int kClassShiftMin = 6;
inline constexpr int kClassShiftMax = 46;
inline constexpr size_t kSizeClassCount = size_t{kClassShiftMax - kClassShiftMin} * 4 + 1;
// No block is larger: 64 TiB.
inline constexpr size_t kClassBytesMax = size_t{1} << kClassShiftMax;

constexpr size_t size_class_bytes(size_t size_class) noexcept {
  size_t shift = size_class / 4 + kClassShiftMin;
  return (size_t{1} << shift) + (size_class % 4 << (shift - 2));
}

// The smallest class that holds `size` bytes. Requires size <= kClassBytesMax.
constexpr size_t size_class_of(size_t size) noexcept {
  if (size <= size_t{1} << kClassShiftMin) return 0;
  int shift = std::bit_width(size - 1) - 1;  // size in (2^shift, 2^(shift+1)]
  size_t step_bytes = size_t{1} << (shift - 2);
  size_t steps = (size - (size_t{1} << shift) + step_bytes - 1) / step_bytes;  // 1..4
  return static_cast<size_t>(shift - kClassShiftMin) * 4 + steps;
}

constexpr bool is_small_class(size_t size_class) noexcept {
  return size_class_bytes(size_class) + 64 < kLargeBlockBytes;
}

// Bytes of a whole block of the class, padding included.
constexpr size_t class_block_bytes(size_t size_class) noexcept {
  size_t bytes = size_class_bytes(size_class);
  return is_small_class(size_class) ? (bytes + 63) / 64 * 64 + 64 : bytes + kPageBytes;
}

}  // namespace frazil
