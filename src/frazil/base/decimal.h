// Decimals of up to 38 digits: value = unscaled * 10^-scale, the unscaled value a 128-bit integer, as Iceberg's
// decimal(P,S), Arrow's decimal128 and Parquet's and Avro's DECIMAL have it. Functions take the integer and the scale
// apart, because columns keep one scale for all values; wider integers (decimal256) join as overloads.
//
//   text       := [+-] (digits ['.' digits*] | '.' digits) [(e|E) [+-] digits]
//   big-endian := the shortest two's complement form, highest byte first, 1..16 bytes: 14.20 at scale 2 = 05 8c
//                 (Iceberg "Binary single-value serialization", and what bucket[N] hashes)
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/base/int128.h"

namespace frazil {

inline constexpr int32_t kDecimal128PrecisionMax = 38;
// Scales that we take from text and types. The specifications allow 0..precision; Java and Arrow have negative ones.
inline constexpr int32_t kDecimalScaleMax = 1'000;

struct Decimal128 {
  Int128 unscaled = 0;
  int32_t scale = 0;
};

// 10^exponent. Requires 0 <= exponent <= 38.
Int128 power_of_ten(int32_t exponent) noexcept;

// Digits of |unscaled|; 1 for 0. Up to 39.
int32_t decimal_digits(Int128 unscaled) noexcept;

// Whether |unscaled| < 10^precision. Requires 0 <= precision <= 38.
bool fits_precision(Int128 unscaled, int32_t precision) noexcept;

// ---- Text ----

// As written, with the scale that the text has: "14.20" = {1420, 2}, "2E+20" = {2, -20}, "1.5e-3" = {15, 4}.
// Leading zeros do not count as digits; more than 38 digits, or a scale beyond +-kDecimalScaleMax, do not fit.
std::optional<Decimal128> try_parse_decimal128(std::string_view text) noexcept;
// Throws Error(kInvalidArgument) that says what is wrong.
Decimal128 parse_decimal128(std::string_view text);

// The unscaled value at a type's scale: "1.5" as decimal(9,4) = 15000. Throws Error(kInvalidArgument) unless `text` is
// a decimal, its value is exact at `scale` ("1.50" at scale 1 is) and fits `precision`.
Int128 parse_decimal128(std::string_view text, int32_t precision, int32_t scale);
std::optional<Int128> try_parse_decimal128(std::string_view text, int32_t precision, int32_t scale) noexcept;

// All digits with `scale` of them behind the point: "14.20", "-0.05", "0.00"; with a negative scale in the notation
// that Iceberg's JSON asks for: unscaled, 'E', '+', negated scale: "2E+20".
std::string decimal_to_string(Int128 unscaled, int32_t scale);
void append_decimal(std::string& target, Int128 unscaled, int32_t scale);

// ---- Arithmetic ----

// The unscaled value at another scale; nothing if digits would be lost or 128 bits do not suffice. Zero always fits.
std::optional<Int128> rescale_decimal(Int128 unscaled, int32_t from_scale, int32_t to_scale) noexcept;

// By value, at any scales, without overflow: 1.0 = 1.00.
std::strong_ordering compare_decimals(Int128 left, int32_t left_scale, Int128 right, int32_t right_scale) noexcept;
inline std::strong_ordering operator<=>(const Decimal128& left, const Decimal128& right) noexcept {
  return compare_decimals(left.unscaled, left.scale, right.unscaled, right.scale);
}
inline bool operator==(const Decimal128& left, const Decimal128& right) noexcept {
  return (left <=> right) == 0;
}

// The nearest double, ties to even. Infinite or 0 only with scales that no type has.
double decimal_to_double(Int128 unscaled, int32_t scale) noexcept;

// ---- Bytes ----

// The shortest big-endian two's complement form.
struct DecimalBytes {
  std::array<std::byte, 16> storage;
  uint8_t size = 0;
  std::span<const std::byte> bytes() const noexcept { return {storage.data() + (16 - size), size}; }
};
DecimalBytes decimal_to_big_endian(Int128 unscaled) noexcept;

// Sign-extended into target.size() bytes (fixed-length byte arrays of Parquet and Avro), 1..16 or more. False if it
// does not fit.
[[nodiscard]] bool decimal_to_big_endian(Int128 unscaled, std::span<std::byte> target) noexcept;

// From two's complement of any length of at least 1; longer than 16 bytes only where the rest is sign extension.
// Nothing if empty or too large.
std::optional<Int128> decimal_from_big_endian(std::span<const std::byte> bytes) noexcept;

}  // namespace frazil
