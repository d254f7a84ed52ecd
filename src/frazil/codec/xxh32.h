// XXH32, the checksum of LZ4 frames (xxHash specification, "XXH32 algorithm description").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace frazil {

uint32_t xxh32(std::span<const std::byte> data, uint32_t seed = 0) noexcept;

}  // namespace frazil
