// Which rows of a row group are wanted, as ranges: what pruning finds out, what a caller asks for, what a reader skips
// by. Rows count from the start of the row group.
//
//   selection := range*      ranges ascend, are not empty and do not touch each other, so equal selections are equal
//   range     := [begin, end)
//
// A range takes 16 bytes of the C heap, whatever its length. Ranges come from bitmaps and page indexes that are in
// memory already, so a selection is at most 64 times the size of a bitmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace frazil::parquet {

struct RowRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t row_count() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

class RowSelection {
 public:
  RowSelection() = default;  // no rows
  static RowSelection all(uint64_t row_count) { return of({{0, row_count}}); }
  // Ranges ascend and do not overlap; empty ones are dropped, ones that touch are joined. Throws
  // Error(kInvalidArgument) otherwise.
  static RowSelection of(const std::vector<RowRange>& ranges);
  // The rows first_row + i where bit `bit_offset + i` is 1, i < count.
  static RowSelection from_bitmap(const uint8_t* bits, size_t bit_offset, size_t count, uint64_t first_row = 0);

  // Appends a range at or after the end(). Throws Error(kInvalidArgument) if it begins before, or ends before it
  // begins.
  void add(RowRange range);

  std::span<const RowRange> ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  // O(1): kept along.
  uint64_t row_count() const { return row_count_; }
  // Behind the last row; 0 if empty.
  uint64_t end() const { return ranges_.empty() ? 0 : ranges_.back().end; }
  bool is_all(uint64_t group_rows) const { return row_count_ == group_rows && end() == group_rows; }
  bool contains(uint64_t row) const;
  // Whether any row of `range` is selected. O(log n).
  bool overlaps(RowRange range) const;
  // 0 if empty.
  uint64_t mean_run() const { return ranges_.empty() ? 0 : row_count_ / ranges_.size(); }
  bool operator==(const RowSelection&) const = default;

  // ---- Sets: O(ranges of both) ----

  RowSelection intersect(const RowSelection& other) const;
  RowSelection unite(const RowSelection& other) const;
  // The other rows of [0, group_rows). Throws Error(kInvalidArgument) if the selection passes group_rows.
  RowSelection invert(uint64_t group_rows) const;
  // The rows of `range` alone.
  RowSelection clip(RowRange range) const;
  // Also the rows of gaps that have fewer than `rows` of them: reading on is cheaper than skipping them.
  RowSelection close_gaps(uint64_t rows) const;

  // ---- Rows of rows: positions among the selected rows of this one, 0..row_count() ----

  // The rows that `inner` selects among the selected rows of this one. Throws Error(kInvalidArgument) if `inner` passes
  // row_count().
  RowSelection pick(const RowSelection& inner) const;
  // The reverse: where the rows of `subset` stand among the selected ones. Rows that are not selected here are left
  // out.
  RowSelection positions_of(const RowSelection& subset) const;
  // Sets bit `bit_offset + i` of a bitmap that is all 0 for each row `first_row + i` selected, i < count.
  void set_bits(uint64_t first_row, size_t count, uint8_t* bits, size_t bit_offset) const;

 private:
  // Each row `up` rows higher and `down` lower: a copy, which is what most selections of a whole row group come to.
  RowSelection moved(uint64_t up, uint64_t down) const;
  void append(uint64_t begin, uint64_t end);  // trusted: not empty, at or after end()
  // The first range that ends after `row`.
  std::vector<RowRange>::const_iterator find(uint64_t row) const;

  std::vector<RowRange> ranges_;
  uint64_t row_count_ = 0;
};

}  // namespace frazil::parquet
