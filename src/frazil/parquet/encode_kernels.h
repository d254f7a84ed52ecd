// The loops of encoding that depend on the instruction set, behind one table chosen once, as kernels.h has for decoding.
// Every table gives the same results.
//
// Sources are read exactly (arrays of others have no padding), targets must be writable for 64 bytes behind their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace frazil::parquet {

template <typename T>
struct MinMax {
  T min;
  T max;
};
// NaNs are passed over: of nothing else min > max. Zeros may come with either sign.
template <typename T>
struct FloatMinMax {
  T min;
  T max;
  size_t nan_count;
};

struct EncodeKernels {
  std::string_view name;

  // Packs `count` values, a multiple of 8, of `width` bits (1..32), lowest bits first. Values fit the width.
  void (*pack)(const uint32_t* values, size_t count, int width, std::byte* target) noexcept;
  // The same for widths 1..64.
  void (*pack_wide)(const uint64_t* values, size_t count, int width, std::byte* target) noexcept;
  // How many values from the first on equal it; `count` is at least 1.
  size_t (*run1)(const uint8_t* values, size_t count) noexcept;
  size_t (*run4)(const uint32_t* values, size_t count) noexcept;
  size_t (*run8)(const uint64_t* values, size_t count) noexcept;
  // Of at least one value.
  MinMax<int32_t> (*min_max_i4)(const int32_t* values, size_t count) noexcept;
  MinMax<uint32_t> (*min_max_u4)(const uint32_t* values, size_t count) noexcept;
  MinMax<int64_t> (*min_max_i8)(const int64_t* values, size_t count) noexcept;
  MinMax<uint64_t> (*min_max_u8)(const uint64_t* values, size_t count) noexcept;
  FloatMinMax<float> (*min_max_f4)(const float* values, size_t count) noexcept;
  FloatMinMax<double> (*min_max_f8)(const double* values, size_t count) noexcept;
  // rests[i] = (values[i] - values[i - 1]) - the least of these differences (signed, wrapping), which is returned;
  // values[-1] is there.
  int32_t (*deltas4)(const uint32_t* values, size_t count, uint32_t* rests) noexcept;
  int64_t (*deltas8)(const uint64_t* values, size_t count, uint64_t* rests) noexcept;
  // The bits that any of the values has.
  uint32_t (*or4)(const uint32_t* values, size_t count) noexcept;
  uint64_t (*or8)(const uint64_t* values, size_t count) noexcept;
  // BYTE_STREAM_SPLIT: byte j of value i goes to target[j * count + i]. Nothing behind width * count is written.
  void (*split)(const std::byte* values, size_t width, size_t count, std::byte* target) noexcept;
};

// The best table that this machine runs, or the one that FRAZIL_SIMD names. Chosen at the first call.
const EncodeKernels& encode_kernels();

// By name; nullptr if unknown or if this machine lacks the instructions. For tests and benchmarks.
const EncodeKernels* find_encode_kernels(std::string_view name);

namespace detail {
const EncodeKernels& baseline_encode_kernels();
#if defined(__x86_64__)
const EncodeKernels& avx2_encode_kernels();
const EncodeKernels& avx512_encode_kernels();
#endif
}  // namespace detail

}  // namespace frazil::parquet
