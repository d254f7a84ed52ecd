#include "frazil/base/base64.h"

#include <array>

namespace frazil {

namespace {

constexpr char kStandardDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr char kUrlDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNotADigit = 0xff;

constexpr std::array<uint8_t, 256> invert(const char* digits) {
  std::array<uint8_t, 256> values{};
  values.fill(kNotADigit);
  for (uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(digits[i])] = i;
  return values;
}

constexpr auto kStandardValues = invert(kStandardDigits);
constexpr auto kUrlValues = invert(kUrlDigits);

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes, Base64 alphabet) {
  const char* digits = alphabet == Base64::kStandard ? kStandardDigits : kUrlDigits;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto at = [&](size_t i) { return std::to_integer<uint32_t>(bytes[i]); };
  size_t i = 0;
  for (; bytes.size() - i >= 3; i += 3) {
    const uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[(group >> shift) & 63];
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return text;
  const uint32_t group = at(i) << 16 | (rest == 2 ? at(i + 1) << 8 : 0);
  text += digits[group >> 18];
  text += digits[(group >> 12) & 63];
  if (rest == 2) text += digits[(group >> 6) & 63];
  if (alphabet != Base64::kUrlUnpadded) text.append(3 - rest, '=');
  return text;
}

std::string encode_base64(std::string_view bytes, Base64 alphabet) {
  return encode_base64(std::as_bytes(std::span(bytes)), alphabet);
}

std::optional<std::string> decode_base64(std::string_view text, Base64 alphabet) {
  if (alphabet != Base64::kUrlUnpadded) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  const size_t rest = text.size() % 4;  // digits of the last, incomplete group: 0, 2 or 3
  if (rest == 1) return std::nullopt;
  const auto& values = alphabet == Base64::kStandard ? kStandardValues : kUrlValues;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int bit_count = 0;
  for (char digit : text) {
    const uint8_t value = values[static_cast<unsigned char>(digit)];
    if (value == kNotADigit) return std::nullopt;
    bits = (bits << 6 | value) & 0xffff;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes += static_cast<char>(bits >> bit_count & 0xff);
    }
  }
  if ((bits & ((1U << bit_count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace frazil
