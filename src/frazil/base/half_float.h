// IEEE 754 binary16, as Arrow's half floats and Parquet's FLOAT16 hold it: 1 sign, 5 exponent, 10 mantissa bits.
#pragma once

#include <bit>
#include <cstdint>

namespace frazil {

// Exact. NaN keeps its payload.
constexpr float half_to_float(uint16_t bits) noexcept {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t mantissa = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Zero and subnormal numbers: mantissa * 2^-24.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace frazil
