#include "frazil/parquet/encode_kernels.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/encode_kernels_generic.inc"

const EncodeKernels kAvx2 = table("avx2");

}  // namespace

const EncodeKernels& detail::avx2_encode_kernels() {
  return kAvx2;
}

}  // namespace frazil::parquet

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
