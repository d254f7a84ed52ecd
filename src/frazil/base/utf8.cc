#include "frazil/base/utf8.h"

#include <bit>

#include "frazil/base/byte_reader.h"

namespace frazil {

namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

inline bool is_continuation(unsigned char byte) noexcept {
  return (byte & 0xc0) == 0x80;
}

// ASCII bytes from `position` on, or some of them: stops before the block that holds the first other one.
inline size_t skip_ascii_blocks(std::string_view text, size_t position) noexcept {
  const char* data = text.data();
  for (; text.size() - position >= 32; position += 32) {
    const uint64_t high = load<uint64_t>(data + position) | load<uint64_t>(data + position + 8) |
                          load<uint64_t>(data + position + 16) | load<uint64_t>(data + position + 24);
    if ((high & kHighBits) != 0) break;
  }
  for (; text.size() - position >= 8; position += 8) {
    const uint64_t high = load<uint64_t>(data + position) & kHighBits;
    if (high != 0) return position + static_cast<size_t>(std::countr_zero(high) / 8);
  }
  return position;
}

// Bytes of the code point at text[position], 0 if it is damaged or cut (RFC 3629, section 4):
//   00..7f | c2..df T | e0 a0..bf T | e1..ec T T | ed 80..9f T | ee..ef T T
//   | f0 90..bf T T | f1..f3 T T T | f4 80..8f T T              T = 80..bf
inline size_t sequence_bytes(std::string_view text, size_t position) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const size_t rest = text.size() - position;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return rest >= 2 && is_continuation(byte(1)) ? 2 : 0;
  if (lead < 0xf0) {
    if (rest < 3 || !is_continuation(byte(1)) || !is_continuation(byte(2))) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (lead == 0xed && byte(1) > 0x9f) return 0;  // surrogates
    return 3;
  }
  if (lead > 0xf4) return 0;
  if (rest < 4 || !is_continuation(byte(1)) || !is_continuation(byte(2)) || !is_continuation(byte(3))) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;  // overlong
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;  // above U+10FFFF
  return 4;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) noexcept {
  size_t position = 0;
  while (position < text.size()) {
    position = skip_ascii_blocks(text, position);
    // Through text that is not ASCII one code point at a time, until ASCII comes again.
    while (position < text.size()) {
      const size_t bytes = sequence_bytes(text, position);
      if (bytes == 0) return position;
      position += bytes;
      if (bytes == 1) break;
    }
  }
  return position;
}

bool is_ascii(std::string_view text) noexcept {
  size_t position = skip_ascii_blocks(text, 0);
  for (; position < text.size(); ++position) {
    if (static_cast<unsigned char>(text[position]) >= 0x80) return false;
  }
  return true;
}

size_t count_code_points(std::string_view text) noexcept {
  size_t count = 0;
  for (char c : text) count += !is_continuation(static_cast<unsigned char>(c));
  return count;
}

size_t utf8_prefix_bytes(std::string_view text, size_t code_points) noexcept {
  if (text.size() <= code_points) return text.size();
  for (size_t position = 0; position < text.size(); ++position) {
    if (is_continuation(static_cast<unsigned char>(text[position]))) continue;
    if (code_points == 0) return position;
    --code_points;
  }
  return text.size();
}

std::optional<uint32_t> next_code_point(std::string_view text, size_t& position) noexcept {
  if (position >= text.size()) return std::nullopt;
  const size_t bytes = sequence_bytes(text, position);
  if (bytes == 0) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[position + i])); };
  uint32_t code_point = bytes == 1 ? byte(0) : byte(0) & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) code_point = (code_point << 6) | (byte(i) & 0x3f);
  position += bytes;
  return code_point;
}

void append_code_point(std::string& target, uint32_t code_point) {
  const auto tail = [&](unsigned shift) { target += static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    target += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    target += static_cast<char>(0xc0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    target += static_cast<char>(0xe0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    target += static_cast<char>(0xf0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace frazil
