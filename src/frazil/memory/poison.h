// Marks memory that nobody may touch for AddressSanitizer: idle blocks, the rest of a block beyond its padding. Without
// the sanitizer this is nothing.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FRAZIL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FRAZIL_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef FRAZIL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace frazil {

inline void poison([[maybe_unused]] const void* data, [[maybe_unused]] size_t size) noexcept {
#ifdef FRAZIL_ADDRESS_SANITIZER
  __asan_poison_memory_region(data, size);
#endif
}

inline void unpoison([[maybe_unused]] const void* data, [[maybe_unused]] size_t size) noexcept {
#ifdef FRAZIL_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(data, size);
#endif
}

// Of a block of `block_bytes`, opens the first `open_bytes` and closes the rest.
inline void poison_beyond([[maybe_unused]] const std::byte* data, [[maybe_unused]] size_t open_bytes,
                          [[maybe_unused]] size_t block_bytes) noexcept {
#ifdef FRAZIL_ADDRESS_SANITIZER
  if (data == nullptr) return;
  __asan_unpoison_memory_region(data, open_bytes);
  __asan_poison_memory_region(data + open_bytes, block_bytes - open_bytes);
#endif
}

}  // namespace frazil
