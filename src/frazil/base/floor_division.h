// Division that rounds towards minus infinity, as calendars and the transforms of Iceberg need it: the hour before
// 1970-01-01T00 is -1, where C++ gives 0.
#pragma once

#include <concepts>
#include <type_traits>

namespace frazil {

// Requires divisor > 0.
template <std::signed_integral T>
constexpr T floor_divide(T value, std::type_identity_t<T> divisor) noexcept {
  T quotient = static_cast<T>(value / divisor);
  return static_cast<T>(quotient - (value % divisor < 0));
}

// 0..divisor-1. Requires divisor > 0.
template <std::signed_integral T>
constexpr T floor_modulo(T value, std::type_identity_t<T> divisor) noexcept {
  T remainder = static_cast<T>(value % divisor);
  return static_cast<T>(remainder < 0 ? remainder + divisor : remainder);
}

}  // namespace frazil
