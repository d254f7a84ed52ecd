// UTF-8 (RFC 3629): validation, and the few operations on code points that the formats need. No surrogates, no
// overlong forms, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frazil {

inline constexpr uint32_t kCodePointMax = 0x10FFFF;

// Bytes of the longest valid prefix that does not cut a code point: text.size() if all is valid, else the place of the
// first damaged sequence. ASCII goes 32 bytes at a time.
size_t valid_utf8_prefix(std::string_view text) noexcept;
inline bool is_valid_utf8(std::string_view text) noexcept {
  return valid_utf8_prefix(text) == text.size();
}

bool is_ascii(std::string_view text) noexcept;

// Code points of valid text. (Of other text: bytes that are not 10xxxxxx.)
size_t count_code_points(std::string_view text) noexcept;

// Bytes of the first `code_points` code points of valid text; text.size() if it has no more. truncate[W] of strings.
size_t utf8_prefix_bytes(std::string_view text, size_t code_points) noexcept;

// The code point at text[position], and moves the position behind it; nothing at a damaged sequence (position stays).
std::optional<uint32_t> next_code_point(std::string_view text, size_t& position) noexcept;

// Requires a code point that is not a surrogate and at most kCodePointMax.
void append_code_point(std::string& target, uint32_t code_point);

}  // namespace frazil
