#include "frazil/base/cpu.h"

#include <algorithm>
#include <cstdlib>

namespace frazil {

namespace {

InstructionSet machine_instruction_set() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("fma");
  if (!v3) return InstructionSet::kBaseline;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
#else
  return InstructionSet::kBaseline;
#endif
}

}  // namespace

InstructionSet choose_instruction_set(InstructionSet machine, std::string_view forced) noexcept {
  for (InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (forced == to_string(set)) return std::min(machine, set);
  }
  return machine;
}

InstructionSet instruction_set() noexcept {
  static const InstructionSet set = [] {
    const char* forced = std::getenv("FRAZIL_SIMD");
    return choose_instruction_set(machine_instruction_set(), forced != nullptr ? forced : "");
  }();
  return set;
}

std::string_view to_string(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  return "baseline";
}

}  // namespace frazil
