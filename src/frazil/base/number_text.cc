#include "frazil/base/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace frazil {

namespace {

// 17 digits, sign, point, exponent, and ".0".
constexpr size_t kTextMax = 40;

template <typename T>
void append_integer(std::string& target, T value) {
  char text[kTextMax];
  target.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

template <typename T>
void append_floating(std::string& target, T value) {
  if (std::isnan(value)) {
    target += "NaN";
    return;
  }
  if (std::isinf(value)) {
    target += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char text[kTextMax];
  char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  bool whole = true;
  for (const char* c = text; c != end; ++c) whole = whole && *c != '.' && *c != 'e';
  if (whole) {
    *end++ = '.';
    *end++ = '0';
  }
  target.append(text, end);
}

template <typename T>
std::optional<T> parse_integer(std::string_view text) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// For text that is out of range and therefore a well-formed number: whether it is too large, else it is too small.
// The decimal exponent of its first digit that is not 0 tells; the ranges of both sides are hundreds of tens apart.
bool is_huge(std::string_view text) noexcept {
  int64_t magnitude = 0;  // power of ten of the first digit that is not 0, before the exponent
  bool found = false;
  bool behind_point = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      behind_point = true;
    } else if (found) {
      magnitude += !behind_point;
    } else {
      found = text[i] != '0';
      magnitude -= behind_point;
    }
  }
  int64_t exponent = 0;
  bool negative = false;
  for (++i; i < text.size(); ++i) {
    if (text[i] == '-') negative = true;
    if (text[i] >= '0' && text[i] <= '9' && exponent < 1'000'000'000'000) exponent = exponent * 10 + (text[i] - '0');
  }
  return magnitude + (negative ? -exponent : exponent) > 0;
}

template <typename T>
std::optional<T> parse_floating(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  T value = 0;
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == '.') {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
      value = is_huge(text) ? std::numeric_limits<T>::infinity() : T{0};
    } else if (error != std::errc()) {
      return std::nullopt;
    }
  } else if (equals_ignoring_case(text, "infinity") || equals_ignoring_case(text, "inf")) {
    value = std::numeric_limits<T>::infinity();
  } else if (equals_ignoring_case(text, "nan")) {
    value = std::numeric_limits<T>::quiet_NaN();
  } else {
    return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace

void append_number(std::string& target, int64_t value) {
  append_integer(target, value);
}
void append_number(std::string& target, uint64_t value) {
  append_integer(target, value);
}
void append_number(std::string& target, double value) {
  append_floating(target, value);
}
void append_number(std::string& target, float value) {
  append_floating(target, value);
}

std::string number_to_string(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string number_to_string(float value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::optional<int64_t> parse_int64(std::string_view text) noexcept {
  return parse_integer<int64_t>(text);
}
std::optional<uint64_t> parse_uint64(std::string_view text) noexcept {
  return parse_integer<uint64_t>(text);
}
std::optional<double> parse_double(std::string_view text) noexcept {
  return parse_floating<double>(text);
}
std::optional<float> parse_float(std::string_view text) noexcept {
  return parse_floating<float>(text);
}

}  // namespace frazil
