#include "frazil/base/int128.h"

namespace frazil {

std::string to_string(Int128 value) {
  char digits[40];  // '-' and 39 digits
  char* cursor = digits + sizeof(digits);
  UInt128 rest = magnitude(value);
  // 19 digits at a time: 128-bit divisions are calls of 30 ns and more, 64-bit ones are not.
  constexpr uint64_t kChunk = 10'000'000'000'000'000'000U;
  while (rest > UINT64_MAX) {
    auto chunk = static_cast<uint64_t>(rest % kChunk);
    rest /= kChunk;
    for (int i = 0; i < 19; ++i, chunk /= 10) *--cursor = static_cast<char>('0' + chunk % 10);
  }
  auto last = static_cast<uint64_t>(rest);
  do {
    *--cursor = static_cast<char>('0' + last % 10);
    last /= 10;
  } while (last != 0);
  if (value < 0) *--cursor = '-';
  return {cursor, digits + sizeof(digits)};
}

}  // namespace frazil
