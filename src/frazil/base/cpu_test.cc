#include "frazil/base/cpu.h"

#include <gtest/gtest.h>

namespace frazil {
namespace {

TEST(InstructionSet, TheVariableCanOnlyHoldItDown) {
  using enum InstructionSet;
  for (InstructionSet machine : {kBaseline, kAvx2, kAvx512}) {
    EXPECT_EQ(choose_instruction_set(machine, ""), machine);
    EXPECT_EQ(choose_instruction_set(machine, "sse9"), machine);
    EXPECT_EQ(choose_instruction_set(machine, "baseline"), kBaseline);
    EXPECT_EQ(choose_instruction_set(machine, "avx2"), machine == kBaseline ? kBaseline : kAvx2);
    EXPECT_EQ(choose_instruction_set(machine, "avx512"), machine);
  }
}

TEST(InstructionSet, StaysTheSame) {
  EXPECT_EQ(instruction_set(), instruction_set());
}

}  // namespace
}  // namespace frazil
