#include "frazil/parquet/column_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/levels.h"

namespace frazil::parquet {

namespace {

Conversion require_conversion(const FileSchema& schema, size_t leaf, const Field& field) {
  const SchemaNode& node = schema.leaf(leaf);
  const std::string path = schema.path(schema.leaf_node(leaf));
  if (node.max_repetition > 0) {
    throw_error(ErrorKind::kUnsupported, "column '{}' is repeated, which is not read yet", path);
  }
  auto conversion = find_conversion(node, *field.type);
  if (conversion) return *conversion;
  if (field.type->equals(*arrow_leaf_type(node))) {
    throw_error(ErrorKind::kUnsupported, "column '{}' is {} of {}, which is not read yet", path, to_string(node.type),
                field.type->to_string());
  }
  throw_error(ErrorKind::kInvalidArgument, "column '{}' is {} and cannot be read as {}", path,
              arrow_leaf_type(node)->to_string(), field.type->to_string());
}

// Values under the 1s of `bits` move from the front to their places. Any width.
void expand_any(const uint8_t* bits, size_t bit_offset, size_t count, size_t valid, size_t width, std::byte* values) {
  for (size_t i = count; i-- > 0 && valid <= i;) {
    if (get_bit(bits, bit_offset + i)) {
      --valid;
      std::memmove(values + i * width, values + valid * width, width);
    } else {
      std::memset(values + i * width, 0, width);
    }
  }
}

// ends[i] belongs to row i; ends[-1] is the end of the row before. Rows without a value are empty.
template <typename Offset>
void expand_ends(const uint8_t* bits, size_t bit_offset, size_t count, size_t valid, Offset* ends) {
  const Offset* before = ends - 1;
  for (size_t i = count; i-- > 0 && valid <= i;) {
    ends[i] = before[valid];
    valid -= get_bit(bits, bit_offset + i) ? 1 : 0;
  }
}

void expand_bits(const uint8_t* bits, size_t bit_offset, size_t count, size_t valid, uint8_t* values) {
  for (size_t i = count; i-- > 0 && valid <= i;) {
    bool value = false;
    if (get_bit(bits, bit_offset + i)) value = get_bit(values, bit_offset + --valid);
    assign_bit(values, bit_offset + i, value);
  }
}

void clear_last_bits(uint8_t* bits, size_t count) {
  if (count % 8 != 0)
    bits[count / 8] = static_cast<uint8_t>(bits[count / 8] & low_mask(static_cast<unsigned>(count % 8)));
}

}  // namespace

ColumnReader::ColumnReader(const InputFile& file, const FileMetadata& metadata, size_t leaf, Field field,
                           Decompressor& decompressor, const Options& options)
    : metadata_(&metadata),
      file_(&file),
      leaf_(leaf),
      field_(std::move(field)),
      path_(metadata.schema().path(metadata.schema().leaf_node(leaf))),
      max_definition_(metadata.schema().leaf(leaf).max_definition),
      conversion_(require_conversion(metadata.schema(), leaf, field_)),
      options_(options),
      pages_(file, decompressor, options.pages),
      values_(conversion_, metadata.schema().leaf(leaf).type, options.validate_utf8) {}

size_t ColumnReader::row_bits() const {
  const size_t validity = max_definition_ > 0 ? 1 : 0;
  switch (conversion_.form) {
    case ValueForm::kBits:
      return validity + 1;
    case ValueForm::kFixed:
      return validity + 8 * static_cast<size_t>(conversion_.target_width);
    case ValueForm::kBytes:
      return validity + 32;
    case ValueForm::kLargeBytes:
      return validity + 64;
  }
  return validity;
}

void ColumnReader::open(size_t row_group, const std::byte* whole) {
  const RowGroup& group = metadata_->row_groups()[row_group];
  chunk_ = &group.columns[leaf_];
  group_rows_ = static_cast<size_t>(group.row_count);
  group_rows_paged_ = 0;
  page_left_ = 0;
  values_.clear_dictionary();
  // Its value_count is not looked at: some writers leave it 0, and the pages say what is there.
  to_codec(chunk_->codec);
  const ChunkRange range = chunk_range(*chunk_, *metadata_, file_->size());
  if (whole != nullptr) {
    pages_.open(*chunk_, range, whole);
  } else {
    pages_.open(*chunk_, range);
  }
}

void ColumnReader::check_end() const {
  if (page_left_ > 0) {
    throw_corrupt(offset(), "the page has {} values beyond the row group's {} rows", page_left_, group_rows_);
  }
}

size_t ColumnReader::fixed_bytes(size_t rows) const {
  switch (conversion_.form) {
    case ValueForm::kBits:
      return bytes_for_bits(rows);
    case ValueForm::kFixed:
      return rows * static_cast<size_t>(conversion_.target_width);
    case ValueForm::kBytes:
      return (rows + 1) * sizeof(int32_t);
    case ValueForm::kLargeBytes:
      return (rows + 1) * sizeof(int64_t);
  }
  return 0;
}

bool ColumnReader::begin_batch(size_t rows, MemorySource& memory) {
  if (!memory.allocate(fixed_, fixed_bytes(rows))) return false;
  if (is_variable()) std::memset(fixed_.data(), 0, fixed_bytes(0));
  batch_rows_ = rows;
  rows_ = 0;
  null_count_ = 0;
  data_used_ = 0;
  stride_ = {};
  return true;
}

// ---- Pages ----

bool ColumnReader::load_page(MemorySource& memory) {
  while (page_left_ == 0) {
    switch (pages_.load(memory)) {
      case ChunkPages::Status::kNeedMemory:
        return false;
      case ChunkPages::Status::kEnd:
        throw_corrupt(offset(), "the column chunk ends after {} of {} rows", group_rows_paged_, group_rows_);
      case ChunkPages::Status::kPage:
        break;
    }
    if (pages_.page().header.type == PageType::kDictionary) {
      if (!load_dictionary(memory)) return false;
      pages_.advance();
      pages_.trim(memory);
    } else if (pages_.page().header.value_count == 0) {
      pages_.advance();
    } else {
      start_page();
    }
  }
  return values_.prepare(memory);
}

bool ColumnReader::load_dictionary(MemorySource& memory) {
  const Page& page = pages_.page();
  if (group_rows_paged_ > 0) throw_corrupt(page.offset, "a dictionary page after data pages");
  if (page.header.encoding != Encoding::kPlain && page.header.encoding != Encoding::kPlainDictionary) {
    throw_error(ErrorKind::kUnsupported, "a dictionary in encoding {} is not read", to_string(page.header.encoding));
  }
  const auto count = static_cast<size_t>(page.header.value_count);
  const size_t bytes = values_.dictionary_bytes(page.values, count);
  values_.clear_dictionary();
  Block& storage = values_.dictionary_storage();
  if (storage.capacity() < bytes && !memory.allocate(storage, bytes)) return false;
  values_.set_dictionary(page.values, count);
  return true;
}

void ColumnReader::start_levels(const Page& page, std::span<const std::byte>& values) {
  page_all_valid_ = true;
  levels_ = HybridReader();
  if (max_definition_ == 0) return;
  std::span<const std::byte> bytes = page.definition_levels;
  if (page.header.type == PageType::kData) {
    if (page.header.definition_encoding != Encoding::kRle) {
      throw_error(ErrorKind::kUnsupported, "definition levels in encoding {} of column '{}' are not read yet",
                  to_string(page.header.definition_encoding), path_);
    }
    if (values.size() < 4) throw_corrupt(page.offset, "the page ends in its levels");
    const auto size = load<uint32_t>(values.data());
    if (size > values.size() - 4) {
      throw_corrupt(page.offset, "definition levels of {} bytes in a page of {}", size, values.size());
    }
    bytes = values.subspan(4, size);
    values = values.subspan(4 + size_t{size});
  }
  levels_ = HybridReader(bytes, bit_width_of(max_definition_));
  page_all_valid_ = all_at_max(levels_, max_definition_, page_left_);
}

void ColumnReader::start_page() {
  const Page& page = pages_.page();
  const auto count = static_cast<size_t>(page.header.value_count);
  if (count > group_rows_ - group_rows_paged_) {
    throw_corrupt(page.offset, "a page of {} values where the row group has {} more rows", count,
                  group_rows_ - group_rows_paged_);
  }
  std::span<const std::byte> values = page.values;
  page_left_ = count;
  try {
    start_levels(page, values);
    if (!values_.start(page.header.encoding, values)) {
      throw_error(ErrorKind::kUnsupported, "encoding {} of column '{}' is not read", to_string(page.header.encoding),
                  path_);
    }
  } catch (const Error&) {
    page_left_ = 0;
    throw;
  }
  group_rows_paged_ += count;
}

// ---- Decoding ----

bool ColumnReader::open_stride(size_t target, MemorySource& memory) {
  if (!load_page(memory)) return false;
  const size_t rows = std::min(page_left_, target - rows_);
  size_t valid = rows;
  if (!page_all_valid_) {
    if (validity_.capacity() == 0) {
      if (!memory.allocate(validity_, bytes_for_bits(batch_rows_))) return false;
      fill_bits(validity_.as<uint8_t>(), 0, rows_, true);
    }
    valid = read_validity(levels_, kernels(), max_definition_, rows, validity_.as<uint8_t>(), rows_);
  } else if (validity_.capacity() > 0) {
    fill_bits(validity_.as<uint8_t>(), rows_, rows, true);
  }
  stride_ = {.rows = rows, .valid = valid, .done = 0};
  return true;
}

bool ColumnReader::decode_to(size_t target, MemorySource& memory) {
  while (rows_ < target) {
    if (stride_.rows == 0 && !open_stride(target, memory)) return false;
    switch (conversion_.form) {
      case ValueForm::kBits:
        decode_stride_bits();
        break;
      case ValueForm::kFixed:
        decode_stride_fixed();
        break;
      case ValueForm::kBytes:
        if (!decode_stride_offsets<int32_t>(memory)) return false;
        break;
      case ValueForm::kLargeBytes:
        if (!decode_stride_offsets<int64_t>(memory)) return false;
        break;
    }
    rows_ += stride_.rows;
    null_count_ += stride_.rows - stride_.valid;
    page_left_ -= stride_.rows;
    stride_ = {};
    if (page_left_ == 0) pages_.advance();
  }
  return true;
}

void ColumnReader::decode_stride_bits() {
  auto* bits = fixed_.as<uint8_t>();
  values_.decode_bits(stride_.valid, bits, rows_);
  if (stride_.valid < stride_.rows) {
    expand_bits(validity_.as<uint8_t>(), rows_, stride_.rows, stride_.valid, bits);
  }
}

void ColumnReader::decode_stride_fixed() {
  const auto width = static_cast<size_t>(conversion_.target_width);
  std::byte* target = fixed_.data() + rows_ * width;
  if (stride_.valid > 0) values_.decode_fixed(stride_.valid, target);
  if (stride_.valid == stride_.rows) return;
  const auto* bits = validity_.as<uint8_t>();
  if (width == 4) {
    kernels().expand4(bits, rows_, stride_.rows, target);
  } else if (width == 8) {
    kernels().expand8(bits, rows_, stride_.rows, target);
  } else {
    expand_any(bits, rows_, stride_.rows, stride_.valid, width, target);
  }
}

template <typename Offset>
bool ColumnReader::decode_stride_offsets(MemorySource& memory) {
  Offset* ends = fixed_.as<Offset>() + rows_ + 1;
  while (stride_.done < stride_.valid) {
    if (data_.capacity() > 0) {
      stride_.done += values_.decode_bytes(stride_.valid - stride_.done, ends + stride_.done, data_.data(),
                                           data_.capacity(), data_used_);
      if (stride_.done == stride_.valid) break;
    }
    if (!grow_data(memory)) return false;
  }
  if (stride_.valid < stride_.rows) {
    expand_ends(validity_.as<uint8_t>(), rows_, stride_.rows, stride_.valid, ends);
  }
  return true;
}

size_t ColumnReader::estimate_data_bytes(size_t rows_done) const {
  // What the batch has so far says most; then what the one before had; then what the footer tells.
  double per_row = 0;
  if (rows_done >= 1024) {
    per_row = static_cast<double>(data_used_) / static_cast<double>(rows_done);
  } else if (bytes_per_row_ >= 0) {
    per_row = bytes_per_row_;
  } else if (values_.has_dictionary()) {
    per_row = static_cast<double>(values_.dictionary_value_bytes_mean());
  } else {
    per_row =
        static_cast<double>(chunk_->total_uncompressed_size) / static_cast<double>(std::max<size_t>(group_rows_, 1));
    per_row = std::max(per_row - 4, 0.0);
  }
  // A sixteenth more, so that most batches need no second block.
  const double bytes = per_row * static_cast<double>(batch_rows_) * 1.0625;
  return bytes < static_cast<double>(options_.data_bytes_max) ? static_cast<size_t>(bytes) : options_.data_bytes_max;
}

bool ColumnReader::grow_data(MemorySource& memory) {
  ValueDecoder::Cursor next = values_.cursor();
  uint32_t length = 0;
  values_.lengths(next, 1, &length);
  const size_t needed = data_used_ + length;
  size_t wanted = std::max(estimate_data_bytes(rows_ + stride_.done), data_.capacity() + data_.capacity() / 4);
  wanted = std::max({std::min(wanted, options_.data_bytes_max), needed, kDataBytesMin});
  // Beyond the limit only if the file lies about its sizes; even then the block does not grow value by value.
  if (needed > options_.data_bytes_max) wanted = needed + needed / 4;
  Block larger;
  if (!memory.allocate(larger, wanted)) return false;
  if (data_used_ > 0) std::memcpy(larger.data(), data_.data(), data_used_);
  memory.free(data_);
  data_ = std::move(larger);
  return true;
}

void ColumnReader::trim_data(MemorySource& memory) {
  if (MemoryPool::block_bytes(data_.capacity()) <= MemoryPool::block_bytes(trimmed_bytes(data_used_))) return;
  Block exact;
  if (!memory.allocate(exact, data_used_)) return;  // it is only larger than need be
  std::memcpy(exact.data(), data_.data(), data_used_);
  memory.free(data_);
  data_ = std::move(exact);
}

ArrayPtr ColumnReader::finish_batch(MemorySource& memory) {
  auto array = std::make_shared<Array>();
  array->type = field_.type;
  array->length = static_cast<int64_t>(rows_);
  array->null_count = static_cast<int64_t>(null_count_);
  if (null_count_ > 0) {
    clear_last_bits(validity_.as<uint8_t>(), rows_);
    array->buffers[0] = validity_.freeze(bytes_for_bits(rows_));
  } else {
    memory.free(validity_);
  }
  if (conversion_.form == ValueForm::kBits) clear_last_bits(fixed_.as<uint8_t>(), rows_);
  array->buffers[1] = fixed_.freeze(fixed_bytes(rows_));
  if (is_variable()) {
    bytes_per_row_ = static_cast<double>(data_used_) / static_cast<double>(std::max<size_t>(rows_, 1));
    if (data_used_ > 0) {
      trim_data(memory);
      array->buffers[2] = data_.freeze(data_used_);
    } else {
      memory.free(data_);
    }
  }
  return array;
}

void ColumnReader::close() {
  pages_.close();
  values_.close();
}

// ---- Looking ahead ----

void ColumnReader::add_value_bytes(LookAhead& at, size_t count, uint64_t* totals) const {
  uint32_t lengths[ValueDecoder::kScratch];
  if (page_all_valid_) {
    values_.lengths(at.values, count, lengths);
    for (size_t i = 0; i < count; ++i) totals[i] += lengths[i];
    return;
  }
  uint8_t bits[ValueDecoder::kScratch / 8] = {};
  const size_t valid = read_validity(at.levels, kernels(), max_definition_, count, bits, 0);
  values_.lengths(at.values, valid, lengths);
  size_t next = 0;
  for_each_set_bit(bits, 0, count, [&](size_t row) { totals[row] += lengths[next++]; });
}

}  // namespace frazil::parquet
