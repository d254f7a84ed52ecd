#include "frazil/parquet/page_index.h"

#include <algorithm>
#include <string>

#include "frazil/base/error.h"
#include "frazil/io/coalesce.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

namespace {

std::vector<int64_t> read_integers(ThriftReader& reader, ThriftReader::List list) {
  std::vector<int64_t> values;
  values.reserve(list.size);
  for (uint32_t i = 0; i < list.size; ++i) values.push_back(reader.read_integer());
  return values;
}

// A list of one item a page, or nothing if it has another length: optional lists are then as good as absent.
std::vector<int64_t> read_counts(ThriftFields& fields, ThriftReader& reader, size_t page_count) {
  const ThriftReader::List list = fields.list(ThriftType::kI64);
  std::vector<int64_t> values = read_integers(reader, list);
  if (values.size() != page_count) values.clear();
  return values;
}

bool has_negative(const std::vector<int64_t>& values) {
  return std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
}

std::vector<std::span<const std::byte>> read_bounds(ThriftFields& fields, ThriftReader& reader, size_t page_count) {
  const ThriftReader::List list = fields.list(ThriftType::kBinary);
  if (list.size != page_count) {
    throw_corrupt(reader.bytes().offset(), "column index has {} bounds for {} pages", list.size, page_count);
  }
  std::vector<std::span<const std::byte>> bounds;
  bounds.reserve(list.size);
  for (uint32_t i = 0; i < list.size; ++i) bounds.push_back(std::as_bytes(std::span(reader.read_binary())));
  return bounds;
}

PageLocation read_location(ThriftReader& reader, const ChunkRange& chunk, uint64_t row_count,
                           const PageLocation* before) {
  const uint64_t place = reader.bytes().offset();
  int64_t offset = -1;
  int64_t size = -1;
  int64_t first_row = -1;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        offset = fields.i64();
        break;
      case 2:
        size = fields.i32();
        break;
      case 3:
        first_row = fields.i64();
        break;
      default:
        fields.skip();
    }
  }
  const uint64_t begin = before == nullptr ? chunk.begin : before->offset + before->compressed_size;
  if (size <= 0 || offset < 0 || static_cast<uint64_t>(offset) < begin || static_cast<uint64_t>(offset) > chunk.end ||
      static_cast<uint64_t>(size) > chunk.end - static_cast<uint64_t>(offset)) {
    throw_corrupt(place, "offset index has a page at {} + {} in a chunk that goes on from {} to {}", offset, size,
                  begin, chunk.end);
  }
  const uint64_t row_min = before == nullptr ? 0 : before->first_row;
  const uint64_t row_max = before == nullptr ? 0 : row_count;
  if (first_row < 0 || static_cast<uint64_t>(first_row) < row_min || static_cast<uint64_t>(first_row) > row_max) {
    throw_corrupt(place, "offset index has a page of row {} behind row {} of {}", first_row, row_min, row_count);
  }
  return {static_cast<uint64_t>(offset), static_cast<uint32_t>(size), static_cast<uint64_t>(first_row)};
}

}  // namespace

size_t OffsetIndex::page_of(uint64_t row) const {
  const auto behind = std::upper_bound(pages.begin(), pages.end(), row,
                                       [](uint64_t value, const PageLocation& page) { return value < page.first_row; });
  return static_cast<size_t>(behind - pages.begin()) - 1;
}

Statistics ColumnIndex::statistics(size_t page) const {
  Statistics statistics;
  if (!null_pages[page]) {
    statistics.min_value = min_values[page];
    statistics.max_value = max_values[page];
  }
  if (!null_counts.empty() && null_counts[page] >= 0) statistics.null_count = null_counts[page];
  if (!nan_counts.empty() && nan_counts[page] >= 0) statistics.nan_count = nan_counts[page];
  return statistics;
}

OffsetIndex parse_offset_index(std::span<const std::byte> bytes, uint64_t offset, const ChunkRange& chunk,
                               uint64_t row_count) {
  ThriftReader reader(bytes, offset);
  OffsetIndex index;
  index.row_count = row_count;
  bool has_pages = false;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1: {
        const ThriftReader::List list = fields.list(ThriftType::kStruct);
        has_pages = true;
        index.pages.clear();
        index.pages.reserve(list.size);
        for (uint32_t i = 0; i < list.size; ++i) {
          index.pages.push_back(read_location(reader, chunk, row_count, i == 0 ? nullptr : &index.pages.back()));
        }
        break;
      }
      case 2:
        index.unencoded_bytes = read_integers(reader, fields.list(ThriftType::kI64));
        break;
      default:
        fields.skip();
    }
  }
  if (!has_pages || (index.pages.empty() && row_count > 0)) {
    throw_corrupt(offset, "offset index has no pages for {} rows", row_count);
  }
  const bool is_usable =
      index.unencoded_bytes.size() == index.pages.size() &&
      std::all_of(index.unencoded_bytes.begin(), index.unencoded_bytes.end(), [](int64_t count) { return count >= 0; });
  if (!is_usable) index.unencoded_bytes.clear();
  return index;
}

ColumnIndex parse_column_index(std::span<const std::byte> bytes, uint64_t offset, size_t page_count) {
  ThriftReader reader(bytes, offset);
  ColumnIndex index;
  bool has_null_pages = false;
  bool has_min = false;
  bool has_max = false;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1: {
        const ThriftReader::List list = fields.list(ThriftType::kTrue);
        if (list.size != page_count) {
          throw_corrupt(reader.bytes().offset(), "column index has {} pages, the offset index {}", list.size,
                        page_count);
        }
        index.null_pages.clear();
        index.null_pages.reserve(list.size);
        for (uint32_t i = 0; i < list.size; ++i) index.null_pages.push_back(reader.read_list_bool());
        has_null_pages = true;
        break;
      }
      case 2:
        index.min_values = read_bounds(fields, reader, page_count);
        has_min = true;
        break;
      case 3:
        index.max_values = read_bounds(fields, reader, page_count);
        has_max = true;
        break;
      case 4: {
        const int32_t order = fields.i32();
        index.order = order == 1   ? BoundaryOrder::kAscending
                      : order == 2 ? BoundaryOrder::kDescending
                                   : BoundaryOrder::kUnordered;
        break;
      }
      case 5:
        index.null_counts = read_counts(fields, reader, page_count);
        break;
      case 8:
        index.nan_counts = read_counts(fields, reader, page_count);
        break;
      default:
        fields.skip();
    }
  }
  if (!has_null_pages || !has_min || !has_max) throw_corrupt(offset, "column index lacks a required field");
  return index;
}

std::optional<uint64_t> unencoded_bytes_max(const OffsetIndex& index, uint64_t rows) {
  if (index.unencoded_bytes.empty() && index.page_count() > 0) return std::nullopt;
  if (rows == 0) return 0;
  // Rows [r, r + rows) touch the pages from that of r to that of the last; the widest such stretch begins with a page's
  // last row.
  uint64_t most = 0;
  uint64_t sum = 0;
  size_t last = 0;  // pages [first, last) are in the sum
  for (size_t first = 0; first < index.page_count(); ++first) {
    const RowRange own = index.rows(first);
    if (own.row_count() > 0) {
      const uint64_t begin = own.end - 1;
      while (last < index.page_count() && (last <= first || index.pages[last].first_row - begin < rows)) {
        const auto bytes = static_cast<uint64_t>(index.unencoded_bytes[last]);
        if (__builtin_add_overflow(sum, bytes, &sum)) return std::nullopt;
        ++last;
      }
      most = std::max(most, sum);
    }
    if (last > first) {
      sum -= static_cast<uint64_t>(index.unencoded_bytes[first]);
    } else {
      last = first + 1;
    }
  }
  return most;
}

SizeStatistics parse_size_statistics(std::span<const std::byte> bytes, const SchemaNode& leaf) {
  ThriftReader reader(bytes);
  SizeStatistics sizes;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1: {
        const int64_t count = fields.i64();
        if (count >= 0) sizes.unencoded_byte_array_bytes = count;
        break;
      }
      case 2:
        sizes.repetition_histogram = read_counts(fields, reader, size_t{leaf.max_repetition} + 1);
        break;
      case 3:
        sizes.definition_histogram = read_counts(fields, reader, size_t{leaf.max_definition} + 1);
        break;
      default:
        fields.skip();
    }
  }
  if (has_negative(sizes.repetition_histogram)) sizes.repetition_histogram.clear();
  if (has_negative(sizes.definition_histogram)) sizes.definition_histogram.clear();
  return sizes;
}

// ---- Reading ----

namespace {

// The range of an index in the file, or why it cannot be read. An absent index has neither.
std::optional<ByteRange> check_range(const FileRange& range, uint64_t file_size, std::string& defect) {
  if (!range.present()) return std::nullopt;
  if (range.length <= 0 || static_cast<uint64_t>(range.length) > kPageIndexBytesMax ||
      static_cast<uint64_t>(range.offset) > file_size ||
      static_cast<uint64_t>(range.length) > file_size - static_cast<uint64_t>(range.offset)) {
    defect = message("page index at {} + {} of a file of {} bytes", range.offset, range.length, file_size);
    return std::nullopt;
  }
  return ByteRange{static_cast<uint64_t>(range.offset), static_cast<uint64_t>(range.length)};
}

// Lists of what `bytes` hold take at most this much: a page location is at least 7 bytes and becomes 24, a bound at
// least 1 and becomes 16, with room for a vector that grew in a list that repeats.
uint64_t list_bytes_max(uint64_t bytes) {
  return bytes * 32;
}

}  // namespace

PageIndex PageIndex::read(const InputFile& file, const FileMetadata& metadata, size_t row_group,
                          std::span<const size_t> leaves, std::span<const size_t> bounds_of, MemoryPool& pool) {
  PageIndex result;
  std::vector<size_t> sorted(leaves.begin(), leaves.end());
  sorted.insert(sorted.end(), bounds_of.begin(), bounds_of.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

  const RowGroup& group = metadata.row_groups()[row_group];
  std::vector<ByteRange> ranges;  // two a column, empty where there is nothing to read
  for (size_t leaf : sorted) {
    Entry& entry = result.columns_.emplace_back(Entry{leaf, {}});
    const ColumnChunk& chunk = group.columns[leaf];
    const bool wants_bounds = std::find(bounds_of.begin(), bounds_of.end(), leaf) != bounds_of.end();
    std::optional<ByteRange> offsets;
    std::optional<ByteRange> bounds;
    if (!chunk.encrypted && !chunk.in_other_file) {
      offsets = check_range(chunk.offset_index, file.size(), entry.column.defect);
      if (wants_bounds && offsets) bounds = check_range(chunk.column_index, file.size(), entry.column.defect);
    }
    ranges.push_back(offsets.value_or(ByteRange{}));
    ranges.push_back(bounds.value_or(ByteRange{}));
  }

  const ReadPlan plan = plan_ranges(ranges, file.size());
  result.lists_ = pool.reserve(0);
  for (const ByteRange& range : plan.reads) {
    MutableBuffer block = pool.allocate(static_cast<size_t>(range.length));
    block.set_size(static_cast<size_t>(range.length));
    file.read_at(range.offset, block.span());
    result.bytes_read_ += range.length;
    result.buffers_.push_back(std::move(block).freeze());
  }
  const auto bytes_of = [&](size_t range) {
    const ReadPlan::Slice& slice = plan.slices[range];
    if (slice.read_index == ReadPlan::kNoRead) return std::span<const std::byte>();
    return result.buffers_[slice.read_index].span().subspan(static_cast<size_t>(slice.offset),
                                                            static_cast<size_t>(slice.length));
  };
  for (size_t i = 0; i < result.columns_.size(); ++i) {
    Column& column = result.columns_[i].column;
    const std::span<const std::byte> offsets = bytes_of(2 * i);
    const std::span<const std::byte> bounds = bytes_of(2 * i + 1);
    if (offsets.empty()) continue;
    const auto list_bytes = static_cast<size_t>(list_bytes_max(offsets.size() + bounds.size()));
    if (!result.lists_.try_grow(list_bytes)) {
      column.defect = message("page index of {} bytes does not fit in memory", offsets.size() + bounds.size());
      continue;
    }
    try {
      const ColumnChunk& chunk = group.columns[result.columns_[i].leaf];
      column.offsets = parse_offset_index(offsets, ranges[2 * i].offset, chunk_range(chunk, metadata, file.size()),
                                          static_cast<uint64_t>(group.row_count));
      if (!bounds.empty()) {
        column.bounds = parse_column_index(bounds, ranges[2 * i + 1].offset, column.offsets->page_count());
      }
    } catch (const CorruptError& error) {
      // Bounds alone may be wrong; places that are consistent still serve.
      column.defect = error.message();
      column.bounds.reset();
    }
  }
  return result;
}

const PageIndex::Column* PageIndex::find(size_t leaf) const {
  const auto found = std::lower_bound(columns_.begin(), columns_.end(), leaf,
                                      [](const Entry& entry, size_t value) { return entry.leaf < value; });
  return found != columns_.end() && found->leaf == leaf ? &found->column : nullptr;
}

}  // namespace frazil::parquet
