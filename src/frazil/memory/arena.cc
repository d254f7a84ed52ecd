#include "frazil/memory/arena.h"

#include <algorithm>

#include "frazil/memory/poison.h"

namespace frazil {

Arena::Arena(Arena&& other) noexcept
    : pool_(other.pool_),
      block_bytes_(other.block_bytes_),
      blocks_(std::exchange(other.blocks_, {})),
      cursor_(std::exchange(other.cursor_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      used_bytes_(std::exchange(other.used_bytes_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this == &other) return *this;
  pool_ = other.pool_;
  block_bytes_ = other.block_bytes_;
  blocks_ = std::exchange(other.blocks_, {});
  cursor_ = std::exchange(other.cursor_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  used_bytes_ = std::exchange(other.used_bytes_, 0);
  return *this;
}

void* Arena::allocate(size_t size, size_t alignment) {
  size_t gap = (alignment - reinterpret_cast<uintptr_t>(cursor_) % alignment) % alignment;
  size_t left = static_cast<size_t>(end_ - cursor_);
  if (cursor_ == nullptr || gap > left || size > left - gap) return allocate_block(size);
  std::byte* data = cursor_ + gap;
  cursor_ = data + size;
  used_bytes_ += size;
  unpoison(data, size);
  return data;
}

// A block starts on a 64-byte boundary, which is every alignment.
void* Arena::allocate_block(size_t size) {
  blocks_.reserve(blocks_.size() + 1);
  MutableBuffer block = pool_->allocate(std::max(size, block_bytes_));
  std::byte* data = block.data();
  // What is left of the old block may be more than of the new one.
  if (cursor_ == nullptr || block.size() - size > static_cast<size_t>(end_ - cursor_)) {
    cursor_ = data + size;
    end_ = data + block.size();
  }
  poison(data + size, block.size() - size);
  blocks_.push_back(std::move(block));
  used_bytes_ += size;
  return data;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* data = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(data, text.data(), text.size());
  return {data, text.size()};
}

}  // namespace frazil
