// ValueDecoder: values of any length as offsets and bytes.
#include <algorithm>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/int128.h"
#include "frazil/base/utf8.h"
#include "frazil/parquet/value_bytes.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

namespace {

constexpr uint64_t kNoOffset = CorruptError::kNoOffset;  // the caller knows the page's offset and adds it

}  // namespace

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

// FIXED_LEN_BYTE_ARRAY as bytes, plain or split.
template <typename Offset>
size_t ValueDecoder::decode_fixed_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used) {
  const auto width = static_cast<size_t>(conversion_.source_width);
  require_fixed(cursor_, count);
  count = std::min(count, (capacity - used) / width);
  if (method_ == Method::kSplit) {
    kernels_->unsplit(cursor_.plain + cursor_.position, split_count_, width, count, data + used);
    cursor_.position += count;
  } else if (count > 0) {
    std::memcpy(data + used, cursor_.plain, count * width);
    cursor_.plain += count * width;
  }
  for (size_t i = 0; i < count; ++i) ends[i] = static_cast<Offset>(used + (i + 1) * width);
  used += count * width;
  return count;
}

template <typename Offset>
size_t ValueDecoder::decode_dictionary_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity,
                                             size_t& used) {
  uint32_t scratch[kScratch + 32];
  const DictionaryBytes values = dictionary_of_bytes();
  size_t done = 0;
  while (done < count) {
    const HybridReader before = cursor_.indices;
    if (!cursor_.indices.next_run()) throw_values_end(count - done);
    auto part = static_cast<size_t>(std::min<uint64_t>({cursor_.indices.run_left(), count - done, kScratch}));
    size_t position = used;
    if (cursor_.indices.is_repeated()) {
      const uint32_t index = cursor_.indices.repeated_value();
      check_index(index);
      const std::byte* const value = values.bytes(index);
      const size_t length = values.length(value);
      if (length > 0) part = std::min(part, (capacity - position) / length);
      for (size_t i = 0; i < part; ++i) {
        copy_padded(data + position, value, length);
        position += length;
        ends[done + i] = static_cast<Offset>(position);
      }
      cursor_.indices.skip_in_run(part);
    } else {
      cursor_.indices.unpack(*kernels_, scratch, part);
      check_indices(scratch, part);
      if (part * dictionary_value_bytes_max_ > capacity - position) {
        size_t fitting = 0;
        for (size_t sum = 0; fitting < part; ++fitting) {
          sum += values.length(scratch[fitting]);
          if (sum > capacity - position) break;
        }
        if (fitting < part) {
          cursor_.indices = before;
          part = fitting;
          cursor_.indices.skip(part);
        }
      }
      for (size_t i = 0; i < part; ++i) {
        const std::byte* const value = values.bytes(scratch[i]);
        const size_t length = values.length(value);
        copy_padded(data + position, value, length);
        position += length;
        ends[done + i] = static_cast<Offset>(position);
      }
    }
    used = position;
    if (part == 0) break;
    done += part;
  }
  return done;
}

namespace {

// How many of the values, one after the other, have together at most `room` bytes.
template <typename LengthOf>
size_t count_fitting(size_t count, size_t room, LengthOf&& length_of) {
  size_t fitting = 0;
  for (size_t sum = 0; fitting < count; ++fitting) {
    sum += length_of(fitting);
    if (sum > room) break;
  }
  return fitting;
}

}  // namespace

// The bytes of all values stand together: they are copied at once, and the ends are the running sum of the lengths.
template <typename Offset>
size_t ValueDecoder::decode_delta_length_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity,
                                               size_t& used) {
  uint32_t lengths[kScratch + 32];
  size_t done = 0;
  while (done < count) {
    size_t part = std::min(count - done, kScratch);
    const DeltaReader before = cursor_.deltas;
    uint64_t bytes = read_lengths(cursor_.deltas, part, lengths);
    if (bytes > plain_left(cursor_)) throw_values_end(count - done);
    if (bytes > capacity - used) {
      part = count_fitting(part, capacity - used, [&](size_t i) { return lengths[i]; });
      cursor_.deltas = before;
      bytes = part == 0 ? 0 : read_lengths(cursor_.deltas, part, lengths);
    }
    if (part == 0) break;
    if (bytes > 0) std::memcpy(data + used, cursor_.plain, bytes);
    cursor_.plain += bytes;
    if constexpr (sizeof(Offset) == 4) {
      kernels_->sum4(lengths, part, static_cast<uint32_t>(used), 0, reinterpret_cast<uint32_t*>(ends + done));
    } else {
      kernels_->sum4_to_8(lengths, part, used, 0, reinterpret_cast<uint64_t*>(ends + done));
    }
    used += bytes;
    done += part;
  }
  return done;
}

// The value before is the one in front of it in `data`; at first it is in previous_, where the last one is kept.
template <typename Offset>
size_t ValueDecoder::decode_delta_prefix_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity,
                                               size_t& used) {
  uint32_t prefix[kScratch + 32];
  uint32_t rest[kScratch + 32];
  const std::byte* previous = previous_.data();
  size_t done = 0;
  while (done < count) {
    size_t part = std::min(count - done, kScratch);
    const DeltaReader prefixes = cursor_.prefixes;
    const DeltaReader rests = cursor_.deltas;
    cursor_.prefixes.read(*kernels_, prefix, part);
    cursor_.deltas.read(*kernels_, rest, part);
    const size_t room = capacity - used;
    const size_t fitting = count_fitting(part, room, [&](size_t i) { return size_t{prefix[i]} + rest[i]; });
    if (fitting < part) {
      part = fitting;
      cursor_.prefixes = prefixes;
      cursor_.deltas = rests;
      if (part == 0) break;
      cursor_.prefixes.read(*kernels_, prefix, part);
      cursor_.deltas.read(*kernels_, rest, part);
    }
    const std::byte* source = cursor_.plain;
    size_t position = used;
    // The first 16 bytes of the value before are in a register: read back from where they have just been written in two
    // parts, they would have to wait for both.
    auto first = load<UInt128>(previous);
    for (size_t i = 0; i < part; ++i) {
      std::byte* const target = data + position;
      const size_t shared = prefix[i];
      const size_t size = shared + rest[i];
      if (shared < sizeof(first)) {
        const auto bits = static_cast<unsigned>(8 * shared);
        first = (first & ((UInt128{1} << bits) - 1)) | load<UInt128>(source) << bits;
        store(target, first);
        if (size > sizeof(first)) {
          copy_padded(target + sizeof(first), source + sizeof(first) - shared, size - sizeof(first));
        }
      } else {
        copy_padded(target, previous, shared);
        copy_padded(target + shared, source, rest[i]);
      }
      source += rest[i];
      position += size;
      ends[done + i] = static_cast<Offset>(position);
      previous = target;
    }
    cursor_.plain = source;
    prefix_bytes_ -= position - used;
    used = position;
    done += part;
  }
  if (done > 0) {
    previous_size_ = static_cast<size_t>(data + used - previous);
    std::memcpy(previous_.data(), previous, previous_size_);
  }
  return done;
}

template <typename Offset>
size_t ValueDecoder::decode_any_bytes(size_t count, Offset* ends, std::byte* data, size_t capacity, size_t& used) {
  const size_t from = used;
  size_t done = 0;
  switch (method_) {
    case Method::kDictionary:
      return decode_dictionary_bytes(count, ends, data, capacity, used);  // its text is checked already
    case Method::kDeltaLength:
      done = decode_delta_length_bytes(count, ends, data, capacity, used);
      break;
    case Method::kDeltaPrefix:
      done = decode_delta_prefix_bytes(count, ends, data, capacity, used);
      break;
    default:
      done = conversion_.source_width > 0 ? decode_fixed_bytes(count, ends, data, capacity, used)
                                          : decode_plain_bytes(count, ends, data, capacity, used);
  }
  if (validate_utf8_ && conversion_.is_text) check_text(data, from, ends, done);
  return done;
}

size_t ValueDecoder::decode_bytes(size_t count, int32_t* ends, std::byte* data, size_t capacity, size_t& used) {
  return decode_any_bytes(count, ends, data, capacity, used);
}

size_t ValueDecoder::decode_bytes(size_t count, int64_t* ends, std::byte* data, size_t capacity, size_t& used) {
  return decode_any_bytes(count, ends, data, capacity, used);
}

namespace {

// Columnar format, "Variable-size Binary View Layout".
struct View {
  uint32_t length;
  uint32_t prefix;  // with the rest: the value itself up to 12 bytes, filled with zeros
  uint32_t buffer;
  uint32_t offset;
};
constexpr size_t kInlineBytes = 12;

View inline_view(const std::byte* value, size_t length) {
  const uint64_t low = load<uint64_t>(value) & low_mask(static_cast<unsigned>(std::min<size_t>(length, 8) * 8));
  const uint32_t high =
      length <= 8 ? 0
                  : load<uint32_t>(value + 8) & static_cast<uint32_t>(low_mask(static_cast<unsigned>(length - 8) * 8));
  return {static_cast<uint32_t>(length), static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), high};
}

}  // namespace

size_t ValueDecoder::decode_views(size_t count, std::byte* views, std::byte* data, size_t capacity, size_t& used) {
  int32_t ends[kScratch + 32];
  size_t done = 0;
  while (done < count) {
    size_t end = used;
    const size_t part = decode_bytes(std::min(count - done, kScratch), ends, data, capacity, end);
    if (part == 0) break;
    size_t begin = used;
    for (size_t i = 0; i < part; ++i) {
      const size_t length = static_cast<size_t>(ends[i]) - begin;
      View view;
      if (length <= kInlineBytes) {
        view = inline_view(data + begin, length);
      } else {
        if (used != begin) std::memmove(data + used, data + begin, length);
        view = {static_cast<uint32_t>(length), load<uint32_t>(data + used), 0, static_cast<uint32_t>(used)};
        used += length;
      }
      store(views + (done + i) * sizeof(View), view);
      begin += length;
    }
    done += part;
  }
  return done;
}

}  // namespace frazil::parquet
