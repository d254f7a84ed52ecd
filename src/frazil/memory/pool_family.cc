#include "frazil/memory/pool_family.h"

#include <algorithm>
#include <bit>
#include <new>

#include "frazil/base/error.h"
#include "frazil/memory/poison.h"
#include "frazil/memory/system_memory.h"

namespace frazil {

namespace {

constexpr int kSpins = 100;
constexpr int kDepthMax = 16;

// The mutex is held for tens of nanoseconds, going to sleep costs microseconds: try for a while first.
// The analysis cannot follow a try_lock in a loop.
void lock_spinning(Mutex& mutex) NO_THREAD_SAFETY_ANALYSIS {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (mutex.try_lock()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  mutex.lock();
}

class SCOPED_CAPABILITY PoolLock {
 public:
  explicit PoolLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { lock_spinning(mutex_); }
  ~PoolLock() RELEASE() { mutex_.unlock(); }
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;

 private:
  Mutex& mutex_;
};

// Batches let blocks below 2 MiB have huge pages. They are made only where they are a small part of the budget.
size_t choose_batch_bytes(size_t budget) {
  constexpr size_t kBatchBytes = 2 * kHugePageBytes;
  if (budget / 16 >= kBatchBytes) return kBatchBytes;
  return budget / 16 >= kHugePageBytes ? kHugePageBytes : 0;
}

// A slab counts as in use as long as one block in it is, so it has to be a small part of the budget too.
size_t choose_slab_bytes(size_t budget) {
  constexpr size_t kSmallSlabBytes = size_t{64} << 10;
  if (budget / 16 >= Slab::kBytesMax) return Slab::kBytesMax;
  return budget / 16 >= kSmallSlabBytes + kPageBytes ? kSmallSlabBytes + kPageBytes : 0;
}

size_t smallest_budget(size_t budget, const PoolState* parent) {
  for (; parent != nullptr; parent = parent->parent) budget = std::min(budget, parent->budget);
  return budget;
}

}  // namespace

struct PoolFamily::Graveyard {
  Graveyard() = default;
  Graveyard(const Graveyard&) = delete;
  Graveyard& operator=(const Graveyard&) = delete;
  ~Graveyard() {
    while (first != nullptr) delete std::exchange(first, first->next_dead_);
  }
  PoolState* first = nullptr;
};

void Block::destroy() noexcept {
  pool->family->release(*this);
}

PoolState::PoolState(std::shared_ptr<PoolFamily> family_, PoolState* parent_, const MemoryPool::Options& options)
    : family(std::move(family_)),
      parent(parent_),
      budget(options.budget_bytes),
      idle_max(options.idle_bytes_max),
      batch_bytes(choose_batch_bytes(smallest_budget(budget, parent))),
      slab_bytes(choose_slab_bytes(smallest_budget(budget, parent))) {}

PoolState::~PoolState() = default;

MutableBuffer PoolState::wrap(Block& block, size_t size) noexcept {
  poison_beyond(block.data, size + kBlockPadding, block.byte_size);
  MutableBuffer buffer;
  buffer.data_ = block.data;
  buffer.size_ = size;
  buffer.capacity_ = block.byte_size - kBlockPadding;
  buffer.owner_ = &block;
  return buffer;
}

PoolState* PoolFamily::open(const MemoryPool::Options& options, PoolState* parent) {
  int depth = 0;
  for (PoolState* above = parent; above != nullptr; above = above->parent) ++depth;
  if (depth >= kDepthMax) throw_error(ErrorKind::kInvalidArgument, "memory pools nest deeper than {}", kDepthMax);
  auto family = parent != nullptr ? parent->family : std::make_shared<PoolFamily>();
  auto pool = std::make_unique<PoolState>(family, parent, options);
  if (parent != nullptr) {
    PoolLock lock(family->mutex_);
    parent->children_.push_back(pool.get());
    ++parent->references_;
  }
  return pool.release();
}

void PoolFamily::close(PoolState& pool) noexcept {
  Graveyard graveyard;
  PoolLock lock(mutex_);
  pool.closed_ = true;  // no callback begins any more
  while (pool.calls_running_ > 0) calls_ended_.wait(mutex_);
  while (pool.oldest_idle_ != nullptr) move_idle_up(pool, *pool.oldest_idle_);
  pool.spare_slab_.reset();
  unreference(&pool, graveyard);
}

Block& PoolFamily::allocate(PoolState& pool, size_t size, size_t* promise) {
  std::unique_ptr<Block> spare;  // made without the lock
  bool too_large = size > kClassBytesMax;
  size_t size_class = too_large ? 0 : size_class_of(size);
  size_t bytes = too_large ? SIZE_MAX : class_block_bytes(size_class);
  size_t promised = promise == nullptr ? 0 : std::min(*promise, bytes);
  bool small = !too_large && is_small_class(size_class);
  if (small) spare = std::make_unique<Block>();

  PoolLock lock(mutex_);
  Block* block = small ? take_from_slab(pool, size_class, promised, spare) : nullptr;
  if (block == nullptr) {
    PoolState* full = find_full(pool, bytes, promised);
    if (full != nullptr || too_large) throw_limit(full != nullptr ? *full : pool, bytes, promised);
    block = small ? take_from_heap(pool, size_class, spare) : take_mapped(pool, size_class);
    if (block == nullptr) {
      throw MemoryLimitError(
          bytes, message("the operating system has no memory: {} bytes needed, {} held", bytes, pool.held_));
    }
  }
  bool fresh = block->is_zero || block->source == Block::Source::kHeap;
  for (PoolState* node = &pool; node != nullptr; node = node->parent) {
    node->promised_ -= promised;
    ++node->allocations_;
    if (fresh) ++node->system_allocations_;
  }
  if (promise != nullptr) *promise -= promised;
  ++pool.references_;
  return *block;
}

void PoolFamily::release(Block& block) noexcept {
  PoolState& pool = *block.pool;
  Graveyard graveyard;
  std::unique_ptr<Block> done;
  void* heap = nullptr;
  Calls calls = 0;
  poison(block.data, block.byte_size);
  {
    PoolLock lock(mutex_);
    switch (block.source) {
      case Block::Source::kMapped:
        give_back(block);
        break;
      case Block::Source::kSlab:
        done.reset(&block);
        give_to_slab(block);
        break;
      case Block::Source::kHeap:
        done.reset(&block);
        heap = block.data;
        for (PoolState* node = &pool; node != nullptr; node = node->parent) node->held_ -= block.byte_size;
        break;
    }
    calls = begin_calls(pool);
    unreference(&pool, graveyard);
  }
  if (heap != nullptr) {
    unpoison(heap, done->byte_size);
    ::operator delete(heap, std::align_val_t{kBlockAlignment});
  }
  if (calls != 0) run_calls(pool, calls);
}

bool PoolFamily::try_promise(PoolState& pool, size_t bytes) {
  PoolLock lock(mutex_);
  if (find_full(pool, bytes, 0) != nullptr) return false;
  for (PoolState* node = &pool; node != nullptr; node = node->parent) node->promised_ += bytes;
  return true;
}

void PoolFamily::promise(PoolState& pool, size_t bytes) {
  PoolLock lock(mutex_);
  if (PoolState* full = find_full(pool, bytes, 0)) throw_limit(*full, bytes, 0);
  for (PoolState* node = &pool; node != nullptr; node = node->parent) node->promised_ += bytes;
}

void PoolFamily::give_back_promise(PoolState& pool, size_t bytes) noexcept {
  if (bytes == 0) return;
  Calls calls = 0;
  {
    PoolLock lock(mutex_);
    for (PoolState* node = &pool; node != nullptr; node = node->parent) node->promised_ -= bytes;
    calls = begin_calls(pool);
  }
  if (calls != 0) run_calls(pool, calls);
}

void PoolFamily::charge(PoolState& pool, size_t bytes, size_t* promise) {
  const size_t promised = promise == nullptr ? 0 : std::min(*promise, bytes);
  PoolLock lock(mutex_);
  if (PoolState* full = find_full(pool, bytes, promised)) throw_limit(*full, bytes, promised);
  make_room(pool, nullptr, bytes);
  hold(pool, nullptr, bytes);
  for (PoolState* node = &pool; node != nullptr; node = node->parent) node->promised_ -= promised;
  if (promise != nullptr) *promise -= promised;
}

void PoolFamily::discharge(PoolState& pool, size_t bytes, size_t* promise) noexcept {
  if (bytes == 0) return;
  Calls calls = 0;
  {
    PoolLock lock(mutex_);
    for (PoolState* node = &pool; node != nullptr; node = node->parent) {
      node->held_ -= bytes;
      if (promise != nullptr) node->promised_ += bytes;
    }
    if (promise != nullptr) {
      *promise += bytes;
      return;  // nobody else can have them
    }
    calls = begin_calls(pool);
  }
  if (calls != 0) run_calls(pool, calls);
}

void PoolFamily::trim(PoolState& pool) noexcept {
  PoolLock lock(mutex_);
  while (drop_oldest(pool)) {
  }
}

size_t PoolFamily::available(const PoolState& pool) const noexcept {
  PoolLock lock(mutex_);
  size_t available = SIZE_MAX;
  for (const PoolState* node = &pool; node != nullptr; node = node->parent) {
    available = std::min(available, node->budget - (node->held_ - node->idle_ + node->promised_));
  }
  return available;
}

MemoryPoolStats PoolFamily::stats(const PoolState& pool) const noexcept {
  PoolLock lock(mutex_);
  return {.held_bytes = pool.held_,
          .held_peak_bytes = pool.held_peak_,
          .idle_bytes = pool.idle_,
          .promised_bytes = pool.promised_,
          .allocations = pool.allocations_,
          .system_allocations = pool.system_allocations_};
}

void PoolFamily::set_on_release(PoolState& pool, std::function<void()> callback) {
  PoolLock lock(mutex_);
  pool.on_release_ = std::move(callback);
}

// ---- budget ----

// The first pool from `pool` upwards in which `need` more bytes in use do not fit, when `promised` of them are
// promised.
PoolState* PoolFamily::find_full(PoolState& pool, size_t need, size_t promised) {
  for (PoolState* node = &pool; node != nullptr; node = node->parent) {
    size_t used = node->held_ - node->idle_ + node->promised_ - promised;
    if (need > node->budget - used) return node;
  }
  return nullptr;
}

void PoolFamily::throw_limit(const PoolState& full, size_t need, size_t promised) const {
  size_t in_use = full.held_ - full.idle_;
  size_t others = in_use + full.promised_ - promised;
  size_t needed = need > SIZE_MAX - others ? SIZE_MAX : others + need;
  throw MemoryLimitError(
      needed, message("memory budget exceeded: {} bytes needed, budget {} bytes, {} in use, {} promised", need,
                      full.budget, in_use, full.promised_));
}

// Drops idle blocks until `need` more bytes can be held in every pool from `pool` up to, without, `above`. Requires
// that find_full let them pass: what is not idle leaves the room.
void PoolFamily::make_room(PoolState& pool, const PoolState* above, size_t need) {
  for (PoolState* node = &pool; node != above; node = node->parent) {
    while (node->held_ > node->budget - need && drop_oldest(*node)) {
    }
  }
}

void PoolFamily::hold(PoolState& pool, const PoolState* above, size_t bytes) {
  for (PoolState* node = &pool; node != above; node = node->parent) {
    node->held_ += bytes;
    node->held_peak_ = std::max(node->held_peak_, node->held_);
  }
}

PoolState* PoolFamily::nearest_open(PoolState* pool) noexcept {
  while (pool != nullptr && pool->closed_) pool = pool->parent;
  return pool;
}

// ---- small blocks ----

Block* PoolFamily::take_from_slab(PoolState& pool, size_t size_class, size_t promised, std::unique_ptr<Block>& spare) {
  size_t bytes = class_block_bytes(size_class);
  SlabNode* slab = nullptr;
  std::byte* data = carve(pool, bytes, slab);
  if (data == nullptr) {
    if (!add_slab(pool, promised)) return nullptr;
    data = carve(pool, bytes, slab);
  }
  spare->source = Block::Source::kSlab;
  spare->data = data;
  spare->byte_size = bytes;
  spare->size_class = static_cast<uint32_t>(size_class);
  spare->pool = &pool;
  spare->slab = slab;
  return spare.release();
}

Block* PoolFamily::take_from_heap(PoolState& pool, size_t size_class, std::unique_ptr<Block>& spare) {
  size_t bytes = class_block_bytes(size_class);
  make_room(pool, nullptr, bytes);
  void* data = ::operator new(bytes, std::align_val_t{kBlockAlignment}, std::nothrow);
  if (data == nullptr) return nullptr;
  hold(pool, nullptr, bytes);
  spare->source = Block::Source::kHeap;
  spare->data = static_cast<std::byte*>(data);
  spare->byte_size = bytes;
  spare->size_class = static_cast<uint32_t>(size_class);
  spare->pool = &pool;
  return spare.release();
}

// Slabs are listed by the bit width of longest_run(): every slab of a higher list than that of the request fits, unless
// the bound was too high, which a failed take() corrects. Of the request's own list a few are tried.
std::byte* PoolFamily::carve(PoolState& pool, size_t bytes, SlabNode*& from) {
  constexpr int kTries = 4;
  size_t count = (bytes + Slab::kGranuleBytes - 1) / Slab::kGranuleBytes;
  size_t own_bucket = static_cast<size_t>(std::bit_width(count));
  for (size_t bucket = own_bucket; bucket < PoolState::kSlabBuckets; ++bucket) {
    int tries = 0;
    for (SlabNode* node = pool.slabs_[bucket]; node != nullptr;) {
      SlabNode* next = node->next;
      if (node->slab.longest_run() >= count) {
        std::byte* data = node->slab.take(bytes);
        if (static_cast<size_t>(std::bit_width(node->slab.longest_run())) != bucket) {
          unlink_slab(pool, *node);
          link_slab(pool, *node);
        }
        if (data != nullptr) {
          from = node;
          return data;
        }
      }
      if (bucket == own_bucket && ++tries == kTries) break;
      node = next;
    }
  }
  return nullptr;
}

bool PoolFamily::add_slab(PoolState& pool, size_t promised) {
  if (pool.slab_bytes == 0) return false;
  for (PoolState* node = &pool; node != nullptr; node = node->parent) {
    size_t used = node->held_ - node->idle_ + node->promised_ - promised;
    size_t limit = node->budget - node->budget / 8;
    if (used > limit || pool.slab_bytes > limit - used) return false;
  }
  std::unique_ptr<SlabNode> node = std::move(pool.spare_slab_);
  if (node == nullptr) node.reset(new (std::nothrow) SlabNode);
  if (node == nullptr) return false;
  Block* memory = take_mapped(pool, size_class_of(pool.slab_bytes - kPageBytes));
  if (memory == nullptr) return false;
  poison(memory->data, memory->byte_size);
  if (memory->is_zero) {
    for (PoolState* above = &pool; above != nullptr; above = above->parent) ++above->system_allocations_;
  }
  node->memory = memory;
  node->slab.reset(memory->data, memory->byte_size);
  link_slab(pool, *node.release());
  return true;
}

void PoolFamily::link_slab(PoolState& pool, SlabNode& node) {
  node.bucket = static_cast<size_t>(std::bit_width(node.slab.longest_run()));
  node.previous = nullptr;
  node.next = pool.slabs_[node.bucket];
  if (node.next != nullptr) node.next->previous = &node;
  pool.slabs_[node.bucket] = &node;
}

void PoolFamily::unlink_slab(PoolState& pool, SlabNode& node) {
  (node.previous != nullptr ? node.previous->next : pool.slabs_[node.bucket]) = node.next;
  if (node.next != nullptr) node.next->previous = node.previous;
}

void PoolFamily::give_to_slab(const Block& block) {
  PoolState& pool = *block.pool;
  SlabNode& node = *block.slab;
  node.slab.give(block.data, block.byte_size);
  if (node.slab.empty()) {
    unlink_slab(pool, node);
    give_back(*node.memory);
    std::unique_ptr<SlabNode> done(&node);
    if (!pool.closed_) pool.spare_slab_ = std::move(done);
  } else if (static_cast<size_t>(std::bit_width(node.slab.longest_run())) != node.bucket) {
    unlink_slab(pool, node);
    link_slab(pool, node);
  }
}

// ---- large blocks ----

// Requires that the block fits (find_full). nullptr if the operating system has no memory.
Block* PoolFamily::take_mapped(PoolState& pool, size_t size_class) {
  Block* block = take_idle(pool, size_class);
  if (block == nullptr) block = map_fresh(pool, size_class);
  return block;
}

Block* PoolFamily::take_idle(PoolState& pool, size_t size_class) {
  PoolState* from = &pool;
  while (from != nullptr && from->idle_by_class_[size_class] == nullptr) from = from->parent;
  if (from == nullptr) return nullptr;
  Block& block = *from->idle_by_class_[size_class];
  unlink_idle(block);
  for (PoolState* node = from; node != nullptr; node = node->parent) node->idle_ -= block.byte_size;
  if (from != &pool) {
    make_room(pool, from, block.byte_size);
    hold(pool, from, block.byte_size);
    --from->mapped_count_[size_class];
    ++pool.mapped_count_[size_class];
    block.pool = &pool;
  }
  if (!block.unique()) block.retain();  // its last reference went, unless it was never in use
  return &block;
}

Block* PoolFamily::map_fresh(PoolState& pool, size_t size_class) {
  size_t bytes = class_block_bytes(size_class);
  make_room(pool, nullptr, bytes);
  size_t count = batch_count(pool, size_class);
  std::byte* data = map_memory(count * bytes, count > 1 || bytes >= kHugePageBytes);
  if (data == nullptr) {
    PoolState* root = &pool;
    while (root->parent != nullptr) root = root->parent;
    while (drop_oldest(*root)) {
    }
    count = 1;
    data = map_memory(bytes, bytes >= kHugePageBytes);
    if (data == nullptr) return nullptr;
  }
  Block* first = nullptr;
  for (size_t index = 0; index < count; ++index) {
    Block* block = new (std::nothrow) Block;
    if (block == nullptr) {
      unmap_memory(data + index * bytes, (count - index) * bytes);
      break;
    }
    block->data = data + index * bytes;
    block->byte_size = bytes;
    block->size_class = static_cast<uint32_t>(size_class);
    block->pool = &pool;
    block->is_zero = true;
    hold(pool, nullptr, bytes);
    ++pool.mapped_count_[size_class];
    if (first == nullptr) {
      first = block;
    } else {
      link_idle(pool, *block);
    }
  }
  return first;
}

// How many blocks to map at once. Blocks that lie beside each other can share huge pages, where each alone would be
// touched in pages of 4 KiB; and unmapping one by one stays possible. Only when the pool already holds half as much in
// this class, so that a small job holds little, and only while half of the budget is free, so that nothing is
// displaced.
size_t PoolFamily::batch_count(PoolState& pool, size_t size_class) {
  size_t bytes = class_block_bytes(size_class);
  if (bytes >= kHugePageBytes || pool.mapped_count_[size_class] * bytes < pool.batch_bytes / 2) return 1;
  size_t count = (pool.batch_bytes + bytes - 1) / bytes;
  if (count <= 1 || pool.idle_max - std::min(pool.idle_max, pool.idle_) < count * bytes) return 1;
  for (PoolState* node = &pool; node != nullptr; node = node->parent) {
    if (node->held_ + count * bytes > node->budget / 2) return 1;
  }
  return count;
}

// A mapped block that was in use goes to where it can be used again.
void PoolFamily::give_back(Block& block) {
  PoolState* target = nearest_open(block.pool);
  for (PoolState* node = block.pool; node != target; node = node->parent) node->held_ -= block.byte_size;
  --block.pool->mapped_count_[block.size_class];
  if (target == nullptr) {
    unmap(block);
    return;
  }
  ++target->mapped_count_[block.size_class];
  block.pool = target;
  block.is_zero = false;
  link_idle(*target, block);
  while (target->idle_ > target->idle_max && drop_oldest(*target)) {
  }
}

// An idle block of a closed pool.
void PoolFamily::move_idle_up(PoolState& pool, Block& block) {
  PoolState* target = nearest_open(pool.parent);
  if (target == nullptr) {
    drop_idle(block);
    return;
  }
  unlink_idle(block);
  for (PoolState* node = &pool; node != nullptr; node = node->parent) node->idle_ -= block.byte_size;
  for (PoolState* node = &pool; node != target; node = node->parent) node->held_ -= block.byte_size;
  --pool.mapped_count_[block.size_class];
  ++target->mapped_count_[block.size_class];
  block.pool = target;
  link_idle(*target, block);
  while (target->idle_ > target->idle_max && drop_oldest(*target)) {
  }
}

// Links it into the lists of `pool` and counts it as idle there and above.
void PoolFamily::link_idle(PoolState& pool, Block& block) {
  Block*& head = pool.idle_by_class_[block.size_class];
  block.class_previous = nullptr;
  block.class_next = head;
  if (head != nullptr) head->class_previous = &block;
  head = &block;
  block.age_next = nullptr;
  block.age_previous = pool.newest_idle_;
  (pool.newest_idle_ != nullptr ? pool.newest_idle_->age_next : pool.oldest_idle_) = &block;
  pool.newest_idle_ = &block;
  for (PoolState* node = &pool; node != nullptr; node = node->parent) node->idle_ += block.byte_size;
}

// Leaves the counters to the caller.
void PoolFamily::unlink_idle(Block& block) {
  PoolState& pool = *block.pool;
  (block.class_previous != nullptr ? block.class_previous->class_next : pool.idle_by_class_[block.size_class]) =
      block.class_next;
  if (block.class_next != nullptr) block.class_next->class_previous = block.class_previous;
  (block.age_previous != nullptr ? block.age_previous->age_next : pool.oldest_idle_) = block.age_next;
  (block.age_next != nullptr ? block.age_next->age_previous : pool.newest_idle_) = block.age_previous;
}

void PoolFamily::drop_idle(Block& block) {
  unlink_idle(block);
  for (PoolState* node = block.pool; node != nullptr; node = node->parent) {
    node->idle_ -= block.byte_size;
    node->held_ -= block.byte_size;
  }
  --block.pool->mapped_count_[block.size_class];
  unmap(block);
}

// Of the pool itself, then of its children; false if nothing is idle.
bool PoolFamily::drop_oldest(PoolState& pool) {
  if (pool.oldest_idle_ != nullptr) {
    drop_idle(*pool.oldest_idle_);
    return true;
  }
  for (PoolState* child : pool.children_) {
    if (drop_oldest(*child)) return true;
  }
  return false;
}

void PoolFamily::unmap(Block& block) {
  unpoison(block.data, block.byte_size);
  unmap_memory(block.data, block.byte_size);
  delete &block;
}

// ---- callbacks and the end ----

// Takes a reference to `pool`, which run_calls gives back, if there is anything to call.
PoolFamily::Calls PoolFamily::begin_calls(PoolState& pool) {
  Calls calls = 0;
  int index = 0;
  for (PoolState* node = &pool; node != nullptr; node = node->parent, ++index) {
    if (node->on_release_ == nullptr || node->closed_) continue;
    ++node->calls_running_;
    calls |= Calls{1} << index;
  }
  if (calls != 0) ++pool.references_;
  return calls;
}

void PoolFamily::run_calls(PoolState& pool, Calls calls) noexcept {
  int index = 0;
  for (PoolState* node = &pool; node != nullptr; node = node->parent, ++index) {
    if ((calls >> index & 1) != 0) node->on_release_();
  }
  Graveyard graveyard;
  PoolLock lock(mutex_);
  index = 0;
  for (PoolState* node = &pool; node != nullptr; node = node->parent, ++index) {
    if ((calls >> index & 1) != 0) --node->calls_running_;
  }
  calls_ended_.notify_all();
  unreference(&pool, graveyard);
}

void PoolFamily::unreference(PoolState* pool, Graveyard& graveyard) {
  while (pool != nullptr && --pool->references_ == 0) {
    if (pool->parent != nullptr) std::erase(pool->parent->children_, pool);
    pool->next_dead_ = graveyard.first;
    graveyard.first = pool;
    pool = pool->parent;
  }
}

}  // namespace frazil
