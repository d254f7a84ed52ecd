#include "frazil/predicate/compare_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx512f")
#endif

namespace frazil::predicate {

namespace {

constexpr int integer_predicate(CompareOp op) {
  return op == CompareOp::kEqual ? _MM_CMPINT_EQ : op == CompareOp::kLess ? _MM_CMPINT_LT : _MM_CMPINT_LE;
}
// Ordered: false with NaN.
constexpr int float_predicate(CompareOp op) {
  return op == CompareOp::kEqual ? _CMP_EQ_OQ : op == CompareOp::kLess ? _CMP_LT_OQ : _CMP_LE_OQ;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, int32_t constant) {
  const __m512i wanted = _mm512_set1_epi32(constant);
  constexpr auto kPredicate = integer_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const __m512i value = _mm512_loadu_si512(values + i * 64);
    bits |= uint64_t{_mm512_cmp_epi32_mask(value, wanted, kPredicate)} << (16 * i);
  }
  return bits;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, int64_t constant) {
  const __m512i wanted = _mm512_set1_epi64(constant);
  constexpr auto kPredicate = integer_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const __m512i value = _mm512_loadu_si512(values + i * 64);
    bits |= uint64_t{_mm512_cmp_epi64_mask(value, wanted, kPredicate)} << (8 * i);
  }
  return bits;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, float constant) {
  const __m512 wanted = _mm512_set1_ps(constant);
  constexpr auto kPredicate = float_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const __m512 value = _mm512_loadu_ps(values + i * 64);
    bits |= uint64_t{_mm512_cmp_ps_mask(value, wanted, kPredicate)} << (16 * i);
  }
  return bits;
}

template <CompareOp kOp>
uint64_t compare_64(const std::byte* values, double constant) {
  const __m512d wanted = _mm512_set1_pd(constant);
  constexpr auto kPredicate = float_predicate(kOp);  // without optimisation a call is no immediate
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const __m512d value = _mm512_loadu_pd(values + i * 64);
    bits |= uint64_t{_mm512_cmp_pd_mask(value, wanted, kPredicate)} << (8 * i);
  }
  return bits;
}

#include "frazil/predicate/compare_kernels_table.inc"

}  // namespace

const CompareKernels& detail::avx512_compare_kernels() {
  return kTable;
}

}  // namespace frazil::predicate

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
