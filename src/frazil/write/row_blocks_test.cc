#include "frazil/write/row_blocks.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/columnar/builders.h"
#include "frazil/runtime/random.h"
#include "frazil/runtime/thread_pool.h"

namespace frazil::write {
namespace {

struct Row {
  int64_t value = 0;
  uint32_t partition = 0;
  bool operator==(const Row&) const = default;
};

// Values go on from `first`; each run is of one partition, one row long if `is_by_row`.
StagedBatch make_batch(int64_t first, int64_t rows, uint32_t partitions, bool is_by_row, SeededRandom& random,
                       MemoryPool& pool) {
  StagedBatch batch;
  batch.row_count = rows;
  batch.dictionary_ids = {0};
  auto values = make_builder(primitive(TypeId::kInt64), pool);
  RowCodesBuilder codes(rows, pool);
  for (int64_t row = 0; row < rows;) {
    const auto partition = static_cast<uint32_t>(random.below(partitions));
    const auto longest = static_cast<uint64_t>(is_by_row ? 1 : rows - row);
    const int64_t count = 1 + static_cast<int64_t>(random.below(longest));
    batch.runs.push_back({partition, row, count});
    for (int64_t end = row + count; row < end; ++row) {
      values->as<FixedWidthBuilder>().append<int64_t>(first + row);
      codes.append({&partition, 1});
    }
  }
  batch.columns = {values->finish()};
  if (is_by_row) {
    batch.runs.clear();
    batch.partitions = codes.finish();
  }
  return batch;
}

std::vector<Row> rows_of(std::span<const StagedBatch> batches) {
  std::vector<Row> rows;
  for (const StagedBatch& batch : batches) {
    EXPECT_EQ(batch.columns[0]->length, batch.row_count);
    std::vector<uint32_t> partitions;
    for (const RowRun& run : batch.runs) {
      EXPECT_EQ(run.begin, static_cast<int64_t>(partitions.size()));
      partitions.insert(partitions.end(), static_cast<size_t>(run.count), run.partition);
    }
    for (int64_t row = 0; !batch.is_runs() && row < batch.row_count; ++row) {
      partitions.push_back(batch.partitions.at(row));
    }
    EXPECT_EQ(static_cast<int64_t>(partitions.size()), batch.row_count);
    for (int64_t row = 0; row < batch.row_count; ++row) {
      rows.push_back({batch.columns[0]->values<int64_t>()[row], partitions[static_cast<size_t>(row)]});
    }
  }
  return rows;
}

RC_GTEST_PROP(RowBlocks, HaveAllRowsInOrder, (uint64_t seed)) {
  MemoryPool pool;
  ThreadPool threads(2);
  SeededRandom random(seed);
  const uint32_t partitions = 1 + static_cast<uint32_t>(random.below(40));
  std::vector<StagedBatch> batches;
  int64_t total = 0;
  for (uint64_t b = 1 + random.below(4); b > 0; --b) {
    const auto rows = static_cast<int64_t>(1 + random.below(2'000));
    batches.push_back(make_batch(total, rows, partitions, random.below(2) == 0, random, pool));
    total += rows;
  }
  // Partitions as they come are the order; some of them wait.
  const std::vector<Row> all = rows_of(batches);
  std::vector<uint32_t> order;
  for (const Row& row : all) {
    if (std::find(order.begin(), order.end(), row.partition) == order.end()) order.push_back(row.partition);
  }
  const BlockPlan plan{.order = order,
                       .first_count = random.below(order.size() + 1),
                       .partition_count = partitions,
                       .block_count = 1 + random.below(std::min<uint64_t>(static_cast<uint64_t>(total), 9)),
                       .has_positions = true};
  const std::vector<RowBlock> blocks = cut_blocks(batches, plan, random.below(2) == 0 ? &threads : nullptr, pool);
  RC_ASSERT(blocks.size() == plan.block_count);
  std::vector<Row> seen;
  for (const RowBlock& block : blocks) {
    const std::vector<Row> rows = rows_of(block.batches);
    RC_ASSERT(rows.size() == static_cast<size_t>(total) / blocks.size() ||
              rows.size() == static_cast<size_t>(total) / blocks.size() + 1);
    std::vector<int64_t> counts(partitions, 0);
    for (const Row& row : rows) ++counts[row.partition];
    RC_ASSERT(block.counts == counts);
    RC_ASSERT(block.placement.rows() == static_cast<int64_t>(rows.size()));
    int64_t first_rows = 0;
    for (size_t i = 0; i < plan.first_count; ++i) first_rows += counts[order[i]];
    RC_ASSERT(block.placement.first_rows() == first_rows);
    RC_ASSERT(block.positions.size() == rows.size() * sizeof(uint32_t));
    seen.insert(seen.end(), rows.begin(), rows.end());
  }
  RC_ASSERT(seen == all);
}

}  // namespace
}  // namespace frazil::write
