#include "frazil/predicate/compare_kernels.h"

#include "frazil/base/byte_reader.h"

namespace frazil::predicate {

namespace {

template <CompareOp kOp, typename T>
uint64_t compare_64(const std::byte* values, T constant) {
  uint64_t bits = 0;
  for (size_t i = 0; i < 64; ++i) {
    const T value = load<T>(values + i * sizeof(T));
    const bool holds = kOp == CompareOp::kEqual  ? value == constant
                       : kOp == CompareOp::kLess ? value < constant
                                                 : value <= constant;
    bits |= static_cast<uint64_t>(holds) << i;
  }
  return bits;
}

#include "frazil/predicate/compare_kernels_table.inc"

}  // namespace

const CompareKernels* find_compare_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::kBaseline:
      return &kTable;
#if defined(__x86_64__)
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") ? &detail::avx2_compare_kernels() : nullptr;
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") ? &detail::avx512_compare_kernels() : nullptr;
#else
    default:
      return nullptr;
#endif
  }
  return nullptr;
}

const CompareKernels& compare_kernels() {
  static const CompareKernels* const kChosen = [] {
    const CompareKernels* found = find_compare_kernels(instruction_set());
    return found != nullptr ? found : &kTable;
  }();
  return *kChosen;
}

}  // namespace frazil::predicate
