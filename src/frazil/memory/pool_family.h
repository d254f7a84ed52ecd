// What stands behind MemoryPool: a pool and its children share one PoolFamily, whose one mutex guards the counters and
// lists of them all. One lock, because a budget is only exact if a pool, its parents and the siblings whose idle blocks
// it displaces change together; it is held for some tens of nanoseconds, or for a system call when memory is fresh.
//
//   PoolFamily --- mutex
//     PoolState (root)                 counters include those of the children
//       PoolState (child)
//         Block (in use)               counted reference to its PoolState: a block may outlive the MemoryPool
//         Block (idle)                 in the lists of its PoolState
//         Slab -> Block                cut into small blocks; in use as a whole while one of them is
//
// A released block goes to its own pool's idle list, or, when that pool is closed, to the nearest one above that is
// open. An allocation looks for an idle block of its class there in the same order before it maps fresh memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "frazil/base/mutex.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/memory/size_class.h"
#include "frazil/memory/slab.h"

namespace frazil {

class Block;

struct SlabNode {
  Slab slab;
  Block* memory = nullptr;
  SlabNode* previous = nullptr;
  SlabNode* next = nullptr;
  size_t bucket = 0;
};

// Memory of a pool. In use it is the owner of a MutableBuffer or of Buffers, idle it is a node of two lists.
class Block final : public BufferOwner {
 public:
  enum class Source : uint8_t { kMapped, kSlab, kHeap };

  std::byte* data = nullptr;
  size_t byte_size = 0;  // all of it, padding included
  PoolState* pool = nullptr;
  SlabNode* slab = nullptr;  // of kSlab
  uint32_t size_class = 0;
  Source source = Source::kMapped;
  bool is_zero = false;  // fresh from the operating system

  // Idle lists: of the same class, last released first; of all classes of the pool, by the time of release.
  Block* class_previous = nullptr;
  Block* class_next = nullptr;
  Block* age_previous = nullptr;
  Block* age_next = nullptr;

 protected:
  void destroy() noexcept override;
};

// Only PoolFamily touches what is in it, with its mutex held, except for the members that are constant.
class PoolState {
 public:
  PoolState(std::shared_ptr<PoolFamily> family, PoolState* parent, const MemoryPool::Options& options);
  ~PoolState();
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;

  // What a fresh block of `size` usable bytes looks like from outside.
  static MutableBuffer wrap(Block& block, size_t size) noexcept;

  const std::shared_ptr<PoolFamily> family;
  PoolState* const parent;  // counted
  const size_t budget;
  const size_t idle_max;
  const size_t batch_bytes;  // fresh memory is mapped in batches of this size; 0: block by block
  const size_t slab_bytes;   // 0: the budget is too small for slabs

 private:
  friend class PoolFamily;
  static constexpr size_t kSlabBuckets = 14;

  size_t references_ = 1;  // the MemoryPool, blocks in use, children, running callbacks
  bool closed_ = false;    // the MemoryPool is gone
  std::vector<PoolState*> children_;

  // Of this pool and its children.
  size_t held_ = 0;
  size_t held_peak_ = 0;
  size_t idle_ = 0;
  size_t promised_ = 0;
  uint64_t allocations_ = 0;
  uint64_t system_allocations_ = 0;

  // Of this pool alone.
  std::array<Block*, kSizeClassCount> idle_by_class_{};
  Block* oldest_idle_ = nullptr;
  Block* newest_idle_ = nullptr;
  std::array<uint32_t, kSizeClassCount> mapped_count_{};
  std::array<SlabNode*, kSlabBuckets> slabs_{};  // by the bit width of their longest run
  std::unique_ptr<SlabNode> spare_slab_;

  std::function<void()> on_release_;  // set once, before other threads come
  size_t calls_running_ = 0;
  PoolState* next_dead_ = nullptr;
};

class PoolFamily {
 public:
  // The result holds one reference, which close() gives back.
  static PoolState* open(const MemoryPool::Options& options, PoolState* parent);
  void close(PoolState& pool) noexcept EXCLUDES(mutex_);

  // A block in use with one reference to it. Bytes of `promise`, if there is one, are used up. Throws MemoryLimitError.
  Block& allocate(PoolState& pool, size_t size, size_t* promise) EXCLUDES(mutex_);
  void release(Block& block) noexcept EXCLUDES(mutex_);

  bool try_promise(PoolState& pool, size_t bytes) EXCLUDES(mutex_);
  void promise(PoolState& pool, size_t bytes) EXCLUDES(mutex_);  // throws MemoryLimitError
  void give_back_promise(PoolState& pool, size_t bytes) noexcept EXCLUDES(mutex_);
  // From and into `promise` first, if it is not nullptr. charge throws MemoryLimitError.
  void charge(PoolState& pool, size_t bytes, size_t* promise) EXCLUDES(mutex_);
  void discharge(PoolState& pool, size_t bytes, size_t* promise) noexcept EXCLUDES(mutex_);

  void trim(PoolState& pool) noexcept EXCLUDES(mutex_);
  size_t available(const PoolState& pool) const noexcept EXCLUDES(mutex_);
  MemoryPoolStats stats(const PoolState& pool) const noexcept EXCLUDES(mutex_);
  void set_on_release(PoolState& pool, std::function<void()> callback) EXCLUDES(mutex_);

 private:
  // States whose last reference went, deleted when the lock is gone: they may own the family.
  struct Graveyard;
  // The pools of a chain whose callbacks are due: bit i is the i-th from the pool upwards.
  using Calls = uint32_t;

  PoolState* find_full(PoolState& pool, size_t need, size_t promised) REQUIRES(mutex_);
  [[noreturn]] void throw_limit(const PoolState& full, size_t need, size_t promised) const REQUIRES(mutex_);

  Block* take_from_slab(PoolState& pool, size_t size_class, size_t promised, std::unique_ptr<Block>& spare)
      REQUIRES(mutex_);
  Block* take_from_heap(PoolState& pool, size_t size_class, std::unique_ptr<Block>& spare) REQUIRES(mutex_);
  std::byte* carve(PoolState& pool, size_t bytes, SlabNode*& from) REQUIRES(mutex_);
  bool add_slab(PoolState& pool, size_t promised) REQUIRES(mutex_);
  void link_slab(PoolState& pool, SlabNode& node) REQUIRES(mutex_);
  void unlink_slab(PoolState& pool, SlabNode& node) REQUIRES(mutex_);
  void give_to_slab(const Block& block) REQUIRES(mutex_);

  Block* take_mapped(PoolState& pool, size_t size_class) REQUIRES(mutex_);
  Block* take_idle(PoolState& pool, size_t size_class) REQUIRES(mutex_);
  Block* map_fresh(PoolState& pool, size_t size_class) REQUIRES(mutex_);
  size_t batch_count(PoolState& pool, size_t size_class) REQUIRES(mutex_);
  void give_back(Block& block) REQUIRES(mutex_);
  void move_idle_up(PoolState& pool, Block& block) REQUIRES(mutex_);
  void link_idle(PoolState& pool, Block& block) REQUIRES(mutex_);
  void unlink_idle(Block& block) REQUIRES(mutex_);
  void drop_idle(Block& block) REQUIRES(mutex_);
  bool drop_oldest(PoolState& pool) REQUIRES(mutex_);
  void unmap(Block& block) REQUIRES(mutex_);

  void make_room(PoolState& pool, const PoolState* above, size_t need) REQUIRES(mutex_);
  void hold(PoolState& pool, const PoolState* above, size_t bytes) REQUIRES(mutex_);
  static PoolState* nearest_open(PoolState* pool) noexcept;

  Calls begin_calls(PoolState& pool) REQUIRES(mutex_);
  void run_calls(PoolState& pool, Calls calls) noexcept EXCLUDES(mutex_);
  void unreference(PoolState* pool, Graveyard& graveyard) REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar calls_ended_;
};

}  // namespace frazil
