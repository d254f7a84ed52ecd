// Percent-encoding of text in URIs (RFC 3986, section 2.1) and in partition paths. The text is bytes of UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frazil {

enum class PercentStyle : uint8_t {
  kComponent,  // keeps A-Z a-z 0-9 - . _ ~ only: one segment, a query value, what request signing hashes
  kPath,       // keeps also '/' and what a path may hold: ! $ & ' ( ) * + , ; = : @
  kForm,       // java.net.URLEncoder, for partition paths: keeps A-Z a-z 0-9 - . _ *, a space becomes '+'
};

// Upper-case digits: "a b" = "a%20b".
std::string encode_percent(std::string_view text, PercentStyle style);

// Nothing if a '%' is not followed by two hexadecimal digits. '+' is a space in kForm only.
std::optional<std::string> decode_percent(std::string_view text, PercentStyle style = PercentStyle::kComponent);

}  // namespace frazil
