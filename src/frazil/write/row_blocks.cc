#include "frazil/write/row_blocks.h"

#include <algorithm>
#include <utility>

#include "frazil/write/parallel.h"

namespace frazil::write {

std::vector<RowBlock> cut_blocks(std::span<const StagedBatch> batches, const BlockPlan& plan, ThreadPool* threads,
                                 MemoryPool& pool) {
  int64_t row_count = 0;
  for (const StagedBatch& batch : batches) row_count += batch.row_count;
  const auto block_count = static_cast<int64_t>(plan.block_count);
  std::vector<RowBlock> blocks(plan.block_count);
  size_t batch = 0;
  int64_t taken = 0;  // of the batch
  for (int64_t i = 0; i < block_count; ++i) {
    int64_t left = row_count / block_count + (i < row_count % block_count ? 1 : 0);
    while (left > 0) {
      const int64_t rows = std::min(left, batches[batch].row_count - taken);
      blocks[static_cast<size_t>(i)].batches.push_back(slice(batches[batch], taken, rows));
      left -= rows;
      taken += rows;
      if (taken == batches[batch].row_count) {
        ++batch;
        taken = 0;
      }
    }
  }
  for_each_index(threads, blocks.size(), [&](size_t i) {
    RowBlock& block = blocks[i];
    block.counts.assign(plan.partition_count, 0);
    for (const StagedBatch& part : block.batches) count_rows(part, block.counts);
    block.placement = Placement(plan.order, plan.first_count, block.counts);
    if (plan.has_positions) block.positions = gather_positions(block.batches, block.placement, pool);
  });
  return blocks;
}

}  // namespace frazil::write
