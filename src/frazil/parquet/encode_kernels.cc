#include "frazil/parquet/encode_kernels.h"

#include "frazil/parquet/kernels.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/encode_kernels_generic.inc"

const EncodeKernels kBaseline = table("baseline");

}  // namespace

namespace detail {
const EncodeKernels& baseline_encode_kernels() {
  return kBaseline;
}
}  // namespace detail

const EncodeKernels* find_encode_kernels(std::string_view name) {
  // The decoders' kernels know what the machine has, and need no less.
  if (find_kernels(name) == nullptr) return nullptr;
#if defined(__x86_64__)
  if (name == "avx2") return &detail::avx2_encode_kernels();
  if (name == "avx512") return &detail::avx512_encode_kernels();
#endif
  return &kBaseline;
}

const EncodeKernels& encode_kernels() {
  static const EncodeKernels& chosen = *find_encode_kernels(kernels().name);
  return chosen;
}

}  // namespace frazil::parquet
