#include "frazil/parquet/page_index_writer.h"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/parquet/thrift_writer.h"

namespace frazil::parquet {

namespace {

uint32_t size_since(const GrowingBuffer& out, size_t begin) {
  const size_t size = out.size() - begin;
  if (size > size_t{std::numeric_limits<int32_t>::max()}) {
    throw_error(ErrorKind::kUnsupported, "a page index of {} bytes, the format has room for 2 GiB", size);
  }
  return static_cast<uint32_t>(size);
}

bool is_null_page(const EncodedPage& page) {
  return page.null_count == int64_t{page.value_count};
}

// Bounds of pages without values are empty.
void write_bounds(ThriftWriter& index, int id, const EncodedChunk& chunk, std::string ValueBounds::* bound) {
  index.begin_list(id, ThriftType::kBinary, chunk.pages.size());
  for (const EncodedPage& page : chunk.pages) {
    index.element(page.bounds && !is_null_page(page) ? std::string_view((*page.bounds).*bound) : std::string_view());
  }
}

// The histograms of all pages in one list.
void write_histograms(ThriftWriter& index, int id, const EncodedChunk& chunk,
                      std::vector<int64_t> EncodedPage::* histogram) {
  const size_t level_count = (chunk.pages.front().*histogram).size();
  if (level_count == 0) return;
  index.begin_list(id, ThriftType::kI64, chunk.pages.size() * level_count);
  for (const EncodedPage& page : chunk.pages) {
    for (const int64_t count : page.*histogram) index.element(count);
  }
}

}  // namespace

uint32_t write_offset_index(GrowingBuffer& out, const EncodedChunk& chunk, uint64_t chunk_offset, bool is_byte_array) {
  const size_t begin = out.size();
  ThriftWriter index(out);
  index.begin_list(1, ThriftType::kStruct, chunk.pages.size());
  for (const EncodedPage& page : chunk.pages) {
    index.begin_element();
    index.i64(1, static_cast<int64_t>(chunk_offset + page.offset));
    index.i32(2, static_cast<int32_t>(page.compressed_size));
    index.i64(3, static_cast<int64_t>(page.first_row));
    index.end_struct();
  }
  if (is_byte_array) {
    index.begin_list(2, ThriftType::kI64, chunk.pages.size());
    for (const EncodedPage& page : chunk.pages) index.element(page.unencoded_bytes);
  }
  index.finish();
  return size_since(out, begin);
}

uint32_t write_column_index(GrowingBuffer& out, const EncodedChunk& chunk) {
  const size_t begin = out.size();
  ThriftWriter index(out);
  index.begin_list(1, ThriftType::kTrue, chunk.pages.size());
  for (const EncodedPage& page : chunk.pages) index.element(is_null_page(page));
  write_bounds(index, 2, chunk, &ValueBounds::min);
  write_bounds(index, 3, chunk, &ValueBounds::max);
  index.i32(4, static_cast<int32_t>(chunk.boundary_order));
  index.begin_list(5, ThriftType::kI64, chunk.pages.size());
  for (const EncodedPage& page : chunk.pages) index.element(page.null_count);
  write_histograms(index, 6, chunk, &EncodedPage::repetition_histogram);
  write_histograms(index, 7, chunk, &EncodedPage::definition_histogram);
  if (chunk.statistics.nan_count) {
    index.begin_list(8, ThriftType::kI64, chunk.pages.size());
    for (const EncodedPage& page : chunk.pages) index.element(page.nan_count);
  }
  index.finish();
  return size_since(out, begin);
}

}  // namespace frazil::parquet
