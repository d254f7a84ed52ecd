// RowBlock: some of a round's rows, which are distributed at once.
//
// A column of a whole round is far larger than what a core has near. Cut into blocks it is distributed into memory that
// stays in the cache and is used again, block after block; encoders take the pieces in the order of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/write/scatter.h"
#include "frazil/write/staged_batch.h"

namespace frazil {
class ThreadPool;
}

namespace frazil::write {

struct RowBlock {
  // Parts of the staged batches, one behind the other, without their `bytes`.
  std::vector<StagedBatch> batches;
  std::vector<int64_t> counts;  // rows by partition number
  Placement placement;
  Buffer positions;  // gather_positions(), if they were asked for
};

// Which partitions a round is about, and what its blocks need.
struct BlockPlan {
  std::span<const uint32_t> order;  // as Placement has it
  size_t first_count = 0;
  size_t partition_count = 0;  // numbers are below it
  size_t block_count = 1;      // at least 1, at most the rows
  bool has_positions = false;
};

// All rows of `batches`, in `plan.block_count` blocks of about equal size. Threads, where there are some, take a block each.
// Throws as gather_positions().
std::vector<RowBlock> cut_blocks(std::span<const StagedBatch> batches, const BlockPlan& plan, ThreadPool* threads,
                                 MemoryPool& pool);

}  // namespace frazil::write
