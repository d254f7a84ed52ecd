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

#include "frazil/parquet/kernels_avx2.inc"

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

// 8 values of W <= 57 bits lie within 57 bytes, each within 8 of them.
struct UnpackWideTable {
  uint8_t permutation[58][64] = {};
  uint64_t shift[58][8] = {};

  constexpr UnpackWideTable() {
    for (int width = 33; width <= 57; ++width) {
      for (int i = 0; i < 8; ++i) {
        const int bit = i * width;
        for (int byte = 0; byte < 8; ++byte) permutation[width][i * 8 + byte] = static_cast<uint8_t>(bit / 8 + byte);
        shift[width][i] = static_cast<uint64_t>(bit % 8);
      }
    }
  }
};
constexpr UnpackWideTable kUnpackWide;

void unpack_wide_avx512(const std::byte* source, int width, uint64_t* target, size_t count) noexcept {
  if (width > 57) {
    unpack_wide_generic(source, width, target, count);
    return;
  }
  const __m512i permutation = _mm512_loadu_si512(kUnpackWide.permutation[width]);
  const __m512i shift = _mm512_loadu_si512(kUnpackWide.shift[width]);
  const __m512i mask = _mm512_set1_epi64(static_cast<int64_t>((uint64_t{1} << width) - 1));
  for (size_t i = 0; i < count; i += 8) {
    const __m512i lanes = _mm512_permutexvar_epi8(permutation, _mm512_loadu_si512(source));
    _mm512_storeu_si512(target + i, _mm512_and_si512(_mm512_srlv_epi64(lanes, shift), mask));
    source += width;
  }
}

// Sums of a vector by shifts of 1, 2, 4 and 8 lanes; `total` is the only chain from vector to vector: one addition.
uint32_t sum4_avx512(const uint32_t* deltas, size_t count, uint32_t last, uint32_t step, uint32_t* target) noexcept {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i steps = _mm512_set1_epi32(static_cast<int>(step));
  const __m512i top = _mm512_set1_epi32(15);
  __m512i total = _mm512_set1_epi32(static_cast<int>(last));
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(deltas + i), steps);
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 15));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 14));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 12));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 8));
    _mm512_storeu_si512(target + i, _mm512_add_epi32(sum, total));
    total = _mm512_add_epi32(total, _mm512_permutexvar_epi32(top, sum));
  }
  return sum4_generic(deltas + i, count - i, i == 0 ? last : target[i - 1], step, target + i);
}

inline __m512i sum_lanes8(__m512i sum) noexcept {
  const __m512i zero = _mm512_setzero_si512();
  sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 7));
  sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 6));
  return _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 4));
}

uint64_t sum4_to_8_avx512(const uint32_t* deltas, size_t count, uint64_t last, uint64_t step,
                          uint64_t* target) noexcept {
  const __m512i steps = _mm512_set1_epi64(static_cast<int64_t>(step));
  const __m512i top = _mm512_set1_epi64(7);
  __m512i total = _mm512_set1_epi64(static_cast<int64_t>(last));
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(deltas + i));
    const __m512i sum = sum_lanes8(_mm512_add_epi64(_mm512_cvtepu32_epi64(narrow), steps));
    _mm512_storeu_si512(target + i, _mm512_add_epi64(sum, total));
    total = _mm512_add_epi64(total, _mm512_permutexvar_epi64(top, sum));
  }
  return sum4_to_8_generic(deltas + i, count - i, i == 0 ? last : target[i - 1], step, target + i);
}

uint64_t sum8_avx512(const uint64_t* deltas, size_t count, uint64_t last, uint64_t step, uint64_t* target) noexcept {
  const __m512i steps = _mm512_set1_epi64(static_cast<int64_t>(step));
  const __m512i top = _mm512_set1_epi64(7);
  __m512i total = _mm512_set1_epi64(static_cast<int64_t>(last));
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m512i sum = sum_lanes8(_mm512_add_epi64(_mm512_loadu_si512(deltas + i), steps));
    _mm512_storeu_si512(target + i, _mm512_add_epi64(sum, total));
    total = _mm512_add_epi64(total, _mm512_permutexvar_epi64(top, sum));
  }
  return sum8_generic(deltas + i, count - i, i == 0 ? last : target[i - 1], step, target + i);
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

// Each value is two lanes.
void expand16_avx512(const uint8_t* bits, size_t bit_offset, size_t count, void* values) noexcept {
  auto* out = static_cast<uint64_t*>(values);
  size_t dense = total_ones(bits, bit_offset, count);
  for (size_t end = count; end > 0;) {
    if (dense == end) return;
    const size_t block = end % 4 == 0 ? 4 : end % 4;
    end -= block;
    const uint32_t mask = bits16(bits, bit_offset + end, block);
    dense -= static_cast<size_t>(__builtin_popcount(mask));
    const __m512i source = _mm512_loadu_si512(out + 2 * dense);
    const auto lanes = static_cast<__mmask8>((uint32_t{1} << (2 * block)) - 1);
    const auto pairs = static_cast<__mmask8>(_pdep_u32(mask, 0x55) * 3);
    _mm512_mask_storeu_epi64(out + 2 * end, lanes, _mm512_maskz_expand_epi64(pairs, source));
  }
}

void expand_ends8_avx512(const uint8_t* bits, size_t bit_offset, size_t count, uint64_t* ends) noexcept {
  size_t dense = total_ones(bits, bit_offset, count);
  size_t end = count - count % 8;
  dense = expand_ends(bits, bit_offset, end, count, dense, ends);
  while (end > 0 && dense < end) {
    end -= 8;
    const uint32_t mask = bits16(bits, bit_offset + end, 8);
    const uint32_t skipped = mask & 1;
    dense -= static_cast<size_t>(__builtin_popcount(mask));
    const __m512i source = _mm512_loadu_si512(ends - 1 + dense + skipped);
    const auto places = static_cast<int64_t>(places_of_ends(mask, skipped));
    const __m512i lanes = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(places));
    _mm512_storeu_si512(ends + end, _mm512_permutexvar_epi64(lanes, source));
  }
}

const Kernels kAvx512 = {
    .name = "avx512",
    .unpack = unpack_avx512,
    .unpack_wide = unpack_wide_avx512,
    .sum4 = sum4_avx512,
    .sum4_to_8 = sum4_to_8_avx512,
    .sum8 = sum8_avx512,
    .unsplit = unsplit_generic,
    .all_below = all_below_generic,
    .gather4 = gather4_generic,
    .gather8 = gather8_generic,
    .expand1 = expand1_generic,
    .expand2 = expand2_generic,
    .expand4 = expand4_avx512,
    .expand8 = expand8_avx512,
    .expand16 = expand16_avx512,
    .expand_bits = expand_bits_bmi2,
    .expand_ends4 = expand_ends4_avx2,
    .expand_ends8 = expand_ends8_avx512,
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
