#include "frazil/parquet/row_selection.h"

#include <algorithm>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"

namespace frazil::parquet {

RowSelection RowSelection::of(const std::vector<RowRange>& ranges) {
  RowSelection selection;
  selection.ranges_.reserve(ranges.size());
  for (const RowRange& range : ranges) selection.add(range);
  return selection;
}

RowSelection RowSelection::from_bitmap(const uint8_t* bits, size_t bit_offset, size_t count, uint64_t first_row) {
  RowSelection selection;
  for_each_set_run(bits, bit_offset, count, [&](size_t start, size_t length) {
    selection.append(first_row + start, first_row + start + length);
  });
  return selection;
}

void RowSelection::add(RowRange range) {
  if (range.end < range.begin || range.begin < end()) {
    throw_error(ErrorKind::kInvalidArgument, "rows [{}, {}) do not follow rows that end at {}", range.begin, range.end,
                end());
  }
  if (range.begin != range.end) append(range.begin, range.end);
}

void RowSelection::append(uint64_t begin, uint64_t end) {
  if (!ranges_.empty() && ranges_.back().end == begin) {
    ranges_.back().end = end;
  } else {
    ranges_.push_back({begin, end});
  }
  row_count_ += end - begin;
}

std::vector<RowRange>::const_iterator RowSelection::find(uint64_t row) const {
  return std::upper_bound(ranges_.begin(), ranges_.end(), row,
                          [](uint64_t value, const RowRange& range) { return value < range.end; });
}

bool RowSelection::contains(uint64_t row) const {
  const auto range = find(row);
  return range != ranges_.end() && range->begin <= row;
}

bool RowSelection::overlaps(RowRange range) const {
  if (range.begin >= range.end) return false;
  const auto found = find(range.begin);
  return found != ranges_.end() && found->begin < range.end;
}

RowSelection RowSelection::intersect(const RowSelection& other) const {
  RowSelection result;
  for (auto left = ranges_.begin(), right = other.ranges_.begin();
       left != ranges_.end() && right != other.ranges_.end();) {
    const uint64_t begin = std::max(left->begin, right->begin);
    const uint64_t end = std::min(left->end, right->end);
    if (begin < end) result.append(begin, end);
    if (left->end <= right->end) {
      ++left;
    } else {
      ++right;
    }
  }
  return result;
}

RowSelection RowSelection::unite(const RowSelection& other) const {
  RowSelection result;
  auto left = ranges_.begin();
  auto right = other.ranges_.begin();
  while (left != ranges_.end() || right != other.ranges_.end()) {
    const bool take_left = right == other.ranges_.end() || (left != ranges_.end() && left->begin <= right->begin);
    const RowRange& next = take_left ? *left++ : *right++;
    const uint64_t begin = std::max(next.begin, result.end());
    if (begin < next.end) result.append(begin, next.end);
  }
  return result;
}

RowSelection RowSelection::invert(uint64_t group_rows) const {
  if (end() > group_rows) {
    throw_error(ErrorKind::kInvalidArgument, "rows up to {} of a row group that has {}", end(), group_rows);
  }
  RowSelection result;
  uint64_t position = 0;
  for (const RowRange& range : ranges_) {
    if (position < range.begin) result.append(position, range.begin);
    position = range.end;
  }
  if (position < group_rows) result.append(position, group_rows);
  return result;
}

RowSelection RowSelection::clip(RowRange range) const {
  RowSelection result;
  for (auto found = find(range.begin); found != ranges_.end() && found->begin < range.end; ++found) {
    const uint64_t begin = std::max(found->begin, range.begin);
    const uint64_t end = std::min(found->end, range.end);
    if (begin < end) result.append(begin, end);
  }
  return result;
}

RowSelection RowSelection::close_gaps(uint64_t rows) const {
  RowSelection result;
  for (const RowRange& range : ranges_) {
    const bool is_near = !result.empty() && range.begin - result.end() < rows;
    result.append(is_near ? result.end() : range.begin, range.end);
  }
  return result;
}

RowSelection RowSelection::moved(uint64_t up, uint64_t down) const {
  RowSelection result = *this;
  if (up == down) return result;
  for (RowRange& range : result.ranges_) range = {range.begin + up - down, range.end + up - down};
  return result;
}

RowSelection RowSelection::pick(const RowSelection& inner) const {
  if (inner.end() > row_count_) {
    throw_error(ErrorKind::kInvalidArgument, "rows up to {} of a selection that has {}", inner.end(), row_count_);
  }
  RowSelection result;
  if (ranges_.size() == 1) return inner.moved(ranges_.front().begin, 0);
  auto outer = ranges_.begin();
  uint64_t outer_first = 0;  // the position of outer->begin
  for (const RowRange& range : inner.ranges_) {
    for (uint64_t position = range.begin; position < range.end;) {
      while (outer_first + outer->row_count() <= position) {
        outer_first += outer->row_count();
        ++outer;
      }
      const uint64_t begin = outer->begin + (position - outer_first);
      const uint64_t count = std::min(range.end - position, outer->end - begin);
      result.append(begin, begin + count);
      position += count;
    }
  }
  return result;
}

RowSelection RowSelection::positions_of(const RowSelection& subset) const {
  RowSelection result;
  if (ranges_.size() == 1 && !subset.empty() && subset.ranges_.front().begin >= ranges_.front().begin &&
      subset.end() <= end()) {
    return subset.moved(0, ranges_.front().begin);
  }
  uint64_t first = 0;  // the position of range.begin
  auto inner = subset.ranges_.begin();
  for (const RowRange& range : ranges_) {
    while (inner != subset.ranges_.end() && inner->end <= range.begin) ++inner;
    for (; inner != subset.ranges_.end() && inner->begin < range.end; ++inner) {
      const uint64_t begin = std::max(inner->begin, range.begin);
      const uint64_t end = std::min(inner->end, range.end);
      result.append(first + (begin - range.begin), first + (end - range.begin));
      if (inner->end > range.end) break;  // it goes on in the next range
    }
    first += range.row_count();
  }
  return result;
}

void RowSelection::set_bits(uint64_t first_row, size_t count, uint8_t* bits, size_t bit_offset) const {
  const uint64_t last = first_row + count;
  for (auto range = find(first_row); range != ranges_.end() && range->begin < last; ++range) {
    const uint64_t begin = std::max(range->begin, first_row);
    const uint64_t end = std::min(range->end, last);
    fill_bits(bits, bit_offset + static_cast<size_t>(begin - first_row), static_cast<size_t>(end - begin), true);
  }
}

}  // namespace frazil::parquet
