// One leaf without repetition of a BatchReader: pages of its chunk in, an array of the batch out. A row is a level and a
// slot. Leaves below lists: see repeated_reader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/leaf_pages.h"
#include "frazil/parquet/leaf_values.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/row_cursor.h"
#include "frazil/parquet/structure.h"

namespace frazil::parquet {

// What a row group's columns read of it.
struct GroupView {
  size_t row_group = 0;
  size_t row_count = 0;
  std::span<const RowRange> rows;  // wanted ones; borrowed while the group is read
};

class ColumnReader {
 public:
  struct Options {
    LeafPages::Options pages;
    size_t data_bytes_max = 0;  // kBytes, kLargeBytes: of a batch, unless one value alone is larger
  };

  // Borrows file, metadata and decompressor. Throws Error(kInvalidArgument) if values of the leaf cannot be `type`.
  ColumnReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, DataTypePtr type,
               Decompressor& decompressor, const Options& options);

  const DataTypePtr& type() const { return type_; }
  const Conversion& conversion() const { return values_.conversion(); }
  size_t leaf() const { return pages_.leaf(); }
  const std::string& path() const { return pages_.path(); }
  // Its rows take a number of bytes that only their values tell.
  bool is_variable() const { return values_.is_variable(); }
  // Bits of a row in the batch, the bytes of variable values not counted, those of its structs counted.
  size_t row_bits() const { return values_.slot_bits() + validity_count(); }
  // The values or offsets buffer of `rows` rows.
  size_t fixed_bytes(size_t rows) const { return values_.fixed_bytes(rows); }
  // Bitmaps that a batch may have: its own and those of its structs.
  size_t validity_count() const { return (max_definition_ > 0 ? 1 : 0) + structs_.size(); }
  // Blocks for the data of a batch are made no larger in advance.
  void limit_data_bytes(size_t bytes) { values_.limit_data_bytes(bytes); }
  // Its levels tell too where a struct above it is null: below `definition`. Before the first row group.
  void add_struct(Structure& structure, uint32_t definition) { structs_.push_back({&structure, definition}); }

  // Starts a row group. `whole`: the bytes of its chunk if somebody holds them in memory, else nullptr. `index`: where
  // its pages are, if that is known; borrowed.
  void open(const GroupView& group, const std::byte* whole, const OffsetIndex* index);
  // Frees what it holds.
  void close();
  void use(Decompressor& decompressor) { pages_.use(decompressor); }
  // The row group's dictionary, ahead of the first batch. False for want of memory.
  [[nodiscard]] bool load_dictionary(MemorySource& memory) {
    return pages_.load_header(memory) != LeafPages::Status::kNeedMemory;
  }

  // ---- One batch. Each returns false for want of memory, with its progress kept. ----

  // Takes the buffers for up to `rows` rows.
  [[nodiscard]] bool begin_batch(size_t rows, MemorySource& memory);
  // Makes the current page the one with the next wanted row, at that row.
  [[nodiscard]] bool load_page(MemorySource& memory) { return load_page(0, memory); }
  // Wanted rows of the page from there on, without a gap.
  size_t page_rows_left() const;
  // Decodes until the batch has `rows` rows of it.
  [[nodiscard]] bool decode_to(size_t rows, MemorySource& memory);
  size_t row_count() const { return values_.slots(); }
  size_t valid_count() const { return values_.valid_count(); }
  // The array of all rows so far; the buffers are its own then.
  std::shared_ptr<Array> finish_batch(MemorySource& memory) {
    std::shared_ptr<Array> array = values_.finish(type_, values_.slots(), memory);
    pages_.add_dictionary(*array);
    return array;
  }

  // ---- Looking ahead in the current page, variable columns ----

  struct LookAhead {
    ValueDecoder::Cursor values;
    HybridReader levels;
  };
  LookAhead look_ahead() const { return {pages_.values.cursor(), pages_.definition_levels}; }
  size_t value_bytes_bound(size_t rows) const { return pages_.values.value_bytes_bound(rows); }
  // Adds the bytes of the next `count` <= ValueDecoder::kScratch rows to totals[0..count).
  void add_value_bytes(LookAhead& at, size_t count, uint64_t* totals) const;
  size_t data_bytes() const { return static_cast<size_t>(values_.data_bytes()); }

  // Bytes of the pool that it holds.
  size_t bytes_in_use() const { return pages_.bytes_in_use() + values_.bytes_in_use(); }

  size_t spared_bytes() const { return pages_.spared_bytes(); }

  // Where in the file it is, for errors.
  uint64_t offset() const { return pages_.offset(); }

 private:
  struct StructLevel {
    Structure* structure;
    uint32_t definition;
  };

  void check_row_count(size_t rows) const;
  void jump_to_wanted();
  void check_index() const;
  void skip_rows(size_t rows);
  // `slots_to_fill`: that many more of the batch are decoded before anything else happens.
  bool load_page(size_t slots_to_fill, MemorySource& memory);
  bool open_stride(size_t target, MemorySource& memory);

  DataTypePtr type_;
  uint32_t max_definition_;
  LeafValues values_;
  LeafPages pages_;
  std::vector<StructLevel> structs_;

  // Row group
  size_t group_rows_ = 0;
  RowCursor cursor_;
  const OffsetIndex* index_ = nullptr;

  // Page
  size_t page_left_ = 0;
  bool page_all_valid_ = true;
};

// How values of the leaf become `type`. Throws Error(kInvalidArgument) if they cannot.
Conversion require_conversion(const FileSchema& schema, size_t leaf, const DataType& type);

}  // namespace frazil::parquet
