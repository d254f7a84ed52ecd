#include "frazil/parquet/value_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/parquet/value_bytes.h"

namespace frazil::parquet {

namespace {

constexpr uint64_t kNoOffset = CorruptError::kNoOffset;  // the caller knows the page's offset and adds it

// Bytes of values that are put together before they are converted.
constexpr size_t kConvertBytes = size_t{8} << 10;

}  // namespace

void throw_values_end(size_t wanted) {
  throw_corrupt(kNoOffset, "the page ends where {} more values are expected", wanted);
}

// ---- Dictionary ----

size_t ValueDecoder::dictionary_bytes(std::span<const std::byte> page, size_t count) const {
  if (conversion_.form == ValueForm::kNone) return 0;
  if (type_ == PhysicalType::kBoolean) throw_corrupt(kNoOffset, "a dictionary of BOOLEAN values");
  if (conversion_.source_width > 0) {
    const auto width = static_cast<size_t>(conversion_.source_width);
    if (count > page.size() / width) {
      throw_corrupt(kNoOffset, "a dictionary of {} values of {} bytes in a page of {}", count, width, page.size());
    }
    if (conversion_.to_indices || (keeps_dictionary_page() && !to_bytes())) return 0;
    return count * (to_bytes() ? sizeof(uint32_t) : static_cast<size_t>(conversion_.target_width));
  }
  if (count > page.size() / 4) {
    throw_corrupt(kNoOffset, "a dictionary of {} values in a page of {} bytes", count, page.size());
  }
  if (conversion_.to_indices) return 0;
  if (!to_bytes()) return count * static_cast<size_t>(conversion_.target_width);
  return count * sizeof(uint32_t);
}

void ValueDecoder::set_dictionary(std::span<const std::byte> page, size_t count) {
  dictionary_count_ = count;
  dictionary_value_bytes_max_ = 0;
  has_dictionary_ = true;
  if (conversion_.form == ValueForm::kNone || conversion_.to_indices) return;
  dictionary_values_ = page.data();
  if (!to_bytes()) {
    if (keeps_dictionary_page()) return;
    cursor_.plain = page.data();
    end_ = page.data() + page.size();
    decode_plain_fixed(count, dictionary_.data());
    dictionary_values_ = dictionary_.data();
    return;
  }
  auto* const offsets = dictionary_.as<uint32_t>();
  const auto width = static_cast<size_t>(conversion_.source_width);
  if (width > 0) {
    for (size_t i = 0; i < count; ++i) offsets[i] = static_cast<uint32_t>(i * width);
    dictionary_value_bytes_max_ = count > 0 ? width : 0;
    dictionary_data_bytes_ = count * width;
  } else {
    const std::byte* source = page.data();
    const std::byte* const end = source + page.size();
    uint32_t longest = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t length = checked_length(source, end, count - i);
      source += 4;
      offsets[i] = static_cast<uint32_t>(source - page.data());
      source += length;
      longest = std::max(longest, length);
    }
    dictionary_value_bytes_max_ = longest;
    dictionary_data_bytes_ = static_cast<size_t>(source - page.data()) - 4 * count;
  }
  if (!validate_utf8_ || !conversion_.is_text) return;
  // With the lengths between them: most are less than 128.
  if (is_ascii({reinterpret_cast<const char*>(page.data()), page.size()})) return;
  const DictionaryBytes values = dictionary_of_bytes();
  for (size_t i = 0; i < count; ++i) {
    const std::byte* value = values.bytes(static_cast<uint32_t>(i));
    if (!is_valid_utf8({reinterpret_cast<const char*>(value), values.length(value)})) {
      throw_corrupt(kNoOffset, "value {} of the dictionary is not UTF-8", i);
    }
  }
}

void ValueDecoder::clear_dictionary() {
  dictionary_count_ = 0;
  dictionary_value_bytes_max_ = 0;
  dictionary_data_bytes_ = 0;
  dictionary_values_ = nullptr;
  has_dictionary_ = false;
  method_ = Method::kNone;
  previous_size_ = 0;
}

size_t ValueDecoder::free_dictionary(MemorySource& memory) {
  const size_t bytes = dictionary_.bytes_in_use() + dictionary_page_.bytes_in_use();
  dictionary_count_ = 0;
  dictionary_values_ = nullptr;
  has_dictionary_ = false;
  memory.free(dictionary_);
  memory.free(dictionary_page_);
  return bytes;
}

// ---- Pages ----

bool ValueDecoder::start(Encoding encoding, std::span<const std::byte> values) {
  method_ = Method::kNone;
  cursor_ = Cursor{};
  cursor_.plain = values.data();
  end_ = values.data() + values.size();
  if (conversion_.form == ValueForm::kNone) return true;  // there are none, in whatever encoding
  if (conversion_.to_indices && encoding != Encoding::kPlainDictionary && encoding != Encoding::kRleDictionary) {
    throw_corrupt(kNoOffset, "a page in encoding {} where the footer says that all refer to the dictionary",
                  to_string(encoding));
  }
  switch (encoding) {
    case Encoding::kPlain:
      method_ = type_ == PhysicalType::kBoolean ? Method::kPlainBits : Method::kPlain;
      return true;
    case Encoding::kRle: {
      if (type_ != PhysicalType::kBoolean) return false;
      method_ = Method::kRleBits;
      if (values.empty()) return true;  // all null
      if (values.size() < 4) throw_corrupt(kNoOffset, "RLE values of {} bytes", values.size());
      const auto size = load<uint32_t>(values.data());
      if (size > values.size() - 4) {
        throw_corrupt(kNoOffset, "RLE values of {} bytes in a page of {}", size, values.size());
      }
      cursor_.indices = HybridReader(values.subspan(4, size), 1);
      return true;
    }
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary: {
      if (type_ == PhysicalType::kBoolean) return false;
      method_ = Method::kDictionary;
      if (values.empty()) return true;  // all null; some writers leave out the width too
      if (!has_dictionary_) throw_corrupt(kNoOffset, "the page refers to a dictionary that is not there");
      cursor_.indices = HybridReader(values.subspan(1), std::to_integer<int>(values[0]));
      return true;
    }
    case Encoding::kDeltaBinaryPacked:
      if (type_ != PhysicalType::kInt32 && type_ != PhysicalType::kInt64) return false;
      method_ = Method::kDelta;
      cursor_.deltas = DeltaReader(values);
      return true;
    case Encoding::kDeltaLengthByteArray:
      if (type_ != PhysicalType::kByteArray) return false;
      method_ = Method::kDeltaLength;
      cursor_.deltas = DeltaReader(values);
      cursor_.plain = cursor_.deltas.find_end();
      return true;
    case Encoding::kDeltaByteArray:
      if (type_ != PhysicalType::kByteArray && type_ != PhysicalType::kFixedLenByteArray) return false;
      method_ = Method::kDeltaPrefix;
      start_delta_prefix(values);
      return true;
    case Encoding::kByteStreamSplit: {
      const auto width = static_cast<size_t>(conversion_.source_width);
      if (type_ == PhysicalType::kInt96 || width == 0 || (conversion_.convert != nullptr && width > kConvertBytes)) {
        return false;
      }
      method_ = Method::kSplit;
      split_count_ = values.size() / width;
      if (split_count_ * width != values.size()) {
        throw_corrupt(kNoOffset, "{} bytes of split values of {} bytes", values.size(), width);
      }
      return true;
    }
    default:
      return false;
  }
}

void ValueDecoder::start_unread(UnreadPage& page, size_t begin, size_t end) {
  method_ = Method::kUnread;
  cursor_ = Cursor{};
  cursor_.position = begin;
  unread_ = &page;
  unread_end_ = end;
}

void ValueDecoder::start_delta_prefix(std::span<const std::byte> values) {
  cursor_.prefixes = DeltaReader(values);
  const std::byte* rests = cursor_.prefixes.find_end();
  cursor_.deltas = DeltaReader({rests, end_});
  cursor_.plain = cursor_.deltas.find_end();
  if (cursor_.prefixes.left() != cursor_.deltas.left()) {
    throw_corrupt(kNoOffset, "{} prefixes and {} rests of values", cursor_.prefixes.left(), cursor_.deltas.left());
  }
  // All lengths are looked at once, so that later ones need no check.
  DeltaReader prefix_reader = cursor_.prefixes;
  DeltaReader rest_reader = cursor_.deltas;
  uint32_t prefix[kScratch + 32];
  uint32_t rest[kScratch + 32];
  uint64_t rest_bytes = 0;
  size_t size = 0;
  longest_ = 0;
  prefix_bytes_ = 0;
  bool is_first = true;
  while (prefix_reader.left() > 0) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(prefix_reader.left(), kScratch));
    read_lengths(prefix_reader, part, prefix);
    rest_bytes += read_lengths(rest_reader, part, rest);
    if (rest_bytes > plain_left(cursor_)) {
      throw_corrupt(kNoOffset, "values of {} bytes in the last {} of the page", rest_bytes, plain_left(cursor_));
    }
    if (is_first) {
      // Writers before parquet-mr 1.8 went on from the last value of the page before (PARQUET-246).
      if (prefix[0] == 0) previous_size_ = 0;
      size = previous_size_;
      is_first = false;
    }
    for (size_t i = 0; i < part; ++i) {
      if (prefix[i] > size) throw_corrupt(kNoOffset, "a prefix of {} bytes of a value of {}", prefix[i], size);
      size = size_t{prefix[i]} + rest[i];
      longest_ = std::max(longest_, size);
      prefix_bytes_ += size;
      if (conversion_.source_width > 0 && size != static_cast<size_t>(conversion_.source_width)) {
        throw_corrupt(kNoOffset, "a value of {} bytes in a column of {}", size, conversion_.source_width);
      }
    }
  }
}

bool ValueDecoder::prepare(MemorySource& memory) {
  if (method_ != Method::kDeltaPrefix) return true;
  const size_t needed = std::max(longest_, previous_size_);
  if (previous_.capacity() > 0 && previous_.capacity() >= needed) return true;
  if (previous_size_ == 0) memory.free(previous_);
  Block larger;
  if (!memory.allocate(larger, std::max<size_t>(needed, 64))) return false;
  if (previous_size_ > 0) std::memcpy(larger.data(), previous_.data(), previous_size_);
  memory.free(previous_);
  previous_ = std::move(larger);
  return true;
}

void ValueDecoder::close() {
  clear_dictionary();
  dictionary_ = Block();
  dictionary_page_ = Block();
  previous_ = Block();
}

void ValueDecoder::decode_fixed(size_t count, std::byte* target) {
  switch (method_) {
    case Method::kDictionary:
      if (conversion_.to_indices) {
        decode_indices(count, reinterpret_cast<uint32_t*>(target));
      } else {
        decode_dictionary_fixed(count, target);
      }
      return;
    case Method::kDelta:
      if (type_ == PhysicalType::kInt32) {
        decode_delta_fixed<uint32_t>(count, target);
      } else {
        decode_delta_fixed<uint64_t>(count, target);
      }
      return;
    case Method::kDeltaLength:
      decode_delta_length_converted(count, target);
      return;
    case Method::kDeltaPrefix:
      decode_delta_prefix_fixed(count, target);
      return;
    case Method::kSplit:
      decode_split_fixed(count, target);
      return;
    case Method::kUnread:
      decode_unread(count, target);
      return;
    default:
      decode_plain_fixed(count, target);
  }
}

void ValueDecoder::convert_fixed(const std::byte* source, size_t count, std::byte* target) const {
  if (!conversion_.convert(source, count, target, conversion_.parameters)) {
    throw_corrupt(kNoOffset, "a value is out of the range of its type");
  }
}

void ValueDecoder::convert_one(const std::byte* source, size_t size, std::byte* target) const {
  if (!conversion_.convert_bytes(source, size, target)) {
    throw_corrupt(kNoOffset, "a value of {} bytes is out of the range of its type", size);
  }
}

template <typename T>
void ValueDecoder::decode_delta_fixed(size_t count, std::byte* target) {
  if (conversion_.is_identity()) {
    cursor_.deltas.read(*kernels_, reinterpret_cast<T*>(target), count);
    return;
  }
  T scratch[kScratch];
  while (count > 0) {
    const size_t part = std::min(count, kScratch);
    cursor_.deltas.read(*kernels_, scratch, part);
    convert_fixed(reinterpret_cast<const std::byte*>(scratch), part, target);
    target += part * static_cast<size_t>(conversion_.target_width);
    count -= part;
  }
}

void ValueDecoder::decode_split_fixed(size_t count, std::byte* target) {
  require_fixed(cursor_, count);
  const auto width = static_cast<size_t>(conversion_.source_width);
  const std::byte* source = cursor_.plain + cursor_.position;
  cursor_.position += count;
  if (conversion_.is_identity()) {
    kernels_->unsplit(source, split_count_, width, count, target);
    return;
  }
  alignas(16) std::byte scratch[kConvertBytes + kBlockPadding];
  while (count > 0) {
    const size_t part = std::min(count, kConvertBytes / width);
    kernels_->unsplit(source, split_count_, width, part, scratch);
    convert_fixed(scratch, part, target);
    source += part;
    target += part * static_cast<size_t>(conversion_.target_width);
    count -= part;
  }
}

void ValueDecoder::decode_delta_length_converted(size_t count, std::byte* target) {
  uint32_t lengths[kScratch + 32];
  while (count > 0) {
    const size_t part = std::min(count, kScratch);
    const uint64_t bytes = read_lengths(cursor_.deltas, part, lengths);
    if (bytes > plain_left(cursor_)) throw_values_end(count);
    for (size_t i = 0; i < part; ++i) {
      convert_one(cursor_.plain, lengths[i], target);
      cursor_.plain += lengths[i];
      target += conversion_.target_width;
    }
    count -= part;
  }
}

// Puts the next values together in previous_, one after the other. The lengths were checked by start_delta_prefix.
template <typename Visit>
void ValueDecoder::visit_delta_prefix(size_t count, Visit&& visit) {
  uint32_t prefix[kScratch + 32];
  uint32_t rest[kScratch + 32];
  while (count > 0) {
    const size_t part = std::min(count, kScratch);
    cursor_.prefixes.read(*kernels_, prefix, part);
    cursor_.deltas.read(*kernels_, rest, part);
    for (size_t i = 0; i < part; ++i) {
      if (rest[i] > 0) std::memcpy(previous_.data() + prefix[i], cursor_.plain, rest[i]);
      cursor_.plain += rest[i];
      previous_size_ = size_t{prefix[i]} + rest[i];
      prefix_bytes_ -= previous_size_;
      visit(previous_.data(), previous_size_);
    }
    count -= part;
  }
}

void ValueDecoder::decode_delta_prefix_fixed(size_t count, std::byte* target) {
  const auto width = static_cast<size_t>(conversion_.target_width);
  visit_delta_prefix(count, [&](const std::byte* value, size_t size) {
    if (conversion_.convert_bytes != nullptr) {
      convert_one(value, size, target);
    } else if (conversion_.convert != nullptr) {
      convert_fixed(value, 1, target);
    } else {
      std::memcpy(target, value, width);
    }
    target += width;
  });
}

void ValueDecoder::decode_plain_fixed(size_t count, std::byte* target) {
  if (conversion_.convert_bytes != nullptr) {
    decode_plain_converted_bytes(count, target);
    return;
  }
  const auto width = static_cast<size_t>(conversion_.source_width);
  if (count > plain_left(cursor_) / width) throw_values_end(count);
  if (conversion_.convert == nullptr) {
    // A page may have been decompressed to where its values belong.
    if (count > 0 && target != cursor_.plain) std::memcpy(target, cursor_.plain, count * width);
  } else {
    convert_fixed(cursor_.plain, count, target);
  }
  cursor_.plain += count * width;
}

void ValueDecoder::decode_unread(size_t count, std::byte* target) {
  require_fixed(cursor_, count);
  const size_t size = count * static_cast<size_t>(conversion_.source_width);
  unread_->read(cursor_.position, {target, size});
  cursor_.position += size;
}

void ValueDecoder::decode_plain_converted_bytes(size_t count, std::byte* target) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t length = checked_length(cursor_.plain, end_, count - i);
    convert_one(cursor_.plain + 4, length, target);
    cursor_.plain += 4 + size_t{length};
    target += conversion_.target_width;
  }
}

void ValueDecoder::check_indices(const uint32_t* indices, size_t count) const {
  if (!kernels_->all_below(indices, count, static_cast<uint32_t>(dictionary_count_))) {
    throw_corrupt(kNoOffset, "an index is beyond the dictionary of {} values", dictionary_count_);
  }
}

void ValueDecoder::check_index(uint32_t index) const {
  if (index >= dictionary_count_) {
    throw_corrupt(kNoOffset, "index {} is beyond the dictionary of {} values", index, dictionary_count_);
  }
}

namespace {

// Widths that are known when this is compiled: a load and a store a value.
template <size_t kWidth>
void gather_width(const std::byte* dictionary, const uint32_t* indices, size_t count, std::byte* target) {
  for (size_t i = 0; i < count; ++i) std::memcpy(target + i * kWidth, dictionary + indices[i] * kWidth, kWidth);
}

template <size_t kWidth>
void fill_width(const std::byte* value, size_t count, std::byte* target) {
  for (size_t i = 0; i < count; ++i) std::memcpy(target + i * kWidth, value, kWidth);
}

}  // namespace

void ValueDecoder::gather(const uint32_t* indices, size_t count, std::byte* target) const {
  const auto width = static_cast<size_t>(conversion_.target_width);
  const std::byte* dictionary = dictionary_values_;
  switch (width) {
    case 1:
      return gather_width<1>(dictionary, indices, count, target);
    case 2:
      return gather_width<2>(dictionary, indices, count, target);
    case 4:
      return kernels_->gather4(dictionary, indices, count, target);
    case 8:
      return kernels_->gather8(dictionary, indices, count, target);
    case 16:
      return gather_width<16>(dictionary, indices, count, target);
    case 32:
      return gather_width<32>(dictionary, indices, count, target);
    default:
      for (size_t i = 0; i < count; ++i) std::memcpy(target + i * width, dictionary + indices[i] * width, width);
  }
}

void ValueDecoder::fill(uint32_t index, size_t count, std::byte* target) const {
  const auto width = static_cast<size_t>(conversion_.target_width);
  const std::byte* value = dictionary_values_ + index * width;
  switch (width) {
    case 1:
      std::memset(target, std::to_integer<int>(*value), count);
      return;
    case 2:
      return fill_width<2>(value, count, target);
    case 4:
      std::fill_n(reinterpret_cast<uint32_t*>(target), count, load<uint32_t>(value));
      return;
    case 8:
      std::fill_n(reinterpret_cast<uint64_t*>(target), count, load<uint64_t>(value));
      return;
    case 16:
      return fill_width<16>(value, count, target);
    default:
      for (size_t i = 0; i < count; ++i) std::memcpy(target + i * width, value, width);
  }
}

void ValueDecoder::decode_indices(size_t count, uint32_t* target) {
  uint32_t scratch[kScratch + 32];
  while (count > 0) {
    if (!cursor_.indices.next_run()) throw_values_end(count);
    auto part = static_cast<size_t>(std::min<uint64_t>(cursor_.indices.run_left(), count));
    if (cursor_.indices.is_repeated()) {
      check_index(cursor_.indices.repeated_value());
      std::fill_n(target, part, cursor_.indices.repeated_value());
      cursor_.indices.skip_in_run(part);
    } else {
      // Checked while they are in the first-level cache. Up to 31 values more are written: in place where others follow.
      part = std::min(part, kScratch);
      const bool in_place = count - part >= 32;
      cursor_.indices.unpack(*kernels_, in_place ? target : scratch, part);
      if (!in_place) std::copy_n(scratch, part, target);
      check_indices(target, part);
    }
    target += part;
    count -= part;
  }
}

void ValueDecoder::decode_dictionary_fixed(size_t count, std::byte* target) {
  uint32_t scratch[kScratch + 32];
  const auto width = static_cast<size_t>(conversion_.target_width);
  while (count > 0) {
    if (!cursor_.indices.next_run()) throw_values_end(count);
    auto part = static_cast<size_t>(std::min<uint64_t>(cursor_.indices.run_left(), count));
    if (cursor_.indices.is_repeated()) {
      check_index(cursor_.indices.repeated_value());
      fill(cursor_.indices.repeated_value(), part, target);
      cursor_.indices.skip_in_run(part);
    } else {
      part = std::min(part, kScratch);
      cursor_.indices.unpack(*kernels_, scratch, part);
      check_indices(scratch, part);
      gather(scratch, part, target);
    }
    target += part * width;
    count -= part;
  }
}

void ValueDecoder::decode_bits(size_t count, uint8_t* target, size_t bit_offset) {
  if (method_ == Method::kPlainBits) {
    if (count > plain_left(cursor_) * 8 - cursor_.position) throw_values_end(count);
    copy_bits(reinterpret_cast<const uint8_t*>(cursor_.plain), cursor_.position, target, bit_offset, count);
    cursor_.plain += (cursor_.position + count) / 8;
    cursor_.position = (cursor_.position + count) % 8;
    return;
  }
  while (count > 0) {
    if (!cursor_.indices.next_run()) throw_values_end(count);
    const auto part = static_cast<size_t>(std::min<uint64_t>(cursor_.indices.run_left(), count));
    if (cursor_.indices.is_repeated()) {
      fill_bits(target, bit_offset, part, cursor_.indices.repeated_value() != 0);
    } else {
      size_t from = 0;
      const uint8_t* bits = cursor_.indices.packed_bits(from);
      copy_bits(bits, from, target, bit_offset, part);
    }
    cursor_.indices.skip_in_run(part);
    bit_offset += part;
    count -= part;
  }
}

namespace {

// Behind the next `count` values. Lengths are a chain, each where the one before says: where four more values would stand
// if they were as long is looked at at once, and waits for none of them. A wrong guess costs as much as four lengths.
const std::byte* skip_plain_bytes(const std::byte* source, const std::byte* end, size_t count) {
  constexpr int kTrustMax = 64;
  int trust = 4;  // in guesses; 0: none are made
  while (count > 0) {
    const uint32_t length = checked_length(source, end, count);
    const size_t step = 4 + size_t{length};
    source += step;
    --count;
    while (trust > 0 && count >= 4 && step <= static_cast<size_t>(end - source) / 4) {
      uint32_t differences = 0;
      for (size_t i = 0; i < 4; ++i) differences |= load<uint32_t>(source + i * step) ^ length;
      if (differences != 0) {
        --trust;
        break;
      }
      trust = std::min(trust + 2, kTrustMax);
      source += 4 * step;
      count -= 4;
    }
  }
  return source;
}

}  // namespace

void ValueDecoder::skip(size_t count) {
  switch (method_) {
    case Method::kNone:
      return;
    case Method::kPlain: {
      if (conversion_.source_width > 0) {
        require_fixed(cursor_, count);
        cursor_.plain += count * static_cast<size_t>(conversion_.source_width);
        return;
      }
      cursor_.plain = skip_plain_bytes(cursor_.plain, end_, count);
      return;
    }
    case Method::kUnread:
      require_fixed(cursor_, count);
      cursor_.position += count * static_cast<size_t>(conversion_.source_width);
      return;
    case Method::kPlainBits:
      if (count > plain_left(cursor_) * 8 - cursor_.position) throw_values_end(count);
      cursor_.plain += (cursor_.position + count) / 8;
      cursor_.position = (cursor_.position + count) % 8;
      return;
    case Method::kRleBits:
    case Method::kDictionary:
      if (cursor_.indices.skip(count) < count) throw_values_end(count);
      return;
    case Method::kDelta:
      cursor_.deltas.skip(*kernels_, count);
      return;
    case Method::kDeltaLength: {
      uint32_t lengths[kScratch + 32];
      while (count > 0) {
        const size_t part = std::min(count, kScratch);
        const uint64_t bytes = read_lengths(cursor_.deltas, part, lengths);
        if (bytes > plain_left(cursor_)) throw_values_end(count);
        cursor_.plain += bytes;
        count -= part;
      }
      return;
    }
    case Method::kDeltaPrefix:
      visit_delta_prefix(count, [](const std::byte*, size_t) {});
      return;
    case Method::kSplit:
      require_fixed(cursor_, count);
      cursor_.position += count;
      return;
  }
}

// ---- Looking ahead ----

size_t ValueDecoder::value_bytes_bound(size_t count) const {
  if (method_ == Method::kDictionary) {
    size_t bytes = 0;
    return __builtin_mul_overflow(count, dictionary_value_bytes_max_, &bytes) ? SIZE_MAX : bytes;
  }
  if (method_ == Method::kDeltaPrefix) return prefix_bytes_;
  return plain_left(cursor_);
}

// The next lengths of delta-packed ones, and their sum.
uint64_t ValueDecoder::read_lengths(DeltaReader& reader, size_t count, uint32_t* lengths) const {
  reader.read(*kernels_, lengths, count);
  uint64_t sum = 0;
  uint32_t all = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += lengths[i];
    all |= lengths[i];
  }
  if (all >> 31 != 0) throw_corrupt(kNoOffset, "a value has a negative length");
  return sum;
}

// Throws unless `count` more values of fixed width are there.
void ValueDecoder::require_fixed(const Cursor& at, size_t count) const {
  const auto width = static_cast<size_t>(conversion_.source_width);
  const size_t left = method_ == Method::kSplit    ? split_count_ - at.position
                      : method_ == Method::kUnread ? (unread_end_ - at.position) / width
                                                   : plain_left(at) / width;
  if (count > left) throw_values_end(count);
}

void ValueDecoder::lengths(Cursor& at, size_t count, uint32_t* lengths) const {
  if (method_ == Method::kDictionary) {
    uint32_t scratch[kScratch + 32];
    if (at.indices.read(*kernels_, scratch, count) < count) throw_values_end(count);
    if (count == 0) return;
    check_indices(scratch, count);
    const DictionaryBytes values = dictionary_of_bytes();
    for (size_t i = 0; i < count; ++i) lengths[i] = values.length(scratch[i]);
    return;
  }
  if (method_ == Method::kDeltaLength) {
    const uint64_t bytes = read_lengths(at.deltas, count, lengths);
    if (bytes > plain_left(at)) throw_values_end(count);
    at.plain += bytes;
    return;
  }
  if (method_ == Method::kDeltaPrefix) {
    uint32_t prefix[kScratch + 32];
    at.prefixes.read(*kernels_, prefix, count);
    at.deltas.read(*kernels_, lengths, count);
    for (size_t i = 0; i < count; ++i) lengths[i] += prefix[i];
    return;
  }
  if (conversion_.source_width > 0) {
    const auto width = static_cast<size_t>(conversion_.source_width);
    require_fixed(at, count);
    std::fill_n(lengths, count, static_cast<uint32_t>(width));
    if (method_ == Method::kSplit) {
      at.position += count;
    } else {
      at.plain += count * width;
    }
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    lengths[i] = checked_length(at.plain, end_, count - i);
    at.plain += 4 + size_t{lengths[i]};
  }
}

}  // namespace frazil::parquet
