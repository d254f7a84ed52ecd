#include "frazil/base/decimal.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil {

namespace {

constexpr std::array<Int128, kDecimal128PrecisionMax + 1> kPowersOfTen = [] {
  std::array<Int128, kDecimal128PrecisionMax + 1> powers{};
  Int128 power = 1;
  for (size_t i = 0; i < powers.size(); ++i) {
    powers[i] = power;
    if (i + 1 < powers.size()) power *= 10;
  }
  return powers;
}();

// unscaled * 10^exponent, nothing on overflow. Compares bit widths first: that settles almost all values without a
// 128-bit division.
std::optional<Int128> multiply_by_power_of_ten(Int128 unscaled, int32_t exponent) noexcept {
  const Int128 power = kPowersOfTen[static_cast<size_t>(exponent)];
  const UInt128 size = magnitude(unscaled);
  const int bits = bit_width(size) + bit_width(static_cast<UInt128>(power));
  if (bits > 127 && size > static_cast<UInt128>(kInt128Max / power)) return std::nullopt;
  return unscaled * power;
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Reads `text` into `result`; gives what is wrong, or nullptr.
const char* scan_decimal(std::string_view text, Decimal128& result) noexcept {
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  const auto at = [&](char c) { return cursor != end && *cursor == c; };

  const bool negative = at('-');
  if (negative || at('+')) ++cursor;

  UInt128 unscaled = 0;
  int32_t significant = 0;
  int64_t fraction_digits = 0;
  bool any_digit = false;
  bool behind_point = false;
  for (; cursor != end; ++cursor) {
    if (*cursor == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    if (!is_digit(*cursor)) break;
    any_digit = true;
    fraction_digits += behind_point;
    if (*cursor != '0' || significant != 0) ++significant;
    if (significant > kDecimal128PrecisionMax) return "more than 38 digits";
    unscaled = unscaled * 10 + static_cast<unsigned>(*cursor - '0');
  }
  if (!any_digit) return "no digits";

  int64_t exponent = 0;
  if (at('e') || at('E')) {
    ++cursor;
    const bool negative_exponent = at('-');
    if (negative_exponent || at('+')) ++cursor;
    if (cursor == end) return "no digits in the exponent";
    // Stops counting where the scale is out of range anyway, so that no number of digits can overflow.
    for (; cursor != end && is_digit(*cursor); ++cursor) {
      exponent = std::min<int64_t>(exponent * 10 + (*cursor - '0'), INT32_MAX);
    }
    if (negative_exponent) exponent = -exponent;
  }
  if (cursor != end) return "unexpected character";

  const int64_t scale = fraction_digits - exponent;
  if (scale > kDecimalScaleMax || scale < -kDecimalScaleMax) return "scale out of range";
  result.unscaled = negative ? -static_cast<Int128>(unscaled) : static_cast<Int128>(unscaled);
  result.scale = static_cast<int32_t>(scale);
  return nullptr;
}

}  // namespace

Int128 power_of_ten(int32_t exponent) noexcept {
  return kPowersOfTen[static_cast<size_t>(exponent)];
}

int32_t decimal_digits(Int128 unscaled) noexcept {
  const UInt128 size = magnitude(unscaled);
  // log10(2) = 0.30103 = 1233 / 4096 rounded down: gives the digits or one less.
  const int32_t digits = (bit_width(size) * 1233) >> 12;
  if (digits > kDecimal128PrecisionMax) return digits;
  return std::max(1, digits + (size >= static_cast<UInt128>(power_of_ten(digits))));
}

bool fits_precision(Int128 unscaled, int32_t precision) noexcept {
  const Int128 bound = power_of_ten(precision);
  return unscaled < bound && unscaled > -bound;
}

std::optional<Decimal128> try_parse_decimal128(std::string_view text) noexcept {
  Decimal128 result;
  if (scan_decimal(text, result) != nullptr) return std::nullopt;
  return result;
}

Decimal128 parse_decimal128(std::string_view text) {
  Decimal128 result;
  if (const char* fault = scan_decimal(text, result)) {
    throw_error(ErrorKind::kInvalidArgument, "not a decimal: '{}' ({})", excerpt(text), fault);
  }
  return result;
}

std::optional<Int128> try_parse_decimal128(std::string_view text, int32_t precision, int32_t scale) noexcept {
  Decimal128 value;
  if (scan_decimal(text, value) != nullptr) return std::nullopt;
  const auto unscaled = rescale_decimal(value.unscaled, value.scale, scale);
  if (!unscaled || !fits_precision(*unscaled, precision)) return std::nullopt;
  return unscaled;
}

Int128 parse_decimal128(std::string_view text, int32_t precision, int32_t scale) {
  const Decimal128 value = parse_decimal128(text);
  const auto unscaled = rescale_decimal(value.unscaled, value.scale, scale);
  if (unscaled && fits_precision(*unscaled, precision)) return *unscaled;
  const bool digits_lost = !unscaled && scale < value.scale;
  throw_error(ErrorKind::kInvalidArgument, "{} does not fit decimal({},{}): {}", excerpt(text), precision, scale,
              digits_lost ? "it has digits beyond the scale" : "it has too many digits");
}

void append_decimal(std::string& target, Int128 unscaled, int32_t scale) {
  if (scale < 0 || scale > kDecimalScaleMax) {  // the latter is damage: never print 2^31 zeros for it
    target += to_string(unscaled);
    target += scale < 0 ? "E+" : "E-";
    target += std::to_string(scale < 0 ? -static_cast<int64_t>(scale) : scale);
    return;
  }
  std::string digits = to_string(unscaled);
  const size_t sign_bytes = unscaled < 0;
  const auto places = static_cast<size_t>(scale);
  if (digits.size() - sign_bytes <= places) digits.insert(sign_bytes, places + 1 - (digits.size() - sign_bytes), '0');
  if (places != 0) digits.insert(digits.size() - places, 1, '.');
  target += digits;
}

std::string decimal_to_string(Int128 unscaled, int32_t scale) {
  std::string text;
  append_decimal(text, unscaled, scale);
  return text;
}

std::optional<Int128> rescale_decimal(Int128 unscaled, int32_t from_scale, int32_t to_scale) noexcept {
  if (from_scale == to_scale || unscaled == 0) return unscaled;
  const int64_t shift = static_cast<int64_t>(to_scale) - from_scale;
  if (shift > kDecimal128PrecisionMax || shift < -kDecimal128PrecisionMax) return std::nullopt;
  if (shift > 0) return multiply_by_power_of_ten(unscaled, static_cast<int32_t>(shift));
  const Int128 power = power_of_ten(static_cast<int32_t>(-shift));
  if (unscaled % power != 0) return std::nullopt;
  return unscaled / power;
}

std::strong_ordering compare_decimals(Int128 left, int32_t left_scale, Int128 right, int32_t right_scale) noexcept {
  if (left_scale == right_scale) return left <=> right;
  const int left_sign = (left > 0) - (left < 0);
  const int right_sign = (right > 0) - (right < 0);
  if (left_sign != right_sign || left_sign == 0) return left_sign <=> right_sign;
  if (left_scale > right_scale) return 0 <=> compare_decimals(right, right_scale, left, left_scale);
  // Bring the left one to the right one's digits. If it does not fit, its magnitude is at least 2^127 there, which the
  // right one's is not (2^127 itself is no multiple of ten).
  if (const auto scaled = rescale_decimal(left, left_scale, right_scale)) return *scaled <=> right;
  return left_sign <=> 0;
}

double decimal_to_double(Int128 unscaled, int32_t scale) noexcept {
  // Both exact in a double, so that one division rounds once.
  constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (scale >= 0 && scale <= 22 && magnitude(unscaled) <= (UInt128{1} << 53)) {
    return static_cast<double>(static_cast<int64_t>(unscaled)) / kExactPowers[scale];
  }
  const std::string text = to_string(unscaled) + "e" + std::to_string(-static_cast<int64_t>(scale));
  return parse_double(text).value_or(std::nan(""));
}

DecimalBytes decimal_to_big_endian(Int128 unscaled) noexcept {
  DecimalBytes result;
  const auto bits = static_cast<UInt128>(unscaled < 0 ? ~unscaled : unscaled);
  result.size = static_cast<uint8_t>(bit_width(bits) / 8 + 1);  // one bit more for the sign
  (void)decimal_to_big_endian(unscaled, result.storage);
  return result;
}

bool decimal_to_big_endian(Int128 unscaled, std::span<std::byte> target) noexcept {
  const std::byte extension = unscaled < 0 ? std::byte{0xff} : std::byte{0};
  if (target.size() < 16) {
    const auto bits = static_cast<UInt128>(unscaled < 0 ? ~unscaled : unscaled);
    if (static_cast<size_t>(bit_width(bits)) / 8 + 1 > target.size()) return false;
  }
  const size_t low_bytes = std::min<size_t>(target.size(), 16);
  auto rest = static_cast<UInt128>(unscaled);
  for (size_t i = 0; i < low_bytes; ++i, rest >>= 8) {
    target[target.size() - 1 - i] = static_cast<std::byte>(static_cast<uint8_t>(rest));
  }
  std::fill_n(target.begin(), target.size() - low_bytes, extension);
  return true;
}

std::optional<Int128> decimal_from_big_endian(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return std::nullopt;
  const bool negative = (bytes.front() & std::byte{0x80}) != std::byte{0};
  const std::byte extension = negative ? std::byte{0xff} : std::byte{0};
  while (bytes.size() > 16) {
    if (bytes.front() != extension) return std::nullopt;
    bytes = bytes.subspan(1);
  }
  if (((bytes.front() & std::byte{0x80}) != std::byte{0}) != negative) return std::nullopt;
  UInt128 value = negative ? ~UInt128{0} : 0;
  for (std::byte byte : bytes) value = (value << 8) | std::to_integer<uint8_t>(byte);
  return static_cast<Int128>(value);
}

}  // namespace frazil
