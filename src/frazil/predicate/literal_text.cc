#include "frazil/predicate/literal_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"

namespace frazil::predicate {

namespace {

constexpr std::array<std::string_view, 10> kReserved = {"and",  "or",   "not",     "is",   "in",
                                                        "null", "like", "between", "true", "false"};

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

size_t skip_digits(std::string_view text, size_t position) noexcept {
  while (position < text.size() && is_digit(text[position])) ++position;
  return position;
}

void append_quoted(std::string& out, std::string_view text, char quote) {
  out += quote;
  for (char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  out += quote;
}

std::string fraction_text(int64_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::string digits = std::to_string(1'000'000'000 + nanoseconds);
  digits[0] = '.';
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

struct LiteralText {
  std::string operator()(bool value) const { return value ? "TRUE" : "FALSE"; }
  std::string operator()(const Number& value) const { return value.text; }
  std::string operator()(const Double& value) const { return "DOUBLE '" + number_to_string(value.value) + "'"; }
  std::string operator()(const std::string& value) const {
    std::string out;
    append_quoted(out, value, '\'');
    return out;
  }
  std::string operator()(const Binary& value) const { return "X'" + encode_hex(value.bytes) + "'"; }
  std::string operator()(const Date& value) const { return "DATE '" + date_to_string(value.days) + "'"; }
  std::string operator()(const Time& value) const {
    return "TIME '" + time_to_string(value.nanoseconds, TimeUnit::kNano) + "'";
  }
  std::string operator()(const Timestamp& value) const {
    return "TIMESTAMP '" + timestamp_to_string(value.seconds, TimeUnit::kSecond, {.separator = ' '}) +
           fraction_text(value.nanoseconds) + (value.has_zone ? "+00:00'" : "'");
  }
  std::string operator()(const Uuid& value) const { return "UUID '" + to_string(value) + "'"; }
};

}  // namespace

bool equal_words(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

bool is_reserved(std::string_view word) noexcept {
  return std::any_of(kReserved.begin(), kReserved.end(), [&](auto reserved) { return equal_words(reserved, word); });
}

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && is_name_start(name[0]) && std::all_of(name.begin(), name.end(), is_name_part) &&
         !is_reserved(name);
}

bool is_number(std::string_view text) noexcept {
  size_t position = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t start = position;
  position = skip_digits(text, position);
  size_t digits = position - start;
  if (position < text.size() && text[position] == '.') {
    const size_t fraction = ++position;
    position = skip_digits(text, position);
    digits += position - fraction;
  }
  if (digits == 0) return false;
  if (position < text.size() && (text[position] == 'e' || text[position] == 'E')) {
    ++position;
    if (position < text.size() && (text[position] == '-' || text[position] == '+')) ++position;
    const size_t exponent = position;
    position = skip_digits(text, position);
    if (position == exponent) return false;
  }
  return position == text.size();
}

std::optional<Timestamp> parse_timestamp_text(std::string_view text) {
  if (auto days = try_parse_date(text)) return Timestamp{int64_t{*days} * kSecondsPerDay, 0, false};
  // Without the fraction the text is read in seconds, so that every year has nanoseconds.
  std::string whole(text);
  int32_t nanoseconds = 0;
  if (const size_t point = text.find('.'); point != std::string_view::npos) {
    const size_t end = skip_digits(text, point + 1);
    const size_t digits = end - point - 1;
    if (digits == 0 || digits > 9 || std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(point), ':') < 2) {
      return std::nullopt;
    }
    for (size_t i = 0; i < 9; ++i) nanoseconds = nanoseconds * 10 + (i < digits ? text[point + 1 + i] - '0' : 0);
    whole.erase(point, end - point);
  }
  if (auto seconds = try_parse_timestamp(whole, TimeUnit::kSecond, ZoneRule::kForbidden)) {
    return Timestamp{*seconds, nanoseconds, false};
  }
  if (auto seconds = try_parse_timestamp(whole, TimeUnit::kSecond, ZoneRule::kRequired)) {
    return Timestamp{*seconds, nanoseconds, true};
  }
  return std::nullopt;
}

std::string ColumnName::to_text() const {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += '.';
    if (is_plain_name(part)) {
      out += part;
    } else {
      append_quoted(out, part, '"');
    }
  }
  return out;
}

bool Double::operator==(const Double& other) const {
  return std::isnan(value) ? std::isnan(other.value)
                           : std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other.value);
}

Literal integer(int64_t value) {
  return Number{std::to_string(value)};
}

Literal number(std::string_view text) {
  if (!is_number(text)) throw_error(ErrorKind::kInvalidArgument, "not a number: '{}'", excerpt(text));
  if (text[0] == '+') text.remove_prefix(1);
  return Number{std::string(text)};
}

std::string to_text(const Literal& literal) {
  return std::visit(LiteralText{}, literal);
}

}  // namespace frazil::predicate
