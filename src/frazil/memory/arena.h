// Arena: many small objects with one lifetime, allocated by moving a pointer and freed together.
#pragma once

#include <cstddef>
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

// Not thread-safe. Memory comes from the pool in blocks of `block_bytes` (larger ones for larger requests) and counts in
// its budget. No destructor of what it holds is run: only trivially destructible types.
class Arena {
 public:
  explicit Arena(MemoryPool& pool, size_t block_bytes = 32 << 10) : pool_(&pool), block_bytes_(block_bytes) {}

  // Throws MemoryLimitError.
  void* allocate(size_t size, size_t alignment = alignof(std::max_align_t));
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  std::span<T> make_span(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>);
    return {static_cast<T*>(allocate(count * sizeof(T), alignof(T))), count};
  }
  std::string_view copy(std::string_view text);

  size_t used_bytes() const { return used_bytes_; }

 private:
  MemoryPool* pool_;
  size_t block_bytes_;
  std::vector<MutableBuffer> blocks_;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
  size_t used_bytes_ = 0;
};

}  // namespace frazil
