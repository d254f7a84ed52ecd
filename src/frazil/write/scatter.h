// Scatter: the rows of staged batches, a column at a time, into the order of their partitions.
//
//   batches        A1 B1 A2 | B2 C1 A3           two batches, partitions A, B, C; A and B are wanted now
//   first array    A1 A2 A3 B1 B2                starts: A 0, B 3
//   second array   C1                            C 5
//
// Flat columns take one pass: each partition has a cursor, and each row's value is copied to that of its partition; no
// index list, no gather. Codes of shared dictionaries are scattered instead of text. Other text takes a pass over the
// lengths and one over the bytes; nested columns are gathered by a list of positions (columnar/take.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/write/staged_batch.h"

namespace frazil::write {

// Where the rows of each partition go.
class Placement {
 public:
  // `order`: every partition that has rows in `batches`, those of the first array in front, `first_count` of them.
  // `row_counts`: by partition number.
  Placement(std::span<const uint32_t> order, size_t first_count, std::span<const int64_t> row_counts);
  Placement() = default;  // of nothing

  // The first row of a partition, counted over both arrays.
  int64_t start(uint32_t partition) const { return starts_[partition]; }
  std::span<const int64_t> starts() const { return starts_; }
  int64_t first_rows() const { return first_rows_; }
  int64_t rows() const { return rows_; }

 private:
  std::vector<int64_t> starts_;  // by partition number
  int64_t first_rows_ = 0;
  int64_t rows_ = 0;
};

// For each row of both arrays, its place among the rows of all batches. 4 bytes a row. Throws Error(kUnsupported) past
// 2^32 rows.
Buffer gather_positions(std::span<const StagedBatch> batches, const Placement& placement, MemoryPool& pool);

// Column `column` of all batches as the two arrays of `placement`, of offset 0; nullptr for one without rows. The column
// has the same type in all of them, or is a dictionary array of it in some or all; the result is one of it if all share
// their dictionary, else plain. `positions`: those of gather_positions() for nested columns, others do not look at them.
// Throws Error(kUnsupported) past 2^31 - 1 bytes of text; MemoryLimitError.
std::array<ArrayPtr, 2> scatter(std::span<const StagedBatch> batches, size_t column, const Placement& placement,
                                std::span<const uint32_t> positions, MemoryPool& pool);

// Whether scatter() wants positions for columns of that type.
bool is_gathered(const DataType& type);

}  // namespace frazil::write
