#include "frazil/memory/memory_pool.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/memory/size_class.h"

namespace frazil {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kKiB = size_t{1} << 10;

size_t in_use(const MemoryPool& pool) {
  MemoryPoolStats stats = pool.stats();
  return stats.held_bytes - stats.idle_bytes;
}

bool is_zero(const std::byte* data, size_t size) {
  return std::all_of(data, data + size, [](std::byte value) { return value == std::byte{0}; });
}

TEST(MemoryPool, GivesAlignedWritablePaddedBlocksOfAnySize) {
  MemoryPool pool;
  std::vector<Buffer> buffers;
  for (size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}, size_t{57344},
                      size_t{57345}, 64 * kKiB, 100 * kKiB, kMiB, 2 * kMiB - 1, 2 * kMiB, 5 * kMiB + 3}) {
    MutableBuffer block = pool.allocate(size);
    ASSERT_NE(block.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % kBlockAlignment, 0u) << size;
    EXPECT_EQ(block.size(), size);
    EXPECT_GE(block.capacity(), size);
    if (size >= 2 * kMiB) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % kHugePageBytes, 0u) << size;
    }
    std::memset(block.data(), 0xab, size + kBlockPadding);
    block.set_size(block.capacity());
    std::memset(block.data(), 0xcd, block.capacity() + kBlockPadding);
    block.set_size(size);
    buffers.push_back(std::move(block).freeze());
  }
  for (const Buffer& buffer : buffers) {
    EXPECT_TRUE(
        std::all_of(buffer.span().begin(), buffer.span().end(), [](std::byte b) { return b == std::byte{0xcd}; }));
    size_t end = (buffer.size() + 63) / 64 * 64;
    EXPECT_TRUE(is_zero(buffer.data() + buffer.size(), end - buffer.size())) << buffer.size();
  }
  buffers.clear();
  EXPECT_EQ(in_use(pool), 0u);
}

TEST(MemoryPool, CountsALargeBlockByItsBlockBytes) {
  MemoryPool pool;
  for (size_t size : {64 * kKiB, 100 * kKiB, kMiB, 3 * kMiB + 1}) {
    MutableBuffer block = pool.allocate(size);
    EXPECT_EQ(in_use(pool), MemoryPool::block_bytes(size));
  }
}

TEST(MemoryPool, HandsReleasedBlocksOutAgain) {
  MemoryPool pool;
  const std::byte* first = nullptr;
  for (int round = 0; round < 10; ++round) {
    MutableBuffer block = pool.allocate(kMiB - 7 * static_cast<size_t>(round));
    if (first == nullptr) first = block.data();
    EXPECT_EQ(block.data(), first);
  }
  EXPECT_EQ(pool.stats().allocations, 10u);
  EXPECT_EQ(pool.stats().system_allocations, 1u);
  EXPECT_EQ(pool.stats().held_bytes, MemoryPool::block_bytes(kMiB));
  pool.trim();
  EXPECT_EQ(pool.stats().held_bytes, 0u);
  EXPECT_EQ(pool.stats().held_peak_bytes, MemoryPool::block_bytes(kMiB));
}

TEST(MemoryPool, ZeroesFreshAndReusedBlocks) {
  MemoryPool pool;
  for (size_t size : {size_t{100}, kMiB}) {
    for (int round = 0; round < 3; ++round) {
      MutableBuffer block = pool.allocate_zeroed(size);
      EXPECT_TRUE(is_zero(block.data(), size));
      std::memset(block.data(), 1, size);
    }
  }
}

TEST(MemoryPool, SmallBlocksShareASlabThatBecomesIdle) {
  MemoryPool pool;
  std::vector<MutableBuffer> blocks;
  for (int index = 0; index < 1000; ++index) blocks.push_back(pool.allocate(100));
  // 1000 blocks of 192 bytes fit in one slab of 260 KiB.
  EXPECT_EQ(pool.stats().held_bytes, MemoryPool::block_bytes(256 * kKiB));
  EXPECT_EQ(pool.stats().system_allocations, 1u);
  blocks.resize(1);
  EXPECT_EQ(pool.stats().idle_bytes, 0u) << "in use as a whole while one block is";
  blocks.clear();
  EXPECT_EQ(pool.stats().idle_bytes, pool.stats().held_bytes);
  MutableBuffer large = pool.allocate(256 * kKiB);
  EXPECT_EQ(pool.stats().held_bytes, MemoryPool::block_bytes(256 * kKiB)) << "the slab's memory is a block again";
}

TEST(MemoryPool, FillsHolesOfSlabsFirst) {
  MemoryPool pool;
  std::vector<MutableBuffer> blocks;
  for (int index = 0; index < 5000; ++index) blocks.push_back(pool.allocate(1000));
  size_t held = pool.stats().held_bytes;
  for (size_t index = 0; index < blocks.size(); index += 2) blocks[index] = MutableBuffer();
  for (size_t index = 0; index < blocks.size(); index += 2) blocks[index] = pool.allocate(1000);
  EXPECT_EQ(pool.stats().held_bytes, held);
}

TEST(MemoryPool, FailsBeyondItsBudgetAndNamesTheNumbers) {
  size_t block = MemoryPool::block_bytes(kMiB);
  MemoryPool pool({.budget_bytes = 3 * block - 1});
  MutableBuffer first = pool.allocate(kMiB);
  MutableBuffer second = pool.allocate(kMiB);
  try {
    MutableBuffer third = pool.allocate(kMiB);
    FAIL();
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.needed_bytes(), 3 * block);
    EXPECT_THAT(error.message(), testing::HasSubstr(std::to_string(block) + " bytes needed"));
    EXPECT_THAT(error.message(), testing::HasSubstr("budget " + std::to_string(3 * block - 1)));
    EXPECT_THAT(error.message(), testing::HasSubstr(std::to_string(2 * block) + " in use"));
  }
  EXPECT_EQ(in_use(pool), 2 * block);
  second = MutableBuffer();
  EXPECT_NO_THROW(second = pool.allocate(kMiB));
}

TEST(MemoryPool, RefusesImpossibleSizes) {
  MemoryPool pool;
  for (size_t size : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, kClassBytesMax + 1}) {
    EXPECT_THROW(pool.allocate(size), MemoryLimitError) << size;
  }
  // Within the classes but not within the address space that the system gives.
  EXPECT_THROW(pool.allocate(kClassBytesMax), MemoryLimitError);
  EXPECT_EQ(pool.stats().held_bytes, 0u);
}

TEST(MemoryPool, GivesIdleBlocksBackWhenANewOneDoesNotFitBeside) {
  MemoryPool pool({.budget_bytes = 10 * kMiB});
  {
    std::vector<MutableBuffer> blocks;
    for (int index = 0; index < 9; ++index) blocks.push_back(pool.allocate(kMiB));
  }
  EXPECT_EQ(pool.stats().idle_bytes, 9 * MemoryPool::block_bytes(kMiB));
  MutableBuffer large = pool.allocate(8 * kMiB);
  MemoryPoolStats stats = pool.stats();
  EXPECT_LE(stats.held_bytes, 10 * kMiB);
  EXPECT_EQ(stats.held_bytes - stats.idle_bytes, MemoryPool::block_bytes(8 * kMiB));
  EXPECT_EQ(stats.idle_bytes, MemoryPool::block_bytes(kMiB)) << "only what was in the way goes";
  EXPECT_LE(stats.held_peak_bytes, 10 * kMiB);
}

TEST(MemoryPool, KeepsAtMostTheIdleBytesItMay) {
  MemoryPool pool({.idle_bytes_max = 3 * kMiB});
  {
    std::vector<MutableBuffer> blocks;
    for (int index = 0; index < 9; ++index) blocks.push_back(pool.allocate(kMiB));
  }
  EXPECT_EQ(pool.stats().idle_bytes, 2 * MemoryPool::block_bytes(kMiB));
}

TEST(MemoryPool, SmallBlocksNeedNoSlabNearTheBudget) {
  MemoryPool pool({.budget_bytes = 10 * MemoryPool::block_bytes(1000)});
  std::vector<MutableBuffer> blocks;
  for (int index = 0; index < 10; ++index) blocks.push_back(pool.allocate(1000));
  EXPECT_EQ(pool.stats().held_bytes, pool.budget_bytes());
  EXPECT_THROW(pool.allocate(1), MemoryLimitError);
  blocks.clear();
  EXPECT_EQ(pool.stats().held_bytes, 0u);
}

TEST(MemoryPool, ChargesCountAsHeldAndInUse) {
  MemoryPool pool({.budget_bytes = 10 * kMiB});
  {
    MutableBuffer idle = pool.allocate(4 * kMiB);
  }
  pool.charge(3 * kMiB);
  EXPECT_EQ(in_use(pool), 3 * kMiB);
  EXPECT_THROW(pool.charge(8 * kMiB), MemoryLimitError);
  EXPECT_THROW(pool.charge(SIZE_MAX), MemoryLimitError);
  pool.charge(7 * kMiB);
  EXPECT_EQ(pool.stats().held_bytes, 10 * kMiB) << "the idle block had to go";
  EXPECT_EQ(pool.available_bytes(), 0u);
  pool.discharge(10 * kMiB);
  EXPECT_EQ(pool.stats().held_bytes, 0u);
}

TEST(MemoryPool, MapsBlocksInBatchesOnceAClassIsInDemand) {
  MemoryPool pool({.budget_bytes = 256 * kMiB});
  std::vector<MutableBuffer> blocks;
  for (int index = 0; index < 4; ++index) blocks.push_back(pool.allocate(512 * kKiB));
  EXPECT_EQ(pool.stats().idle_bytes, 0u);
  blocks.push_back(pool.allocate(512 * kKiB));
  EXPECT_EQ(pool.stats().idle_bytes, 7 * MemoryPool::block_bytes(512 * kKiB));
  // Each is a block of its own: it can be used, and given back, alone.
  blocks.push_back(pool.allocate_zeroed(512 * kKiB));
  EXPECT_TRUE(is_zero(blocks.back().data(), blocks.back().size()));
  EXPECT_EQ(pool.stats().system_allocations, 6u);
  pool.trim();
  EXPECT_EQ(pool.stats().held_bytes, 6 * MemoryPool::block_bytes(512 * kKiB));
  for (MutableBuffer& block : blocks) std::memset(block.data(), 7, block.size());
}

TEST(MemoryPool, CopiesBytes) {
  MemoryPool pool;
  std::string text = "some bytes";
  Buffer copy = pool.copy(std::as_bytes(std::span(text)));
  EXPECT_EQ(copy.text(), text);
  EXPECT_TRUE(pool.copy({}).empty());
}

TEST(MemoryPool, BlocksOutliveThePool) {
  Buffer small;
  Buffer large;
  Buffer slice;
  {
    auto pool = std::make_unique<MemoryPool>(MemoryPool::Options{.budget_bytes = 10 * kMiB});
    small = pool->copy(std::as_bytes(std::span("small")));
    MutableBuffer block = pool->allocate(kMiB);
    std::memset(block.data(), 5, kMiB);
    large = std::move(block).freeze();
    slice = large.slice(kMiB - 3);
    MutableBuffer idle = pool->allocate(2 * kMiB);
  }
  EXPECT_STREQ(small.as<char>(), "small");
  large = Buffer();
  EXPECT_EQ(slice.as<uint8_t>()[2], 5);
}

TEST(MutableBuffer, MovesAndReleases) {
  MemoryPool pool;
  MutableBuffer first = pool.allocate(kMiB);
  MutableBuffer second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): empty afterwards by contract
  EXPECT_EQ(first.size(), 0u);
  first = pool.allocate(kMiB);
  first = std::move(second);
  EXPECT_EQ(in_use(pool), MemoryPool::block_bytes(kMiB));
  Buffer frozen = std::move(first).freeze();
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_TRUE(std::move(first).freeze().empty());
  EXPECT_EQ(frozen.size(), kMiB);
}

// ---- reservations ----

TEST(Reservation, IsAPromiseThatBlocksUseUp) {
  size_t block = MemoryPool::block_bytes(kMiB);
  MemoryPool pool({.budget_bytes = 4 * block});
  Reservation reservation = pool.reserve(2 * block);
  EXPECT_EQ(pool.stats().promised_bytes, 2 * block);
  EXPECT_EQ(pool.stats().held_bytes, 0u);
  EXPECT_EQ(pool.available_bytes(), 2 * block);
  EXPECT_FALSE(pool.try_reserve(2 * block + 1));

  MutableBuffer first = reservation.allocate(kMiB);
  EXPECT_EQ(reservation.available(), block);
  EXPECT_EQ(pool.stats().promised_bytes, block);
  MutableBuffer second = reservation.allocate(kMiB);
  EXPECT_EQ(pool.available_bytes(), 2 * block);
  // Beyond the promise the pool is asked.
  MutableBuffer third = reservation.allocate(kMiB);
  EXPECT_EQ(reservation.available(), 0u);
  EXPECT_EQ(pool.available_bytes(), block);
  EXPECT_THROW(reservation.allocate(2 * kMiB), MemoryLimitError);
}

TEST(Reservation, IsGivenBackByDestructionShrinkingAndAssignment) {
  MemoryPool pool({.budget_bytes = 100});
  {
    Reservation reservation = pool.reserve(60);
    EXPECT_THROW(pool.reserve(41), MemoryLimitError);
    EXPECT_TRUE(reservation.try_grow(40));
    EXPECT_FALSE(reservation.try_grow(1));
    EXPECT_EQ(reservation.available(), 100u);
    reservation.shrink(30);
    EXPECT_EQ(pool.stats().promised_bytes, 30u);
    reservation.shrink(50);
    EXPECT_EQ(reservation.available(), 30u);
    Reservation moved = std::move(reservation);
    EXPECT_FALSE(reservation);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(moved);
    EXPECT_EQ(&moved.pool(), &pool);
    moved = pool.reserve(70);
    EXPECT_EQ(pool.stats().promised_bytes, 70u);
  }
  EXPECT_EQ(pool.stats().promised_bytes, 0u);
  EXPECT_THROW(Reservation().allocate(1), Error);
}

TEST(Reservation, HoldsAgainstOthersWhateverTheSizes) {
  // What was promised by block_bytes can be had, although others take all that is left.
  for (size_t budget : {size_t{200'000}, 2 * kMiB, 16 * kMiB, 100 * kMiB}) {
    MemoryPool pool({.budget_bytes = budget});
    std::vector<size_t> sizes = {1, 100, 1000, 10'000, 57'000, 64, 500, 1, 1, 30'000};
    size_t sum = 0;
    for (size_t size : sizes) sum += MemoryPool::block_bytes(size);
    Reservation reservation = pool.reserve(sum);
    std::vector<MutableBuffer> others;
    for (size_t size : {16 * kMiB, kMiB, 64 * kKiB, size_t{1000}, size_t{1}}) {
      while (true) {
        try {
          others.push_back(pool.allocate(size));
        } catch (const MemoryLimitError&) {
          break;
        }
      }
    }
    std::vector<MutableBuffer> blocks;
    for (size_t size : sizes) ASSERT_NO_THROW(blocks.push_back(reservation.allocate(size))) << budget << " " << size;
    EXPECT_EQ(reservation.available(), 0u);
    EXPECT_LE(pool.stats().held_peak_bytes, budget);
  }
}

// ---- parents ----

TEST(Reservation, LetsCodeThatKnowsPoolsUseItUp) {
  MemoryPool pool({.budget_bytes = 8 * kMiB});
  Reservation mine = pool.reserve(4 * kMiB);
  Reservation others = pool.reserve(4 * kMiB);
  Buffer kept;
  std::optional<Reservation> inner;
  {
    MemoryPool way(mine);
    EXPECT_EQ(way.available_bytes(), 0u);
    kept = way.allocate(kMiB).freeze();
    EXPECT_EQ(mine.available(), 4 * kMiB - MemoryPool::block_bytes(kMiB));
    way.charge(2 * kMiB);
    way.discharge(2 * kMiB);
    EXPECT_EQ(mine.available(), 4 * kMiB - MemoryPool::block_bytes(kMiB)) << "promised again";
    EXPECT_EQ(pool.available_bytes(), 0u);
    way.charge(kMiB);
    EXPECT_EQ(way.asked_bytes(), MemoryPool::block_bytes(kMiB) + 3 * kMiB);
    // What does not fit takes nothing, and says what would have been enough.
    EXPECT_THROW(way.allocate(4 * kMiB), MemoryLimitError);
    EXPECT_EQ(way.asked_bytes(), MemoryPool::block_bytes(kMiB) + 3 * kMiB + MemoryPool::block_bytes(4 * kMiB));
    EXPECT_EQ(mine.available(), 3 * kMiB - MemoryPool::block_bytes(kMiB));
    inner = way.try_reserve(0);
  }
  EXPECT_FALSE(inner->try_grow(1)) << "the other promise stands";
  others = Reservation();
  EXPECT_TRUE(inner->try_grow(4 * kMiB)) << "made through it, a reservation is the pool's";
  pool.discharge(kMiB);
  kept = Buffer();
  EXPECT_EQ(in_use(pool), 0u);
}

TEST(MemoryPool, CountsAndCapsItsChildren) {
  size_t block = MemoryPool::block_bytes(kMiB);
  MemoryPool parent({.budget_bytes = 4 * block});
  MemoryPool child({.budget_bytes = 3 * block, .parent = &parent});
  MemoryPool sibling({.parent = &parent});

  MutableBuffer first = child.allocate(kMiB);
  Reservation reservation = child.reserve(block);
  EXPECT_EQ(parent.stats().held_bytes, block);
  EXPECT_EQ(parent.stats().promised_bytes, block);
  EXPECT_EQ(child.available_bytes(), block);
  EXPECT_EQ(sibling.available_bytes(), 2 * block);
  EXPECT_EQ(sibling.stats().held_bytes, 0u);

  sibling.charge(2 * block);
  EXPECT_EQ(child.available_bytes(), 0u);
  try {
    MutableBuffer more = child.allocate(1);
    FAIL();
  } catch (const MemoryLimitError& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("budget " + std::to_string(4 * block))) << "the parent's is full";
  }
  MutableBuffer second = reservation.allocate(kMiB);
  EXPECT_EQ(parent.stats().held_bytes, 4 * block);
  sibling.discharge(2 * block);
}

TEST(MemoryPool, DisplacesIdleBlocksOfSiblings) {
  size_t block = MemoryPool::block_bytes(kMiB);
  MemoryPool parent({.budget_bytes = 4 * block});
  MemoryPool child({.parent = &parent});
  MemoryPool sibling({.parent = &parent});
  {
    std::vector<MutableBuffer> blocks;
    for (int index = 0; index < 3; ++index) blocks.push_back(child.allocate(kMiB));
  }
  EXPECT_EQ(parent.stats().idle_bytes, 3 * block);
  MutableBuffer large = sibling.allocate(2 * kMiB);
  EXPECT_LE(parent.stats().held_bytes, 4 * block);
  EXPECT_LE(child.stats().idle_bytes, 2 * block);
  EXPECT_EQ(child.stats().held_bytes, child.stats().idle_bytes);
}

TEST(MemoryPool, InheritsTheIdleBlocksOfAChildAndLendsThem) {
  size_t block = MemoryPool::block_bytes(kMiB);
  MemoryPool parent({.budget_bytes = 8 * block});
  Buffer outlives;
  {
    MemoryPool child({.parent = &parent});
    outlives = child.copy(std::vector<std::byte>(kMiB));
    MutableBuffer other = child.allocate(2 * kMiB);
  }
  EXPECT_EQ(parent.stats().held_bytes, block + MemoryPool::block_bytes(2 * kMiB));
  EXPECT_EQ(parent.stats().idle_bytes, MemoryPool::block_bytes(2 * kMiB));
  outlives = Buffer();
  EXPECT_EQ(parent.stats().idle_bytes, parent.stats().held_bytes);
  MemoryPool next({.budget_bytes = 2 * block, .parent = &parent});
  MutableBuffer borrowed = next.allocate(kMiB);
  EXPECT_EQ(next.stats().held_bytes, block);
  EXPECT_EQ(next.stats().system_allocations, 0u);
  EXPECT_EQ(parent.stats().held_bytes, block + MemoryPool::block_bytes(2 * kMiB));
  EXPECT_THROW(next.allocate(2 * kMiB), MemoryLimitError);
}

TEST(MemoryPool, ABlockMayOutliveChildAndParent) {
  Buffer buffer;
  {
    MemoryPool parent;
    MemoryPool child({.parent = &parent});
    buffer = child.copy(std::as_bytes(std::span("kept")));
  }
  EXPECT_STREQ(buffer.as<char>(), "kept");
}

TEST(MemoryPool, RefusesEndlessNesting) {
  std::deque<MemoryPool> pools;
  pools.emplace_back();
  EXPECT_THROW(
      for (int depth = 0; depth < 100; ++depth) pools.emplace_back(MemoryPool::Options{.parent = &pools.back()}),
      Error);
  while (!pools.empty()) pools.pop_back();
}

// ---- callback ----

TEST(MemoryPool, CallsBackAfterEachReleaseWithoutALock) {
  MemoryPool pool({.budget_bytes = 10 * kMiB});
  int calls = 0;
  size_t available = 0;
  pool.on_release([&] {
    ++calls;
    available = pool.available_bytes();  // would deadlock under the lock
  });
  {
    MutableBuffer large = pool.allocate(kMiB);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(available, 10 * kMiB);
  {
    MutableBuffer small = pool.allocate(10);
  }
  EXPECT_EQ(calls, 2);
  {
    Reservation reservation = pool.reserve(10);
  }
  EXPECT_EQ(calls, 3);
  pool.charge(5);
  EXPECT_EQ(calls, 3);
  pool.discharge(5);
  EXPECT_EQ(calls, 4);
  {
    MemoryPool child({.parent = &pool});
    MutableBuffer block = child.allocate(kMiB);
  }
  EXPECT_EQ(calls, 5) << "what a child releases is free in the parent";
}

TEST(MemoryPool, BlocksThatOutliveThePoolDoNotCallBack) {
  int calls = 0;
  Buffer buffer;
  {
    MemoryPool pool;
    pool.on_release([&] { ++calls; });
    buffer = pool.copy(std::as_bytes(std::span("kept")));
  }
  buffer = Buffer();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace frazil
