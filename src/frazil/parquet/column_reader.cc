#include "frazil/parquet/column_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/levels.h"
#include "frazil/parquet/page_index.h"

namespace frazil::parquet {

Conversion require_conversion(const FileSchema& schema, size_t leaf, const DataType& type) {
  const SchemaNode& node = schema.leaf(leaf);
  auto conversion = find_conversion(node, type);
  if (conversion) return *conversion;
  const std::string path = schema.path(schema.leaf_node(leaf));
  if (type.equals(*arrow_leaf_type(node))) {
    throw_error(ErrorKind::kUnsupported, "column '{}' is {} of {}, which is not read yet", path, to_string(node.type),
                type.to_string());
  }
  throw_error(ErrorKind::kInvalidArgument, "column '{}' is {} and cannot be read as {}", path,
              arrow_leaf_type(node)->to_string(), type.to_string());
}

ColumnReader::ColumnReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, DataTypePtr type,
                           Decompressor& decompressor, const Options& options)
    : type_(std::move(type)),
      max_definition_(metadata.schema().leaf(leaf).max_definition),
      values_(require_conversion(metadata.schema(), leaf, *type_), options.data_bytes_max),
      pages_(file, metadata, leaf, type_, decompressor, options.pages) {}

void ColumnReader::open(const GroupView& group, const std::byte* whole, const OffsetIndex* index) {
  pages_.open(group.row_group, whole);
  if (values_.takes_plain()) pages_.expect_plain();
  group_rows_ = group.row_count;
  cursor_ = RowCursor(group.rows);
  index_ = index;
  page_left_ = 0;
  const double per_row = static_cast<double>(pages_.chunk().total_uncompressed_size) /
                         static_cast<double>(std::max<size_t>(group_rows_, 1));
  values_.guess_data_bytes(std::max(per_row - 4, 0.0));
}

void ColumnReader::close() {
  pages_.close();
}

bool ColumnReader::begin_batch(size_t rows, MemorySource& memory) {
  for (const StructLevel& level : structs_) {
    if (!level.structure->reserve(rows, memory)) return false;
  }
  return values_.reserve(rows, memory);
}

// ---- Pages ----

void ColumnReader::check_row_count(size_t rows) const {
  if (rows > group_rows_ - cursor_.row()) {
    throw_corrupt(offset(), "a page of {} values where the row group has {} more rows", rows,
                  group_rows_ - cursor_.row());
  }
}

// Passes over pages by the offset index.
void ColumnReader::jump_to_wanted() {
  const size_t page = index_->page_of(cursor_.row() + cursor_.gap());
  const PageLocation& location = index_->pages[page];
  if (location.offset <= offset() || location.first_row <= cursor_.row()) return;
  pages_.jump(location.offset);
  cursor_.jump(location.first_row);
}

// An index that lies about where rows are would give others than were asked for.
void ColumnReader::check_index() const {
  const size_t page = index_->page_of(cursor_.row());
  if (index_->pages[page].offset != offset() || index_->rows(page).row_count() == pages_.level_count()) return;
  throw_corrupt(offset(), "a page of {} values where the offset index has {} rows", pages_.level_count(),
                index_->rows(page).row_count());
}

void ColumnReader::skip_rows(size_t rows) {
  const size_t valid = page_all_valid_ ? rows : skip_levels(pages_.definition_levels, max_definition_, rows);
  pages_.values.skip(valid);
  cursor_.pass(rows);
  page_left_ -= rows;
  if (page_left_ == 0) pages_.advance();
}

bool ColumnReader::load_page(size_t slots_to_fill, MemorySource& memory) {
  for (;;) {
    if (page_left_ > 0) {
      const auto skipped = static_cast<size_t>(std::min<uint64_t>(page_left_, cursor_.gap()));
      if (skipped == 0) return true;
      skip_rows(skipped);
      continue;
    }
    LeafPages::Status status = pages_.load_header(memory);
    if (status == LeafPages::Status::kPage && cursor_.gap() > 0) {
      if (index_ != nullptr) {
        jump_to_wanted();
        status = pages_.load_header(memory);
        if (status == LeafPages::Status::kPage) check_index();
      }
      if (status == LeafPages::Status::kPage && pages_.level_count() <= cursor_.gap()) {
        check_row_count(pages_.level_count());
        cursor_.pass(pages_.level_count());
        pages_.advance();
        continue;
      }
    }
    if (status == LeafPages::Status::kPage) {
      const size_t rows = pages_.level_count();
      check_row_count(rows);
      if (values_.takes_plain()) {
        const bool is_whole = rows <= slots_to_fill && cursor_.gap() == 0 && rows <= cursor_.run();
        status = pages_.load_plain(is_whole ? std::optional(values_.place(rows)) : std::nullopt, memory);
      } else {
        status = pages_.load(memory);
      }
    }
    if (status == LeafPages::Status::kNeedMemory) return false;
    if (status == LeafPages::Status::kEnd) {
      throw_corrupt(offset(), "the column chunk ends after {} of {} rows", cursor_.row(), group_rows_);
    }
    page_left_ = pages_.level_count();
    page_all_valid_ = max_definition_ == 0 || all_at_max(pages_.definition_levels, max_definition_, page_left_);
  }
}

size_t ColumnReader::page_rows_left() const {
  return static_cast<size_t>(std::min<uint64_t>(page_left_, cursor_.run()));
}

// ---- Decoding ----

bool ColumnReader::open_stride(size_t target, MemorySource& memory) {
  if (!load_page(target - values_.slots(), memory)) return false;
  const size_t rows = std::min(page_rows_left(), target - values_.slots());
  size_t valid = rows;
  if (page_all_valid_) {
    if (values_.has_validity()) fill_bits(values_.validity(), values_.slots(), rows, true);
    for (const StructLevel& level : structs_) {
      if (level.structure->has_validity()) fill_bits(level.structure->validity(), values_.slots(), rows, true);
      level.structure->add(rows, 0, 0);
    }
  } else {
    if (!values_.add_validity(memory)) return false;
    for (const StructLevel& level : structs_) {
      if (!level.structure->add_validity(memory)) return false;
    }
    for (const StructLevel& level : structs_) {
      HybridReader levels = pages_.definition_levels;
      const size_t present =
          read_validity(levels, max_definition_, level.definition, rows, level.structure->validity(), values_.slots());
      level.structure->add(rows, rows - present, 0);
    }
    valid = read_validity(pages_.definition_levels, max_definition_, max_definition_, rows, values_.validity(),
                          values_.slots());
  }
  values_.start_stride(rows, valid);
  cursor_.pass(rows);
  page_left_ -= rows;
  return true;
}

bool ColumnReader::decode_to(size_t target, MemorySource& memory) {
  while (values_.slots() < target) {
    if (!values_.in_stride() && !open_stride(target, memory)) return false;
    if (!values_.decode(pages_.values, memory)) return false;
    if (page_left_ == 0) pages_.advance();
  }
  return true;
}

// ---- Looking ahead ----

void ColumnReader::add_value_bytes(LookAhead& at, size_t count, uint64_t* totals) const {
  uint32_t lengths[ValueDecoder::kScratch];
  if (page_all_valid_) {
    pages_.values.lengths(at.values, count, lengths);
    for (size_t i = 0; i < count; ++i) totals[i] += lengths[i];
    return;
  }
  uint8_t bits[ValueDecoder::kScratch / 8 + 8] = {};
  const size_t valid = read_validity(at.levels, max_definition_, max_definition_, count, bits, 0);
  pages_.values.lengths(at.values, valid, lengths);
  size_t next = 0;
  for_each_set_bit(bits, 0, count, [&](size_t row) { totals[row] += lengths[next++]; });
}

}  // namespace frazil::parquet
