// MemoryPool: where every large byte comes from. It keeps blocks by size class and hands them out again (the first
// touch of a fresh page costs more than filling it), never holds more than its budget, and knows its exact peak.
//
//   held     = bytes mapped from the operating system for this pool: blocks in use, idle cached blocks, rounding of
//              the size classes, and memory charged by others (codec contexts)
//   in use   = held - idle; small blocks are cut from slabs, which are in use as a whole while one of their blocks is
//   promised = the part of live Reservations that no block has used up
//
// At any moment held <= budget and in use + promised <= budget. Idle blocks are given back to the operating system
// when a new block would not fit beside them. A child pool's bytes count in its parent too. When a child ends, its idle
// blocks become its parent's.
//
// An allocation fails only if its block_bytes do not fit beside what is in use and promised. No slab is begun in the
// last eighth of a budget: small blocks then come one by one from the C heap, counted by their block_bytes. So what was
// promised can be had, whatever the mixture of sizes.
//
// After fork() the child may use a pool of its parent, in its own copy, if no other thread used that pool at the fork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "frazil/memory/buffer.h"
#include "frazil/memory/poison.h"

namespace frazil {

// Every block starts on a 64-byte boundary and has at least kBlockPadding readable and writable bytes after its
// requested size, so that kernels may over-read and over-write by one vector.
inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kBlockPadding = 64;

class PoolState;  // shared by the pool and the blocks that outlive it
class PoolFamily;

// Memory of a pool with one owner, writable. freeze() turns it into a Buffer without copying.
class MutableBuffer {
 public:
  MutableBuffer() noexcept = default;
  MutableBuffer(MutableBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  MutableBuffer& operator=(MutableBuffer&& other) noexcept;
  ~MutableBuffer() {
    if (owner_ != nullptr) owner_->release();
  }

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  // Bytes that size may grow to in place; the padding is not part of it.
  size_t capacity() const noexcept { return capacity_; }
  std::span<std::byte> span() noexcept { return {data_, size_}; }
  template <typename T>
  T* as() noexcept {
    return reinterpret_cast<T*>(data_);
  }
  // Requires size <= capacity(). Grow before writing: bytes beyond size() and the padding are poisoned under
  // AddressSanitizer.
  void set_size(size_t size) noexcept {
    size_ = size;
    poison_beyond(data_, size + kBlockPadding, capacity_ + kBlockPadding);
  }
  // Zeroes the padding (Arrow wants padding zeroed) and gives the ownership away; *this is empty afterwards.
  Buffer freeze() &&;

 private:
  friend class PoolState;
  friend class MemoryPool;
  friend class Reservation;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  BufferOwner* owner_ = nullptr;
};

// A promise of bytes, made before work starts. Blocks allocated through it use it up; what is left returns to the pool
// with it. One thread at a time.
class Reservation {
 public:
  Reservation() noexcept = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  // Bytes not yet used up.
  size_t available() const noexcept { return available_; }
  // A block of at least `size` bytes. Uses up MemoryPool::block_bytes(size) of the promise; what is missing is asked
  // from the pool. Throws MemoryLimitError if the pool cannot give it.
  MutableBuffer allocate(size_t size);
  // Asks the pool for more; false if it cannot be had now.
  bool try_grow(size_t bytes);
  // Gives back down to `bytes`.
  void shrink(size_t bytes) noexcept;
  // The pool it belongs to. Requires a reservation that a pool made.
  class MemoryPool& pool() const noexcept { return *pool_; }
  explicit operator bool() const noexcept { return pool_ != nullptr; }

 private:
  friend class MemoryPool;
  Reservation(class MemoryPool& pool, size_t bytes) noexcept : pool_(&pool), available_(bytes) {}
  class MemoryPool* pool_ = nullptr;  // outlives the reservation
  size_t available_ = 0;
};

struct MemoryPoolStats {
  size_t held_bytes = 0;
  size_t held_peak_bytes = 0;
  size_t idle_bytes = 0;
  size_t promised_bytes = 0;
  uint64_t allocations = 0;         // blocks handed out
  uint64_t system_allocations = 0;  // of them, those that needed fresh memory of the operating system
};

class MemoryPool {
 public:
  static constexpr size_t kUnlimited = SIZE_MAX;

  struct Options {
    size_t budget_bytes = kUnlimited;
    // The bytes of this pool count in it too, and its budget caps them. Outlives this pool and all its blocks.
    MemoryPool* parent = nullptr;
    // Idle blocks beyond this go back to the operating system at once, the oldest first.
    size_t idle_bytes_max = kUnlimited;
  };

  MemoryPool() : MemoryPool(Options{}) {}
  explicit MemoryPool(Options options);
  // No pool of its own but a way into the reservation's: blocks use up the promise first, so that code which takes
  // memory of a pool can run on what it was promised. Blocks, charges and reservations belong to the reservation's pool
  // and outlive this object, which the reservation outlives; what is discharged this way is promised again. One thread
  // at a time, as the reservation.
  explicit MemoryPool(Reservation& reservation);
  // Blocks still in use stay valid; they free themselves when their last Buffer goes.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // The bytes that a block for `size` bytes takes from the budget: padding and size class included. Monotonic.
  static size_t block_bytes(size_t size) noexcept;

  // Throws MemoryLimitError if in use + promised would pass the budget. Contents are undefined. Thread-safe.
  MutableBuffer allocate(size_t size);
  MutableBuffer allocate_zeroed(size_t size);
  // A copy of `bytes` in a block of this pool; of none, an empty buffer without a block.
  Buffer copy(std::span<const std::byte> bytes);

  // A promise of `bytes`, or nothing if it does not fit now.
  std::optional<Reservation> try_reserve(size_t bytes);
  // The same; throws MemoryLimitError if it does not fit now.
  Reservation reserve(size_t bytes);

  // Counts memory that others hold on the pool's behalf (a codec's context, a parsed tree) as held and in use.
  // charge throws MemoryLimitError if it does not fit.
  void charge(size_t bytes);
  void discharge(size_t bytes) noexcept;

  // Gives all idle blocks back to the operating system.
  void trim() noexcept;

  // Of a way into a reservation: what it had to offer for everything that was asked for until now, the block that could
  // not be had included.
  size_t asked_bytes() const noexcept { return asked_bytes_; }

  size_t budget_bytes() const noexcept;
  // budget - in use - promised, with the parent's limit considered.
  size_t available_bytes() const noexcept;
  // Readable while others allocate; the numbers are exact each, not a snapshot of one moment.
  MemoryPoolStats stats() const noexcept;

  // Called, without any lock held, after a block was released or a promise given back: a scheduler waiting for memory
  // wakes up. Set once, before the pool is used by several threads; it must not throw. Blocks that outlive the pool do
  // not call it.
  void on_release(std::function<void()> callback);

 private:
  friend class Reservation;
  MemoryPool& owner() noexcept { return reservation_ != nullptr ? reservation_->pool() : *this; }
  // The promise to use up for `bytes`.
  size_t* promise_for(size_t bytes) noexcept;

  PoolState* const state_;
  Reservation* const reservation_ = nullptr;
  size_t asked_bytes_ = 0;
};

}  // namespace frazil
