#include "frazil/memory/size_class.h"

#include <gtest/gtest.h>

#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

TEST(SizeClass, HasFourStepsAPowerOfTwo) {
  EXPECT_EQ(size_class_bytes(size_class_of(1024)), 1024u);
  EXPECT_EQ(size_class_bytes(size_class_of(1025)), 1280u);
  EXPECT_EQ(size_class_bytes(size_class_of(1281)), 1536u);
  EXPECT_EQ(size_class_bytes(size_class_of(1537)), 1792u);
  EXPECT_EQ(size_class_bytes(size_class_of(1793)), 2048u);
  EXPECT_EQ(size_class_bytes(size_class_of(0)), 64u);
  EXPECT_EQ(size_class_of(kClassBytesMax), kSizeClassCount - 1);
}

TEST(SizeClass, IsTheSmallestThatHoldsTheSize) {
  for (size_t size_class = 0; size_class + 1 < kSizeClassCount; ++size_class) {
    size_t bytes = size_class_bytes(size_class);
    EXPECT_EQ(size_class_of(bytes), size_class);
    EXPECT_EQ(size_class_of(bytes + 1), size_class + 1);
    EXPECT_GT(size_class_bytes(size_class + 1), bytes);
  }
}

TEST(SizeClass, BlocksArePaddedAndMonotonic) {
  for (size_t size_class = 0; size_class < kSizeClassCount; ++size_class) {
    size_t block = class_block_bytes(size_class);
    EXPECT_GE(block, size_class_bytes(size_class) + kBlockPadding);
    EXPECT_EQ(block % (is_small_class(size_class) ? kBlockAlignment : kPageBytes), 0u);
    if (size_class > 0) {
      EXPECT_GE(block, class_block_bytes(size_class - 1)) << size_class;
    }
    // A block of a kilobyte or more wastes at most a fifth, but for padding.
    if (size_class > 16) {
      EXPECT_LE(size_class_bytes(size_class) * 4, (size_class_bytes(size_class - 1) + 1) * 5);
    }
  }
}

TEST(SizeClass, PowersOfTwoDoNotTakeTheNextClass) {
  EXPECT_EQ(MemoryPool::block_bytes(512 << 10), (512u << 10) + 4096);
  EXPECT_EQ(MemoryPool::block_bytes(8192), 8192u + 64);
  EXPECT_EQ(MemoryPool::block_bytes(65536), 65536u + 4096);
  EXPECT_EQ(MemoryPool::block_bytes(57344), 57344u + 64);
  EXPECT_EQ(MemoryPool::block_bytes(SIZE_MAX), SIZE_MAX);
}

}  // namespace
}  // namespace frazil
