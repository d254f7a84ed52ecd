// Arena: many small objects with one lifetime, allocated by moving a pointer and freed together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "frazil/memory/memory_pool.h"

namespace frazil {

// Not thread-safe. Memory comes from the pool in blocks of `block_bytes` (larger ones for larger requests) and counts
// in its budget. No destructor of what it holds is run: only trivially destructible types.
class Arena {
 public:
  explicit Arena(MemoryPool& pool, size_t block_bytes = 32 << 10) : pool_(&pool), block_bytes_(block_bytes) {}
  // Leaves `other` empty and usable.
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  // Never nullptr. `alignment` is a power of two up to kBlockAlignment. Throws MemoryLimitError.
  void* allocate(size_t size, size_t alignment = alignof(std::max_align_t));
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  // Values are not initialised.
  template <typename T>
  std::span<T> make_span(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>);
    // A count whose bytes do not fit in size_t is a request that no pool can meet.
    return {static_cast<T*>(allocate(count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T), alignof(T))), count};
  }
  std::string_view copy(std::string_view text);

  // Bytes that were asked for; the blocks of the pool are more.
  size_t used_bytes() const { return used_bytes_; }

 private:
  void* allocate_block(size_t size);

  MemoryPool* pool_;
  size_t block_bytes_;
  std::vector<MutableBuffer> blocks_;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
  size_t used_bytes_ = 0;
};

}  // namespace frazil
