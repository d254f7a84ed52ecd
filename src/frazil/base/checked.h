// Integer arithmetic that notices overflow, for sizes and counts from outside.
//   checked_*      gives nothing on overflow
//   *_or_throw     throws CorruptError that names what was computed: "row count: 9 * 2^62 overflows"
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "frazil/base/error.h"

namespace frazil {

template <std::integral T>
constexpr std::optional<T> checked_add(T left, std::type_identity_t<T> right) noexcept {
  T result;
  if (__builtin_add_overflow(left, right, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> checked_subtract(T left, std::type_identity_t<T> right) noexcept {
  T result;
  if (__builtin_sub_overflow(left, right, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> checked_multiply(T left, std::type_identity_t<T> right) noexcept {
  T result;
  if (__builtin_mul_overflow(left, right, &result)) return std::nullopt;
  return result;
}

template <std::integral To, std::integral From>
constexpr std::optional<To> checked_cast(From value) noexcept {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

template <std::integral T>
T add_or_throw(T left, std::type_identity_t<T> right, std::string_view what) {
  if (auto result = checked_add(left, right)) return *result;
  throw_corrupt(CorruptError::kNoOffset, "{}: {} + {} overflows", what, left, right);
}

template <std::integral T>
T subtract_or_throw(T left, std::type_identity_t<T> right, std::string_view what) {
  if (auto result = checked_subtract(left, right)) return *result;
  throw_corrupt(CorruptError::kNoOffset, "{}: {} - {} overflows", what, left, right);
}

template <std::integral T>
T multiply_or_throw(T left, std::type_identity_t<T> right, std::string_view what) {
  if (auto result = checked_multiply(left, right)) return *result;
  throw_corrupt(CorruptError::kNoOffset, "{}: {} * {} overflows", what, left, right);
}

// narrow_or_throw<int32_t>(value, "row count"): the same value in another type.
template <std::integral To, std::integral From>
To narrow_or_throw(From value, std::string_view what) {
  if (auto result = checked_cast<To>(value)) return *result;
  throw_corrupt(CorruptError::kNoOffset, "{} is out of range: {}", what, value);
}

}  // namespace frazil
