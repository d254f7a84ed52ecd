// UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, at most U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>

namespace frazil::json {

// The length (1..4) of the well-formed sequence at `cursor`, or 0 if there is none. Requires cursor < end.
inline size_t utf8_sequence_size(const char* cursor, const char* end) noexcept {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(cursor[index]); };
  const auto continues = [&](size_t index, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return byte(index) >= low && byte(index) <= high;
  };
  const size_t available = static_cast<size_t>(end - cursor);
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or an overlong form of ASCII
  if (lead < 0xE0) return available >= 2 && continues(1) ? 2 : 0;
  if (lead < 0xF0) {
    const uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;   // no overlong forms
    const uint8_t high = lead == 0xED ? 0x9F : 0xBF;  // no surrogates
    return available >= 3 && continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead < 0xF5) {
    const uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;  // nothing above U+10FFFF
    return available >= 4 && continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace frazil::json
