// CRC-32 with the polynomial of gzip, PNG and Parquet's page checksums (reflected 0xEDB88320).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace frazil {

// Of all bytes; or of a further part, given the result for what came before:
//   crc32(b, crc32(a)) == crc32(ab)
uint32_t crc32(std::span<const std::byte> bytes, uint32_t previous = 0) noexcept;

}  // namespace frazil
