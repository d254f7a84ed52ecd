#include "frazil/predicate/int256.h"

namespace frazil::predicate {

Int256 negate(const Int256& value) noexcept {
  Int256 result;
  uint64_t carry = 1;
  for (size_t i = 0; i < 4; ++i) {
    result.words[i] = ~value.words[i] + carry;
    carry = carry != 0 && result.words[i] == 0 ? 1 : 0;
  }
  return result;
}

bool append_digit(Int256& value, int digit) noexcept {
  auto carry = static_cast<UInt128>(digit);
  for (uint64_t& word : value.words) {
    carry += static_cast<UInt128>(word) * 10;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return carry == 0 && !value.negative();
}

bool increment(Int256& value) noexcept {
  for (uint64_t& word : value.words) {
    if (++word != 0) break;
  }
  return !value.negative();
}

}  // namespace frazil::predicate
