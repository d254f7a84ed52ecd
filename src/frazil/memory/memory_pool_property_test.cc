// The accounting of a family of pools against a model, under random operations; then the same under threads.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <latch>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/memory/poison.h"

namespace frazil {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t in_use(const MemoryPool& pool) {
  MemoryPoolStats stats = pool.stats();
  return stats.held_bytes - stats.idle_bytes;
}

struct Step {
  uint8_t action;
  uint8_t pool;
  uint32_t value;
};

std::vector<Step> steps_from(const std::vector<uint64_t>& values) {
  std::vector<Step> steps;
  for (uint64_t value : values) {
    value *= 0x9e3779b97f4a7c15;  // RapidCheck begins with small numbers
    steps.push_back(
        {static_cast<uint8_t>(value >> 56), static_cast<uint8_t>(value >> 48), static_cast<uint32_t>(value)});
  }
  return steps;
}

// Sizes of which many collide in one class, around the limits of the kinds of blocks.
size_t size_of(uint32_t value, bool small) {
  size_t spread = value >> 8;
  if (small) return spread % (value % 2 == 0 ? 600 : 57'345);
  switch (value % 4) {
    case 0:
      return 57'345 + spread % 20'000;
    case 1:
      return (spread % 8 + 1) * (64 << 10);
    case 2:
      return kMiB + spread % 3 * 1000;
    default:
      return spread % (4 * kMiB) + 57'345;
  }
}

// Pool 0 is the parent of 1 and 2. The model has what every pool must say, except what slabs round up: with small
// blocks in the mixture, in use is taken from the pool and only its change is checked.
class Family {
 public:
  Family(std::array<size_t, 3> budgets, bool small) : budgets_(budgets), small_(small) {
    for (size_t index = 0; index < 3; ++index) open(index);
  }

  void run(const Step& step) {
    size_t index = step.pool % 3;
    switch (step.action % 10) {
      case 0:
      case 1:
      case 2:
        allocate(index, size_of(step.value, small_ && step.action % 2 == 0), nullptr);
        break;
      case 3:
      case 4:
        release(step.value);
        break;
      case 5:
        reserve(index, step.value % (4 * kMiB));
        break;
      case 6:
        use_reservation(step);
        break;
      case 7:
        end_or_shrink_reservation(step);
        break;
      case 8:
        charge(index, step.value % (3 * kMiB), step.value % 2 == 0);
        break;
      default:
        if (step.value % 4 == 0)
          reopen(index == 0 ? 1 : index);
        else if (step.value % 4 == 1)
          pools_[index]->trim();
        break;
    }
    check();
  }

  void finish() {
    blocks_.clear();
    reservations_.clear();
    for (size_t index = 0; index < 3; ++index) {
      promised_[index] = 0;
      RC_ASSERT(in_use(*pools_[index]) == charged_[index]);
    }
    pools_[0]->trim();
    for (size_t index = 0; index < 3; ++index) RC_ASSERT(pools_[index]->stats().held_bytes == charged_[index]);
  }

 private:
  struct Held {
    MutableBuffer block;
    size_t pool;
    size_t bytes;
    uint8_t tag;
  };
  struct Promise {
    Reservation reservation;
    size_t pool;
  };

  void open(size_t index) {
    pools_[index] = std::make_unique<MemoryPool>(
        MemoryPool::Options{.budget_bytes = budgets_[index], .parent = index == 0 ? nullptr : pools_[0].get()});
    peaks_[index] = 0;
  }

  template <typename F>
  static void for_chain(size_t index, F f) {
    f(index);
    if (index != 0) f(0);
  }

  bool fits(size_t index, size_t bytes, size_t promised) const {
    bool fits = true;
    for_chain(index, [&](size_t i) { fits &= in_use(*pools_[i]) + promised_[i] - promised + bytes <= budgets_[i]; });
    return fits;
  }

  void allocate(size_t index, size_t size, Reservation* reservation) {
    size_t bytes = MemoryPool::block_bytes(size);
    bool small = bytes < (64 << 10);
    size_t promised = reservation == nullptr ? 0 : std::min(reservation->available(), bytes);
    bool must_fit = fits(index, bytes, promised);
    std::array<size_t, 3> before{};
    for (size_t i = 0; i < 3; ++i) before[i] = in_use(*pools_[i]);
    try {
      MutableBuffer block = reservation == nullptr ? pools_[index]->allocate(size) : reservation->allocate(size);
      size_t grown = in_use(*pools_[index]) - before[index];
      if (small) {
        RC_ASSERT(must_fit || grown == 0u);  // room in a slab costs nothing
        RC_ASSERT(grown == 0u || grown == bytes || grown == (260u << 10) || grown == (68u << 10));
      } else {
        RC_ASSERT(must_fit);
        RC_ASSERT(grown == bytes);
      }
      RC_ASSERT(in_use(*pools_[0]) - before[0] == grown);
      for_chain(index, [&](size_t i) { promised_[i] -= promised; });
      auto tag = static_cast<uint8_t>(++tags_);
      std::memset(block.data(), tag, std::min<size_t>(size, 100));
      if (size > 100) std::memset(block.data() + size - 100, tag, 100 + kBlockPadding);
      blocks_.push_back({std::move(block), index, bytes, tag});
    } catch (const MemoryLimitError& error) {
      RC_ASSERT(!must_fit);
      RC_ASSERT(error.needed_bytes() > 0u);
      for (size_t i = 0; i < 3; ++i) RC_ASSERT(in_use(*pools_[i]) == before[i]);
    }
    if (promised > 0 && promised == bytes) RC_ASSERT(must_fit);  // a promise always holds
  }

  void release(uint32_t value) {
    if (blocks_.empty()) return;
    auto victim = std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(value % blocks_.size()));
    const MutableBuffer& block = victim->block;
    for (size_t i = 0; i < std::min<size_t>(block.size(), 100); ++i) {
      RC_ASSERT(static_cast<uint8_t>(block.data()[i]) == victim->tag);
      RC_ASSERT(static_cast<uint8_t>(block.data()[block.size() - 1 - i]) == victim->tag);
    }
    size_t before = in_use(*pools_[victim->pool]);
    size_t bytes = victim->bytes;
    size_t index = victim->pool;
    blocks_.erase(victim);
    // Blocks of a pool that has ended count in the parent, to whom they go.
    if (bytes >= (64 << 10)) RC_ASSERT(before - in_use(*pools_[index]) == bytes);
  }

  void reserve(size_t index, size_t bytes) {
    bool must_fit = fits(index, bytes, 0);
    auto reservation = pools_[index]->try_reserve(bytes);
    RC_ASSERT(reservation.has_value() == must_fit);
    if (!reservation) return;
    for_chain(index, [&](size_t i) { promised_[i] += bytes; });
    reservations_.push_back({std::move(*reservation), index});
  }

  void use_reservation(const Step& step) {
    if (reservations_.empty()) return;
    auto chosen = std::next(reservations_.begin(), static_cast<std::ptrdiff_t>(step.value % reservations_.size()));
    allocate(chosen->pool, size_of(step.value, small_), &chosen->reservation);
  }

  void end_or_shrink_reservation(const Step& step) {
    if (reservations_.empty()) return;
    auto chosen = std::next(reservations_.begin(), static_cast<std::ptrdiff_t>(step.value % reservations_.size()));
    size_t before = chosen->reservation.available();
    size_t after = 0;
    if (step.value % 3 == 0) {
      size_t more = step.value % kMiB;
      bool must_fit = fits(chosen->pool, more, 0);
      RC_ASSERT(chosen->reservation.try_grow(more) == must_fit);
      after = must_fit ? before + more : before;
    } else if (step.value % 3 == 1) {
      after = before / 2;
      chosen->reservation.shrink(after);
    }
    for_chain(chosen->pool, [&](size_t i) { promised_[i] = promised_[i] + after - before; });
    if (step.value % 3 == 2) reservations_.erase(chosen);
  }

  void charge(size_t index, size_t bytes, bool more) {
    if (more) {
      bool must_fit = fits(index, bytes, 0);
      try {
        pools_[index]->charge(bytes);
        RC_ASSERT(must_fit);
      } catch (const MemoryLimitError&) {
        RC_ASSERT(!must_fit);
        return;
      }
      own_charges_[index] += bytes;
      for_chain(index, [&](size_t i) { charged_[i] += bytes; });
    } else {
      bytes = std::min(bytes, own_charges_[index]);
      pools_[index]->discharge(bytes);
      own_charges_[index] -= bytes;
      for_chain(index, [&](size_t i) { charged_[i] -= bytes; });
    }
  }

  // Ends a child pool, whose blocks may live on, and opens a new one. Its own charges and promises end first.
  void reopen(size_t index) {
    charge(index, SIZE_MAX, false);
    for (auto it = reservations_.begin(); it != reservations_.end();) {
      if (it->pool != index) {
        ++it;
        continue;
      }
      for_chain(index, [&](size_t i) { promised_[i] -= it->reservation.available(); });
      it = reservations_.erase(it);
    }
    size_t parent_in_use = in_use(*pools_[0]);
    size_t parent_held = pools_[0]->stats().held_bytes;
    open(index);
    RC_ASSERT(in_use(*pools_[0]) == parent_in_use);
    RC_ASSERT(pools_[0]->stats().held_bytes == parent_held);
    for (Held& held : blocks_) {
      if (held.pool == index) held.pool = 0;
    }
  }

  void check() {
    for (size_t index = 0; index < 3; ++index) {
      MemoryPoolStats stats = pools_[index]->stats();
      RC_ASSERT(stats.held_bytes <= budgets_[index]);
      RC_ASSERT(stats.idle_bytes <= stats.held_bytes);
      RC_ASSERT(stats.promised_bytes == promised_[index]);
      RC_ASSERT(stats.held_bytes - stats.idle_bytes + stats.promised_bytes <= budgets_[index]);
      peaks_[index] = std::max(peaks_[index], stats.held_bytes);
      RC_ASSERT(stats.held_peak_bytes == peaks_[index]);
      if (small_) continue;
      size_t expected = charged_[index];
      for (const Held& held : blocks_) expected += held.pool == index || index == 0 ? held.bytes : 0;
      RC_ASSERT(stats.held_bytes - stats.idle_bytes == expected);
    }
  }

  const std::array<size_t, 3> budgets_;
  const bool small_;
  std::array<std::unique_ptr<MemoryPool>, 3> pools_;
  std::array<size_t, 3> promised_{};
  std::array<size_t, 3> charged_{};
  std::array<size_t, 3> own_charges_{};
  std::array<size_t, 3> peaks_{};
  std::list<Held> blocks_;
  std::list<Promise> reservations_;
  uint64_t tags_ = 0;
};

void run_family(const std::vector<uint64_t>& values, std::array<size_t, 3> budgets, bool small) {
  Family family(budgets, small);
  for (const Step& step : steps_from(values)) family.run(step);
  family.finish();
}

RC_GTEST_PROP(MemoryPoolModel, LargeBlocksAreCountedExactly, ()) {
  auto values = *rc::gen::container<std::vector<uint64_t>>(200, rc::gen::arbitrary<uint64_t>());
  run_family(values, {12 * kMiB, 8 * kMiB, 9 * kMiB + 4321}, false);
}

RC_GTEST_PROP(MemoryPoolModel, SmallBlocksOnlyRoundUpToSlabs, ()) {
  auto values = *rc::gen::container<std::vector<uint64_t>>(200, rc::gen::arbitrary<uint64_t>());
  run_family(values, {12 * kMiB, 8 * kMiB, 2 * kMiB}, true);
}

RC_GTEST_PROP(MemoryPoolModel, BatchesOfLargeBudgetsStayInside, ()) {
  auto values = *rc::gen::container<std::vector<uint64_t>>(200, rc::gen::arbitrary<uint64_t>());
  run_family(values, {100 * kMiB, 64 * kMiB, MemoryPool::kUnlimited}, false);
}

// ---- threads ----

// A place where threads leave blocks for others to release.
class Exchange {
 public:
  Buffer swap(Buffer buffer, size_t slot) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    slots_.at(slot % slots_.size()).swap(buffer);
    return buffer;
  }

 private:
  Mutex mutex_;
  std::array<Buffer, 16> slots_ GUARDED_BY(mutex_);
};

TEST(MemoryPoolThreads, KeepTheBudgetAndTheirBlocks) {
  constexpr size_t kBudget = 24 * kMiB;
  constexpr size_t kChildBudget = 10 * kMiB;
  MemoryPool parent({.budget_bytes = kBudget});
  std::atomic<uint64_t> calls = 0;
  parent.on_release([&] { ++calls; });
  std::atomic<bool> done = false;
  std::atomic<uint64_t> failures = 0;
  {
    MemoryPool child({.budget_bytes = kChildBudget, .parent = &parent});
    Exchange exchange;
    std::thread watcher([&] {
      while (!done) {
        for (auto [pool, budget] : {std::pair(&parent, kBudget), std::pair(&child, kChildBudget)}) {
          MemoryPoolStats stats = pool->stats();
          EXPECT_LE(stats.held_bytes, budget);
          EXPECT_LE(stats.held_peak_bytes, budget);
          EXPECT_LE(stats.held_bytes - stats.idle_bytes + stats.promised_bytes, budget);
        }
        std::this_thread::yield();
      }
    });
    std::vector<std::thread> threads;
    for (uint64_t thread = 1; thread <= 3; ++thread) {
      threads.emplace_back([&, thread] {
        uint64_t random = thread * 0x9e3779b97f4a7c15;
        for (int round = 0; round < 3000; ++round) {
          random = random * 6364136223846793005 + 1442695040888963407;
          auto value = static_cast<uint32_t>(random >> 32);
          MemoryPool& pool = value % 2 == 0 ? parent : child;
          try {
            size_t size = size_of(value, value % 3 == 0);
            MutableBuffer block;
            if (value % 5 == 0) {
              Reservation reservation = pool.reserve(MemoryPool::block_bytes(size));
              block = reservation.allocate(size);
              EXPECT_EQ(reservation.available(), 0u);
            } else {
              block = pool.allocate(size);
            }
            auto tag = static_cast<int>(value & 0xff);
            size_t edge = std::min<size_t>(size, 64);
            std::memset(block.data(), tag, edge);
            std::memset(block.data() + size - edge, tag, edge);
            Buffer other = exchange.swap(std::move(block).freeze(), value >> 9);
            if (!other.empty()) {
              size_t check = std::min<size_t>(other.size(), 64);
              for (size_t i = 0; i < check; ++i) ASSERT_EQ(other.data()[i], other.data()[other.size() - 1 - i]);
            }
            if (value % 50 == 0) pool.trim();
          } catch (const MemoryLimitError&) {
            ++failures;
            exchange.swap(Buffer(), value);
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    done = true;
    watcher.join();
  }
  EXPECT_EQ(parent.stats().held_bytes, parent.stats().idle_bytes);
  EXPECT_GT(calls, 0u);
}

TEST(MemoryPoolThreads, ThePoolWaitsForACallbackThatRuns) {
  std::latch entered(1);
  std::atomic<bool> finished = false;
  auto pool = std::make_unique<MemoryPool>();
  pool->on_release([&] {
    entered.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    finished = true;
  });
  std::thread releaser([buffer = pool->allocate(10)]() mutable { buffer = MutableBuffer(); });
  entered.wait();
  pool.reset();
  EXPECT_TRUE(finished);
  releaser.join();
}

TEST(MemoryPoolThreads, NoCallbackRunsAfterThePoolIsGone) {
  for (int round = 0; round < 500; ++round) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    auto pool = std::make_unique<MemoryPool>();
    pool->on_release([&alive] { EXPECT_TRUE(alive->load()); });
    std::vector<std::thread> threads;
    for (size_t size : {size_t{10}, kMiB}) {
      threads.emplace_back([buffer = pool->allocate(size)]() mutable { buffer = MutableBuffer(); });
    }
    pool.reset();
    alive.reset();
    for (auto& thread : threads) thread.join();
  }
}

TEST(MemoryPoolThreads, BlocksAndPoolsMayEndAtOnce) {
  for (int round = 0; round < 500; ++round) {
    auto parent = std::make_unique<MemoryPool>();
    auto child = std::make_unique<MemoryPool>(MemoryPool::Options{.parent = parent.get()});
    std::vector<std::thread> threads;
    for (size_t size : {size_t{10}, size_t{20}, kMiB}) {
      threads.emplace_back([buffer = child->allocate(size)]() mutable { buffer = MutableBuffer(); });
    }
    child.reset();
    parent.reset();
    for (auto& thread : threads) thread.join();
  }
}

// ---- the operating system and the sanitizer ----

size_t mapped_pages() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0;
  file >> pages;
  return pages;
}

TEST(MemoryPool, HeldBytesAreWhatTheProcessMaps) {
  MemoryPool pool;
  size_t before = mapped_pages();
  std::vector<MutableBuffer> blocks;
  for (int index = 0; index < 40; ++index) blocks.push_back(pool.allocate(3 * kMiB));
  for (int index = 0; index < 40; ++index) blocks.push_back(pool.allocate(300'000));
  // 40 blocks of a class may have been rounded up to a batch; nothing else may be mapped. Some room for the heap.
  size_t mapped = (mapped_pages() - before) * 4096;
  EXPECT_GE(mapped, pool.stats().held_bytes);
  EXPECT_LE(mapped, pool.stats().held_bytes + kMiB);
  blocks.clear();
  pool.trim();
  EXPECT_LE(mapped_pages(), before + kMiB / 4096);
}

#ifdef FRAZIL_ADDRESS_SANITIZER
TEST(MemoryPoolDeathTest, TheSanitizerFindsOverrunsAndUseAfterRelease) {
  MemoryPool pool;
  for (size_t size : {size_t{100}, kMiB - 5, 3 * kMiB}) {
    MutableBuffer block = pool.allocate(size);
    volatile std::byte* data = block.data();
    data[size + kBlockPadding - 1] = std::byte{1};
    EXPECT_DEATH(data[size + kBlockPadding] = std::byte{1}, "use-after-poison") << size;
    block.set_size(size / 2);
    EXPECT_DEATH(data[size / 2 + kBlockPadding + 8] = std::byte{1}, "use-after-poison") << size;
    block = MutableBuffer();
    EXPECT_DEATH(data[0] = std::byte{1}, "use-after-poison") << size;
  }
}
#endif

}  // namespace
}  // namespace frazil
