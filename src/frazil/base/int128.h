// 128-bit integers, for decimals: the compiler's own type under a name, with what the standard library lacks for it.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace frazil {

// __extension__: the type is not ISO C++, which -Wpedantic would report at each use.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

inline constexpr Int128 kInt128Max = static_cast<Int128>(~UInt128{0} >> 1);
inline constexpr Int128 kInt128Min = -kInt128Max - 1;

constexpr Int128 make_int128(int64_t high, uint64_t low) noexcept {
  return static_cast<Int128>((static_cast<UInt128>(static_cast<uint64_t>(high)) << 64) | low);
}
constexpr int64_t high_bits(Int128 value) noexcept {
  return static_cast<int64_t>(value >> 64);
}
constexpr uint64_t low_bits(Int128 value) noexcept {
  return static_cast<uint64_t>(value);
}

// |value|, also of kInt128Min.
constexpr UInt128 magnitude(Int128 value) noexcept {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

// Bits up to the highest set one; 0 for 0. (std::bit_width does not take 128-bit integers in strict mode.)
constexpr int bit_width(UInt128 value) noexcept {
  auto high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
}

// The bytes in the opposite order.
constexpr UInt128 swap_bytes(UInt128 value) noexcept {
  return (static_cast<UInt128>(__builtin_bswap64(static_cast<uint64_t>(value))) << 64) |
         __builtin_bswap64(static_cast<uint64_t>(value >> 64));
}

// Digits in base 10, with a '-' in front where negative.
std::string to_string(Int128 value);

}  // namespace frazil
