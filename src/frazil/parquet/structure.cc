#include "frazil/parquet/structure.h"

#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/parquet/leaf_values.h"

namespace frazil::parquet {

namespace {

// In place; from the back, where the wide ones are never behind the narrow ones that are still needed.
void widen(std::byte* offsets, size_t count) {
  for (size_t i = count; i-- > 0;) {
    store(offsets + i * sizeof(int64_t), int64_t{load<int32_t>(offsets + i * sizeof(int32_t))});
  }
}

}  // namespace

bool Structure::reserve(size_t slots, MemorySource& memory) {
  if (slots <= capacity_) return true;
  if (has_validity() && validity_.capacity() < bytes_for_bits(slots) &&
      !grow_block(validity_, bytes_for_bits(slots_), bytes_for_bits(slots), memory)) {
    return false;
  }
  if (is_list() && !grow_block(offsets_, slots_ * sizeof(int32_t), fixed_bytes(slots), memory)) return false;
  capacity_ = slots;
  return true;
}

bool Structure::add_validity(MemorySource& memory) {
  if (has_validity()) return true;
  if (!memory.allocate(validity_, bytes_for_bits(capacity_))) return false;
  fill_bits(validity(), 0, slots_, true);
  return true;
}

bool Structure::keep_tail(size_t from, MemorySource& memory) {
  const size_t count = slots_ - from;
  if (count == 0) return true;
  if (is_list() && tail_offsets_.capacity() == 0) {
    if (!memory.allocate(tail_offsets_, fixed_bytes(count))) return false;
    const int32_t* source = offsets() + from;
    auto* target = tail_offsets_.as<int32_t>();
    for (size_t i = 0; i < count; ++i) target[i] = source[i] - source[0];
  }
  tail_nulls_ = has_validity() ? count - count_set_bits(validity(), from, count) : 0;
  if (tail_nulls_ > 0 && tail_validity_.capacity() == 0) {
    if (!memory.allocate(tail_validity_, bytes_for_bits(count))) return false;
    copy_bits(validity(), from, tail_validity_.as<uint8_t>(), 0, count);
  }
  return true;
}

std::shared_ptr<Array> Structure::finish(const DataTypePtr& type, size_t slots, MemorySource& memory) {
  const size_t nulls = null_count_ - tail_nulls_;
  const size_t element_count = elements(slots);
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = static_cast<int64_t>(slots);
  array->null_count = static_cast<int64_t>(nulls);
  if (nulls > 0) {
    clear_last_bits(validity(), slots);
    if (slots < capacity_) trim_block(validity_, bytes_for_bits(slots), memory);
    array->buffers[0] = validity_.freeze(bytes_for_bits(slots));
  } else {
    memory.free(validity_);
  }
  if (offsets_.capacity() > 0) {
    offsets()[slots] = static_cast<int32_t>(element_count);
    if (form_ == Form::kLargeList) widen(offsets_.data(), slots + 1);
    if (slots < capacity_) trim_block(offsets_, fixed_bytes(slots), memory);
    array->buffers[1] = offsets_.freeze(fixed_bytes(slots));
  }
  validity_ = std::move(tail_validity_);
  offsets_ = std::move(tail_offsets_);
  slots_ -= slots;
  capacity_ = slots_;
  elements_ -= element_count;
  null_count_ = std::exchange(tail_nulls_, 0);
  return array;
}

}  // namespace frazil::parquet
