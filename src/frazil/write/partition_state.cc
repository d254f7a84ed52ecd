#include "frazil/write/partition_state.h"

#include <algorithm>
#include <utility>

namespace frazil::write {

void RowGroup::end_leaf(size_t leaf, parquet::EncoderScratch& scratch) {
  chunks[leaf] = encoders[leaf]->finish(scratch);
  encoders[leaf].reset();
}

size_t RowGroup::encoded_bytes_estimate() const {
  size_t bytes = 0;
  for (const auto& encoder : encoders) bytes += encoder ? encoder->encoded_bytes_estimate() : 0;
  return bytes;
}

size_t RowGroup::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& encoder : encoders) bytes += encoder ? encoder->buffered_bytes() : 0;
  return bytes;
}

void PartitionState::cut(int64_t rows_max, size_t leaf_count, size_t column_count, bool keep_open) {
  segments.clear();
  bool is_open = has_open_group();
  for (int64_t begin = 0; begin < staged_rows;) {
    if (!is_open) groups.push_back(std::make_unique<RowGroup>(leaf_count));
    RowGroup& group = *groups.back();
    // A group that is full by now (rows may be larger than they were) ends with one more row.
    const int64_t room = std::max<int64_t>(rows_max - group.row_count, 1);
    const int64_t count = std::min(staged_rows - begin, room);
    group.row_count += count;
    const bool is_last = begin + count == staged_rows;
    const bool ends = group.row_count >= rows_max || (is_last && !keep_open);
    segments.push_back({&group, begin, count, ends});
    begin += count;
    is_open = !ends;
  }
  columns_left_ = column_count;
}

void PartitionState::column_done(bool finish_files) {
  if (--columns_left_ != 0) return;
  write_ended_groups();
  if (finish_files) files.finish();
}

void PartitionState::end_open_group(parquet::EncoderScratch& scratch) {
  RowGroup& group = *groups.back();
  for (size_t leaf = 0; leaf < group.encoders.size(); ++leaf) group.end_leaf(leaf, scratch);
  write_ended_groups();
}

void PartitionState::write_ended_groups() {
  const auto is_ended = [](const RowGroup& group) { return !group.encoders.empty() && !group.encoders.front(); };
  size_t ended = 0;
  while (ended < groups.size() && is_ended(*groups[ended])) {
    RowGroup& group = *groups[ended++];
    files.append_row_group(group.row_count, std::move(group.chunks));
  }
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(ended));
}

}  // namespace frazil::write
