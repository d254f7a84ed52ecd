// StagedBatch: rows that wait to be distributed, with the partition of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/write/row_codes.h"

namespace frazil::write {

struct RowRun {
  uint32_t partition = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

struct StagedBatch {
  int64_t row_count = 0;
  // The table's columns. One of text or bytes may be a dictionary array instead.
  std::vector<ArrayPtr> columns;
  // By column: batches with the same number other than 0 share a dictionary, that of a later batch starting with that of
  // an earlier one.
  std::vector<uint64_t> dictionary_ids;
  // One of the two: the partition of each row, or runs of rows, one behind the other, if few cover all of them.
  RowCodes partitions;
  std::vector<RowRun> runs;
  size_t bytes = 0;  // of the rows, see row_bytes()

  bool is_runs() const { return !runs.empty(); }
};

// Rows [begin, begin + count), without `bytes`. O(columns), and of runs O(their number).
StagedBatch slice(const StagedBatch& batch, int64_t begin, int64_t count);
// Adds the rows of each partition to `counts`, which has a place for each.
void count_rows(const StagedBatch& batch, std::span<int64_t> counts);

// Bytes that the values of [offset, offset + length) take in buffers of their own, children included.
size_t row_bytes(const Array& array);

// The runs of equal partitions if there are at most row_count / kRunRowsMin of them, else none: shorter runs are
// distributed faster row by row.
inline constexpr int64_t kRunRowsMin = 512;
std::vector<RowRun> find_runs(const RowCodes& partitions);

}  // namespace frazil::write
