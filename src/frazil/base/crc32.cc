#include "frazil/base/crc32.h"

#include <zlib.h>

namespace frazil {

uint32_t crc32(std::span<const std::byte> bytes, uint32_t previous) noexcept {
  // zlib resets to 0 for a null pointer, which an empty span may be.
  if (bytes.empty()) return previous;
  return static_cast<uint32_t>(::crc32_z(previous, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint32_t combine_crc32(uint32_t first, uint32_t second, uint64_t second_byte_size) noexcept {
  return static_cast<uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_byte_size)));
}

}  // namespace frazil
