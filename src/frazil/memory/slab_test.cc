#include "frazil/memory/slab.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil {
namespace {

TEST(Slab, IsFullWhenEveryGranuleIsTaken) {
  for (size_t bytes : {size_t{64}, size_t{64 * 64}, size_t{64 * 65}, Slab::kBytesMax}) {
    std::vector<std::byte> memory(bytes);
    Slab slab;
    slab.reset(memory.data(), bytes);
    EXPECT_TRUE(slab.empty());
    for (size_t granule = 0; granule < bytes / 64; ++granule) {
      ASSERT_EQ(slab.take(1), memory.data() + granule * 64);
    }
    EXPECT_EQ(slab.take(1), nullptr);
    EXPECT_EQ(slab.longest_run(), 0u);
    slab.give(memory.data() + bytes - 64, 64);
    EXPECT_EQ(slab.take(65), nullptr);
    EXPECT_EQ(slab.take(64), memory.data() + bytes - 64);
  }
}

TEST(Slab, GivesItselfWhole) {
  std::vector<std::byte> memory(Slab::kBytesMax);
  Slab slab;
  slab.reset(memory.data(), memory.size());
  EXPECT_EQ(slab.take(Slab::kBytesMax + 1), nullptr);
  EXPECT_EQ(slab.take(Slab::kBytesMax), memory.data());
  EXPECT_EQ(slab.take(1), nullptr);
  slab.give(memory.data(), Slab::kBytesMax);
  EXPECT_TRUE(slab.empty());
  EXPECT_EQ(slab.take(Slab::kBytesMax), memory.data());
}

// A map of the taken ranges is the model.
RC_GTEST_PROP(Slab, NeverOverlapsAndFailsOnlyWithoutARun, (const std::vector<std::pair<uint16_t, bool>>& steps)) {
  constexpr size_t kGranules = 200;
  std::vector<std::byte> memory(kGranules * Slab::kGranuleBytes);
  Slab slab;
  slab.reset(memory.data(), memory.size());
  std::map<size_t, size_t> taken;  // first granule -> count
  for (auto [value, take] : steps) {
    if (take) {
      size_t count = value % 70 + 1;
      size_t longest = 0;
      size_t end = 0;
      for (auto [first, size] : taken) {
        longest = std::max(longest, first - end);
        end = first + size;
      }
      longest = std::max(longest, kGranules - end);
      RC_ASSERT(slab.longest_run() >= longest);
      std::byte* data = slab.take(count * Slab::kGranuleBytes);
      RC_ASSERT((data != nullptr) == (count <= longest));
      if (data == nullptr) {
        RC_ASSERT(slab.longest_run() == longest);
        continue;
      }
      size_t first = static_cast<size_t>(data - memory.data()) / Slab::kGranuleBytes;
      auto next = taken.lower_bound(first);
      RC_ASSERT(first + count <= (next == taken.end() ? kGranules : next->first));
      if (next != taken.begin()) RC_ASSERT(std::prev(next)->first + std::prev(next)->second <= first);
      taken[first] = count;
    } else if (!taken.empty()) {
      auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(value % taken.size()));
      slab.give(memory.data() + victim->first * Slab::kGranuleBytes, victim->second * Slab::kGranuleBytes);
      taken.erase(victim);
    }
    RC_ASSERT(slab.empty() == taken.empty());
  }
}

}  // namespace
}  // namespace frazil
