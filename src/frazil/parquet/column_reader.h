// One column of a BatchReader: pages of its chunk in, an array of the batch out. Columns without repetition: a row is a
// level. What a nested column adds is another class over the same pages, levels and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frazil/columnar/array.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

// A batch's string data lies in a block for at most this many bytes where it has `used`.
inline constexpr size_t kDataBytesMin = 1024;
constexpr size_t trimmed_bytes(size_t used) {
  return used + used / 4 + 4096;
}

class ColumnReader {
 public:
  struct Options {
    ChunkPages::Options pages;
    bool validate_utf8 = false;
    size_t data_bytes_max = 0;  // kBytes, kLargeBytes: of a batch, unless one value alone is larger
  };

  // Borrows file, metadata and decompressor.
  ColumnReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, Field field,
               Decompressor& decompressor, const Options& options);

  const Field& field() const { return field_; }
  const Conversion& conversion() const { return conversion_; }
  size_t leaf() const { return leaf_; }
  const std::string& path() const { return path_; }
  // Its rows take a number of bytes that only their values tell.
  bool is_variable() const {
    return conversion_.form == ValueForm::kBytes || conversion_.form == ValueForm::kLargeBytes;
  }
  // Bits of a row in the batch, the bytes of variable values not counted.
  size_t row_bits() const;
  // The same as bytes of the values or offsets buffer of `rows` rows.
  size_t fixed_bytes(size_t rows) const;
  bool has_validity() const { return max_definition_ > 0; }
  // Blocks for the data of a batch are made no larger in advance.
  void limit_data_bytes(size_t bytes) { options_.data_bytes_max = bytes; }

  // Starts a row group. `whole`: the bytes of its chunk if somebody holds them in memory, else
  // nullptr.
  void open(size_t row_group, const std::byte* whole);
  // After the last row: throws CorruptError unless the chunk ends with it.
  void check_end() const;
  // Frees what it holds.
  void close();

  // ---- One batch. Each returns false for want of memory, with its progress kept. ----

  // Takes the buffers for up to `rows` rows.
  [[nodiscard]] bool begin_batch(size_t rows, MemorySource& memory);
  // Makes the current page one with rows left.
  [[nodiscard]] bool load_page(MemorySource& memory);
  size_t page_rows_left() const { return page_left_; }
  // Decodes until the batch has `rows` rows of it.
  [[nodiscard]] bool decode_to(size_t rows, MemorySource& memory);
  size_t row_count() const { return rows_; }
  // The array of all rows so far; the buffers are its own then.
  ArrayPtr finish_batch(MemorySource& memory);

  // ---- Looking ahead in the current page, variable columns ----

  struct LookAhead {
    ValueDecoder::Cursor values;
    HybridReader levels;
  };
  LookAhead look_ahead() const { return {values_.cursor(), levels_}; }
  size_t value_bytes_bound(size_t rows) const { return values_.value_bytes_bound(rows); }
  // Adds the bytes of the next `count` <= ValueDecoder::kScratch rows to totals[0..count).
  void add_value_bytes(LookAhead& at, size_t count, uint64_t* totals) const;
  size_t data_bytes() const { return data_used_; }

  // Bytes of the pool that it holds.
  size_t bytes_in_use() const {
    return pages_.bytes_in_use() + values_.bytes_in_use() + validity_.bytes_in_use() +
           fixed_.bytes_in_use() + data_.bytes_in_use();
  }

  // Where in the file it is, for errors.
  uint64_t offset() const { return pages_.position(); }

 private:
  void start_page();
  void start_levels(const Page& page, std::span<const std::byte>& values);
  bool load_dictionary(MemorySource& memory);
  bool open_stride(size_t target, MemorySource& memory);
  template <typename Offset>
  bool decode_stride_offsets(MemorySource& memory);
  void decode_stride_fixed();
  void decode_stride_bits();
  bool grow_data(MemorySource& memory);
  size_t estimate_data_bytes(size_t rows_done) const;
  void trim_data(MemorySource& memory);

  const FileMetadata* metadata_;
  const InputFile* file_;
  size_t leaf_;
  Field field_;
  std::string path_;
  uint32_t max_definition_;
  Conversion conversion_;
  Options options_;
  ChunkPages pages_;
  ValueDecoder values_;

  // Row group
  const ColumnChunk* chunk_ = nullptr;
  size_t group_rows_ = 0;
  size_t group_rows_paged_ = 0;  // of pages that were started

  // Page
  size_t page_left_ = 0;
  bool page_all_valid_ = true;
  HybridReader levels_;

  // Stride: rows of one page whose levels are read and whose values are on their way.
  struct Stride {
    size_t rows = 0;
    size_t valid = 0;
    size_t done = 0;  // of valid
  };
  Stride stride_;

  // Batch
  size_t batch_rows_ = 0;
  size_t rows_ = 0;
  size_t null_count_ = 0;
  Block validity_;
  Block fixed_;  // values or offsets
  Block data_;
  size_t data_used_ = 0;
  double bytes_per_row_ = -1;  // of the batch before; -1: not known
};

}  // namespace frazil::parquet
