#include "frazil/parquet/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define FRAZIL_TARGET "avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi"
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target(FRAZIL_TARGET))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/kernels_generic.inc"

// 16 values of W <= 25 bits lie within 64 bytes: one byte permutation (VBMI) brings the 4 bytes of each into its lane.
struct UnpackTable {
  uint8_t permutation[26][64] = {};
  uint32_t shift[26][16] = {};

  constexpr UnpackTable() {
    for (int width = 1; width <= 25; ++width) {
      for (int i = 0; i < 16; ++i) {
        const int bit = i * width;
        for (int byte = 0; byte < 4; ++byte) permutation[width][i * 4 + byte] = static_cast<uint8_t>(bit / 8 + byte);
        shift[width][i] = static_cast<uint32_t>(bit % 8);
      }
    }
  }
};
constexpr UnpackTable kUnpack;

void unpack_avx512(const std::byte* source, int width, uint32_t* target, size_t count) noexcept {
  if (width > 25) {
    unpack_generic(source, width, target, count);
    return;
  }
  const __m512i permutation = _mm512_loadu_si512(kUnpack.permutation[width]);
  const __m512i shift = _mm512_loadu_si512(kUnpack.shift[width]);
  const __m512i mask = _mm512_set1_epi32((1 << width) - 1);
  for (size_t i = 0; i < count; i += 16) {
    const __m512i lanes = _mm512_permutexvar_epi8(permutation, _mm512_loadu_si512(source));
    _mm512_storeu_si512(target + i, _mm512_and_si512(_mm512_srlv_epi32(lanes, shift), mask));
    source += 2 * width;
  }
}

void expand4_avx512(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept {
  auto* out = static_cast<uint32_t*>(values);
  size_t dense = total_ones(bits, bit_offset, count);
  for (size_t end = count; end > 0;) {
    if (dense == end) return;
    const size_t block = end % 16 == 0 ? 16 : end % 16;
    end -= block;
    const uint32_t mask = bits16(bits, bit_offset + end, block);
    dense -= static_cast<size_t>(__builtin_popcount(mask));
    const __m512i source = _mm512_loadu_si512(out + dense);
    const auto lanes = static_cast<__mmask16>((uint32_t{1} << block) - 1);
    _mm512_mask_storeu_epi32(out + end, lanes, _mm512_maskz_expand_epi32(static_cast<__mmask16>(mask), source));
  }
}

void expand8_avx512(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept {
  auto* out = static_cast<uint64_t*>(values);
  size_t dense = total_ones(bits, bit_offset, count);
  for (size_t end = count; end > 0;) {
    if (dense == end) return;
    const size_t block = end % 8 == 0 ? 8 : end % 8;
    end -= block;
    const uint32_t mask = bits16(bits, bit_offset + end, block);
    dense -= static_cast<size_t>(__builtin_popcount(mask));
    const __m512i source = _mm512_loadu_si512(out + dense);
    const auto lanes = static_cast<__mmask8>((uint32_t{1} << block) - 1);
    _mm512_mask_storeu_epi64(out + end, lanes, _mm512_maskz_expand_epi64(static_cast<__mmask8>(mask), source));
  }
}

const Kernels kAvx512 = {
    .name = "avx512",
    .unpack = unpack_avx512,
    .all_below = all_below_generic,
    .gather4 = gather4_generic,
    .gather8 = gather8_generic,
    .expand4 = expand4_avx512,
    .expand8 = expand8_avx512,
};

}  // namespace

const Kernels& detail::avx512_kernels() {
  return kAvx512;
}

}  // namespace frazil::parquet

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
