#include "frazil/parquet/value_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"

namespace frazil::parquet {

namespace {

constexpr uint64_t kNoOffset = CorruptError::kNoOffset;  // the caller knows the page's offset and adds it

[[noreturn]] void throw_values_end(size_t wanted) {
  throw_corrupt(kNoOffset, "the page ends where {} more values are expected", wanted);
}

// Copies in steps of 16 bytes, up to 15 behind the end on both sides: short values take one load and one store.
inline void copy_padded(std::byte* target, const std::byte* source, size_t size) {
  std::memcpy(target, source, 16);
  for (size_t done = 16; done < size; done += 16) std::memcpy(target + done, source + done, 16);
}

// The length of the value at `source`; throws unless it and its bytes are there.
inline uint32_t checked_length(const std::byte* source, const std::byte* end, size_t wanted) {
  const auto left = static_cast<size_t>(end - source);
  if (left < 4) throw_values_end(wanted);
  const auto length = load<uint32_t>(source);
  if (length > left - 4) throw_corrupt(kNoOffset, "a value of {} bytes in the last {} of the page", length, left - 4);
  return length;
}

}  // namespace

// ---- Dictionary ----

size_t ValueDecoder::dictionary_bytes(std::span<const std::byte> page, size_t count) const {
  if (type_ == PhysicalType::kBoolean) throw_corrupt(kNoOffset, "a dictionary of BOOLEAN values");
  if (conversion_.source_width > 0) {
    const auto width = static_cast<size_t>(conversion_.source_width);
    if (count > page.size() / width) {
      throw_corrupt(kNoOffset, "a dictionary of {} values of {} bytes in a page of {}", count, width, page.size());
    }
    if (to_bytes()) return count * (sizeof(Entry) + width);
    return count * static_cast<size_t>(conversion_.target_width);
  }
  if (count > page.size() / 4) {
    throw_corrupt(kNoOffset, "a dictionary of {} values in a page of {} bytes", count, page.size());
  }
  if (!to_bytes()) return count * static_cast<size_t>(conversion_.target_width);
  return count * sizeof(Entry) + (page.size() - 4 * count);
}

void ValueDecoder::set_dictionary(std::span<const std::byte> page, size_t count) {
  dictionary_count_ = count;
  dictionary_value_bytes_max_ = 0;
  has_dictionary_ = true;
  if (!to_bytes()) {
    cursor_.plain = page.data();
    end_ = page.data() + page.size();
    decode_plain_fixed(count, dictionary_.data());
    return;
  }
  const std::byte* source = page.data();
  const std::byte* const end = source + page.size();
  auto* const entry = dictionary_.as<Entry>();
  std::byte* const data = dictionary_.data() + count * sizeof(Entry);
  const auto width = static_cast<uint32_t>(conversion_.source_width);
  uint32_t offset = 0;
  uint32_t longest = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t length = width;
    if (width == 0) {
      length = checked_length(source, end, count - i);
      source += 4;
      // The storage has room for the page without its lengths: a value must leave those of the values behind it.
      const size_t lengths = 4 * (count - i - 1);
      if (length + lengths > static_cast<size_t>(end - source)) throw_values_end(count - i - 1);
    }
    entry[i] = {offset, length};
    copy_padded(data + offset, source, length);
    longest = std::max(longest, length);
    source += length;
    offset += length;
  }
  dictionary_value_bytes_max_ = longest;
  if (validate_utf8_ && conversion_.is_text && !is_ascii({reinterpret_cast<const char*>(data), offset})) {
    for (size_t i = 0; i < count; ++i) {
      if (!is_valid_utf8({reinterpret_cast<const char*>(data) + entry[i].offset, entry[i].length})) {
        throw_corrupt(kNoOffset, "value {} of the dictionary is not UTF-8", i);
      }
    }
  }
  dictionary_data_bytes_ = offset;
}

void ValueDecoder::clear_dictionary() {
  dictionary_count_ = 0;
  dictionary_value_bytes_max_ = 0;
  dictionary_data_bytes_ = 0;
  has_dictionary_ = false;
  method_ = Method::kNone;
}

// ---- Pages ----

bool ValueDecoder::start(Encoding encoding, std::span<const std::byte> values) {
  method_ = Method::kNone;
  cursor_ = Cursor{};
  cursor_.plain = values.data();
  end_ = values.data() + values.size();
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
    default:
      return false;
  }
}

void ValueDecoder::decode_fixed(size_t count, std::byte* target) {
  if (method_ == Method::kDictionary) {
    decode_dictionary_fixed(count, target);
  } else {
    decode_plain_fixed(count, target);
  }
}

void ValueDecoder::decode_plain_fixed(size_t count, std::byte* target) {
  if (conversion_.convert_bytes != nullptr) {
    decode_plain_converted_bytes(cursor_.plain, end_, count, target);
    return;
  }
  const auto width = static_cast<size_t>(conversion_.source_width);
  if (count > plain_left(cursor_) / width) throw_values_end(count);
  if (conversion_.convert == nullptr) {
    if (count > 0) std::memcpy(target, cursor_.plain, count * width);
  } else if (!conversion_.convert(cursor_.plain, count, target, conversion_.parameters)) {
    throw_corrupt(kNoOffset, "a value is out of the range of its type");
  }
  cursor_.plain += count * width;
}

void ValueDecoder::decode_plain_converted_bytes(const std::byte*& source, const std::byte* end, size_t count,
                                                std::byte* target) const {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t length = checked_length(source, end, count - i);
    if (!conversion_.convert_bytes(source + 4, length, target)) {
      throw_corrupt(kNoOffset, "a value of {} bytes is out of the range of its type", length);
    }
    source += 4 + size_t{length};
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

void ValueDecoder::gather(const uint32_t* indices, size_t count, std::byte* target) const {
  const auto width = static_cast<size_t>(conversion_.target_width);
  const std::byte* dictionary = dictionary_.data();
  switch (width) {
    case 4:
      kernels_->gather4(dictionary, indices, count, target);
      return;
    case 8:
      kernels_->gather8(dictionary, indices, count, target);
      return;
    case 16:
      for (size_t i = 0; i < count; ++i) std::memcpy(target + i * 16, dictionary + size_t{indices[i]} * 16, 16);
      return;
    default:
      for (size_t i = 0; i < count; ++i) std::memcpy(target + i * width, dictionary + indices[i] * width, width);
  }
}

void ValueDecoder::fill(uint32_t index, size_t count, std::byte* target) const {
  const auto width = static_cast<size_t>(conversion_.target_width);
  const std::byte* value = dictionary_.data() + index * width;
  switch (width) {
    case 4:
      std::fill_n(reinterpret_cast<uint32_t*>(target), count, load<uint32_t>(value));
      return;
    case 8:
      std::fill_n(reinterpret_cast<uint64_t*>(target), count, load<uint64_t>(value));
      return;
    default:
      for (size_t i = 0; i < count; ++i) std::memcpy(target + i * width, value, width);
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
    if (count > plain_left(cursor_) * 8 - cursor_.bit) throw_values_end(count);
    copy_bits(reinterpret_cast<const uint8_t*>(cursor_.plain), cursor_.bit, target, bit_offset, count);
    cursor_.plain += (cursor_.bit + count) / 8;
    cursor_.bit = (cursor_.bit + count) % 8;
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

// ---- Bytes ----

template <typename Offset>
void ValueDecoder::check_text(const std::byte* data, size_t from, const Offset* ends, size_t count) const {
  if (count == 0) return;
  const char* text = reinterpret_cast<const char*>(data);
  const auto to = static_cast<size_t>(ends[count - 1]);
  const std::string_view all(text + from, to - from);
  if (is_ascii(all)) return;
  if (!is_valid_utf8(all)) throw_corrupt(kNoOffset, "a value is not UTF-8");
  // All together are: each one is, if none starts inside of a code point.
  for (size_t i = 0; i + 1 < count; ++i) {
    const auto start = static_cast<size_t>(ends[i]);
    if (start < to && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80)
      throw_corrupt(kNoOffset, "a value is not UTF-8");
  }
}

namespace {

// One part of decode_plain_bytes: values from `source` on, until `count` of them, one that passes `end`, or one that does
// not fit.
struct PlainBytes {
  const std::byte* source;
  const std::byte* end;
  std::byte* data;
  size_t position;
  size_t capacity;
};

// Where a value starts depends on the length of the one before: a chain of loads, 5 cycles each. Strings of a column often
// have one length, or few: with kPredict the next place is computed from the length before, and the processor's branch
// predictor, which checks it, runs ahead of the loads. `changes` counts how often that was wrong.
template <bool kPredict, typename Offset>
size_t copy_plain_bytes(PlainBytes& state, size_t count, Offset* ends, size_t& changes) {
  const std::byte* source = state.source;
  size_t position = state.position;
  uint32_t before = load<uint32_t>(source);
  size_t step = before;
  asm volatile("" : "+r"(step));  // else the compiler sees that step is always the length just loaded
  size_t wrong = 0;
  size_t i = 0;
  for (; i < count; ++i) {
    const auto length = load<uint32_t>(source);
    if constexpr (kPredict) {
      if (length != before) {
        before = length;
        step = length;
        asm volatile("" : "+r"(step));
        ++wrong;
      }
    } else {
      step = length;
      wrong += length != before ? 1 : 0;
      before = length;
    }
    const std::byte* next = source + 4 + step;
    if (next > state.end || step > state.capacity - position) break;
    copy_padded(state.data + position, source + 4, step);
    source = next;
    position += step;
    ends[i] = static_cast<Offset>(position);
  }
  state.source = source;
  state.position = position;
  changes = wrong;
  return i;
}

}  // namespace

template <typename Offset>
size_t ValueDecoder::decode_plain_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used) {
  PlainBytes state{cursor_.plain, end_, data, used, capacity};
  size_t done = 0;
  while (done < count) {
    const size_t part = std::min<size_t>(count - done, 256);
    size_t changes = 0;
    const size_t copied = lengths_vary_ ? copy_plain_bytes<false>(state, part, ends + done, changes)
                                        : copy_plain_bytes<true>(state, part, ends + done, changes);
    lengths_vary_ = changes > part / 16;
    done += copied;
    if (copied < part) {
      checked_length(state.source, end_, count - done);  // throws if it was not for want of room
      break;
    }
  }
  cursor_.plain = state.source;
  used = state.position;
  return done;
}

// FIXED_LEN_BYTE_ARRAY as bytes.
template <typename Offset>
size_t ValueDecoder::decode_fixed_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used) {
  const auto width = static_cast<size_t>(conversion_.source_width);
  if (count > plain_left(cursor_) / width) throw_values_end(count);
  count = std::min(count, (capacity - used) / width);
  if (count > 0) std::memcpy(data + used, cursor_.plain, count * width);
  cursor_.plain += count * width;
  for (size_t i = 0; i < count; ++i) ends[i] = static_cast<Offset>(used + (i + 1) * width);
  used += count * width;
  return count;
}

template <typename Offset>
size_t ValueDecoder::decode_dictionary_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity,
                                             size_t& used) {
  uint32_t scratch[kScratch + 32];
  const Entry* const entry = entries();
  const std::byte* const bytes = dictionary_data();
  size_t done = 0;
  while (done < count) {
    const Cursor before = cursor_;
    if (!cursor_.indices.next_run()) throw_values_end(count - done);
    auto part = static_cast<size_t>(std::min<uint64_t>({cursor_.indices.run_left(), count - done, kScratch}));
    size_t position = used;
    if (cursor_.indices.is_repeated()) {
      const uint32_t index = cursor_.indices.repeated_value();
      check_index(index);
      const Entry value = entry[index];
      if (value.length > 0) part = std::min(part, (capacity - position) / value.length);
      for (size_t i = 0; i < part; ++i) {
        copy_padded(data + position, bytes + value.offset, value.length);
        position += value.length;
        ends[done + i] = static_cast<Offset>(position);
      }
      cursor_.indices.skip_in_run(part);
    } else {
      cursor_.indices.unpack(*kernels_, scratch, part);
      check_indices(scratch, part);
      if (part * dictionary_value_bytes_max_ > capacity - position) {
        size_t fitting = 0;
        for (size_t sum = 0; fitting < part; ++fitting) {
          sum += entry[scratch[fitting]].length;
          if (sum > capacity - position) break;
        }
        if (fitting < part) {
          cursor_ = before;
          part = fitting;
          skip(part);
        }
      }
      for (size_t i = 0; i < part; ++i) {
        const Entry value = entry[scratch[i]];
        copy_padded(data + position, bytes + value.offset, value.length);
        position += value.length;
        ends[done + i] = static_cast<Offset>(position);
      }
    }
    used = position;
    if (part == 0) break;
    done += part;
  }
  return done;
}

template <typename Offset>
size_t ValueDecoder::decode_any_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used) {
  if (method_ == Method::kDictionary) return decode_dictionary_bytes(count, ends, data, capacity, used);
  const size_t from = used;
  const size_t done = conversion_.source_width > 0 ? decode_fixed_bytes(count, ends, data, capacity, used)
                                                   : decode_plain_bytes(count, ends, data, capacity, used);
  if (validate_utf8_ && conversion_.is_text) check_text(data, from, ends, done);
  return done;
}

size_t ValueDecoder::decode_bytes(size_t count, int32_t* ends, std::byte* data, size_t capacity, size_t& used) {
  return decode_any_bytes(count, ends, data, capacity, used);
}

size_t ValueDecoder::decode_bytes(size_t count, int64_t* ends, std::byte* data, size_t capacity, size_t& used) {
  return decode_any_bytes(count, ends, data, capacity, used);
}

void ValueDecoder::skip(size_t count) {
  switch (method_) {
    case Method::kNone:
      return;
    case Method::kPlain: {
      if (conversion_.source_width > 0) {
        const auto width = static_cast<size_t>(conversion_.source_width);
        if (count > plain_left(cursor_) / width) throw_values_end(count);
        cursor_.plain += count * width;
        return;
      }
      for (size_t i = 0; i < count; ++i) cursor_.plain += 4 + size_t{checked_length(cursor_.plain, end_, count - i)};
      return;
    }
    case Method::kPlainBits:
      if (count > plain_left(cursor_) * 8 - cursor_.bit) throw_values_end(count);
      cursor_.plain += (cursor_.bit + count) / 8;
      cursor_.bit = (cursor_.bit + count) % 8;
      return;
    case Method::kRleBits:
    case Method::kDictionary:
      if (cursor_.indices.skip(count) < count) throw_values_end(count);
      return;
  }
}

// ---- Looking ahead ----

size_t ValueDecoder::value_bytes_bound(size_t count) const {
  if (method_ == Method::kDictionary) {
    size_t bytes = 0;
    return __builtin_mul_overflow(count, dictionary_value_bytes_max_, &bytes) ? SIZE_MAX : bytes;
  }
  return plain_left(cursor_);
}

void ValueDecoder::lengths(Cursor& at, size_t count, uint32_t* lengths) const {
  if (method_ == Method::kDictionary) {
    uint32_t scratch[kScratch + 32];
    if (at.indices.read(*kernels_, scratch, count) < count) throw_values_end(count);
    if (count == 0) return;
    check_indices(scratch, count);
    const Entry* entry = entries();
    for (size_t i = 0; i < count; ++i) lengths[i] = entry[scratch[i]].length;
    return;
  }
  if (conversion_.source_width > 0) {
    const auto width = static_cast<size_t>(conversion_.source_width);
    if (count > plain_left(at) / width) throw_values_end(count);
    std::fill_n(lengths, count, static_cast<uint32_t>(width));
    at.plain += count * width;
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    lengths[i] = checked_length(at.plain, end_, count - i);
    at.plain += 4 + size_t{lengths[i]};
  }
}

}  // namespace frazil::parquet
