// Bytes as hexadecimal digits, as Iceberg's JSON single values have fixed and binary: "000102ff".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace frazil {

// Lower case, two digits a byte.
std::string encode_hex(std::span<const std::byte> bytes);
std::string encode_hex(std::string_view bytes);

// Digits in either case; nothing on an odd count or another character.
std::optional<std::string> decode_hex(std::string_view text);

// The value of one digit, or -1.
constexpr int hex_digit_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace frazil
