// What a block costs on the heap, estimated from above for the allocators in use.
#pragma once

#include <algorithm>
#include <cstddef>

namespace frazil::json {

// glibc: 8 bytes of header, multiples of 16, at least 32. Other allocators' size classes waste up to 1/4 more, on
// blocks where it is a matter of bytes; for large blocks all of them round to pages.
inline size_t heap_block_bytes(size_t size) noexcept {
  return size == 0 ? 0 : std::max<size_t>(32, (size + 8 + 15) / 16 * 16);
}

// A std::string keeps up to 15 bytes in itself; its first block holds at least 31.
inline size_t text_heap_bytes(size_t size) noexcept {
  return size <= 15 ? 0 : heap_block_bytes(std::max<size_t>(31, size + 1));
}

}  // namespace frazil::json
