#include "frazil/write/staged_batch.h"

#include <algorithm>

#include "frazil/base/bits.h"
#include "frazil/columnar/layout.h"

namespace frazil::write {

namespace {

size_t value_bytes(const Array& array) {
  const auto length = static_cast<size_t>(array.length);
  if (length == 0) return 0;
  const TypeId id = array.type->id();
  switch (layout_of(id)) {
    case Layout::kNull:
      return 0;
    case Layout::kBool:
      return bytes_for_bits(length);
    case Layout::kFixedWidth:
    case Layout::kDictionary:
      return length * static_cast<size_t>(array.type->byte_width());
    case Layout::kView: {
      size_t bytes = length * sizeof(BinaryView);
      for (int64_t i = 0; i < array.length; ++i) {
        const int32_t size = view_at(array, array.offset + i).size;
        if (size > BinaryView::kInlineMax) bytes += static_cast<size_t>(size);
      }
      return bytes;
    }
    case Layout::kBytes: {
      const int width = offset_width(id);
      const int64_t data = offset_at(array.buffers[1], width, array.offset + array.length) -
                           offset_at(array.buffers[1], width, array.offset);
      return length * static_cast<size_t>(width) + static_cast<size_t>(data);
    }
    case Layout::kList: {
      const int width = offset_width(id);
      const int64_t first = offset_at(array.buffers[1], width, array.offset);
      const int64_t last = offset_at(array.buffers[1], width, array.offset + array.length);
      return length * static_cast<size_t>(width) + row_bytes(*array.children[0]->slice(first, last - first));
    }
    case Layout::kFixedSizeList: {
      const int64_t size = array.type->fixed_size();
      return row_bytes(*array.children[0]->slice(array.offset * size, array.length * size));
    }
    default: {
      size_t bytes = 0;
      for (const ArrayPtr& child : array.children) {
        const bool is_cut = array.offset != 0 || child->length != array.length;
        const bool is_by_row = array.type->id() == TypeId::kStruct || array.type->id() == TypeId::kSparseUnion;
        bytes += row_bytes(is_by_row && is_cut ? *child->slice(array.offset, array.length) : *child);
      }
      return bytes;
    }
  }
}

template <typename Code>
std::vector<RowRun> find_runs(const Code* codes, int64_t count) {
  const int64_t runs_max = std::max<int64_t>(1, count / kRunRowsMin);
  int64_t run_count = count > 0 ? 1 : 0;
  for (int64_t i = 1; i < count; ++i) {
    run_count += codes[i] != codes[i - 1];
    if ((i & 1023) == 0 && run_count > runs_max) return {};
  }
  if (run_count > runs_max) return {};
  std::vector<RowRun> runs;
  runs.reserve(static_cast<size_t>(run_count));
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || codes[i] != codes[i - 1]) runs.push_back({codes[i], i, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

StagedBatch slice(const StagedBatch& batch, int64_t begin, int64_t count) {
  StagedBatch part;
  part.row_count = count;
  part.dictionary_ids = batch.dictionary_ids;
  part.columns.reserve(batch.columns.size());
  for (const ArrayPtr& column : batch.columns) part.columns.push_back(column->slice(begin, count));
  if (!batch.is_runs()) {
    const auto width = static_cast<size_t>(batch.partitions.width);
    part.partitions = {
        batch.partitions.bytes.slice(static_cast<size_t>(begin) * width, static_cast<size_t>(count) * width),
        batch.partitions.width, count};
    return part;
  }
  for (const RowRun& run : batch.runs) {
    const int64_t from = std::max(run.begin, begin);
    const int64_t to = std::min(run.begin + run.count, begin + count);
    if (from < to) part.runs.push_back({run.partition, from - begin, to - from});
  }
  return part;
}

void count_rows(const StagedBatch& batch, std::span<int64_t> counts) {
  if (batch.is_runs()) {
    for (const RowRun& run : batch.runs) counts[run.partition] += run.count;
    return;
  }
  visit_codes(batch.partitions, [&](const auto* partitions) {
    for (int64_t i = 0; i < batch.row_count; ++i) ++counts[partitions[i]];
  });
}

size_t row_bytes(const Array& array) {
  const size_t validity = array.has_validity() ? bytes_for_bits(static_cast<size_t>(array.length)) : 0;
  return validity + value_bytes(array);
}

std::vector<RowRun> find_runs(const RowCodes& partitions) {
  return visit_codes(partitions, [&](const auto* codes) { return find_runs(codes, partitions.count); });
}

}  // namespace frazil::write
