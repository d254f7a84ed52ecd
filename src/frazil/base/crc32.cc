#include "frazil/base/crc32.h"

#include <libdeflate.h>

namespace frazil {

uint32_t crc32(std::span<const std::byte> bytes, uint32_t previous) noexcept {
  // libdeflate resets to 0 for a null pointer, which an empty span may be.
  if (bytes.empty()) return previous;
  return ::libdeflate_crc32(previous, bytes.data(), bytes.size());
}

}  // namespace frazil
