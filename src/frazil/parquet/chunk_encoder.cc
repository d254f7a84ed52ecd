#include "frazil/parquet/chunk_encoder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/columnar/layout.h"
#include "frazil/parquet/chunk_builder.h"
#include "frazil/parquet/dictionary_slots.h"
#include "frazil/parquet/encoder_scratch.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/encoding_selector.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/open_page.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

namespace {

// Rows that are taken at once: what is made of them stays in the first cache levels.
constexpr size_t kStepRows = 4096;
constexpr size_t kPageBytesMax = size_t{1} << 30;
constexpr size_t kValueBytesMax = INT32_MAX - 64;

// As FixedValues needs it.
bool is_aligned(const std::byte* values, size_t width) {
  return (width != 4 && width != 8) || reinterpret_cast<uintptr_t>(values) % width == 0;
}

ChunkOptions checked(const LeafDescription& leaf, const ChunkOptions& options) {
  const PhysicalType type = leaf.file_type.physical;
  if (options.encoding && !has_encoding(type, *options.encoding)) {
    throw_error(ErrorKind::kInvalidArgument, "column '{}': {} has no encoding {}", leaf.path, to_string(type),
                to_string(*options.encoding));
  }
  if (options.page_bytes < 1 || options.page_bytes > kPageBytesMax) {
    throw_error(ErrorKind::kInvalidArgument, "pages of {} bytes: 1 to {}", options.page_bytes, kPageBytesMax);
  }
  const Codec codec = compressor_codec(options.codec);
  if (options.level) check_compression_level(codec, *options.level);
  return options;
}

}  // namespace

// Takes pieces into the open page, a step at a time, and ends it where the next row would not fit.
class ChunkEncoder::Impl {
 public:
  Impl(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
      : leaf_(&leaf),
        options_(checked(leaf, options)),
        page_(leaf, options_, pool),
        selector_(leaf, options_, pool),
        builder_(leaf, options_, pool) {}

  void write(const LeafPiece& piece, ScratchBuffers& scratch);
  EncodedChunk finish(ScratchBuffers& scratch);

  int64_t row_count() const { return builder_.row_count() + static_cast<int64_t>(page_.rows); }
  size_t buffered_bytes() const { return page_.memory_bytes() + selector_.memory_bytes() + builder_.memory_bytes(); }
  size_t encoded_bytes_estimate() const {
    return builder_.encoded_bytes_estimate(page_.encoded_bytes_estimate() + selector_.dictionary_bytes());
  }
  void shrink() { page_.shrink(); }
  const LeafDescription& leaf() const { return *leaf_; }

 private:
  // ---- Pieces ----
  void write_nulls(size_t rows, ScratchBuffers& scratch);
  void write_flat(const Array& array, ScratchBuffers& scratch);
  void write_nested(const LeafPiece& piece, ScratchBuffers& scratch);
  // Pages that the array has as they are: returns how many rows from `from` on were written.
  size_t write_whole_pages(const LeafSource& source, size_t from, size_t count, ScratchBuffers& scratch);

  // ---- Steps ----
  // Rows of the next one: no more than the page has room for.
  size_t step_rows_max() const { return std::min(page_.room_rows(), kStepRows - page_.rows % kStepRows); }
  // How many of `count` slots from `from` on still fit the open page, and what they take of it.
  void fit(const Array& array, const LeafSource& source, size_t from, size_t count, size_t& fitting,
           size_t& bytes) const;
  // What a slot takes alone, for an empty page. Throws for a value that no page holds.
  size_t bytes_of_slot(const Array& array, const LeafSource& source, size_t slot) const;
  void append_slots(const Array& array, const LeafSource& source, const SlotRange& range, ScratchBuffers& scratch);
  // After a step: is the page, or the dictionary, full?
  void end_step(ScratchBuffers& scratch);

  // ---- Pages ----
  void end_page(ScratchBuffers& scratch) { end_page(page_.view(), scratch); }
  // A page of the open levels and these values, or the numbers that are there.
  void end_page(const PageView& values, ScratchBuffers& scratch);
  void leave_dictionary(ScratchBuffers& scratch);

  const LeafDescription* leaf_;
  const ChunkOptions options_;
  OpenPage page_;
  EncodingSelector selector_;
  ChunkBuilder builder_;
  bool is_begun_ = false;
  bool is_finished_ = false;
};

// ---- Pieces ----

void ChunkEncoder::Impl::write(const LeafPiece& piece, ScratchBuffers& scratch) {
  if (!is_begun_) {
    is_begun_ = true;
    page_.numbers.swap_memory(scratch.idle_numbers);
    page_.values.swap_memory(scratch.idle_values);
  }
  const Array& array = *piece.values;
  if (piece.definition_levels.empty()) {
    if (leaf_->max_repetition != 0) {
      if (array.length == 0) return;
      throw_error(ErrorKind::kInvalidArgument, "a repeated column without levels");
    }
    if (leaf_->type->id() == TypeId::kNull) return write_nulls(static_cast<size_t>(array.length), scratch);
    return write_flat(array, scratch);
  }
  write_nested(piece, scratch);
}

void ChunkEncoder::Impl::write_nulls(size_t rows, ScratchBuffers& scratch) {
  while (rows > 0) {
    const size_t count = std::min(rows, page_.room_rows());
    page_.levels.append_nulls(count);
    page_.rows += count;
    rows -= count;
    end_step(scratch);
  }
}

void ChunkEncoder::Impl::write_flat(const Array& array, ScratchBuffers& scratch) {
  const auto length = static_cast<size_t>(array.length);
  const bool is_dictionary = array.type->id() == TypeId::kDictionary;
  const LeafSource source = is_dictionary ? LeafSource(*leaf_, *array.dictionary) : LeafSource(*leaf_, array);
  const bool has_no_nulls = !array.has_validity() || array.count_nulls() == 0;
  for (size_t at = 0; at < length;) {
    if (!is_dictionary && has_no_nulls && !page_.is_begun() && length - at >= kStepRows) {
      const size_t written = write_whole_pages(source, at, length - at, scratch);
      at += written;
      if (written > 0) continue;
    }
    selector_.begin_given_dictionary(array, page_);
    const size_t wanted = std::min(length - at, step_rows_max());
    size_t count = 0;
    size_t bytes = 0;
    fit(array, source, at, wanted, count, bytes);
    if (count == 0) {
      if (page_.is_begun()) {
        end_page(scratch);
        continue;
      }
      count = 1;
      bytes = bytes_of_slot(array, source, at);
    }
    size_t null_count = 0;
    const ValidBits valid = logical_valid(array, at, count, scratch.valid, null_count);
    append_slots(array, source, {at, count, valid}, scratch);
    page_.levels.append_valid(count, valid, null_count);
    page_.rows += count;
    page_.bytes += bytes;
    at += count;
    end_step(scratch);
  }
}

size_t ChunkEncoder::Impl::write_whole_pages(const LeafSource& source, size_t from, size_t count,
                                             ScratchBuffers& scratch) {
  const size_t start = from;
  const size_t end = from + count;
  const size_t width = page_.width;
  while (from < end && !selector_.takes_numbers()) {
    size_t rows = 0;
    size_t bytes = 0;
    source.fit(from, std::min(end - from, page_.rows_max), page_.bytes_max, rows, bytes);
    // A value that is longer than a page; and the last rows, which may be joined by those of the next piece.
    if (rows == 0 || (from + rows == end && rows < page_.rows_max)) break;
    PageView view;
    if (page_.is_bytes) {
      const auto values = source.bytes_values(from, rows);
      if (!values) break;
      view = {{}, *values, true};
    } else {
      const std::byte* const values = source.fixed_values(from);
      if (values == nullptr || !is_aligned(values, width)) break;
      view = {{values, width, rows}, {}, false};
    }
    page_.levels.append_valid(rows, {}, 0);
    page_.rows = rows;
    end_page(view, scratch);
    from += rows;
  }
  return from - start;
}

void ChunkEncoder::Impl::write_nested(const LeafPiece& piece, ScratchBuffers& scratch) {
  const Array& array = *piece.values;
  const std::span<const uint8_t> definition = piece.definition_levels;
  const std::span<const uint8_t> repetition = piece.repetition_levels;
  const size_t entries = definition.size();
  if (repetition.size() != (leaf_->max_repetition > 0 ? entries : 0)) {
    throw_error(ErrorKind::kInvalidArgument, "{} repetition levels for {} definition levels", repetition.size(),
                entries);
  }
  if (piece.slot_definition > leaf_->max_definition) {
    throw_error(ErrorKind::kInvalidArgument, "slots from definition level {} of {} on", piece.slot_definition,
                leaf_->max_definition);
  }
  if (!repetition.empty() && repetition[0] != 0) {
    throw_error(ErrorKind::kInvalidArgument, "a piece that begins within a row");
  }
  const uint8_t max = leaf_->max_definition;
  const bool is_null_type = leaf_->type->id() == TypeId::kNull;
  const bool is_dictionary = array.type->id() == TypeId::kDictionary;
  const LeafSource source = is_null_type    ? LeafSource()
                            : is_dictionary ? LeafSource(*leaf_, *array.dictionary)
                                            : LeafSource(*leaf_, array);
  size_t slot = 0;
  for (size_t at = 0; at < entries;) {
    selector_.begin_given_dictionary(array, page_);
    const size_t row_max = step_rows_max();
    // The entries of row_max rows.
    size_t end = 0;
    size_t rows = 0;
    if (repetition.empty()) {
      rows = std::min(row_max, entries - at);
      end = at + rows;
    } else {
      rows = 1;
      for (end = at + 1; end < entries; ++end) {
        if (repetition[end] == 0 && rows++ == row_max) {
          --rows;
          break;
        }
      }
    }
    size_t slots = 0;
    for (size_t i = at; i < end; ++i) slots += definition[i] >= piece.slot_definition ? 1 : 0;
    if (slot + slots > static_cast<size_t>(array.length)) {
      throw_error(ErrorKind::kInvalidArgument, "levels of more values than the {} of the array", array.length);
    }
    size_t bytes = 0;
    size_t fitting = slots;
    if (!is_null_type) fit(array, source, slot, slots, fitting, bytes);
    if (fitting < slots) {
      // As many whole rows as fit; on an empty page at least one.
      size_t row_end = at;
      size_t row_slots = 0;
      size_t fitting_rows = 0;
      for (size_t i = at, seen = 0; i <= end; ++i) {
        if (i == end || (i > at && (repetition.empty() || repetition[i] == 0))) {
          if (seen > fitting && (fitting_rows > 0 || page_.is_begun())) break;
          row_end = i;
          row_slots = seen;
          ++fitting_rows;
          if (seen > fitting) break;
        }
        if (i < end) seen += definition[i] >= piece.slot_definition ? 1 : 0;
      }
      if (fitting_rows == 0) {
        end_page(scratch);
        continue;
      }
      end = row_end;
      rows = fitting_rows;
      slots = row_slots;
      bytes = 0;
      for (size_t i = 0; i < slots; ++i) bytes += bytes_of_slot(array, source, slot + i);
    }

    // Which of the slots have values.
    scratch.valid.clear();
    auto* const bits = reinterpret_cast<uint8_t*>(scratch.valid.extend(bytes_for_bits(slots)));
    if (slots > 0) std::memset(bits, 0, bytes_for_bits(slots));
    size_t values = 0;
    for (size_t i = at, place = 0; i < end; ++i) {
      const uint8_t level = definition[i];
      if (level > max) throw_error(ErrorKind::kInvalidArgument, "definition level {} of {}", level, max);
      if (level == max) {
        set_bit(bits, place);
        ++values;
      }
      place += level >= piece.slot_definition ? 1 : 0;
    }
    if (is_null_type && values > 0) throw_error(ErrorKind::kInvalidArgument, "values in a column of nulls");
    if (values > 0) {
      append_slots(array, source, {slot, slots, values == slots ? ValidBits{} : ValidBits{bits, 0}}, scratch);
    }
    page_.levels.append(definition.subspan(at, end - at),
                        repetition.empty() ? repetition : repetition.subspan(at, end - at), values);
    page_.rows += rows;
    page_.bytes += bytes;
    slot += slots;
    at = end;
    end_step(scratch);
  }
}

// ---- Steps ----

// Pages end where the next row would not fit, whatever pieces the rows come in.
void ChunkEncoder::Impl::fit(const Array& array, const LeafSource& source, size_t from, size_t count, size_t& fitting,
                             size_t& bytes) const {
  if (selector_.takes_numbers()) {
    fitting = std::min(count, page_.room_bytes() / sizeof(uint32_t));
    bytes = fitting * sizeof(uint32_t);
    return;
  }
  if (array.type->id() != TypeId::kDictionary) return source.fit(from, count, page_.room_bytes(), fitting, bytes);
  const size_t room = page_.room_bytes();
  size_t fit_count = 0;
  size_t fit_bytes = 0;
  for (; fit_count < count; ++fit_count) {
    const size_t next = fit_bytes + bytes_of_slot(array, source, from + fit_count);
    if (next > room) break;
    fit_bytes = next;
  }
  fitting = fit_count;
  bytes = fit_bytes;
}

size_t ChunkEncoder::Impl::bytes_of_slot(const Array& array, const LeafSource& source, size_t slot) const {
  if (selector_.takes_numbers()) return sizeof(uint32_t);
  if (!page_.is_bytes) return page_.width;
  if (array.type->id() == TypeId::kDictionary) {
    if (!array.is_valid(static_cast<int64_t>(slot))) return 4;
    const auto index = static_cast<uint64_t>(dictionary_index(array, static_cast<int64_t>(slot)));
    if (index >= static_cast<uint64_t>(array.dictionary->length)) return 4;  // refused when it is taken
    slot = index;
  }
  const size_t size = source.bytes_at(slot).size();
  if (size > kValueBytesMax) {
    throw_error(ErrorKind::kInvalidArgument, "a value of {} bytes: a page holds less than 2^31", size);
  }
  return 4 + size;
}

void ChunkEncoder::Impl::append_slots(const Array& array, const LeafSource& source, const SlotRange& range,
                                      ScratchBuffers& scratch) {
  if (array.type->id() == TypeId::kDictionary) return selector_.append_dictionary_slots(array, range, page_);
  if (!selector_.takes_numbers()) {
    source.append(range.from, range.count, range.valid, page_.values);
    return;
  }
  const size_t width = page_.width;
  if (range.valid.bits == nullptr) {
    if (const auto bytes = page_.is_bytes ? source.bytes_values(range.from, range.count) : std::nullopt) {
      selector_.append_numbers(*bytes, page_);
      return;
    }
    const std::byte* const values = page_.is_bytes ? nullptr : source.fixed_values(range.from);
    if (values != nullptr && is_aligned(values, width)) {
      selector_.append_numbers(FixedValues{values, width, range.count}, page_);
      return;
    }
  }
  scratch.values.clear();
  source.append(range.from, range.count, range.valid, scratch.values);
  if (page_.is_bytes) {
    selector_.append_numbers(scratch.values.as_bytes(), page_);
  } else {
    selector_.append_numbers(FixedValues{scratch.values.fixed.data(), width, scratch.values.count}, page_);
  }
}

void ChunkEncoder::Impl::end_step(ScratchBuffers& scratch) {
  if (page_.has_all_rows()) end_page(scratch);
  // Looked at where steps end that are not cut short, so that the cut of pieces does not matter; but for values of a
  // page and more.
  if (!selector_.takes_numbers() || selector_.dictionary_bytes() <= options_.dictionary_bytes) return;
  const bool is_far_beyond = selector_.dictionary_bytes() - options_.dictionary_bytes > options_.page_bytes;
  if (page_.rows % kStepRows == 0 || is_far_beyond) leave_dictionary(scratch);
}

// ---- Pages ----

void ChunkEncoder::Impl::end_page(const PageView& values, ScratchBuffers& scratch) {
  const SelectedEncoding selected = selector_.select(values, page_, scratch);
  const size_t encoded_bytes = builder_.add_page(page_, selected, is_finished_, scratch);
  scratch.trim();
  page_.clear();
  selector_.end_page(selected, encoded_bytes, page_);
}

// The pages so far keep their numbers, the ones to come have values.
void ChunkEncoder::Impl::leave_dictionary(ScratchBuffers& scratch) {
  if (page_.is_begun()) end_page(scratch);
  // The end of the page may have left it already.
  if (selector_.takes_numbers()) selector_.leave_dictionary(page_);
}

EncodedChunk ChunkEncoder::Impl::finish(ScratchBuffers& scratch) {
  if (is_finished_) throw_error(ErrorKind::kInternal, "a chunk that is finished twice");
  is_finished_ = true;
  if (page_.is_begun()) end_page(scratch);
  page_.numbers.swap_memory(scratch.idle_numbers);
  page_.values.swap_memory(scratch.idle_values);
  scratch.trim();
  return builder_.finish(selector_.dictionary(), scratch);
}

// ---- The interface ----

ChunkEncoder::ChunkEncoder(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(leaf, options, pool)) {}
ChunkEncoder::~ChunkEncoder() = default;
ChunkEncoder::ChunkEncoder(ChunkEncoder&&) noexcept = default;
ChunkEncoder& ChunkEncoder::operator=(ChunkEncoder&&) noexcept = default;

void ChunkEncoder::write(const LeafPiece& piece, EncoderScratch& scratch) {
  try {
    impl_->write(piece, *scratch.parts_);
  } catch (Error& error) {
    error.add_context(message("writing column '{}'", impl_->leaf().path));
    throw;
  }
}

EncodedChunk ChunkEncoder::finish(EncoderScratch& scratch) {
  try {
    return impl_->finish(*scratch.parts_);
  } catch (Error& error) {
    error.add_context(message("writing column '{}'", impl_->leaf().path));
    throw;
  }
}

int64_t ChunkEncoder::row_count() const {
  return impl_->row_count();
}
size_t ChunkEncoder::buffered_bytes() const {
  return impl_->buffered_bytes();
}
size_t ChunkEncoder::encoded_bytes_estimate() const {
  return impl_->encoded_bytes_estimate();
}
void ChunkEncoder::shrink() {
  impl_->shrink();
}

}  // namespace frazil::parquet
