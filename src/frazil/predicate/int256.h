// 256-bit integers as decimal256 columns hold them: only what comparing needs.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "frazil/base/int128.h"

namespace frazil::predicate {

struct Int256 {
  std::array<uint64_t, 4> words{};  // lowest first, two's complement

  Int256() = default;
  Int256(Int128 value)
      : words{low_bits(value), static_cast<uint64_t>(high_bits(value)), value < 0 ? ~uint64_t{0} : 0,
              value < 0 ? ~uint64_t{0} : 0} {}

  bool negative() const noexcept { return (words[3] >> 63) != 0; }
  bool fits_int128() const noexcept {
    const uint64_t sign = (words[1] >> 63) != 0 ? ~uint64_t{0} : 0;
    return words[2] == sign && words[3] == sign;
  }
  // Requires fits_int128().
  Int128 to_int128() const noexcept { return make_int128(static_cast<int64_t>(words[1]), words[0]); }

  friend bool operator==(const Int256&, const Int256&) = default;
  friend std::strong_ordering operator<=>(const Int256& left, const Int256& right) noexcept {
    if (left.words[3] != right.words[3]) {
      return static_cast<int64_t>(left.words[3]) <=> static_cast<int64_t>(right.words[3]);
    }
    for (int i = 2; i > 0; --i) {
      if (left.words[static_cast<size_t>(i)] != right.words[static_cast<size_t>(i)]) {
        return left.words[static_cast<size_t>(i)] <=> right.words[static_cast<size_t>(i)];
      }
    }
    return left.words[0] <=> right.words[0];
  }
};
static_assert(sizeof(Int256) == 32);

// -value; the least value gives itself.
Int256 negate(const Int256& value) noexcept;
// value * 10 + digit; false, with `value` undefined, if it passes 2^255 - 1. Requires value >= 0.
[[nodiscard]] bool append_digit(Int256& value, int digit) noexcept;
// value + 1, on the same terms.
[[nodiscard]] bool increment(Int256& value) noexcept;

}  // namespace frazil::predicate
