#include "frazil/predicate/compare_kernels.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/byte_reader.h"

namespace frazil::predicate {
namespace {

template <typename T>
std::vector<T> interesting() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T{0}, T{1}, T{2}, T{100}, static_cast<T>(-1), Limits::lowest(), Limits::max()};
  if constexpr (std::is_floating_point_v<T>) {
    const T more[] = {-T{0},
                      Limits::quiet_NaN(),
                      -Limits::quiet_NaN(),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::denorm_min()};
    values.insert(values.end(), std::begin(more), std::end(more));
  }
  return values;
}

// Every kernel of every set that this machine runs, on values at any alignment, against the operators themselves.
template <typename T>
void check(const CompareKernels::Table<T> CompareKernels::* table, uint64_t seed) {
  constexpr size_t kWords = 5;
  const std::vector<T> pool = interesting<T>();
  uint64_t state = seed;
  auto next = [&state] { return (state = state * 6364136223846793005U + 1442695040888963407U) >> 33; };
  std::vector<std::byte> bytes(kWords * 64 * sizeof(T) + 8);
  const size_t misalignment = next() % 8;
  std::byte* values = bytes.data() + misalignment;
  std::vector<T> plain;
  for (size_t i = 0; i < kWords * 64; ++i) {
    plain.push_back(pool[next() % pool.size()]);
    store(values + i * sizeof(T), plain.back());
  }
  for (const InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    const CompareKernels* kernels = find_compare_kernels(set);
    if (kernels == nullptr) continue;
    for (const T constant : pool) {
      if (constant != constant) continue;  // bind_predicate() leaves no comparison with NaN
      for (size_t op = 0; op < 3; ++op) {
        for (const uint64_t invert : {uint64_t{0}, ~uint64_t{0}}) {
          uint64_t words[kWords] = {~uint64_t{0}, 0, next() * next(), ~uint64_t{0}, next()};
          uint64_t expected[kWords];
          for (size_t w = 0; w < kWords; ++w) {
            expected[w] = words[w];
            for (size_t i = 0; i < 64; ++i) {
              const T value = plain[w * 64 + i];
              const bool holds = op == 0 ? value == constant : op == 1 ? value < constant : value <= constant;
              if (holds == (invert != 0)) expected[w] &= ~(uint64_t{1} << i);
            }
          }
          (kernels->*table)[op](values, kWords, constant, invert, words);
          for (size_t w = 0; w < kWords; ++w) RC_ASSERT(words[w] == expected[w]);
        }
      }
    }
  }
}

RC_GTEST_PROP(CompareKernels, AllSetsCompareAsTheOperatorsDo, (uint64_t seed)) {
  check<int32_t>(&CompareKernels::of_int32, seed);
  check<int64_t>(&CompareKernels::of_int64, seed);
  check<float>(&CompareKernels::of_float, seed);
  check<double>(&CompareKernels::of_double, seed);
}

TEST(CompareKernels, TheMachinesOwnAreChosen) {
  EXPECT_EQ(&compare_kernels(), find_compare_kernels(instruction_set()));
  ASSERT_NE(find_compare_kernels(InstructionSet::kBaseline), nullptr);
}

}  // namespace
}  // namespace frazil::predicate
