#include "frazil/parquet/repeated_reader.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/level_masks.h"
#include "frazil/parquet/levels.h"
#include "frazil/parquet/page_index.h"

namespace frazil::parquet {

namespace {

// Fixed-width values of a piece take about this much: a batch passes its limit by no more before that is seen.
constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr size_t kSlotsMax = std::numeric_limits<int32_t>::max();

template <size_t kWords>
size_t count_all(const std::array<uint64_t, kWords>& mask, size_t words) {
  size_t count = 0;
  for (size_t w = 0; w < words; ++w) count += count_ones(mask[w]);
  return count;
}

// Room for `needed` slots: what the batch is expected to have, and growing by half so that not all is copied often; but
// no more than `most`, unless that is already too little.
size_t room_for(size_t capacity, size_t needed, size_t expected, size_t most) {
  if (needed > most) return needed + needed / 4;
  return std::max(needed, std::min(std::max(capacity + capacity / 2 + 64, expected), most));
}

}  // namespace

RepeatedReader::RepeatedReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, DataTypePtr type,
                               std::vector<ListLevel> lists, Decompressor& decompressor, const Options& options)
    : type_(std::move(type)),
      max_definition_(metadata.schema().leaf(leaf).max_definition),
      max_repetition_(metadata.schema().leaf(leaf).max_repetition),
      values_(require_conversion(metadata.schema(), leaf, *type_), options.bytes_max),
      pages_(file, metadata, leaf, type_, decompressor, options.pages),
      lists_(std::move(lists)),
      bytes_max_(options.bytes_max),
      piece_levels_max_(std::clamp<size_t>(kPieceBytes * 8 / std::max<size_t>(values_.slot_bits(), 1), 1, kLevels)),
      slots_(lists_.size() + 1),
      slot_counts_(lists_.size() + 1),
      list_valid_(lists_.size()),
      list_nulls_(lists_.size()),
      list_slots_(lists_.size()),
      list_elements_(lists_.size()) {}

size_t RepeatedReader::slots_max(size_t bits_of_slot, size_t level_count, size_t bytes_max) {
  const size_t fitting = bytes_max / std::max<size_t>(bits_of_slot, 1) * 8 + 8 + kLevels;
  return std::min({fitting, level_count, kSlotsMax});
}

void RepeatedReader::add_struct(const StructLevel& level) {
  structs_.push_back(level);
  struct_valid_.emplace_back();
  struct_nulls_.push_back(0);
}

void RepeatedReader::open(const GroupView& group, const std::byte* whole, const OffsetIndex* index) {
  pages_.open(group.row_group, whole);
  group_rows_ = group.row_count;
  cursor_ = RowCursor(group.rows);
  index_ = index;
  levels_seen_ = 0;
  at_end_ = false;
  row_open_ = false;
  skipping_ = false;
  page_open_ = false;
  page_left_ = 0;
  begin_ = end_ = 0;
  piece_ = Piece::kNone;
  rows_started_ = 0;
  is_full_ = false;
  const double levels = static_cast<double>(std::max<int64_t>(pages_.chunk().value_count, 1));
  values_.guess_data_bytes(static_cast<double>(pages_.chunk().total_uncompressed_size) / levels);
}

void RepeatedReader::close() {
  pages_.close();
}

// ---- Levels ----

// Passes over pages without wanted rows, as far as they can be told: by the offset index, or by the row counts of v2 pages.
// Either says that rows do not go on over the end of a page.
bool RepeatedReader::skip_pages(MemorySource& memory, LeafPages::Status& status) {
  while (status == LeafPages::Status::kPage) {
    const bool is_v2 = pages_.header().type == PageType::kDataV2;
    if (index_ == nullptr && !is_v2) return true;
    if (cursor_.at_end()) {
      at_end_ = true;
      return true;
    }
    if (cursor_.gap() == 0) return true;
    if (index_ != nullptr) {
      const PageLocation& location = index_->pages[index_->page_of(cursor_.row() + cursor_.gap())];
      if (location.offset <= pages_.offset() || location.first_row < cursor_.row()) return true;
      pages_.jump(location.offset);
      cursor_.jump(location.first_row);
    } else {
      const auto rows = static_cast<uint64_t>(std::max(pages_.header().row_count, 0));
      if (rows > cursor_.gap()) return true;
      levels_seen_ += pages_.level_count();
      cursor_.pass(rows);
      pages_.advance();
    }
    row_open_ = false;
    status = pages_.load_header(memory);
  }
  return status != LeafPages::Status::kNeedMemory;
}

// A row starts, so the row group has one more.
void RepeatedReader::check_row_left() const {
  if (cursor_.row() >= group_rows_) {
    throw_corrupt(pages_.offset(), "the pages have more than the row group's {} rows", group_rows_);
  }
}

// Makes sure that there is a next level, or that there is none, and so whether the open row goes on.
bool RepeatedReader::refill(MemorySource& memory) {
  while (begin_ == end_ && !at_end_) {
    if (page_left_ > 0) {
      decode_levels();
      break;
    }
    if (page_open_) {
      pages_.advance();
      page_open_ = false;
    }
    // The last row ends with the chunk's levels, as the footer counts them: what lies behind is not looked at.
    const int64_t value_count = pages_.chunk().value_count;
    if (cursor_.row() == group_rows_ && value_count > 0 && levels_seen_ >= static_cast<uint64_t>(value_count)) {
      at_end_ = true;
      break;
    }
    LeafPages::Status status = pages_.load_header(memory);
    if (!skip_pages(memory, status)) return false;
    if (at_end_) break;
    if (status == LeafPages::Status::kPage) status = pages_.load(memory);
    if (status == LeafPages::Status::kNeedMemory) return false;
    if (status == LeafPages::Status::kEnd) {
      if (cursor_.row() < group_rows_) {
        throw_corrupt(pages_.offset(), "the column chunk ends after {} of {} rows", cursor_.row(), group_rows_);
      }
      at_end_ = true;
      break;
    }
    page_open_ = true;
    page_left_ = pages_.level_count();
    levels_seen_ += page_left_;
  }
  if (at_end_) {
    row_open_ = false;
  } else if (repetition_[begin_] == 0) {
    row_open_ = false;
    check_row_left();
  } else if (!row_open_) {
    throw_corrupt(pages_.offset(), "a row starts with repetition level {}", repetition_[begin_]);
  }
  return true;
}

void RepeatedReader::decode_levels() {
  const size_t count = std::min(page_left_, kLevels);
  read_levels(pages_.repetition_levels, max_repetition_, count, repetition_);
  read_levels(pages_.definition_levels, max_definition_, count, definition_);
  page_left_ -= count;
  begin_ = 0;
  end_ = count;
}

// ---- Pieces ----

// The end of the piece that starts no more than `allowed` rows, at `limit` at most.
size_t RepeatedReader::cut_rows(size_t limit, size_t allowed, size_t& starts) const {
  starts = 0;
  for (size_t at = begin_; at < limit; at += 64) {
    uint64_t mask = ~at_least(repetition_ + at, 1) & low_mask(static_cast<unsigned>(std::min<size_t>(64, limit - at)));
    const size_t count = count_ones(mask);
    if (count > allowed - starts) {
      for (; starts < allowed; ++starts) mask &= mask - 1;
      return at + static_cast<size_t>(std::countr_zero(mask));
    }
    starts += count;
  }
  return limit;
}

// Shortens the piece so that its strings do not pass the batch's limit. False if none of it is left: the row does not fit
// beside the others.
bool RepeatedReader::cut_bytes(size_t count) {
  const uint64_t used = values_.data_bytes();
  const uint64_t room = used < bytes_max_ ? bytes_max_ - used : 0;
  const uint64_t bound = pages_.values.value_bytes_bound(count);
  if (bound <= std::min<uint64_t>(room, kPieceDataBytes)) return true;
  if (complete_rows() == 0) {
    // This row is in the batch however large it is; those behind it have to fit.
    if (bound > room) cut_ = cut_rows(cut_, row_open_ ? 0 : 1, piece_rows_);
    return true;
  }
  uint32_t lengths[kLevels];
  ValueDecoder::Cursor at = pages_.values.cursor();
  pages_.values.lengths(at, count, lengths);
  size_t fitting = 0;
  for (uint64_t bytes = 0; fitting < count; ++fitting) {
    bytes += lengths[fitting];
    if (bytes > room || (fitting > 0 && bytes > kPieceDataBytes)) break;
  }
  if (fitting == count) return true;
  for (size_t from = begin_; from < cut_; from += 64) {
    uint64_t mask = at_least(definition_ + from, max_definition_);
    const size_t ones = count_ones(mask);
    if (ones <= fitting) {
      fitting -= ones;
      continue;
    }
    for (; fitting > 0; --fitting) mask &= mask - 1;
    cut_ = from + static_cast<size_t>(std::countr_zero(mask));
    break;
  }
  cut_ = cut_rows(cut_, kLevels, piece_rows_);
  return cut_ > begin_;
}

// False if there is nothing to decode. Pieces that are not wanted are passed over at once.
bool RepeatedReader::choose_piece(size_t rows_max) {
  if (at_end_ || is_full_) return false;
  if (!row_open_) {
    if (cursor_.at_end()) return false;
    skipping_ = cursor_.gap() > 0;
    if (!skipping_ && rows_started_ >= rows_max) return false;
  }
  uint64_t allowed = 0;
  if (!cursor_.at_end()) {
    allowed = skipping_ ? cursor_.gap() : std::min<uint64_t>(cursor_.run(), rows_max - rows_started_);
  }
  cut_ = cut_rows(std::min(end_, begin_ + piece_levels_max_), static_cast<size_t>(allowed), piece_rows_);
  if (piece_rows_ > group_rows_ - cursor_.row()) {
    throw_corrupt(pages_.offset(), "the pages have more than the row group's {} rows", group_rows_);
  }
  size_t value_count = 0;
  for (size_t at = begin_; at < cut_; at += 64) {
    const auto bits = static_cast<unsigned>(std::min<size_t>(64, cut_ - at));
    value_count += count_ones(at_least(definition_ + at, max_definition_) & low_mask(bits));
  }
  if (skipping_) {
    pages_.values.skip(value_count);
    commit_piece();
    return true;
  }
  if (complete_rows() > 0 && decoded_bits() / 8 > bytes_max_) {
    is_full_ = true;
    return false;
  }
  if (is_variable() && !cut_bytes(value_count)) {
    is_full_ = true;
    return false;
  }
  make_masks();
  for (size_t k = 0; k < lists_.size(); ++k) {
    const size_t elements = lists_[k].teller == nullptr ? lists_[k].structure->elements() : list_elements_[k];
    if (slot_counts_[k + 1] <= kSlotsMax - elements) continue;
    if (complete_rows() == 0) throw_error(ErrorKind::kUnsupported, "a row has more than {} elements", kSlotsMax);
    is_full_ = true;
    return false;
  }
  piece_ = Piece::kChosen;
  return true;
}

void RepeatedReader::make_masks() {
  const size_t depth = lists_.size();
  const size_t words = (cut_ - begin_ + 63) / 64;
  for (size_t w = 0; w < words; ++w) {
    const uint8_t* repetition = repetition_ + begin_ + 64 * w;
    const uint8_t* definition = definition_ + begin_ + 64 * w;
    const uint64_t all = low_mask(static_cast<unsigned>(std::min<size_t>(64, cut_ - begin_ - 64 * w)));
    slots_[0][w] = ~at_least(repetition, 1) & all;
    for (size_t k = 1; k <= depth; ++k) {
      uint64_t slots = at_least(definition, lists_[k - 1].element) & all;
      if (k < depth) slots &= ~at_least(repetition, static_cast<uint32_t>(k) + 1);
      slots_[k][w] = slots;
    }
    for (size_t k = 0; k < depth; ++k) {
      if (lists_[k].teller != nullptr || !lists_[k].nullable) continue;
      list_valid_[k][w] = at_least(definition, lists_[k].definition) & slots_[k][w];
    }
    for (size_t i = 0; i < structs_.size(); ++i) {
      struct_valid_[i][w] = at_least(definition, structs_[i].definition) & slots_[structs_[i].depth][w];
    }
    leaf_valid_[w] = at_least(definition, max_definition_) & all;
  }
  for (size_t k = 0; k <= depth; ++k) slot_counts_[k] = count_all(slots_[k], words);
  for (size_t k = 0; k < depth; ++k) {
    const bool tells_nulls = lists_[k].teller == nullptr && lists_[k].nullable;
    list_nulls_[k] = tells_nulls ? slot_counts_[k] - count_all(list_valid_[k], words) : 0;
  }
  for (size_t i = 0; i < structs_.size(); ++i) {
    struct_nulls_[i] = slot_counts_[structs_[i].depth] - count_all(struct_valid_[i], words);
  }
  piece_values_ = count_all(leaf_valid_, words);
}

// How many slots the batch will have, by what it has so far, by the batch before, by the footer.
size_t RepeatedReader::expected_slots(size_t slots, size_t batch_rows) const {
  if (rows_started_ < 64) return 0;
  const double per_row = static_cast<double>(slots) / static_cast<double>(rows_started_);
  return static_cast<size_t>(per_row * static_cast<double>(batch_rows) * 1.0625) + 64;
}

bool RepeatedReader::reserve(size_t batch_rows, MemorySource& memory) {
  const auto level_count = pages_.chunk().value_count > 0 ? static_cast<size_t>(pages_.chunk().value_count) : kSlotsMax;
  const auto reserve_structure = [&](Structure& structure, size_t depth, bool nullable, size_t nulls) {
    const size_t needed = structure.slots() + slot_counts_[depth];
    if (needed > structure.capacity()) {
      const size_t most = slots_max(structure.slot_bits() + (nullable ? 1 : 0), level_count, bytes_max_);
      const size_t expected = depth == 0 ? batch_rows : expected_slots(structure.slots(), batch_rows);
      if (!structure.reserve(room_for(structure.capacity(), needed, expected, most), memory)) return false;
    }
    return nulls == 0 || structure.add_validity(memory);
  };
  for (size_t k = 0; k < lists_.size(); ++k) {
    if (lists_[k].teller != nullptr) continue;
    if (!reserve_structure(*lists_[k].structure, k, lists_[k].nullable, list_nulls_[k])) return false;
  }
  for (size_t i = 0; i < structs_.size(); ++i) {
    if (!reserve_structure(*structs_[i].structure, structs_[i].depth, true, struct_nulls_[i])) return false;
  }
  const size_t needed = values_.slots() + slot_counts_.back();
  if (needed > values_.capacity()) {
    size_t expected = expected_slots(values_.slots(), batch_rows);
    if (expected == 0) {
      double per_row = slots_per_row_;
      if (per_row == 0 && pages_.chunk().value_count > 0) {
        per_row = static_cast<double>(pages_.chunk().value_count) / static_cast<double>(group_rows_);
      }
      const double slots = per_row * static_cast<double>(batch_rows) * 1.0625 + 64;
      expected = slots < static_cast<double>(kSlotsMax) ? static_cast<size_t>(slots) : kSlotsMax;
    }
    const size_t most = slots_max(slot_bits(), level_count, bytes_max_);
    if (!values_.reserve(room_for(values_.capacity(), needed, expected, most), memory)) return false;
  }
  return piece_values_ == slot_counts_.back() || values_.add_validity(memory);
}

void RepeatedReader::write_offsets(size_t list) {
  Structure& structure = *lists_[list].structure;
  const size_t words = (cut_ - begin_ + 63) / 64;
  int32_t* offset = structure.offsets() + structure.slots();
  auto base = static_cast<int32_t>(structure.elements());
  for (size_t w = 0; w < words; ++w) {
    uint64_t slots = slots_[list][w];
    const uint64_t elements = slots_[list + 1][w];
    if ((elements & (elements + 1)) == 0) {  // all in front, the rest are none
      const auto count = static_cast<int>(count_ones(elements));
      for (; slots != 0; slots &= slots - 1) *offset++ = base + std::min(std::countr_zero(slots), count);
      base += count;
      continue;
    }
    for (; slots != 0; slots &= slots - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(slots));
      *offset++ = base + static_cast<int32_t>(count_ones(elements & low_mask(bit)));
    }
    base += static_cast<int32_t>(count_ones(elements));
  }
}

void RepeatedReader::check_offsets(size_t list) const {
  const ListLevel& level = lists_[list];
  const Structure& told = *level.structure;
  const size_t words = (cut_ - begin_ + 63) / 64;
  size_t slot = list_slots_[list];
  auto base = static_cast<int32_t>(list_elements_[list]);
  bool same = slot_counts_[list] <= told.slots() - std::min(slot, told.slots());
  for (size_t w = 0; w < words && same; ++w) {
    uint64_t slots = slots_[list][w];
    const uint64_t elements = slots_[list + 1][w];
    for (; slots != 0; slots &= slots - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(slots));
      same = same && told.offsets()[slot++] == base + static_cast<int32_t>(count_ones(elements & low_mask(bit)));
    }
    base += static_cast<int32_t>(count_ones(elements));
  }
  if (!same) {
    throw_corrupt(pages_.offset(), "columns '{}' and '{}' have lists of different lengths", level.teller->path(),
                  path());
  }
}

void RepeatedReader::check_lists(size_t rows) const {
  size_t slots = rows;
  for (size_t k = 0; k < lists_.size(); ++k) {
    const size_t elements = lists_[k].structure->elements(slots);
    if (lists_[k].teller != nullptr && (list_slots_[k] != slots || list_elements_[k] != elements)) {
      throw_corrupt(pages_.offset(), "columns '{}' and '{}' have lists of different lengths", lists_[k].teller->path(),
                    path());
    }
    slots = elements;
  }
}

void RepeatedReader::write_structures() {
  const size_t words = (cut_ - begin_ + 63) / 64;
  const auto write_validity = [&](Structure& structure, const Mask& valid, const Mask& slots) {
    if (!structure.has_validity()) return;
    BitAppender out(structure.validity(), structure.slots());
    for (size_t w = 0; w < words; ++w) out.append_under(valid[w], slots[w]);
    out.flush();
  };
  for (size_t k = 0; k < lists_.size(); ++k) {
    if (lists_[k].teller != nullptr) {
      check_offsets(k);
      list_slots_[k] += slot_counts_[k];
      list_elements_[k] += slot_counts_[k + 1];
      continue;
    }
    write_offsets(k);
    Structure& structure = *lists_[k].structure;
    write_validity(structure, list_valid_[k], slots_[k]);
    structure.add(slot_counts_[k], list_nulls_[k], slot_counts_[k + 1]);
  }
  for (size_t i = 0; i < structs_.size(); ++i) {
    Structure& structure = *structs_[i].structure;
    write_validity(structure, struct_valid_[i], slots_[structs_[i].depth]);
    structure.add(slot_counts_[structs_[i].depth], struct_nulls_[i], 0);
  }
  if (values_.has_validity()) {
    BitAppender out(values_.validity(), values_.slots());
    for (size_t w = 0; w < words; ++w) out.append_under(leaf_valid_[w], slots_.back()[w]);
    out.flush();
  }
  values_.start_stride(slot_counts_.back(), piece_values_);
}

void RepeatedReader::commit_piece() {
  cursor_.pass(piece_rows_);
  if (!skipping_) rows_started_ += piece_rows_;
  begin_ = cut_;
  row_open_ = begin_ == end_ || repetition_[begin_] != 0;
  piece_ = Piece::kNone;
  if (!row_open_) check_row_left();
}

bool RepeatedReader::advance(size_t rows_max, size_t batch_rows, MemorySource& memory) {
  while (piece_ == Piece::kNone) {
    if (is_full_ || (!row_open_ && (rows_started_ >= rows_max || cursor_.at_end()))) return true;
    if (!refill(memory)) return false;
    if (!choose_piece(rows_max)) return true;
  }
  if (piece_ == Piece::kChosen) {
    if (!reserve(batch_rows, memory)) return false;
    write_structures();
    piece_ = Piece::kValues;
  }
  if (values_.in_stride() && !values_.decode(pages_.values, memory)) return false;
  commit_piece();
  return true;
}

uint64_t RepeatedReader::decoded_bits() const {
  uint64_t bits = values_.slots() * slot_bits() + values_.data_bytes() * 8;
  for (const ListLevel& level : lists_) {
    if (level.teller != nullptr) continue;
    bits += level.structure->slots() * (level.structure->slot_bits() + (level.nullable ? 1 : 0));
  }
  for (const StructLevel& level : structs_) bits += level.structure->slots();
  return bits;
}

uint64_t RepeatedReader::bits_of(size_t rows) const {
  uint64_t bits = 0;
  size_t slots = rows;
  for (size_t k = 0; k <= lists_.size(); ++k) {
    for (const StructLevel& level : structs_) bits += level.depth == k ? slots : 0;
    if (k == lists_.size()) break;
    const ListLevel& level = lists_[k];
    if (level.teller == nullptr) bits += slots * (level.structure->slot_bits() + (level.nullable ? 1 : 0));
    slots = level.structure->elements(slots);
  }
  return bits + slots * slot_bits() + values_.data_bytes(slots) * 8;
}

bool RepeatedReader::keep_tail(size_t rows, MemorySource& memory) {
  size_t slots = rows;
  for (size_t k = 0; k <= lists_.size(); ++k) {
    for (const StructLevel& level : structs_) {
      if (level.depth == k && !level.structure->keep_tail(slots, memory)) return false;
    }
    if (k == lists_.size()) break;
    if (lists_[k].teller == nullptr && !lists_[k].structure->keep_tail(slots, memory)) return false;
    slots = lists_[k].structure->elements(slots);
  }
  return values_.keep_tail(slots, memory);
}

std::shared_ptr<Array> RepeatedReader::finish(size_t rows, MemorySource& memory) {
  size_t slots = rows;
  for (size_t k = 0; k < lists_.size(); ++k) {
    const size_t elements = lists_[k].structure->elements(slots);
    if (lists_[k].teller != nullptr) {
      list_slots_[k] -= slots;
      list_elements_[k] -= elements;
    }
    slots = elements;
  }
  slots_per_row_ = static_cast<double>(slots) / static_cast<double>(std::max<size_t>(rows, 1));
  rows_started_ -= rows;
  is_full_ = false;
  std::shared_ptr<Array> array = values_.finish(type_, slots, memory);
  pages_.add_dictionary(*array);
  return array;
}

}  // namespace frazil::parquet
