// One leaf below lists: pages of its chunk in; its values, and the offsets and validity of the lists and structs that it
// tells about, out.
//
// A level is an entry of the page: definition d says how far the path to a value is there, repetition r at which list
// it goes on. With lists numbered 1..n from the outside and e(k) the definition level at which list k has an element:
//
//   r < 1               a row starts                                 = a slot of what stands at the top
//   r <= k, d >= e(k)   an element of list k starts                  = a slot of what stands in list k
//   d = max             the page has a value
//
// So everything comes from bitmaps of levels that reach a threshold: the offset of a slot is how many elements there were
// before it; validity is d >= (level of the node) under the slots. Levels are taken in pieces of at most 1,024, cut where a
// batch, a wanted range of rows, or the room for strings ends.
//
// How many bytes a row has is only known when it is decoded. A reader therefore goes on by pieces and may have more rows
// than the batch takes in the end: those are kept for the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frazil/parquet/column_reader.h"
#include "frazil/parquet/leaf_pages.h"
#include "frazil/parquet/leaf_values.h"
#include "frazil/parquet/row_cursor.h"
#include "frazil/parquet/structure.h"

namespace frazil::parquet {

class RepeatedReader {
 public:
  // A list on the way to the leaf.
  struct ListLevel {
    Structure* structure = nullptr;
    uint32_t definition = 0;  // not null from here on
    uint32_t element = 0;     // has an element from here on
    bool nullable = false;
    // nullptr: this leaf tells what the list is. Else that one does, and this one must say the same.
    const RepeatedReader* teller = nullptr;
  };
  // A struct that this leaf tells about, in `depth` lists.
  struct StructLevel {
    Structure* structure = nullptr;
    uint32_t definition = 0;
    size_t depth = 0;
  };
  struct Options {
    LeafPages::Options pages;
    size_t bytes_max = 0;  // of a batch
  };

  // Borrows file, metadata, decompressor and structures. `lists`: all, the outermost first.
  RepeatedReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, DataTypePtr type,
                 std::vector<ListLevel> lists, Decompressor& decompressor, const Options& options);
  // Before the first row group.
  void add_struct(const StructLevel& level);

  const DataTypePtr& type() const { return type_; }
  const Conversion& conversion() const { return values_.conversion(); }
  size_t leaf() const { return pages_.leaf(); }
  const std::string& path() const { return pages_.path(); }
  bool is_nullable() const { return max_definition_ > lists_.back().element; }
  const LeafValues& values() const { return values_; }
  bool is_variable() const { return values_.is_variable(); }
  const std::vector<ListLevel>& lists() const { return lists_; }
  const std::vector<StructLevel>& structs() const { return structs_; }
  // Bits of an element in the batch, the bytes of variable values not counted.
  size_t slot_bits() const { return values_.slot_bits() + (is_nullable() ? 1 : 0); }
  static constexpr size_t kLevels = 1024;  // of a piece
  // Strings of a piece have no more bytes, unless one value has, or a row is larger than a batch.
  static constexpr size_t kPieceDataBytes = size_t{2} << 20;
  // No buffer gets room for more slots than these, unless more are there, for `level_count` levels in the row group.
  static size_t slots_max(size_t bits_of_slot, size_t level_count, size_t bytes_max);
  void limit_data_bytes(size_t bytes) { values_.limit_data_bytes(bytes); }

  void open(const GroupView& group, const std::byte* whole, const OffsetIndex* index);
  void close();
  void use(Decompressor& decompressor) { pages_.use(decompressor); }
  // The row group's dictionary, ahead of the first batch. False for want of memory.
  [[nodiscard]] bool load_dictionary(MemorySource& memory) {
    return pages_.load_header(memory) != LeafPages::Status::kNeedMemory;
  }

  // ---- One batch ----

  // Decodes the next piece, but no row beyond the batch's first `rows_max`; room is made for `batch_rows`, which the batch may
  // have in the end. False for want of memory, with all progress kept. Does nothing if all of these rows are complete, or
  // if is_full().
  [[nodiscard]] bool advance(size_t rows_max, size_t batch_rows, MemorySource& memory);
  // Rows of the batch that are decoded to their end.
  size_t complete_rows() const { return rows_started_ - (row_open_ && !skipping_ ? 1 : 0); }
  bool is_row_open() const { return row_open_; }
  // Between two calls of advance() for the same piece.
  bool in_piece() const { return piece_ != Piece::kNone; }
  // The next row does not fit in a batch beside the complete ones, of this leaf alone.
  bool is_full() const { return is_full_; }
  // Throws CorruptError unless the lists that others tell about have as many elements here, in `rows` rows, which are all
  // there are.
  void check_lists(size_t rows) const;
  // Bits of all that is decoded, what it tells about included.
  uint64_t decoded_bits() const;

  // Of the first `rows` rows. Requires complete ones, of this leaf and of all that tell its lists.
  uint64_t bits_of(size_t rows) const;

  // Keeps what is behind the first `rows` rows for the next batch, of all that it tells. False for want of memory.
  [[nodiscard]] bool keep_tail(size_t rows, MemorySource& memory);
  // The array of its values in these rows, behind keep_tail(rows) of all leaves. Its lists are finished later.
  std::shared_ptr<Array> finish(size_t rows, MemorySource& memory);

  size_t bytes_in_use() const { return pages_.bytes_in_use() + values_.bytes_in_use(); }
  size_t spared_bytes() const { return pages_.spared_bytes(); }
  uint64_t offset() const { return pages_.offset(); }

 private:
  static constexpr size_t kWords = kLevels / 64;
  using Mask = std::array<uint64_t, kWords>;

  bool refill(MemorySource& memory);
  void check_row_left() const;
  bool skip_pages(MemorySource& memory, LeafPages::Status& status);
  void decode_levels();
  bool choose_piece(size_t rows_max);
  size_t cut_rows(size_t limit, size_t allowed, size_t& starts) const;
  bool cut_bytes(size_t count);
  void make_masks();
  bool reserve(size_t batch_rows, MemorySource& memory);
  size_t expected_slots(size_t slots, size_t batch_rows) const;
  void write_structures();
  void write_offsets(size_t list);
  void check_offsets(size_t list) const;
  void commit_piece();

  DataTypePtr type_;
  uint32_t max_definition_;
  uint32_t max_repetition_;
  LeafValues values_;
  LeafPages pages_;
  std::vector<ListLevel> lists_;
  std::vector<StructLevel> structs_;
  size_t bytes_max_;
  size_t piece_levels_max_;  // so that wide values do not pass the limit by much

  // Row group
  size_t group_rows_ = 0;
  RowCursor cursor_;  // behind the row that is open
  const OffsetIndex* index_ = nullptr;
  uint64_t levels_seen_ = 0;
  bool at_end_ = false;
  bool row_open_ = false;  // its levels may go on
  bool skipping_ = false;  // the open row, or the current run of rows, is not wanted

  // Page
  bool page_open_ = false;
  size_t page_left_ = 0;  // levels that are not in the buffer yet
  size_t begin_ = 0;      // of the buffer's levels that are not consumed
  size_t end_ = 0;

  // Piece: levels [begin_, cut_)
  enum class Piece : uint8_t { kNone, kChosen, kValues };
  Piece piece_ = Piece::kNone;
  size_t cut_ = 0;
  size_t piece_rows_ = 0;    // that start in it
  size_t piece_values_ = 0;  // that the page has for it
  std::vector<Mask> slots_;  // of depth 0..n
  std::vector<size_t> slot_counts_;
  std::vector<Mask> list_valid_;
  std::vector<Mask> struct_valid_;
  std::vector<size_t> list_nulls_;
  std::vector<size_t> struct_nulls_;
  Mask leaf_valid_;

  // Batch
  size_t rows_started_ = 0;
  bool is_full_ = false;
  std::vector<size_t> list_slots_;     // of lists that others tell about
  std::vector<size_t> list_elements_;  // of the same
  double slots_per_row_ = 0;           // of the batch before; 0: not known

  uint8_t repetition_[kLevels + 64];
  uint8_t definition_[kLevels + 64];
};

}  // namespace frazil::parquet
