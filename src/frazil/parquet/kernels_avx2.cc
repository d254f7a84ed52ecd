#include "frazil/parquet/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/kernels_avx2.inc"

// 8 values of W <= 25 bits: the low four within 16 bytes from the source, the high four within 16 bytes from source +
// W / 2 (4 bits further for odd W). A byte shuffle brings each value's 4 bytes into its lane, a shift and a mask the
// value out of them.
struct UnpackTable {
  uint8_t shuffle[26][32] = {};
  uint32_t shift[26][8] = {};

  constexpr UnpackTable() {
    for (int width = 1; width <= 25; ++width) {
      for (int i = 0; i < 8; ++i) {
        const int bit = i < 4 ? i * width : 4 * width % 8 + (i - 4) * width;
        for (int byte = 0; byte < 4; ++byte) shuffle[width][i * 4 + byte] = static_cast<uint8_t>(bit / 8 + byte);
        shift[width][i] = static_cast<uint32_t>(bit % 8);
      }
    }
  }
};
constexpr UnpackTable kUnpack;

void unpack_avx2(const std::byte* source, int width, uint32_t* target, size_t count) noexcept {
  if (width > 25) {
    unpack_generic(source, width, target, count);
    return;
  }
  const __m256i shuffle = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kUnpack.shuffle[width]));
  const __m256i shift = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kUnpack.shift[width]));
  const __m256i mask = _mm256_set1_epi32((1 << width) - 1);
  const std::byte* high = source + width / 2;
  for (size_t i = 0; i < count; i += 8) {
    const __m128i low_bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
    const __m128i high_bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(high));
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(low_bytes), high_bytes, 1);
    const __m256i lanes = _mm256_shuffle_epi8(bytes, shuffle);
    const __m256i values = _mm256_and_si256(_mm256_srlv_epi32(lanes, shift), mask);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i), values);
    source += width;
    high += width;
  }
}

// Sums within the halves, then the low half's last value on all of the high half. `total` is the only chain from vector to
// vector: one addition.
uint32_t sum4_avx2(const uint32_t* deltas, size_t count, uint32_t last, uint32_t step, uint32_t* target) noexcept {
  const __m256i steps = _mm256_set1_epi32(static_cast<int>(step));
  const __m256i top = _mm256_set1_epi32(7);
  const __m256i low_top = _mm256_set1_epi32(3);
  __m256i total = _mm256_set1_epi32(static_cast<int>(last));
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256i sum = _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(deltas + i)), steps);
    sum = _mm256_add_epi32(sum, _mm256_slli_si256(sum, 4));
    sum = _mm256_add_epi32(sum, _mm256_slli_si256(sum, 8));
    const __m256i low = _mm256_permutevar8x32_epi32(sum, low_top);
    sum = _mm256_add_epi32(sum, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xF0));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i), _mm256_add_epi32(sum, total));
    total = _mm256_add_epi32(total, _mm256_permutevar8x32_epi32(sum, top));
  }
  return sum4_generic(deltas + i, count - i, i == 0 ? last : target[i - 1], step, target + i);
}

const Kernels kAvx2 = {
    .name = "avx2",
    .unpack = unpack_avx2,
    .unpack_wide = unpack_wide_generic,
    .sum4 = sum4_avx2,
    .sum4_to_8 = sum4_to_8_generic,
    .sum8 = sum8_generic,
    .unsplit = unsplit_generic,
    .all_below = all_below_generic,
    .gather4 = gather4_generic,
    .gather8 = gather8_generic,
    .expand1 = expand1_generic,
    .expand2 = expand2_generic,
    .expand4 = expand4_generic,
    .expand8 = expand8_generic,
    .expand16 = expand16_generic,
    .expand_bits = expand_bits_bmi2,
    .expand_ends4 = expand_ends4_avx2,
    .expand_ends8 = expand_ends8_generic,
};

}  // namespace

const Kernels& detail::avx2_kernels() {
  return kAvx2;
}

}  // namespace frazil::parquet

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
