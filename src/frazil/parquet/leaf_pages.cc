#include "frazil/parquet/leaf_pages.h"

#include <algorithm>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/dictionary_page.h"
#include "frazil/parquet/levels.h"

namespace frazil::parquet {

namespace {

constexpr size_t kLengthBytes = sizeof(uint32_t);  // in front of the levels of v1 pages

bool is_dictionary(Encoding encoding) {
  return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
}

// Bytes of a plain value, 0 if they stand before it; nothing for types whose dictionaries are read whole.
std::optional<size_t> plain_width(PhysicalType type) {
  switch (type) {
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
      return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble:
      return 8;
    case PhysicalType::kByteArray:
      return 0;
    default:
      return std::nullopt;
  }
}

struct PlainValues {
  std::span<const std::byte> bytes;
  size_t count = 0;
};

// Those of `count` values that are whole in the front of their page.
PlainValues whole_values(std::span<const std::byte> front, size_t width, size_t count) {
  if (width > 0) {
    count = std::min(count, front.size() / width);
    return {front.first(count * width), count};
  }
  size_t size = 0;
  size_t whole = 0;
  for (; whole < count && front.size() - size >= kLengthBytes; ++whole) {
    const size_t length = load<uint32_t>(front.data() + size);
    if (length > front.size() - size - kLengthBytes) break;
    size += kLengthBytes + length;
  }
  return {front.first(size), whole};
}

}  // namespace

LeafPages::LeafPages(const InputFile& file, const FileMetadata& metadata, size_t leaf, const DataTypePtr& type,
                     Decompressor& decompressor, const Options& options)
    : values(*find_conversion(metadata.schema().leaf(leaf), *type), metadata.schema().leaf(leaf).type,
             options.validate_utf8),
      metadata_(&metadata),
      file_(&file),
      leaf_(leaf),
      path_(metadata.schema().path(metadata.schema().leaf_node(leaf))),
      pages_(file, decompressor, options.pages) {
  fronts_first_ = options.fronts_first && type->id() != TypeId::kDictionary;
  if (type->id() == TypeId::kDictionary) {
    dictionary_ = std::make_unique<DictionaryArray>(node(), type->value_type(), options.validate_utf8);
  }
}

void LeafPages::open(size_t row_group, const std::byte* whole) {
  if (chunk_ != nullptr) fronts_first_ = false;
  front_.reset();
  chunk_ = &metadata_->row_groups()[row_group].columns[leaf_];
  had_data_pages_ = false;
  is_started_ = false;
  values.clear_dictionary();
  if (dictionary_) dictionary_->clear();
  has_old_dictionary_ = true;
  dictionary_pages_left_ = count_dictionary_pages(*chunk_).value_or(-1);
  spared_bytes_ = 0;
  // Its value_count is not looked at: some writers leave it 0, and the pages say what is there.
  to_codec(chunk_->codec);
  const ChunkRange range = chunk_range(*chunk_, *metadata_, file_->size());
  if (whole != nullptr) {
    pages_.open(*chunk_, range, whole);
  } else {
    pages_.open(*chunk_, range);
  }
}

void LeafPages::expect_plain() {
  const bool is_plain = chunk_->declares(Encoding::kPlain) && chunk_->dictionary_page_offset <= 0;
  if (is_plain && chunk_->codec == CompressionCodec::kUncompressed) pages_.expect_unread();
}

void LeafPages::close() {
  pages_.close();
  values.close();
  if (dictionary_) dictionary_->clear();
}

LeafPages::Status LeafPages::load_header(MemorySource& memory) {
  // Before the new one takes its room.
  if (has_old_dictionary_) static_cast<void>(values.free_dictionary(memory));
  has_old_dictionary_ = false;
  if (front_ && front_->is_too_short && load_whole_dictionary(memory) == Status::kNeedMemory) {
    return Status::kNeedMemory;
  }
  for (;;) {
    const Status status = pages_.load_header(memory);
    if (status != Status::kPage) return status;
    if (header().type == PageType::kDictionary) {
      if (load_front_or_whole(memory) == Status::kNeedMemory) return Status::kNeedMemory;
      pages_.advance();
      pages_.trim(memory);
    } else if (header().value_count == 0) {
      pages_.advance();
    } else {
      return Status::kPage;
    }
  }
}

// Writers that leave the dictionary do not come back to it. Those whose counts are wrong stay readable as long as no such
// page follows another.
void LeafPages::free_spent_dictionary(MemorySource& memory) {
  if (dictionary_pages_left_ != 0 || !values.has_dictionary() || is_dictionary(header().encoding)) return;
  spared_bytes_ = values.free_dictionary(memory);
  front_.reset();
}

LeafPages::Status LeafPages::load_front_or_whole(MemorySource& memory) {
  const std::optional<size_t> width = plain_width(node().type);
  if (!fronts_first_ || had_data_pages_ || front_ || !width || !pages_.has_front()) {
    if (pages_.load(memory) == Status::kNeedMemory || !load_dictionary(memory)) return Status::kNeedMemory;
    return Status::kPage;
  }
  if (pages_.load_front(memory) == Status::kNeedMemory) return Status::kNeedMemory;
  const Page& page = pages_.page();
  if (page.values.size() < ChunkPages::kFrontBytes) {
    pages_.unload();
    fronts_first_ = false;
    return load_front_or_whole(memory);
  }
  const PlainValues front = whole_values(page.values, *width, static_cast<size_t>(page.header.value_count));
  if (!load_dictionary(front.bytes, front.count, memory)) return Status::kNeedMemory;
  front_ = Front{.offset = page.offset, .count = front.count, .is_too_short = false, .return_to = std::nullopt};
  return Status::kPage;
}

LeafPages::Status LeafPages::load_whole_dictionary(MemorySource& memory) {
  if (!front_->return_to) {
    static_cast<void>(values.free_dictionary(memory));
    front_->return_to = pages_.position();
    pages_.jump(front_->offset);
  }
  if (pages_.load(memory) == Status::kNeedMemory || !load_dictionary(memory)) return Status::kNeedMemory;
  pages_.jump(*front_->return_to);
  pages_.trim(memory);
  front_.reset();
  return Status::kPage;
}

// Whether the page that was started refers to values that the front of the dictionary does not have.
bool LeafPages::is_behind_front() const {
  if (!front_ || !is_dictionary(header().encoding)) return false;
  HybridReader indices = values.cursor().indices;
  uint32_t scratch[ValueDecoder::kScratch + 32];
  for (size_t left = level_count(); left > 0;) {
    const size_t count = indices.read(kernels(), scratch, std::min(left, ValueDecoder::kScratch));
    if (count == 0) break;
    if (*std::max_element(scratch, scratch + count) >= front_->count) return true;
    left -= count;
  }
  return false;
}

LeafPages::Status LeafPages::load(MemorySource& memory) {
  if (!is_started_) {
    Status status = load_header(memory);
    if (status == Status::kPage) {
      free_spent_dictionary(memory);
      status = pages_.load(memory);
    }
    if (status != Status::kPage) return status;
    start_page();
    if (is_behind_front()) {
      is_started_ = false;
      front_->is_too_short = true;
      return load(memory);
    }
  }
  return values.prepare(memory) ? Status::kPage : Status::kNeedMemory;
}

LeafPages::Status LeafPages::load_plain(const std::optional<ValuePlace>& place, MemorySource& memory) {
  if (is_started_ || header().encoding != Encoding::kPlain) return load(memory);
  if (pages_.can_stay_unread()) return load_unread(memory);
  return place ? load_to(*place, memory) : load(memory);
}

LeafPages::Status LeafPages::load_unread(MemorySource& memory) {
  const uint32_t max_definition = node().max_definition;
  const auto page_bytes = static_cast<size_t>(header().compressed_size);
  const bool is_v2 = header().type == PageType::kDataV2;
  const size_t repetition_bytes = is_v2 ? static_cast<size_t>(header().repetition_size) : 0;
  size_t level_bytes = 0;
  if (is_v2) {
    level_bytes = repetition_bytes + static_cast<size_t>(header().definition_size);
  } else if (max_definition > 0) {
    if (header().definition_encoding != Encoding::kRle) return load(memory);
    const auto length = pages_.read_front(kLengthBytes, memory);
    if (!length) return Status::kNeedMemory;
    level_bytes = kLengthBytes + size_t{frazil::load<uint32_t>(length->data())};
  }
  static_assert(kPlacedLevelBytesMax <= ChunkPages::kDirectBytesMin, "the page has as many bytes");
  if (level_bytes > kPlacedLevelBytesMax) return load(memory);
  const auto levels = pages_.read_front(level_bytes, memory);
  if (!levels) return Status::kNeedMemory;
  free_spent_dictionary(memory);
  std::copy_n(levels->data(), level_bytes, levels_);
  std::span<const std::byte> levels_left(levels_, level_bytes);
  if (is_v2) {
    repetition_levels = HybridReader();
    definition_levels = HybridReader();
    if (max_definition > 0) {
      definition_levels = HybridReader(levels_left.subspan(repetition_bytes), bit_width_of(max_definition));
    }
  } else {
    start_levels(levels_left);
  }
  values.start_unread(pages_, level_bytes, page_bytes);
  is_started_ = true;
  return Status::kPage;
}

LeafPages::Status LeafPages::load_to(const ValuePlace& place, MemorySource& memory) {
  const std::optional<size_t> bytes = pages_.compressed_values_bytes();
  // Levels of v1 pages are compressed together with the values.
  const size_t level_bytes = bytes.value_or(0) - place.bytes;
  const bool has_levels = node().max_definition > 0 && header().type == PageType::kData;
  const bool fits = has_levels ? header().definition_encoding == Encoding::kRle && level_bytes > kLengthBytes &&
                                     level_bytes <= std::min(kPlacedLevelBytesMax, place.before)
                               : level_bytes == 0;
  if (!bytes || *bytes < place.bytes || !fits) return load(memory);
  free_spent_dictionary(memory);
  std::byte* const front = place.target - level_bytes;
  std::byte before[kPlacedLevelBytesMax];
  std::copy_n(front, level_bytes, before);
  if (pages_.load_to(front, memory) == Status::kNeedMemory) return Status::kNeedMemory;
  std::copy_n(front, level_bytes, levels_);
  std::copy_n(before, level_bytes, front);
  // Else there are nulls, and just so many bytes of levels more than of values less.
  bool is_placed = !has_levels || frazil::load<uint32_t>(levels_) == level_bytes - kLengthBytes;
  if (is_placed) {
    std::span<const std::byte> levels_left(levels_, level_bytes);
    start_levels(levels_left);
    const uint32_t max_definition = node().max_definition;
    is_placed = max_definition == 0 || all_at_max(definition_levels, max_definition, level_count());
  }
  if (!is_placed) {
    pages_.unload();
    return load(memory);
  }
  start_values({place.target, place.bytes});
  return Status::kPage;
}

void LeafPages::advance() {
  if (!is_started_) values.forget_previous();
  if (dictionary_pages_left_ > 0 && is_dictionary(header().encoding)) --dictionary_pages_left_;
  pages_.advance();
  had_data_pages_ = true;
  is_started_ = false;
}

void LeafPages::jump(uint64_t offset) {
  pages_.jump(offset);
  values.forget_previous();
  had_data_pages_ = true;
  is_started_ = false;
}

bool LeafPages::load_dictionary(MemorySource& memory) {
  return load_dictionary(pages_.page().values, static_cast<size_t>(header().value_count), memory);
}

bool LeafPages::load_dictionary(std::span<const std::byte> page_values, size_t count, MemorySource& memory) {
  const Page& page = pages_.page();
  if (had_data_pages_ && !front_) throw_corrupt(page.offset, "a dictionary page after data pages");
  if (page.header.encoding != Encoding::kPlain && page.header.encoding != Encoding::kPlainDictionary) {
    throw_error(ErrorKind::kUnsupported, "a dictionary in encoding {} is not read", to_string(page.header.encoding));
  }
  const size_t bytes = values.dictionary_bytes(page_values, count);
  if (dictionary_ && !dictionary_->load(page_values, count, memory)) return false;
  if (values.has_dictionary()) static_cast<void>(values.free_dictionary(memory));
  Block& storage = values.dictionary_storage();
  if (bytes > 0 && storage.capacity() < bytes && !memory.allocate(storage, bytes)) return false;
  std::span<const std::byte> bytes_of_values = page_values;
  if (values.keeps_dictionary_page()) {
    const auto kept = pages_.keep_values(values.dictionary_page(), memory);
    if (!kept) return false;
    bytes_of_values = kept->first(page_values.size());
  }
  values.set_dictionary(bytes_of_values, count);
  return true;
}

// The levels at the front of a v1 page, which `values` then lacks.
HybridReader LeafPages::take_levels(const char* kind, Encoding encoding, uint32_t max_level,
                                    std::span<const std::byte>& values_left) {
  const int width = bit_width_of(max_level);
  if (encoding == Encoding::kBitPacked) {
    const size_t size = std::min(values_left.size(), bytes_for_bits(level_count() * static_cast<size_t>(width)));
    const auto bytes = values_left.first(size);
    values_left = values_left.subspan(size);
    return HybridReader::bit_packed(bytes, width, level_count());
  }
  if (encoding != Encoding::kRle) {
    throw_error(ErrorKind::kUnsupported, "{} levels in encoding {} of column '{}' are not read", kind,
                to_string(encoding), path_);
  }
  const uint64_t offset = pages_.page().offset;
  if (values_left.size() < 4) throw_corrupt(offset, "the page ends in its levels");
  const auto size = frazil::load<uint32_t>(values_left.data());
  if (size > values_left.size() - 4) {
    throw_corrupt(offset, "{} levels of {} bytes in a page of {}", kind, size, values_left.size());
  }
  const auto bytes = values_left.subspan(4, size);
  values_left = values_left.subspan(4 + size_t{size});
  return HybridReader(bytes, width);
}

void LeafPages::start_page() {
  std::span<const std::byte> values_left = pages_.page().values;
  start_levels(values_left);
  start_values(values_left);
}

// `values_left`: of a v1 page levels and values, the values afterwards.
void LeafPages::start_levels(std::span<const std::byte>& values_left) {
  const Page& page = pages_.page();
  const uint32_t max_repetition = node().max_repetition;
  const uint32_t max_definition = node().max_definition;
  definition_levels = HybridReader();
  repetition_levels = HybridReader();
  if (page.header.type == PageType::kData) {
    if (max_repetition > 0) {
      repetition_levels = take_levels("repetition", page.header.repetition_encoding, max_repetition, values_left);
    }
    if (max_definition > 0) {
      definition_levels = take_levels("definition", page.header.definition_encoding, max_definition, values_left);
    }
  } else {
    if (max_repetition > 0) repetition_levels = HybridReader(page.repetition_levels, bit_width_of(max_repetition));
    if (max_definition > 0) definition_levels = HybridReader(page.definition_levels, bit_width_of(max_definition));
  }
}

void LeafPages::start_values(std::span<const std::byte> bytes) {
  const Encoding encoding = pages_.page().header.encoding;
  if (!values.start(encoding, bytes)) {
    throw_error(ErrorKind::kUnsupported, "encoding {} of column '{}' is not read", to_string(encoding), path_);
  }
  is_started_ = true;
}

}  // namespace frazil::parquet
