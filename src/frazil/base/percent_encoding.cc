#include "frazil/base/percent_encoding.h"

#include "frazil/base/hex.h"

namespace frazil {

namespace {

bool is_kept(char c, PercentStyle style) noexcept {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  std::string_view others;
  switch (style) {
    case PercentStyle::kComponent:
      others = "-._~";
      break;
    case PercentStyle::kPath:
      others = "-._~/!$&'()*+,;=:@";
      break;
    case PercentStyle::kForm:
      others = "-._*";
      break;
  }
  return others.find(c) != std::string_view::npos;
}

}  // namespace

std::string encode_percent(std::string_view text, PercentStyle style) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size());
  for (char c : text) {
    if (is_kept(c, style)) {
      result += c;
    } else if (c == ' ' && style == PercentStyle::kForm) {
      result += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += '%';
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  return result;
}

std::optional<std::string> decode_percent(std::string_view text, PercentStyle style) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && style == PercentStyle::kForm) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_digit_value(text[i + 1]);
      const int low = hex_digit_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

}  // namespace frazil
