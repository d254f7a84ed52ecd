// Fresh memory from the operating system, in whole pages.
#pragma once

#include <cstddef>

namespace frazil {

// Zeroed and untouched memory, nullptr if there is none. `size` is a multiple of kPageBytes. With `huge` it starts on a
// 2 MiB boundary and asks for huge pages: the first touch is then 3 to 5 times faster (memory_pool_bench.cc).
std::byte* map_memory(size_t size, bool huge) noexcept;

// Any page range of what map_memory gave.
void unmap_memory(std::byte* data, size_t size) noexcept;

}  // namespace frazil
