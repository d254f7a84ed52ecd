// The page index of a column chunk (format/PageIndex.md; parquet.thrift, OffsetIndex and ColumnIndex): where each data
// page is, which rows it has, and the bounds of its values.
//
//   OffsetIndex := page_locations: list of {1 offset:i64, 2 compressed_page_size:i32, 3 first_row_index:i64}
//                  2 unencoded_byte_array_data_bytes: list of i64
//   ColumnIndex := 1 null_pages: list of bool, 2 min_values, 3 max_values: lists of binary, 4 boundary_order,
//                  5 null_counts: list of i64, 6, 7 level histograms: lists of i64, 8 nan_counts: list of i64
//
// An index is a claim of the file's writer. What parse_* return is consistent in itself and lies inside the chunk, so
// that a reader that goes by it reads no wrong bytes; whether the pages have the rows that it claims, only decoding
// them tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/row_selection.h"

namespace frazil::parquet {

struct PageLocation {
  uint64_t offset = 0;           // of the page's header in the file
  uint32_t compressed_size = 0;  // header included
  uint64_t first_row = 0;        // in the row group
};

// Checked: offsets ascend without overlap and lie inside the chunk, the first page begins with row 0, first rows do not
// descend or pass `row_count`. A page may have no rows. No pages: only of no rows.
struct OffsetIndex {
  std::vector<PageLocation> pages;
  std::vector<int64_t> unencoded_bytes;  // BYTE_ARRAY: a page, of its values without lengths; empty: not told
  uint64_t row_count = 0;                // of the row group

  size_t page_count() const { return pages.size(); }
  RowRange rows(size_t page) const {
    return {pages[page].first_row, page + 1 < pages.size() ? pages[page + 1].first_row : row_count};
  }
  // The page that has `row` < row_count.
  size_t page_of(uint64_t row) const;
};

enum class BoundaryOrder : uint8_t { kUnordered = 0, kAscending = 1, kDescending = 2 };

// Views on the bytes that it was parsed from. Checked: each list that is there has one item a page.
struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<std::span<const std::byte>> min_values;  // of a null page: meaningless
  std::vector<std::span<const std::byte>> max_values;
  BoundaryOrder order = BoundaryOrder::kUnordered;
  std::vector<int64_t> null_counts;  // empty: not told; negative: not told of this page
  std::vector<int64_t> nan_counts;   // the same

  size_t page_count() const { return null_pages.size(); }
  // The bounds and counts of a page as statistics like those of a chunk. Of a null page: no bounds.
  Statistics statistics(size_t page) const;
};

// `bytes` are the struct, `offset` its place in the file, for errors. Throw CorruptError.
OffsetIndex parse_offset_index(std::span<const std::byte> bytes, uint64_t offset, const ChunkRange& chunk,
                               uint64_t row_count);
ColumnIndex parse_column_index(std::span<const std::byte> bytes, uint64_t offset, size_t page_count);

// The most bytes that the BYTE_ARRAY values of `rows` rows in a row can have, lengths not counted; nothing if the index
// does not tell. To size a batch's data exactly: the rows may begin anywhere in a page, so all of its bytes count.
std::optional<uint64_t> unencoded_bytes_max(const OffsetIndex& index, uint64_t rows);

// A longer index is not read: no index then. (40,000 pages take less than 1 MiB.)
inline constexpr uint64_t kPageIndexBytesMax = uint64_t{16} << 20;

// The indexes of chosen leaves of one row group, brought by as few reads as their places allow. Immutable.
class PageIndex {
 public:
  struct Column {
    std::optional<OffsetIndex> offsets;
    std::optional<ColumnIndex> bounds;  // only with offsets of as many pages
    // What is wrong with the chunk's index, which is then left out: it is an aid, and the pages are read without it.
    std::string defect;
  };
  // `bounds_of`: leaves whose column index is read too. Leaves may repeat. Throws IoError, MemoryLimitError; never for
  // a damaged index.
  static PageIndex read(const InputFile& file, const FileMetadata& metadata, size_t row_group,
                        std::span<const size_t> leaves, std::span<const size_t> bounds_of, MemoryPool& pool);

  // nullptr if `leaf` was not asked for.
  const Column* find(size_t leaf) const;
  const OffsetIndex* offsets(size_t leaf) const {
    const Column* column = find(leaf);
    return column != nullptr && column->offsets ? &*column->offsets : nullptr;
  }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Entry {
    size_t leaf;
    Column column;
  };
  std::vector<Entry> columns_;   // by leaf
  std::vector<Buffer> buffers_;  // what the column indexes are views on
  Reservation lists_;            // promises what the lists take of the C heap
  uint64_t bytes_read_ = 0;
};

// ---- Size statistics (parquet.thrift, SizeStatistics) ----

struct SizeStatistics {
  std::optional<int64_t> unencoded_byte_array_bytes;  // BYTE_ARRAY: of all values, without lengths
  std::vector<int64_t> repetition_histogram;          // levels 0..max; empty: not told
  std::vector<int64_t> definition_histogram;
};
// Parses ColumnChunk::size_statistics. Throws CorruptError; histograms of another length than the leaf's levels are
// left out.
SizeStatistics parse_size_statistics(std::span<const std::byte> bytes, const SchemaNode& leaf);

}  // namespace frazil::parquet
