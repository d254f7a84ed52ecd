// Base64 (RFC 4648): the standard alphabet (section 4) and the one for URLs and file names (section 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace frazil {

enum class Base64 : uint8_t {
  kStandard,     // '+' '/', padded with '='
  kUrl,          // '-' '_', padded
  kUrlUnpadded,  // '-' '_', never padded (JSON web tokens)
};

std::string encode_base64(std::span<const std::byte> bytes, Base64 alphabet = Base64::kStandard);
std::string encode_base64(std::string_view bytes, Base64 alphabet = Base64::kStandard);

// The bytes. Strict: nothing for a character outside of the alphabet, white space, missing or surplus padding, or bits
// behind the last byte that are not 0. Each value has one text.
std::optional<std::string> decode_base64(std::string_view text, Base64 alphabet = Base64::kStandard);

}  // namespace frazil
