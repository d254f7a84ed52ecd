#include "frazil/memory/arena.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

struct Point {
  int x;
  double y;
};

TEST(Arena, MakesObjectsSpansAndTexts) {
  MemoryPool pool;
  Arena arena(pool);
  EXPECT_EQ(pool.stats().held_bytes, 0u) << "an unused arena costs nothing";
  auto* point = arena.make<Point>(1, 2.5);
  auto numbers = arena.make_span<int64_t>(1000);
  std::string_view text = arena.copy("some text");
  for (size_t index = 0; index < numbers.size(); ++index) numbers[index] = static_cast<int64_t>(index);
  EXPECT_EQ(point->y, 2.5);
  EXPECT_EQ(text, "some text");
  EXPECT_EQ(numbers[999], 999);
  EXPECT_EQ(arena.used_bytes(), sizeof(Point) + 8000 + 9);
  EXPECT_TRUE(arena.copy("").empty());
  EXPECT_NE(arena.allocate(0), nullptr);
  EXPECT_EQ(arena.make_span<int>(0).size(), 0u);
}

TEST(Arena, GivesRequestsLargerThanItsBlocksABlockOfTheirOwn) {
  MemoryPool pool;
  Arena arena(pool, 1024);
  auto* before = static_cast<char*>(arena.allocate(100, 1));
  auto* large = static_cast<char*>(arena.allocate(100'000, 1));
  auto* after = static_cast<char*>(arena.allocate(100, 1));
  std::memset(large, 1, 100'000);
  EXPECT_EQ(after, before + 100) << "the old block is used on";
}

TEST(Arena, CountsInTheBudgetAndGivesAllBack) {
  MemoryPool pool({.budget_bytes = 1 << 20});
  {
    Arena arena(pool);
    EXPECT_THROW(while (true) arena.allocate(1000), MemoryLimitError);
    EXPECT_GT(arena.used_bytes(), size_t{900} << 10);
    EXPECT_THROW(arena.make_span<int64_t>(SIZE_MAX / 4), MemoryLimitError);
    EXPECT_THROW(arena.allocate(SIZE_MAX), MemoryLimitError);
  }
  EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes);
}

TEST(Arena, MovesWithItsMemory) {
  MemoryPool pool;
  Arena first(pool);
  std::string_view text = first.copy("kept");
  Arena second = std::move(first);
  EXPECT_EQ(text, "kept");
  EXPECT_EQ(first.used_bytes(), 0u);  // NOLINT(bugprone-use-after-move): empty and usable
  std::string_view other = first.copy("new");
  EXPECT_NE(other.data(), text.data() + 4);
  second = std::move(first);
  EXPECT_EQ(other, "new");
}

RC_GTEST_PROP(Arena, KeepsObjectsApartAndAligned, (const std::vector<uint16_t>& sizes, uint8_t block)) {
  MemoryPool pool;
  Arena arena(pool, size_t{block} * 16 + 1);
  std::vector<std::span<std::byte>> parts;
  size_t used = 0;
  for (uint16_t size : sizes) {
    size_t alignment = size_t{1} << (size % 7);
    auto* data = static_cast<std::byte*>(arena.allocate(size % 3000, alignment));
    RC_ASSERT(reinterpret_cast<uintptr_t>(data) % alignment == 0u);
    parts.emplace_back(data, size % 3000);
    std::memset(data, static_cast<int>(parts.size() % 251), parts.back().size());
    used += parts.back().size();
  }
  for (size_t index = 0; index < parts.size(); ++index) {
    for (std::byte value : parts[index]) RC_ASSERT(static_cast<size_t>(value) == (index + 1) % 251);
  }
  RC_ASSERT(arena.used_bytes() == used);
}

}  // namespace
}  // namespace frazil
