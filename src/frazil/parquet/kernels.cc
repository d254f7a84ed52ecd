#include "frazil/parquet/kernels.h"

#include <cstdlib>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace frazil::parquet {

namespace {

#include "frazil/parquet/kernels_generic.inc"

const Kernels kBaseline = {
    .name = "baseline",
    .unpack = unpack_generic,
    .unpack_wide = unpack_wide_generic,
    .sum4 = sum4_generic,
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
    .expand_bits = expand_bits_generic,
    .expand_ends4 = expand_ends4_generic,
    .expand_ends8 = expand_ends8_generic,
};

#if defined(__x86_64__)
// The compiler's check includes that the operating system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vbmi");
}
#endif

const Kernels& choose() {
  // Read once, before any thread could change the environment through us.
  if (const char* name = std::getenv("FRAZIL_SIMD")) {  // NOLINT(concurrency-mt-unsafe)
    if (const Kernels* chosen = find_kernels(name)) return *chosen;
  }
  for (std::string_view name : {"avx512", "avx2"}) {
    if (const Kernels* chosen = find_kernels(name)) return *chosen;
  }
  return kBaseline;
}

}  // namespace

namespace detail {
const Kernels& baseline_kernels() {
  return kBaseline;
}
}  // namespace detail

const Kernels* find_kernels(std::string_view name) {
  if (name == "baseline") return &kBaseline;
#if defined(__x86_64__)
  if (name == "avx2" && has_avx2()) return &detail::avx2_kernels();
  if (name == "avx512" && has_avx512()) return &detail::avx512_kernels();
#endif
  return nullptr;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace frazil::parquet
