// The loops that depend on the instruction set, behind one table chosen once. Every table gives the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace frazil::parquet {

// Sources must be readable for 64 bytes behind what is asked for, targets writable for as many: pool blocks are.
struct Kernels {
  std::string_view name;

  // Unpacks `count` values of `width` bits (1..32), lowest bits first, from a byte boundary. Writes up to the next
  // multiple of 32 values.
  void (*unpack)(const std::byte* source, int width, uint32_t* target, size_t count) noexcept;
  // The same for widths 33..64. Writes up to the next multiple of 8 values.
  void (*unpack_wide)(const std::byte* source, int width, uint64_t* target, size_t count) noexcept;
  // Running sums, wrapping: target[i] = last + (deltas[0] + step) + ... + (deltas[i] + step). Returns the last of them.
  // Target and deltas may be the same. Nothing behind target[count] is written.
  uint32_t (*sum4)(const uint32_t* deltas, size_t count, uint32_t last, uint32_t step, uint32_t* target) noexcept;
  uint64_t (*sum4_to_8)(const uint32_t* deltas, size_t count, uint64_t last, uint64_t step, uint64_t* target) noexcept;
  uint64_t (*sum8)(const uint64_t* deltas, size_t count, uint64_t last, uint64_t step, uint64_t* target) noexcept;
  // BYTE_STREAM_SPLIT: byte j of value i is source[j * stride + i]. Any width; nothing behind `count` values is written.
  void (*unsplit)(const std::byte* source, size_t stride, size_t width, size_t count, std::byte* target) noexcept;
  // Whether every index is less than `limit`.
  bool (*all_below)(const uint32_t* indices, size_t count, uint32_t limit) noexcept;
  // target[i] = dictionary[indices[i]]. (No vpgather: scalar loads are faster since its microcode was mended.)
  void (*gather4)(const void* dictionary, const uint32_t* indices, size_t count, void* target) noexcept;
  void (*gather8)(const void* dictionary, const uint32_t* indices, size_t count, void* target) noexcept;
  // In place: the values at the front of `values`, one for each 1 of the `count` bits, move to the places of the 1s;
  // the places of the 0s become 0. By bytes of a value.
  void (*expand1)(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept;
  void (*expand2)(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept;
  void (*expand4)(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept;
  void (*expand8)(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept;
  void (*expand16)(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept;
  // The same for values that are bits, from `bit_offset` of `values` on. Bits around them stay.
  void (*expand_bits)(const uint8_t* bits, size_t bit_offset, size_t count, uint8_t* values) noexcept;
  // The same for ends of values that lie behind each other: the place of a 0 gets the end before it, which is at least
  // ends[-1].
  void (*expand_ends4)(const uint8_t* bits, size_t bit_offset, size_t count, uint32_t* ends) noexcept;
  void (*expand_ends8)(const uint8_t* bits, size_t bit_offset, size_t count, uint64_t* ends) noexcept;
};

// The best table that this machine runs, or the one that the environment variable FRAZIL_SIMD names ("baseline",
// "avx2", "avx512") if the machine runs it. Chosen at the first call.
const Kernels& kernels();

// By name; nullptr if unknown or if this machine lacks the instructions. For tests and benchmarks.
const Kernels* find_kernels(std::string_view name);

namespace detail {
const Kernels& baseline_kernels();
#if defined(__x86_64__)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif
}  // namespace detail

}  // namespace frazil::parquet
