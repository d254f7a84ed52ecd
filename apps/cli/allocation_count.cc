#include "allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

// GCC names address and thread sanitizers by macros of its own, Clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FRAZIL_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FRAZIL_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef FRAZIL_COUNTS_ALLOCATIONS
#define FRAZIL_COUNTS_ALLOCATIONS 1
#endif

namespace {

std::atomic<bool> counts{false};
std::atomic<uint64_t> calls{0};

}  // namespace

namespace frazil::cli {

void count_heap_allocations() noexcept {
  counts.store(true, std::memory_order_relaxed);
}

std::optional<uint64_t> heap_allocations() noexcept {
  if (FRAZIL_COUNTS_ALLOCATIONS == 0) return std::nullopt;
  return calls.load(std::memory_order_relaxed);
}

}  // namespace frazil::cli

#if FRAZIL_COUNTS_ALLOCATIONS

// The array and nothrow forms call these.
void* operator new(size_t size) {
  if (counts.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
  while (true) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

#endif
