// Bytes that grow in pool memory and are used again: what encoders append to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {

class EncodeBuffer {
 public:
  // `pool` outlives it.
  explicit EncodeBuffer(MemoryPool& pool) : pool_(&pool) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::byte* data() { return block_.data(); }
  const std::byte* data() const { return block_.data(); }
  std::span<const std::byte> span() const { return {block_.data(), size_}; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(block_.data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(block_.data());
  }
  // Of T, where it holds nothing else.
  template <typename T>
  std::span<const T> items() const {
    return {as<T>(), size_ / sizeof(T)};
  }

  // Room for `count` more bytes, and kBlockPadding behind them; where they begin. Throws MemoryLimitError.
  std::byte* reserve(size_t count) {
    if (size_ + count > block_.size()) grow(count);
    return block_.data() + size_;
  }
  // Counts bytes that were written into what was reserved.
  void advance(size_t count) { size_ += count; }
  std::byte* extend(size_t count) {
    std::byte* const target = reserve(count);
    size_ += count;
    return target;
  }

  void append(const void* bytes, size_t count) {
    if (count != 0) std::memcpy(extend(count), bytes, count);
  }
  template <typename T>
  void append(T value) {
    store(extend(sizeof(T)), value);
  }
  void append_varint(uint64_t value) {
    std::byte* const start = reserve(10);
    std::byte* cursor = start;
    for (; value >= 0x80; value >>= 7) *cursor++ = static_cast<std::byte>(value | 0x80);
    *cursor++ = static_cast<std::byte>(value);
    size_ += static_cast<size_t>(cursor - start);
  }
  void append_zigzag(int64_t value) {
    append_varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }

  // How large it gets at most, mostly: once a quarter is needed, it has room for all, rather than for some power of two.
  void expect(size_t most) { expected_ = most; }

  // Takes the memory of `other`, which gets this one's. Both are empty then.
  void swap_memory(EncodeBuffer& other) {
    std::swap(block_, other.block_);
    size_ = 0;
    other.size_ = 0;
  }

  // Empty, with its memory.
  void clear() { size_ = 0; }
  // Back to an earlier size.
  void truncate(size_t size) { size_ = size; }
  // Empty, without memory.
  void release() {
    size_ = 0;
    block_ = {};
  }
  // The bytes that it has in a block of their size, if much of a large one is unused.
  void shrink();
  size_t capacity() const { return block_.size(); }

 private:
  void grow(size_t count);

  MemoryPool* pool_;
  MutableBuffer block_;  // all of its size is writable; size_ is what is used
  size_t size_ = 0;
  size_t expected_ = 0;  // 0: nothing is known
};

}  // namespace frazil::parquet
