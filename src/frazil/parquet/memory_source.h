// Where a step of a reader takes memory from: the reservation that the caller passed. An allocation that does not fit is
// an outcome, not a failure: the step stops in a state from which it can go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {

// A pool block of the size that was asked for, whatever part of it is in use.
class Block {
 public:
  Block() noexcept = default;
  Block(Block&& other) noexcept : buffer_(std::move(other.buffer_)), capacity_(std::exchange(other.capacity_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  size_t capacity() const { return capacity_; }
  // What it takes of the pool.
  size_t bytes_in_use() const { return capacity_ == 0 ? 0 : MemoryPool::block_bytes(capacity_); }
  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(buffer_.data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(buffer_.data());
  }
  // Its first `size` <= capacity() bytes as an immutable buffer; *this is empty afterwards.
  Buffer freeze(size_t size) {
    capacity_ = 0;
    buffer_.set_size(size);
    return std::move(buffer_).freeze();
  }

 private:
  friend class MemorySource;
  MutableBuffer buffer_;
  size_t capacity_ = 0;
};

// Several lanes of a reader may use it at the same time, each for blocks of its own.
class MemorySource {
 public:
  explicit MemorySource(Reservation& reservation) : reservation_(reservation) {}

  // A block of `size` bytes into `target`, whose old block is freed first. False, and target empty, if reservation and
  // pool lack the room; needed_bytes() then says what the reservation must offer.
  [[nodiscard]] bool allocate(Block& target, size_t size) EXCLUDES(mutex_) {
    free(target);
    const size_t block = MemoryPool::block_bytes(size);
    MutexLock lock(mutex_);
    if (!require(block)) return false;
    target.buffer_ = reservation_.allocate(size);
    target.capacity_ = size;
    return true;
  }

  // Frees the block and takes its bytes back into the reservation, if nobody else was faster.
  void free(Block& block) EXCLUDES(mutex_) {
    if (block.capacity_ == 0) return;
    const size_t bytes = block.bytes_in_use();
    block = Block();
    MutexLock lock(mutex_);
    static_cast<void>(reservation_.try_grow(bytes));
  }

  // Runs `work`, which takes memory of the pool that it is passed: a way into the reservation. While it runs, other lanes
  // wait for theirs. False if it lacks room.
  template <typename Work>
  [[nodiscard]] bool run_on_promise(Work&& work) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    MemoryPool way(reservation_);
    try {
      work(way);
      return true;
    } catch (const MemoryLimitError&) {
      needed_bytes_ = std::max(needed_bytes_, way.asked_bytes());
      return false;
    }
  }

  // After a false: the most that any of them would have needed.
  size_t needed_bytes() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return needed_bytes_;
  }

 private:
  bool require(size_t bytes) REQUIRES(mutex_) {
    if (bytes <= reservation_.available() || reservation_.try_grow(bytes - reservation_.available())) return true;
    needed_bytes_ = std::max(needed_bytes_, bytes);
    return false;
  }

  mutable Mutex mutex_;
  Reservation& reservation_ GUARDED_BY(mutex_);
  size_t needed_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace frazil::parquet
