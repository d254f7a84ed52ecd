// MurmurHash3, the x86 32-bit variant (A. Appleby): what Iceberg's bucket[N] transform hashes with, seed 0
// (Iceberg spec, Appendix B). Signed, as the specification prints it; bucket = (hash & 0x7fffffff) % N.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace frazil {

int32_t murmur3_x86_32(std::span<const std::byte> bytes, uint32_t seed = 0) noexcept;
int32_t murmur3_x86_32(std::string_view text, uint32_t seed = 0) noexcept;

// The hash of the eight little-endian bytes of `value`: int, long, date, time and timestamp all hash so.
int32_t murmur3_x86_32_of_int64(int64_t value, uint32_t seed = 0) noexcept;

}  // namespace frazil
