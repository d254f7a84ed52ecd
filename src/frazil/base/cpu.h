// Which instructions this machine has, for kernels that exist in several forms.
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil {

enum class InstructionSet : uint8_t {
  kBaseline,  // what every machine of the architecture has (x86-64-v1, Armv8.0)
  kAvx2,      // x86-64-v3: AVX2, BMI1, BMI2, POPCNT, LZCNT, FMA
  kAvx512,    // x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

// The best one that the machine has, or the one that the environment variable FRAZIL_SIMD names ("baseline", "avx2",
// "avx512"), so that tests can run each: a better one than the machine has is not taken, an unknown name is ignored.
// Decided once, at the first call. Thread-safe.
InstructionSet instruction_set() noexcept;

std::string_view to_string(InstructionSet set) noexcept;

// The decision itself: the best of the machine, held down by the variable's text.
InstructionSet choose_instruction_set(InstructionSet machine, std::string_view forced) noexcept;

}  // namespace frazil
