// Comparing the commonest fixed-width values with a constant, in the widest registers that the machine has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "frazil/base/cpu.h"

namespace frazil::predicate {

// What is computed; the other three comparisons are these, inverted (NaN compares false and is greater, so that even
// for floats NOT (x < c) is x >= c).
enum class CompareOp : uint8_t { kEqual, kLess, kLessOrEqual };

// words[w] &= bits of (values[64 w + i] op constant) ^ invert, for word_count words; those that are 0 are skipped.
// `values` need no alignment; only those of words that are not 0 are read.
template <typename T>
using CompareKernel = void (*)(const std::byte* values, size_t word_count, T constant, uint64_t invert,
                               uint64_t* words) noexcept;

struct CompareKernels {
  template <typename T>
  using Table = std::array<CompareKernel<T>, 3>;  // by CompareOp
  Table<int32_t> of_int32;
  Table<int64_t> of_int64;
  Table<float> of_float;
  Table<double> of_double;
};

// By instruction_set().
const CompareKernels& compare_kernels();
// Of one set; nullptr if this machine lacks it. For tests.
const CompareKernels* find_compare_kernels(InstructionSet set);

namespace detail {
#if defined(__x86_64__)
const CompareKernels& avx2_compare_kernels();
const CompareKernels& avx512_compare_kernels();
#endif
}  // namespace detail

}  // namespace frazil::predicate
