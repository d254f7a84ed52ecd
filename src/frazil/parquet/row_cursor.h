// Where a column stands in the rows of its row group, and which of them are wanted.
#pragma once

#include <cstdint>
#include <span>

#include "frazil/parquet/row_selection.h"

namespace frazil::parquet {

class RowCursor {
 public:
  RowCursor() = default;
  // Borrows the ranges.
  explicit RowCursor(std::span<const RowRange> ranges) : ranges_(ranges) {}

  // The next row, wanted or not.
  uint64_t row() const { return row_; }
  // No row from here on is wanted.
  bool at_end() const { return ranges_.empty(); }
  // Rows until the next wanted one; 0: that is it. Requires !at_end().
  uint64_t gap() const { return ranges_.front().begin > row_ ? ranges_.front().begin - row_ : 0; }
  // Wanted rows from here on without a gap.
  uint64_t run() const { return at_end() || gap() > 0 ? 0 : ranges_.front().end - row_; }
  // Goes on by `count` rows: at most gap() or, if that is 0, run().
  void pass(uint64_t count) {
    row_ += count;
    if (!ranges_.empty() && row_ >= ranges_.front().end) ranges_ = ranges_.subspan(1);
  }
  // Goes on at `row`, which is not behind the next wanted one.
  void jump(uint64_t row) { row_ = row; }

 private:
  std::span<const RowRange> ranges_;
  uint64_t row_ = 0;
};

}  // namespace frazil::parquet
