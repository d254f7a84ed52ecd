// The texts of literals that parse() reads, to_text() writes and bind_predicate() reads again where a column takes strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frazil/predicate/predicate.h"

namespace frazil::predicate {

// Whether `text` is a number of predicate.h's grammar.
bool is_number(std::string_view text) noexcept;

// "2026-11-01", or a timestamp with or without zone and 1 to 9 digits of fraction: civil_time.h's grammar.
std::optional<Timestamp> parse_timestamp_text(std::string_view text);

// Whether a name needs no quotes: a name of parse.h's grammar that is not reserved.
bool is_plain_name(std::string_view name) noexcept;
// AND, OR, ... in any case.
bool is_reserved(std::string_view word) noexcept;
// ASCII case is ignored.
bool equal_words(std::string_view left, std::string_view right) noexcept;

inline bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
inline bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
inline bool is_name_part(char c) noexcept {
  return is_name_start(c) || is_digit(c) || c == '$';
}

}  // namespace frazil::predicate
