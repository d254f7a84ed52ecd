#include "frazil/predicate/compare_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx2")
#endif

namespace frazil::predicate {

namespace {

inline __m256i load_integers(const std::byte* values) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, int32_t constant) {
  const __m256i wanted = _mm256_set1_epi32(constant);
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const __m256i value = load_integers(values + i * 32);
    const __m256i lanes = kOp == CompareOp::kEqual  ? _mm256_cmpeq_epi32(value, wanted)
                          : kOp == CompareOp::kLess ? _mm256_cmpgt_epi32(wanted, value)
                                                    : _mm256_cmpgt_epi32(value, wanted);
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)))) << (8 * i);
  }
  return kOp == CompareOp::kLessOrEqual ? ~bits : bits;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, int64_t constant) {
  const __m256i wanted = _mm256_set1_epi64x(constant);
  uint64_t bits = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const __m256i value = load_integers(values + i * 32);
    const __m256i lanes = kOp == CompareOp::kEqual  ? _mm256_cmpeq_epi64(value, wanted)
                          : kOp == CompareOp::kLess ? _mm256_cmpgt_epi64(wanted, value)
                                                    : _mm256_cmpgt_epi64(value, wanted);
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)))) << (4 * i);
  }
  return kOp == CompareOp::kLessOrEqual ? ~bits : bits;
}

// Ordered: false with NaN.
constexpr int float_predicate(CompareOp op) {
  return op == CompareOp::kEqual ? _CMP_EQ_OQ : op == CompareOp::kLess ? _CMP_LT_OQ : _CMP_LE_OQ;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, float constant) {
  const __m256 wanted = _mm256_set1_ps(constant);
  constexpr auto kPredicate = float_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const __m256 value = _mm256_loadu_ps(reinterpret_cast<const float*>(values + i * 32));
    const int lanes = _mm256_movemask_ps(_mm256_cmp_ps(value, wanted, kPredicate));
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(lanes)) << (8 * i);
  }
  return bits;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, double constant) {
  const __m256d wanted = _mm256_set1_pd(constant);
  constexpr auto kPredicate = float_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const __m256d value = _mm256_loadu_pd(reinterpret_cast<const double*>(values + i * 32));
    const int lanes = _mm256_movemask_pd(_mm256_cmp_pd(value, wanted, kPredicate));
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(lanes)) << (4 * i);
  }
  return bits;
}

#include "frazil/predicate/compare_kernels_table.inc"

}  // namespace

const CompareKernels& detail::avx2_compare_kernels() {
  return kTable;
}

}  // namespace frazil::predicate

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
