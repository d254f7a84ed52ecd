// A heap for C libraries that take functions for allocating: each block is charged to a pool while it lives.
#pragma once

#include <cstddef>
#include <exception>

#include "frazil/memory/memory_pool.h"

namespace frazil {

// One thread at a time. Outlives the blocks. Exceptions cannot pass through C, so the first is kept.
class ChargedHeap {
 public:
  explicit ChargedHeap(MemoryPool& pool) : pool_(&pool) {}
  ChargedHeap(const ChargedHeap&) = delete;
  ChargedHeap& operator=(const ChargedHeap&) = delete;

  // What libraries call, with the heap as their opaque pointer. Blocks are aligned as malloc's.
  static void* allocate(void* heap, size_t size) noexcept { return static_cast<ChargedHeap*>(heap)->do_allocate(size); }
  static void free(void* heap, void* block) noexcept { static_cast<ChargedHeap*>(heap)->do_free(block); }

  // Throws what an allocation since the last call failed with: MemoryLimitError or std::bad_alloc.
  void rethrow();
  size_t charged_bytes() const { return charged_bytes_; }

 private:
  void* do_allocate(size_t size) noexcept;
  void do_free(void* block) noexcept;

  MemoryPool* pool_;
  size_t charged_bytes_ = 0;
  std::exception_ptr failure_;
};

}  // namespace frazil
