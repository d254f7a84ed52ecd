#include "frazil/parquet/encode_kernels.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512dq"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("O3")
#pragma GCC target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512dq")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/encode_kernels_generic.inc"

const EncodeKernels kAvx512 = table("avx512");

}  // namespace

const EncodeKernels& detail::avx512_encode_kernels() {
  return kAvx512;
}

}  // namespace frazil::parquet

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
