#include "frazil/parquet/leaf_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/kernels.h"

namespace frazil::parquet {

namespace {

// Values under the 1s of `bits`, `valid` of them, move from the front to their places.
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

void expand(size_t width, const uint8_t* bits, size_t bit_offset, size_t count, size_t valid, std::byte* values) {
  switch (width) {
    case 1:
      return kernels().expand1(bits, bit_offset, count, values);
    case 2:
      return kernels().expand2(bits, bit_offset, count, values);
    case 4:
      return kernels().expand4(bits, bit_offset, count, values);
    case 8:
      return kernels().expand8(bits, bit_offset, count, values);
    case 16:
      return kernels().expand16(bits, bit_offset, count, values);
    default:
      return expand_any(bits, bit_offset, count, valid, width, values);
  }
}

// ends[i] belongs to slot i; ends[-1] is the end of the slot before. Slots without a value are empty.
void expand_ends(const uint8_t* bits, size_t bit_offset, size_t count, int32_t* ends) {
  kernels().expand_ends4(bits, bit_offset, count, reinterpret_cast<uint32_t*>(ends));
}
void expand_ends(const uint8_t* bits, size_t bit_offset, size_t count, int64_t* ends) {
  kernels().expand_ends8(bits, bit_offset, count, reinterpret_cast<uint64_t*>(ends));
}

// The words of a view that say where its bytes are.
struct ViewWords {
  uint32_t length;
  uint32_t prefix;
  uint32_t buffer;
  uint32_t offset;
  bool is_outside() const { return length > 12; }
};

// Views whose bytes move `shift` to the front.
void copy_views(const std::byte* source, size_t count, size_t shift, std::byte* target) {
  for (size_t i = 0; i < count; ++i) {
    auto view = load<ViewWords>(source + i * sizeof(ViewWords));
    if (view.is_outside()) view.offset -= static_cast<uint32_t>(shift);
    store(target + i * sizeof(ViewWords), view);
  }
}

template <typename Offset>
void copy_ends(const Offset* source, size_t count, Offset* target) {
  const Offset first = source[0];
  for (size_t i = 0; i <= count; ++i) target[i] = source[i] - first;
}

}  // namespace

void clear_last_bits(uint8_t* bits, size_t count) {
  if (count % 8 == 0) return;
  bits[count / 8] = static_cast<uint8_t>(bits[count / 8] & low_mask(static_cast<unsigned>(count % 8)));
}

void trim_block(Block& block, size_t used, MemorySource& memory) {
  if (MemoryPool::block_bytes(block.capacity()) <= MemoryPool::block_bytes(trimmed_bytes(used))) return;
  Block exact;
  if (!memory.allocate(exact, used)) return;  // it is only larger than need be
  std::memcpy(exact.data(), block.data(), used);
  memory.free(block);
  block = std::move(exact);
}

bool grow_block(Block& block, size_t used, size_t bytes, MemorySource& memory) {
  Block larger;
  if (!memory.allocate(larger, bytes)) return false;
  if (used > 0) std::memcpy(larger.data(), block.data(), used);
  memory.free(block);
  block = std::move(larger);
  return true;
}

size_t LeafValues::slot_bits() const {
  switch (conversion_.form) {
    case ValueForm::kBits:
      return 1;
    case ValueForm::kFixed:
    case ValueForm::kViews:
      return 8 * static_cast<size_t>(conversion_.target_width);
    case ValueForm::kBytes:
      return 32;
    case ValueForm::kLargeBytes:
      return 64;
    case ValueForm::kNone:
      return 0;
  }
  return 0;
}

size_t LeafValues::fixed_bytes(size_t slots) const {
  switch (conversion_.form) {
    case ValueForm::kBits:
      return bytes_for_bits(slots);
    case ValueForm::kFixed:
    case ValueForm::kViews:
      return slots * static_cast<size_t>(conversion_.target_width);
    case ValueForm::kBytes:
      return (slots + 1) * sizeof(int32_t);
    case ValueForm::kLargeBytes:
      return (slots + 1) * sizeof(int64_t);
    case ValueForm::kNone:
      return 0;
  }
  return 0;
}

bool LeafValues::reserve(size_t slots, MemorySource& memory) {
  if (slots <= capacity_) return true;
  if (has_validity() && now_.validity.capacity() < bytes_for_bits(slots) &&
      !grow_block(now_.validity, bytes_for_bits(slots_), bytes_for_bits(slots), memory)) {
    return false;
  }
  const bool is_new = now_.fixed.capacity() == 0;
  if (conversion_.form != ValueForm::kNone &&
      !grow_block(now_.fixed, is_new ? 0 : fixed_bytes(slots_), fixed_bytes(slots), memory)) {
    return false;
  }
  if (is_new && is_variable()) std::memset(now_.fixed.data(), 0, fixed_bytes(0));
  capacity_ = slots;
  return true;
}

bool LeafValues::add_validity(MemorySource& memory) {
  if (has_validity()) return true;
  if (!memory.allocate(now_.validity, bytes_for_bits(capacity_))) return false;
  fill_bits(validity(), 0, slots_, true);
  return true;
}

uint64_t LeafValues::data_bytes(size_t slots) const {
  if (slots == slots_) return data_used_;
  if (conversion_.form == ValueForm::kBytes) return end_of<int32_t>(slots);
  if (conversion_.form == ValueForm::kLargeBytes) return end_of<int64_t>(slots);
  if (conversion_.form == ValueForm::kViews) return view_data_from(slots);
  return 0;
}

// Where the bytes of the views from `slot` on start: those of the first one that has any outside of itself.
size_t LeafValues::view_data_from(size_t slot) const {
  for (; slot < slots_; ++slot) {
    const auto view = load<ViewWords>(now_.fixed.data() + slot * sizeof(ViewWords));
    if (view.is_outside()) return view.offset;
  }
  return data_used_;
}

// ---- Decoding ----

bool LeafValues::decode(ValueDecoder& values, MemorySource& memory) {
  switch (conversion_.form) {
    case ValueForm::kBits:
      decode_bits(values);
      break;
    case ValueForm::kFixed:
      decode_fixed(values);
      break;
    case ValueForm::kBytes:
      if (!decode_offsets<int32_t>(values, memory)) return false;
      break;
    case ValueForm::kLargeBytes:
      if (!decode_offsets<int64_t>(values, memory)) return false;
      break;
    case ValueForm::kViews:
      if (!decode_views(values, memory)) return false;
      break;
    case ValueForm::kNone:
      if (stride_.valid > 0) throw_corrupt(CorruptError::kNoOffset, "a column of UNKNOWN type has a value");
      break;
  }
  slots_ += stride_.slots;
  null_count_ += stride_.slots - stride_.valid;
  stride_ = {};
  return true;
}

void LeafValues::decode_bits(ValueDecoder& values) {
  auto* bits = now_.fixed.as<uint8_t>();
  values.decode_bits(stride_.valid, bits, slots_);
  if (stride_.valid < stride_.slots) kernels().expand_bits(validity(), slots_, stride_.slots, bits);
}

void LeafValues::decode_fixed(ValueDecoder& values) {
  const auto width = static_cast<size_t>(conversion_.target_width);
  std::byte* target = now_.fixed.data() + slots_ * width;
  if (stride_.valid > 0) values.decode_fixed(stride_.valid, target);
  if (stride_.valid == stride_.slots) return;
  expand(width, validity(), slots_, stride_.slots, stride_.valid, target);
}

template <typename Offset>
bool LeafValues::decode_offsets(ValueDecoder& values, MemorySource& memory) {
  Offset* ends = now_.fixed.as<Offset>() + slots_ + 1;
  while (stride_.done < stride_.valid) {
    if (now_.data.capacity() > 0) {
      stride_.done += values.decode_bytes(stride_.valid - stride_.done, ends + stride_.done, now_.data.data(),
                                          now_.data.capacity(), data_used_);
      if (stride_.done == stride_.valid) break;
    }
    if (!grow_data(values, memory)) return false;
  }
  if (stride_.valid < stride_.slots) expand_ends(validity(), slots_, stride_.slots, ends);
  return true;
}

bool LeafValues::decode_views(ValueDecoder& values, MemorySource& memory) {
  std::byte* views = now_.fixed.data() + slots_ * sizeof(ViewWords);
  while (stride_.done < stride_.valid) {
    if (now_.data.capacity() > 0) {
      stride_.done += values.decode_views(stride_.valid - stride_.done, views + stride_.done * sizeof(ViewWords),
                                          now_.data.data(), now_.data.capacity(), data_used_);
      if (stride_.done == stride_.valid) break;
    }
    if (!grow_data(values, memory)) return false;
  }
  if (stride_.valid < stride_.slots) {
    kernels().expand16(validity(), slots_, stride_.slots, views);
  }
  return true;
}

size_t LeafValues::estimate_data_bytes(const ValueDecoder& values, size_t slots_done) const {
  // What the batch has so far says most; then what the one before had; then what the footer tells.
  double per_slot = guess_;
  if (slots_done >= 1024) {
    per_slot = static_cast<double>(data_used_) / static_cast<double>(slots_done);
  } else if (bytes_per_slot_ >= 0) {
    per_slot = bytes_per_slot_;
  } else if (values.has_dictionary()) {
    per_slot = static_cast<double>(values.dictionary_value_bytes_mean());
  }
  // A sixteenth more, so that most batches need no second block.
  const double bytes = per_slot * static_cast<double>(capacity_) * 1.0625;
  return bytes < static_cast<double>(data_bytes_max_) ? static_cast<size_t>(bytes) : data_bytes_max_;
}

bool LeafValues::grow_data(const ValueDecoder& values, MemorySource& memory) {
  ValueDecoder::Cursor next = values.cursor();
  uint32_t length = 0;
  values.lengths(next, 1, &length);
  const size_t needed = data_used_ + length;
  const bool is_large = conversion_.form == ValueForm::kLargeBytes;
  if (!is_large && needed > INT32_MAX) {
    throw_error(ErrorKind::kUnsupported, "a row has more than {} bytes of one column", INT32_MAX);
  }
  const size_t capacity = now_.data.capacity();
  size_t wanted = std::max(estimate_data_bytes(values, slots_ + stride_.done), capacity + capacity / 4);
  wanted = std::max({std::min(wanted, data_bytes_max_), needed, kDataBytesMin});
  // Beyond the limit only for a row that is a batch alone, or if the file lies about its sizes; even then the block does not
  // grow value by value.
  if (needed > data_bytes_max_) wanted = data_used_ == 0 ? needed : needed + needed / 4;
  if (!is_large) wanted = std::min<size_t>(wanted, INT32_MAX);
  return grow_block(now_.data, data_used_, wanted, memory);
}

// ---- The end of a batch ----

bool LeafValues::keep_tail(size_t from, MemorySource& memory) {
  const size_t count = slots_ - from;
  if (count == 0) return true;
  if (tail_.fixed.capacity() == 0 && conversion_.form != ValueForm::kNone) {
    if (!memory.allocate(tail_.fixed, fixed_bytes(count))) return false;
    const auto width = static_cast<size_t>(conversion_.target_width);
    switch (conversion_.form) {
      case ValueForm::kBits:
        copy_bits(now_.fixed.as<uint8_t>(), from, tail_.fixed.as<uint8_t>(), 0, count);
        break;
      case ValueForm::kFixed:
        if (width > 0) std::memcpy(tail_.fixed.data(), now_.fixed.data() + from * width, count * width);
        break;
      case ValueForm::kBytes:
        copy_ends(now_.fixed.as<int32_t>() + from, count, tail_.fixed.as<int32_t>());
        break;
      case ValueForm::kLargeBytes:
        copy_ends(now_.fixed.as<int64_t>() + from, count, tail_.fixed.as<int64_t>());
        break;
      case ValueForm::kViews:
        copy_views(now_.fixed.data() + from * width, count, view_data_from(from), tail_.fixed.data());
        break;
      case ValueForm::kNone:
        break;
    }
  }
  const auto start = static_cast<size_t>(data_bytes(from));
  if (data_used_ > start && tail_.data.capacity() == 0) {
    if (!memory.allocate(tail_.data, data_used_ - start)) return false;
    std::memcpy(tail_.data.data(), now_.data.data() + start, data_used_ - start);
  }
  tail_nulls_ = has_validity() ? count - count_set_bits(validity(), from, count) : 0;
  if (tail_nulls_ > 0 && tail_.validity.capacity() == 0) {
    if (!memory.allocate(tail_.validity, bytes_for_bits(count))) return false;
    copy_bits(validity(), from, tail_.validity.as<uint8_t>(), 0, count);
  }
  return true;
}

std::shared_ptr<Array> LeafValues::finish(const DataTypePtr& type, size_t slots, MemorySource& memory) {
  const size_t nulls = null_count_ - tail_nulls_;
  const auto data_used = static_cast<size_t>(data_bytes(slots));
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = static_cast<int64_t>(slots);
  array->null_count = static_cast<int64_t>(nulls);
  if (nulls > 0 && conversion_.form != ValueForm::kNone) {
    clear_last_bits(validity(), slots);
    if (slots < capacity_) trim_block(now_.validity, bytes_for_bits(slots), memory);
    array->buffers[0] = now_.validity.freeze(bytes_for_bits(slots));
  } else {
    memory.free(now_.validity);
  }
  if (now_.fixed.capacity() > 0) {
    if (conversion_.form == ValueForm::kBits && slots > 0) clear_last_bits(now_.fixed.as<uint8_t>(), slots);
    if (slots < capacity_) trim_block(now_.fixed, fixed_bytes(slots), memory);
    array->buffers[1] = now_.fixed.freeze(fixed_bytes(slots));
  }
  if (is_variable()) {
    bytes_per_slot_ = static_cast<double>(data_used) / static_cast<double>(std::max<size_t>(slots, 1));
    if (data_used > 0) {
      trim_block(now_.data, data_used, memory);
      Buffer data = now_.data.freeze(data_used);
      if (conversion_.form == ValueForm::kViews) {
        array->variadic_buffers.push_back(std::move(data));
      } else {
        array->buffers[2] = std::move(data);
      }
    } else {
      memory.free(now_.data);
    }
  }
  const size_t tail_slots = slots_ - slots;
  data_used_ -= data_used;
  now_ = std::move(tail_);
  tail_ = Buffers();
  slots_ = capacity_ = tail_slots;
  null_count_ = std::exchange(tail_nulls_, 0);
  return array;
}

}  // namespace frazil::parquet
