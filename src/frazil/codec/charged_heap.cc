#include "frazil/codec/charged_heap.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace frazil {

namespace {

// The size of a block stands in front of it.
constexpr size_t kHeaderBytes = alignof(std::max_align_t);

}  // namespace

void ChargedHeap::rethrow() {
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void* ChargedHeap::do_allocate(size_t size) noexcept {
  try {
    pool_->charge(size + kHeaderBytes);
  } catch (...) {
    if (failure_ == nullptr) failure_ = std::current_exception();
    return nullptr;
  }
  void* const block = std::malloc(size + kHeaderBytes);
  if (block == nullptr) {
    pool_->discharge(size + kHeaderBytes);
    if (failure_ == nullptr) failure_ = std::make_exception_ptr(std::bad_alloc());
    return nullptr;
  }
  *static_cast<size_t*>(block) = size + kHeaderBytes;
  charged_bytes_ += size + kHeaderBytes;
  return static_cast<std::byte*>(block) + kHeaderBytes;
}

void ChargedHeap::do_free(void* block) noexcept {
  if (block == nullptr) return;
  void* const start = static_cast<std::byte*>(block) - kHeaderBytes;
  const size_t size = *static_cast<size_t*>(start);
  pool_->discharge(size);
  charged_bytes_ -= size;
  std::free(start);
}

}  // namespace frazil
