#include "frazil/parquet/chunk_encoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/columnar/layout.h"
#include "frazil/parquet/bloom_filter_builder.h"
#include "frazil/parquet/dictionary_slots.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/encode_kernels.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/geospatial_statistics.h"
#include "frazil/parquet/hybrid_encoder.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/page_levels.h"
#include "frazil/parquet/page_writer.h"
#include "frazil/parquet/value_dictionary.h"
#include "frazil/parquet/value_encoder.h"
#include "frazil/parquet/value_order.h"

namespace frazil::parquet {

struct EncoderScratch::Parts {
  explicit Parts(MemoryPool& pool)
      : compressor(pool),
        body(pool),
        lengths(pool),
        encoded(pool),
        compressed(pool),
        valid(pool),
        marks(pool),
        numbers(pool),
        values(pool),
        idle_numbers(pool),
        idle_values(pool) {}

  // Gives back what one huge page took.
  void trim() {
    constexpr size_t kKeptBytes = size_t{8} << 20;
    for (EncodeBuffer* buffer : {&body, &lengths, &encoded, &compressed, &values.bytes, &idle_values.bytes}) {
      if (buffer->capacity() > kKeptBytes) buffer->release();
    }
  }
  ChoiceScratch choice() { return {compressor, encoded, lengths, compressed}; }
  PageScratch page() { return {compressor, compressed}; }
  size_t memory_bytes() const {
    return compressor.charged_bytes() + body.capacity() + lengths.capacity() + encoded.capacity() +
           compressed.capacity() + valid.capacity() + marks.capacity() + numbers.capacity() + values.capacity() +
           idle_numbers.capacity() + idle_values.capacity();
  }

  Compressor compressor;
  EncodeBuffer body;        // of a page before compression
  EncodeBuffer lengths;     // of byte arrays
  EncodeBuffer encoded;     // samples
  EncodeBuffer compressed;  // samples, pages
  EncodeBuffer valid;       // bits of a step's slots
  EncodeBuffer marks;       // of a dictionary's entries
  EncodeBuffer numbers;     // of a page's values, while a dictionary is tried
  PageValues values;        // of a step
  // Of the open page of a chunk that is finished, for the next one that begins.
  EncodeBuffer idle_numbers;
  PageValues idle_values;
};

EncoderScratch::EncoderScratch(MemoryPool& pool) : parts_(std::make_unique<Parts>(pool)) {}
EncoderScratch::~EncoderScratch() = default;
EncoderScratch::EncoderScratch(EncoderScratch&&) noexcept = default;
EncoderScratch& EncoderScratch::operator=(EncoderScratch&&) noexcept = default;

size_t EncoderScratch::buffered_bytes() const {
  return parts_->memory_bytes();
}

namespace {

// Rows that are taken at once: what is made of them stays in the first cache levels.
constexpr size_t kStepRows = 4096;
constexpr size_t kPageBytesMax = size_t{1} << 30;
constexpr size_t kValueBytesMax = INT32_MAX - 64;
constexpr uint32_t kNullEntry = UINT32_MAX - 1;

// As FixedValues needs it.
bool is_aligned(const std::byte* values, size_t width) {
  return (width != 4 && width != 8) || reinterpret_cast<uintptr_t>(values) % width == 0;
}

}  // namespace

class ChunkEncoder::Impl {
 public:
  Impl(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
      : leaf_(&leaf),
        options_(options),
        pool_(&pool),
        order_(value_order(leaf.file_type)),
        is_bytes_(leaf.file_type.physical == PhysicalType::kByteArray),
        is_legacy_(options.profile == EncodingProfile::kLegacy),
        is_v2_(options.page_v2 && options.profile != EncodingProfile::kLegacy),
        is_plain_only_(is_legacy_ || (leaf.is_required && leaf.max_definition > 0) ||
                       (leaf.is_dictionary && is_bytes_)),
        values_(pool),
        numbers_(pool),
        levels_(leaf.max_definition, leaf.max_repetition, pool),
        dictionary_slots_(leaf, pool),
        chunk_bounds_(order_),
        writer_(options_, pool) {
    check_options();
    const auto expect_rows = [&](EncodeBuffer& buffer, size_t width) {
      buffer.expect(page_rows() < options_.page_bytes / width ? page_rows() * width : options_.page_bytes);
    };
    expect_rows(numbers_, sizeof(uint32_t));
    expect_rows(is_bytes_ ? values_.offsets : values_.fixed, std::max<size_t>(physical_width(leaf.file_type), 4));
    if (options_.bloom_filter && leaf.file_type.physical != PhysicalType::kBoolean) {
      bloom_.emplace(options_.bloom_ndv, options_.bloom_fpp, options_.bloom_bytes_max, pool);
    }
    const LogicalType::Kind kind = leaf.file_type.logical.kind;
    if (options_.statistics && (kind == LogicalType::Kind::kGeometry || kind == LogicalType::Kind::kGeography)) {
      geospatial_.emplace(kind);
    }
    if (leaf.max_repetition > 0) repetition_histogram_.resize(size_t{leaf.max_repetition} + 1);
    if (leaf.max_definition > 1) definition_histogram_.resize(size_t{leaf.max_definition} + 1);
  }

  void write(const LeafPiece& piece, EncoderScratch::Parts& scratch);
  EncodedChunk finish(EncoderScratch::Parts& scratch);

  int64_t row_count() const { return static_cast<int64_t>(chunk_rows_ + rows_); }
  size_t buffered_bytes() const {
    return writer_.memory_bytes() + values_.capacity() + numbers_.capacity() + levels_.memory_bytes() +
           dictionary_slots_.memory_bytes() + (dictionary_ ? dictionary_->memory_bytes() : 0) +
           (bloom_ ? bloom_->memory_bytes() : 0);
  }
  size_t encoded_bytes_estimate() const;
  void shrink() {
    values_.shrink();
    numbers_.shrink();
    levels_.shrink();
  }
  const LeafDescription& leaf() const { return *leaf_; }

 private:
  enum class Mode : uint8_t {
    kUndecided,   // values of the first page, or of the first after a dictionary, are collected
    kDictionary,  // numbers are collected
    kDirect,      // values are collected for direct_encoding_
  };

  void check_options() const;
  size_t page_rows() const { return std::max<size_t>(options_.page_rows, 1); }

  // ---- Pieces ----
  void write_nulls(size_t rows, EncoderScratch::Parts& scratch);
  void write_flat(const Array& array, EncoderScratch::Parts& scratch);
  void write_nested(const LeafPiece& piece, EncoderScratch::Parts& scratch);
  // Pages that the array has as they are: returns how many rows from `from` on were written.
  size_t write_whole_pages(const LeafSource& source, size_t from, size_t count, EncoderScratch::Parts& scratch);
  size_t room_bytes() const { return options_.page_bytes - std::min(options_.page_bytes, open_bytes_); }
  // How many of `count` slots from `from` on still fit the open page, and what they take of it.
  void fit(const Array& array, const LeafSource& source, size_t from, size_t count, size_t& fitting,
           size_t& bytes) const;
  // What a slot takes alone, for an empty page. Throws for a value that no page holds.
  size_t bytes_of_slot(const Array& array, const LeafSource& source, size_t slot) const;
  void begin_given_dictionary(const Array& array);
  // After a step: is the page, or the dictionary, full?
  void end_step(EncoderScratch::Parts& scratch);
  void append_slots(const Array& array, const LeafSource& source, const SlotRange& range,
                    EncoderScratch::Parts& scratch);
  void append_dictionary_slots(const Array& array, const SlotRange& range);

  // ---- Pages ----
  PageView open_values() const {
    if (is_bytes_) return {{}, values_.as_bytes(), true};
    return {{values_.fixed.data(), physical_width(leaf_->file_type), values_.count}, {}, false};
  }
  void end_page(EncoderScratch::Parts& scratch) { end_page(open_values(), scratch); }
  // A page of the open levels and these values, or the numbers that are there.
  void end_page(const PageView& view, EncoderScratch::Parts& scratch);
  void decide(const PageView& view, EncoderScratch::Parts& scratch);
  bool try_dictionary(const PageView& view, EncoderScratch::Parts& scratch);
  void review_given_dictionary(EncoderScratch::Parts& scratch);
  void leave_dictionary(EncoderScratch::Parts& scratch);
  Encoding dictionary_encoding() const { return is_legacy_ ? Encoding::kPlainDictionary : Encoding::kRleDictionary; }
  size_t dictionary_bytes() const { return dictionary_ ? dictionary_->plain_bytes() : 0; }
  void bound_numbers(BoundsBuilder& bounds, EncoderScratch::Parts& scratch);
  void count_encoding(PageType type, Encoding encoding);
  void count_levels(EncodedPage& page);
  bool dictionary_is_wanted() const {
    return options_.encoding == Encoding::kPlainDictionary || options_.encoding == Encoding::kRleDictionary;
  }
  bool dictionary_is_allowed() const {
    return !is_dictionary_left_ && leaf_->file_type.physical != PhysicalType::kBoolean &&
           (dictionary_is_wanted() || (options_.dictionary && !options_.encoding));
  }

  const LeafDescription* leaf_;
  const ChunkOptions options_;
  MemoryPool* pool_;
  const ValueOrder order_;
  const bool is_bytes_;
  const bool is_legacy_;
  const bool is_v2_;
  const bool is_plain_only_;  // PLAIN and the dictionary are all that may be chosen

  // The open page.
  Mode mode_ = Mode::kUndecided;
  PageValues values_;
  EncodeBuffer numbers_;  // uint32_t
  PageLevels levels_;
  size_t rows_ = 0;
  size_t open_bytes_ = 0;        // of its slots, null or not: as PLAIN, or as numbers of 4 bytes
  int64_t unencoded_bytes_ = 0;  // of the values behind numbers_

  // The chunk.
  Encoding direct_encoding_ = Encoding::kPlain;
  bool is_dictionary_given_ = false;  // numbers came from a dictionary array and were not weighed yet
  bool is_dictionary_left_ = false;
  bool is_begun_ = false;
  bool is_finished_ = false;
  std::optional<ValueDictionary> dictionary_;
  uint32_t dictionary_size_before_ = 0;  // when the open page began
  std::vector<uint32_t> nan_numbers_;    // entries that are NaN
  uint32_t nans_sought_ = 0;             // entries that were looked at
  DictionarySlots dictionary_slots_;
  std::optional<BloomFilterBuilder> bloom_;
  std::optional<GeospatialStatisticsBuilder> geospatial_;
  BoundsBuilder chunk_bounds_;
  PageWriter writer_;
  std::vector<EncodedPage> pages_;
  std::vector<EncodedChunk::EncodingCount> encoding_stats_;
  uint64_t chunk_rows_ = 0;
  int64_t chunk_entries_ = 0;
  int64_t chunk_nulls_ = 0;
  int64_t chunk_unencoded_bytes_ = 0;
  bool has_page_of_nans_ = false;
  double direct_cost_ = 0;  // bytes a value of the first page after direct_encoding_ was chosen; 0: not known
  std::vector<int64_t> repetition_histogram_;
  std::vector<int64_t> definition_histogram_;
};

void ChunkEncoder::Impl::check_options() const {
  const PhysicalType type = leaf_->file_type.physical;
  if (options_.encoding && !has_encoding(type, *options_.encoding)) {
    throw_error(ErrorKind::kInvalidArgument, "column '{}': {} has no encoding {}", leaf_->path, to_string(type),
                to_string(*options_.encoding));
  }
  if (options_.page_bytes < 1 || options_.page_bytes > kPageBytesMax) {
    throw_error(ErrorKind::kInvalidArgument, "pages of {} bytes: 1 to {}", options_.page_bytes, kPageBytesMax);
  }
  const Codec codec = compressor_codec(options_.codec);
  if (options_.level) check_compression_level(codec, *options_.level);
}

size_t ChunkEncoder::Impl::encoded_bytes_estimate() const {
  const size_t written = writer_.byte_size() + writer_.kept_bytes();
  // What is open shrinks like what was written, or by half.
  const double ratio = writer_.uncompressed_size() == 0 ? 0.5
                                                        : static_cast<double>(writer_.byte_size()) /
                                                              static_cast<double>(writer_.uncompressed_size());
  const size_t open = values_.fixed.size() + values_.bytes.size() + numbers_.size() / 2 + dictionary_bytes();
  return written + static_cast<size_t>(static_cast<double>(open) * ratio);
}

// ---- Pieces ----

void ChunkEncoder::Impl::write(const LeafPiece& piece, EncoderScratch::Parts& scratch) {
  if (!is_begun_) {
    is_begun_ = true;
    numbers_.swap_memory(scratch.idle_numbers);
    values_.swap_memory(scratch.idle_values);
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

void ChunkEncoder::Impl::write_nulls(size_t rows, EncoderScratch::Parts& scratch) {
  while (rows > 0) {
    const size_t count = std::min(rows, page_rows() - rows_);
    levels_.append_nulls(count);
    rows_ += count;
    rows -= count;
    end_step(scratch);
  }
}

// Pages end where the next row would not fit, whatever pieces the rows come in.
void ChunkEncoder::Impl::fit(const Array& array, const LeafSource& source, size_t from, size_t count, size_t& fitting,
                             size_t& bytes) const {
  if (mode_ == Mode::kDictionary) {
    fitting = std::min(count, room_bytes() / sizeof(uint32_t));
    bytes = fitting * sizeof(uint32_t);
    return;
  }
  if (array.type->id() != TypeId::kDictionary) return source.fit(from, count, room_bytes(), fitting, bytes);
  const size_t room = room_bytes();
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
  if (mode_ == Mode::kDictionary) return sizeof(uint32_t);
  if (!is_bytes_) return physical_width(leaf_->file_type);
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

void ChunkEncoder::Impl::begin_given_dictionary(const Array& array) {
  if (array.type->id() != TypeId::kDictionary || mode_ != Mode::kUndecided || !dictionary_is_allowed()) return;
  if (values_.count != 0 || !numbers_.empty()) return;
  dictionary_.emplace(leaf_->file_type, *pool_);
  mode_ = Mode::kDictionary;
  dictionary_size_before_ = 0;
  is_dictionary_given_ = !dictionary_is_wanted();
}

void ChunkEncoder::Impl::end_step(EncoderScratch::Parts& scratch) {
  if (rows_ >= page_rows()) end_page(scratch);
  // Looked at where steps end that are not cut short, so that the cut of pieces does not matter; but for values of a
  // page and more.
  if (mode_ != Mode::kDictionary || dictionary_bytes() <= options_.dictionary_bytes) return;
  const bool is_far_beyond = dictionary_bytes() - options_.dictionary_bytes > options_.page_bytes;
  if (rows_ % kStepRows == 0 || is_far_beyond) leave_dictionary(scratch);
}

void ChunkEncoder::Impl::write_flat(const Array& array, EncoderScratch::Parts& scratch) {
  const auto length = static_cast<size_t>(array.length);
  const bool is_dictionary = array.type->id() == TypeId::kDictionary;
  const LeafSource source = is_dictionary ? LeafSource(*leaf_, *array.dictionary) : LeafSource(*leaf_, array);
  const bool has_no_nulls = !array.has_validity() || array.count_nulls() == 0;
  for (size_t at = 0; at < length;) {
    if (!is_dictionary && has_no_nulls && levels_.size() == 0 && length - at >= kStepRows) {
      const size_t written = write_whole_pages(source, at, length - at, scratch);
      at += written;
      if (written > 0) continue;
    }
    begin_given_dictionary(array);
    const size_t wanted = std::min({length - at, page_rows() - rows_, kStepRows - rows_ % kStepRows});
    size_t count = 0;
    size_t bytes = 0;
    fit(array, source, at, wanted, count, bytes);
    if (count == 0) {
      if (levels_.size() > 0) {
        end_page(scratch);
        continue;
      }
      count = 1;
      bytes = bytes_of_slot(array, source, at);
    }
    size_t null_count = 0;
    const ValidBits valid = logical_valid(array, at, count, scratch.valid, null_count);
    append_slots(array, source, {at, count, valid}, scratch);
    levels_.append_valid(count, valid, null_count);
    rows_ += count;
    open_bytes_ += bytes;
    at += count;
    end_step(scratch);
  }
}

size_t ChunkEncoder::Impl::write_whole_pages(const LeafSource& source, size_t from, size_t count,
                                             EncoderScratch::Parts& scratch) {
  const size_t start = from;
  const size_t end = from + count;
  const size_t width = physical_width(leaf_->file_type);
  while (from < end && mode_ != Mode::kDictionary) {
    size_t rows = 0;
    size_t bytes = 0;
    source.fit(from, std::min(end - from, page_rows()), options_.page_bytes, rows, bytes);
    // A value that is longer than a page; and the last rows, which may be joined by those of the next piece.
    if (rows == 0 || (from + rows == end && rows < page_rows())) break;
    PageView view;
    if (is_bytes_) {
      const auto values = source.bytes_values(from, rows);
      if (!values) break;
      view = {{}, *values, true};
    } else {
      const std::byte* const values = source.fixed_values(from);
      if (values == nullptr || !is_aligned(values, width)) break;
      view = {{values, width, rows}, {}, false};
    }
    levels_.append_valid(rows, {}, 0);
    rows_ = rows;
    end_page(view, scratch);
    from += rows;
  }
  return from - start;
}

void ChunkEncoder::Impl::write_nested(const LeafPiece& piece, EncoderScratch::Parts& scratch) {
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
    begin_given_dictionary(array);
    const size_t row_max = std::min(page_rows() - rows_, kStepRows - rows_ % kStepRows);
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
          if (seen > fitting && (fitting_rows > 0 || levels_.size() > 0)) break;
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
    levels_.append(definition.subspan(at, end - at), repetition.empty() ? repetition : repetition.subspan(at, end - at),
                   values);
    rows_ += rows;
    open_bytes_ += bytes;
    slot += slots;
    at = end;
    end_step(scratch);
  }
}

void ChunkEncoder::Impl::append_slots(const Array& array, const LeafSource& source, const SlotRange& range,
                                      EncoderScratch::Parts& scratch) {
  if (array.type->id() == TypeId::kDictionary) return append_dictionary_slots(array, range);
  if (mode_ != Mode::kDictionary) {
    source.append(range.from, range.count, range.valid, values_);
    return;
  }
  const size_t width = physical_width(leaf_->file_type);
  if (range.valid.bits == nullptr) {
    if (const auto bytes = is_bytes_ ? source.bytes_values(range.from, range.count) : std::nullopt) {
      unencoded_bytes_ += static_cast<int64_t>(bytes->byte_size());
      dictionary_->number(*bytes, kNullEntry, numbers_);
      return;
    }
    const std::byte* const values = is_bytes_ ? nullptr : source.fixed_values(range.from);
    if (values != nullptr && is_aligned(values, width)) {
      dictionary_->number(FixedValues{values, width, range.count}, kNullEntry, numbers_);
      return;
    }
  }
  scratch.values.clear();
  source.append(range.from, range.count, range.valid, scratch.values);
  if (is_bytes_) {
    const BytesValues bytes = scratch.values.as_bytes();
    unencoded_bytes_ += static_cast<int64_t>(bytes.byte_size());
    dictionary_->number(bytes, kNullEntry, numbers_);
  } else {
    dictionary_->number(FixedValues{scratch.values.fixed.data(), width, scratch.values.count}, kNullEntry, numbers_);
  }
}

void ChunkEncoder::Impl::append_dictionary_slots(const Array& array, const SlotRange& range) {
  if (mode_ != Mode::kDictionary) return dictionary_slots_.append_values(array, range, values_);
  const size_t before = numbers_.size() / sizeof(uint32_t);
  dictionary_slots_.append_numbers(array, range, *dictionary_, numbers_);
  const std::span<const uint32_t> numbers = numbers_.items<uint32_t>().subspan(before);
  if (!is_bytes_ || numbers.empty()) return;
  size_t run = encode_kernels().run4(numbers.data(), numbers.size());
  unencoded_bytes_ += static_cast<int64_t>(run * dictionary_->value(numbers[0]).size());
  for (; run < numbers.size(); ++run) {
    unencoded_bytes_ += static_cast<int64_t>(dictionary_->value(numbers[run]).size());
  }
}

// ---- Pages ----

// The pages so far keep their numbers, the ones to come have values.
void ChunkEncoder::Impl::leave_dictionary(EncoderScratch::Parts& scratch) {
  if (levels_.size() > 0) end_page(scratch);
  // Weighing a given dictionary may have left it already.
  if (mode_ != Mode::kDictionary) return;
  mode_ = Mode::kUndecided;
  is_dictionary_left_ = true;
  numbers_.release();
  dictionary_slots_.release();
}

// Numbers the values of the page into numbers_ if a dictionary is the cheapest; else chooses direct_encoding_ and leaves
// no numbers.
bool ChunkEncoder::Impl::try_dictionary(const PageView& view, EncoderScratch::Parts& scratch) {
  const PhysicalType type = leaf_->file_type.physical;
  const size_t count = view.count();
  const bool is_wanted = dictionary_is_wanted();
  dictionary_.reset();
  numbers_.clear();
  bool is_good = is_wanted || may_have_dictionary(type, view);
  size_t entries_before = 0;
  if (is_good) {
    dictionary_.emplace(leaf_->file_type, *pool_);
    // A dictionary of more than half of the values hardly pays.
    const auto most = static_cast<uint32_t>(is_wanted ? kNullEntry : count / 2 + 1);
    const size_t quarter = count - count / 4;
    const auto number = [&](size_t from, size_t size) {
      const PageView part = view.slice(from, size);
      return (is_bytes_ ? dictionary_->number(part.bytes, most, numbers_)
                        : dictionary_->number(part.fixed, most, numbers_)) == size;
    };
    // Where nearly all of the first are new, look at all before a table is filled in vain.
    constexpr size_t kTellingValues = 512;
    const size_t first = std::min(quarter, kTellingValues);
    is_good = number(0, first);
    if (!is_wanted && dictionary_->size() > first - first / 4) {
      is_good = is_good && !is_mostly_distinct(view.fixed, scratch.marks);
    }
    is_good = is_good && number(first, quarter - first);
    entries_before = dictionary_->size();
    is_good = is_good && number(quarter, count - quarter);
    is_good = is_good && (is_wanted || dictionary_->plain_bytes() <= options_.dictionary_bytes);
  }
  if (!is_wanted && !(is_good && is_small_dictionary(dictionary_->size(), count))) {
    const Choice direct = choose_direct(type, options_, is_plain_only_, view, scratch.choice());
    direct_encoding_ = direct.encoding;
    is_good = is_good && dictionary_cost(options_, numbers_.items<uint32_t>(), entries_before, *dictionary_, is_bytes_,
                                         scratch.choice()) < direct.cost;
  }
  if (!is_good) {
    dictionary_.reset();
    numbers_.clear();
    return false;
  }
  if (is_bytes_) unencoded_bytes_ = static_cast<int64_t>(view.bytes.byte_size());
  mode_ = Mode::kDictionary;
  dictionary_size_before_ = 0;
  return true;
}

void ChunkEncoder::Impl::decide(const PageView& view, EncoderScratch::Parts& scratch) {
  if (view.count() == 0) return;  // a page of nulls tells nothing
  if (options_.encoding && !dictionary_is_wanted()) {
    direct_encoding_ = *options_.encoding;
  } else if (dictionary_is_allowed()) {
    if (try_dictionary(view, scratch)) return;
    is_dictionary_left_ = true;
  } else {
    direct_encoding_ =
        choose_direct(leaf_->file_type.physical, options_, is_plain_only_, view, scratch.choice()).encoding;
  }
  mode_ = Mode::kDirect;
  direct_cost_ = 0;
}

// Numbers that came with a dictionary array: is a dictionary right for these values at all?
void ChunkEncoder::Impl::review_given_dictionary(EncoderScratch::Parts& scratch) {
  is_dictionary_given_ = false;
  const std::span<const uint32_t> numbers = numbers_.items<uint32_t>();
  constexpr size_t kUsesMin = 8;  // of an entry on average: then nothing else is as good
  if (dictionary_->size() <= numbers.size() / kUsesMin || dictionary_->size() <= 1) return;
  values_.clear();
  dictionary_->append_values(numbers, values_);
  unencoded_bytes_ = 0;
  if (try_dictionary(open_values(), scratch)) return;  // numbered anew, in the same order
  is_dictionary_left_ = true;
  mode_ = Mode::kDirect;
  direct_cost_ = 0;
  dictionary_slots_.release();
}

// The bounds of the values that the open page's numbers stand for.
void ChunkEncoder::Impl::bound_numbers(BoundsBuilder& bounds, EncoderScratch::Parts& scratch) {
  const std::span<const uint32_t> numbers = numbers_.items<uint32_t>();
  if (numbers.empty() || order_ == ValueOrder::kNone) return;
  if (is_float_order(order_)) {
    for (; nans_sought_ < dictionary_->size(); ++nans_sought_) {
      if (is_nan(order_, dictionary_->value(nans_sought_))) nan_numbers_.push_back(nans_sought_);
    }
  }
  const auto is_nan_number = [&](uint32_t number) {
    return std::find(nan_numbers_.begin(), nan_numbers_.end(), number) != nan_numbers_.end();
  };
  if (!nan_numbers_.empty()) {
    for (uint32_t number : numbers) bounds.add_nans(is_nan_number(number) ? 1 : 0);
  }
  if (encode_kernels().run4(numbers.data(), numbers.size()) == numbers.size()) {
    if (!is_nan_number(numbers[0])) bounds.add_value(dictionary_->value(numbers[0]));
    return;
  }
  // Each entry that is used, once. Of fixed width they are compared side by side.
  const uint32_t size = dictionary_->size();
  scratch.marks.clear();
  auto* const marks = reinterpret_cast<uint8_t*>(scratch.marks.extend(size));
  std::memset(marks, 0, size);
  for (uint32_t number : numbers) marks[number] = 1;
  for (uint32_t number : nan_numbers_) marks[number] = 0;
  const size_t width = physical_width(leaf_->file_type);
  if (width == 4 || width == 8) {
    scratch.encoded.clear();
    std::byte* target = scratch.encoded.reserve(size_t{size} * width + 8);
    const std::byte* const start = target;
    for (uint32_t number = 0; number < size; ++number) {
      std::memcpy(target, dictionary_->value(number).data(), width);
      target += marks[number] != 0 ? width : 0;
    }
    bounds.add(FixedValues{start, width, static_cast<size_t>(target - start) / width});
    return;
  }
  for (uint32_t number = 0; number < size; ++number) {
    if (marks[number] != 0) bounds.add_value(dictionary_->value(number));
  }
}

void ChunkEncoder::Impl::count_encoding(PageType type, Encoding encoding) {
  for (EncodedChunk::EncodingCount& known : encoding_stats_) {
    if (known.page == type && known.encoding == encoding) {
      ++known.count;
      return;
    }
  }
  encoding_stats_.push_back({type, encoding, 1});
}

void ChunkEncoder::Impl::count_levels(EncodedPage& page) {
  if (!options_.page_histograms) return levels_.count(repetition_histogram_, definition_histogram_);
  page.repetition_histogram.resize(repetition_histogram_.size());
  page.definition_histogram.resize(definition_histogram_.size());
  levels_.count(page.repetition_histogram, page.definition_histogram);
  const auto add = [](std::vector<int64_t>& sums, const std::vector<int64_t>& counts) {
    for (size_t level = 0; level < sums.size(); ++level) sums[level] += counts[level];
  };
  add(repetition_histogram_, page.repetition_histogram);
  add(definition_histogram_, page.definition_histogram);
}

void ChunkEncoder::Impl::end_page(const PageView& view, EncoderScratch::Parts& scratch) {
  PageView values = view;
  if (mode_ == Mode::kUndecided) decide(values, scratch);
  if (is_dictionary_given_ && !numbers_.empty()) {
    review_given_dictionary(scratch);
    values = open_values();
  }
  const bool is_numbered = mode_ == Mode::kDictionary && !numbers_.empty();
  const std::span<const uint32_t> numbers = numbers_.items<uint32_t>();
  const size_t value_count = is_numbered ? numbers.size() : values.count();
  // Nothing is here to be numbered: such pages are PLAIN.
  if (value_count != levels_.size() - levels_.null_count()) {
    throw_error(ErrorKind::kInternal, "a page of {} values for {} levels, {} of them without", value_count,
                levels_.size(), levels_.null_count());
  }

  BoundsBuilder bounds(order_);
  if (options_.statistics || is_float_order(order_)) {
    if (is_numbered) {
      bound_numbers(bounds, scratch);
    } else if (is_bytes_) {
      bounds.add(values.bytes);
    } else {
      bounds.add(values.fixed);
    }
  }
  if (bloom_ && !is_numbered) {
    if (is_bytes_) {
      bloom_->add(values.bytes);
    } else {
      bloom_->add(values.fixed);
    }
  }

  if (geospatial_ && !is_numbered) {
    for (size_t i = 0; i < values.count(); ++i) geospatial_->add(values.bytes.value(i));
  }

  RawPage raw;
  raw.type = is_v2_ ? PageType::kDataV2 : PageType::kData;
  raw.encoding = is_numbered ? dictionary_encoding() : value_count == 0 ? Encoding::kPlain : direct_encoding_;
  raw.value_count = static_cast<uint32_t>(levels_.size());
  raw.null_count = static_cast<uint32_t>(levels_.null_count());
  raw.row_count = static_cast<uint32_t>(rows_);
  EncodeBuffer& body = scratch.body;
  body.clear();
  raw.repetition_size = levels_.append_repetition(!is_v2_, body);
  raw.definition_size = levels_.append_definition(!is_v2_, body);
  const size_t values_start = body.size();
  if (is_numbered) {
    // At least 1, as parquet-cpp has it: readers that take 0 for an error were seen.
    const int width = std::max(1, bit_width_of(dictionary_->size() - 1));
    body.append(static_cast<uint8_t>(width));
    append_hybrid(numbers, width, body);
  } else if (is_bytes_) {
    if (value_count > 0) append_values(raw.encoding, values.bytes, scratch.lengths, body);
    unencoded_bytes_ = static_cast<int64_t>(values.bytes.byte_size());
  } else if (value_count > 0) {
    append_values(leaf_->file_type.physical, raw.encoding, values.fixed, scratch.lengths, body);
  }
  const double encoded_cost =
      value_count == 0 ? 0 : static_cast<double>(body.size() - values_start) / static_cast<double>(value_count);

  EncodedPage page;
  page.first_row = chunk_rows_;
  page.row_count = static_cast<uint32_t>(rows_);
  page.value_count = static_cast<uint32_t>(levels_.size());
  page.null_count = static_cast<int64_t>(levels_.null_count());
  page.nan_count = static_cast<int64_t>(bounds.nan_count());
  page.unencoded_bytes = is_bytes_ ? unencoded_bytes_ : 0;
  if (options_.statistics && options_.column_index_length != 0) {
    page.bounds = bounds.finish(leaf_->file_type, options_.column_index_length);
    has_page_of_nans_ = has_page_of_nans_ || (value_count > 0 && !page.bounds);
  }
  chunk_bounds_.add(bounds);
  count_levels(page);
  chunk_rows_ += rows_;
  chunk_entries_ += static_cast<int64_t>(levels_.size());
  chunk_nulls_ += static_cast<int64_t>(levels_.null_count());
  chunk_unencoded_bytes_ += page.unencoded_bytes;
  count_encoding(raw.type, raw.encoding);
  pages_.push_back(std::move(page));
  writer_.write(raw, body.span(), pages_.size() - 1, pages_, is_numbered ? dictionary_bytes() : 0, is_finished_,
                scratch.page());
  scratch.trim();

  const size_t new_entries = is_numbered ? dictionary_->size() - dictionary_size_before_ : 0;
  values_.clear();
  numbers_.clear();
  levels_.clear();
  rows_ = 0;
  open_bytes_ = 0;
  unencoded_bytes_ = 0;
  if (is_numbered) {
    // Values that do not come again are better off elsewhere.
    constexpr size_t kTellingValues = 1000;
    if (!dictionary_is_wanted() && dictionary_size_before_ > 0 && value_count >= kTellingValues &&
        new_entries > value_count / 2) {
      leave_dictionary(scratch);
    } else {
      dictionary_size_before_ = dictionary_->size();
    }
  } else if (mode_ == Mode::kDirect && value_count > 0) {
    // Pages that come out a third larger than the first hold other values: the next one is weighed anew.
    if (direct_cost_ == 0) {
      direct_cost_ = encoded_cost;
    } else if (encoded_cost > direct_cost_ * 4 / 3 && !options_.encoding) {
      mode_ = Mode::kUndecided;
      is_dictionary_left_ = true;
    }
  }
}

EncodedChunk ChunkEncoder::Impl::finish(EncoderScratch::Parts& scratch) {
  if (is_finished_) throw_error(ErrorKind::kInternal, "a chunk that is finished twice");
  is_finished_ = true;
  if (levels_.size() > 0) end_page(scratch);
  writer_.flush(pages_, dictionary_bytes(), scratch.page());
  numbers_.swap_memory(scratch.idle_numbers);
  values_.swap_memory(scratch.idle_values);
  scratch.trim();

  EncodedChunk chunk;
  const bool has_dictionary = std::any_of(encoding_stats_.begin(), encoding_stats_.end(),
                                          [&](const auto& known) { return known.encoding == dictionary_encoding(); });
  if (has_dictionary) {
    if (bloom_) bloom_->add(*dictionary_);
    for (uint32_t number = 0; geospatial_ && number < dictionary_->size(); ++number) {
      geospatial_->add(dictionary_->value(number));
    }
    scratch.body.clear();
    dictionary_->append_plain(scratch.body);
    RawPage raw;
    raw.type = PageType::kDictionary;
    raw.encoding = is_legacy_ ? Encoding::kPlainDictionary : Encoding::kPlain;
    raw.value_count = dictionary_->size();
    ChunkBytes bytes(*pool_);
    writer_.write_dictionary(raw, scratch.body.span(), bytes, scratch.page());
    chunk.dictionary_page_size = bytes.size();
    bytes.finish(chunk.bytes);
    encoding_stats_.insert(encoding_stats_.begin(), {PageType::kDictionary, raw.encoding, 1});
    for (EncodedPage& page : pages_) page.offset += chunk.dictionary_page_size;
  }
  chunk.byte_size = chunk.dictionary_page_size + writer_.byte_size();
  chunk.uncompressed_size = writer_.uncompressed_size();
  writer_.finish(chunk.bytes);
  chunk.codec = writer_.codec();
  chunk.row_count = static_cast<int64_t>(chunk_rows_);
  chunk.value_count = chunk_entries_;
  chunk.encoding_stats = std::move(encoding_stats_);
  const auto add_encoding = [&](Encoding encoding) {
    if (std::find(chunk.encodings.begin(), chunk.encodings.end(), encoding) == chunk.encodings.end()) {
      chunk.encodings.push_back(encoding);
    }
  };
  for (const auto& known : chunk.encoding_stats) add_encoding(known.encoding);
  if (leaf_->max_definition > 0 || leaf_->max_repetition > 0) add_encoding(Encoding::kRle);

  chunk.statistics.null_count = chunk_nulls_;
  if (options_.statistics) chunk.statistics.bounds = chunk_bounds_.finish(leaf_->file_type, options_.statistics_length);
  if (is_float_order(order_)) {
    chunk.statistics.nan_count = static_cast<int64_t>(chunk_bounds_.nan_count());
  } else if (has_dictionary && chunk.encoding_stats.size() == 2) {
    // One kind of data pages: all have numbers, but for pages of nothing but nulls.
    chunk.statistics.distinct_count = dictionary_->size();
  }
  if (is_bytes_) chunk.sizes.unencoded_byte_array_bytes = chunk_unencoded_bytes_;
  chunk.sizes.repetition_histogram = std::move(repetition_histogram_);
  chunk.sizes.definition_histogram = std::move(definition_histogram_);
  chunk.pages = std::move(pages_);
  chunk.has_column_index = options_.statistics && options_.column_index_length != 0 && order_ != ValueOrder::kNone &&
                           !has_page_of_nans_ && !chunk.pages.empty();
  if (chunk.has_column_index) chunk.boundary_order = order_of_bounds(order_, chunk.pages);
  if (bloom_) chunk.bloom_filter = bloom_->finish();
  if (geospatial_) chunk.geospatial = geospatial_->finish();
  return chunk;
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
