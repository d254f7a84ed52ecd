// The buffers of one struct, list or map in one batch: its validity, and the offsets of a list. Its slots are rows, or
// elements of the list around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/parquet/memory_source.h"

namespace frazil::parquet {

class Structure {
 public:
  enum class Form : uint8_t { kStruct, kList, kLargeList };  // a map is kList
  explicit Structure(Form form) : form_(form) {}

  bool is_list() const { return form_ != Form::kStruct; }
  // Bits of a slot, validity not counted.
  size_t slot_bits() const { return 8 * offset_bytes(); }
  size_t fixed_bytes(size_t slots) const { return is_list() ? (slots + 1) * offset_bytes() : 0; }

  size_t slots() const { return slots_; }
  // Of what finish() will give: keep_tail() came before it.
  size_t batch_nulls() const { return null_count_ - tail_nulls_; }
  size_t elements() const { return elements_; }
  // Of the first `slots` slots. A struct has none.
  size_t elements(size_t slots) const {
    if (slots == slots_ || !is_list()) return elements_;
    return static_cast<size_t>(offsets_.as<int32_t>()[slots]);
  }

  // ---- One batch. What returns false does so for want of memory, with all progress kept. ----

  // Makes room for `slots` slots in all; the present ones stay.
  [[nodiscard]] bool reserve(size_t slots, MemorySource& memory);
  size_t capacity() const { return capacity_; }
  // From the first null on there is a validity bitmap: 1s for the slots before.
  bool has_validity() const { return validity_.capacity() > 0; }
  [[nodiscard]] bool add_validity(MemorySource& memory);
  uint8_t* validity() { return validity_.as<uint8_t>(); }
  // offsets()[i] is where slot i begins; slots() of them are right. Those of large lists are widened when they are given out.
  int32_t* offsets() { return offsets_.as<int32_t>(); }
  const int32_t* offsets() const { return offsets_.as<int32_t>(); }
  // Slots whose offsets and validity were written at slots() on. Requires that the elements stay below 2^31.
  void add(size_t slots, size_t nulls, size_t elements) {
    slots_ += slots;
    null_count_ += nulls;
    elements_ += elements;
  }

  // Keeps the slots from `from` on for the next batch, which then begins with them. Call finish(from) behind it.
  [[nodiscard]] bool keep_tail(size_t from, MemorySource& memory);
  // The array of the first `slots` slots, without children.
  std::shared_ptr<Array> finish(const DataTypePtr& type, size_t slots, MemorySource& memory);

  size_t bytes_in_use() const {
    return validity_.bytes_in_use() + offsets_.bytes_in_use() + tail_validity_.bytes_in_use() +
           tail_offsets_.bytes_in_use();
  }

 private:
  size_t offset_bytes() const {
    if (form_ == Form::kStruct) return 0;
    return form_ == Form::kLargeList ? sizeof(int64_t) : sizeof(int32_t);
  }

  Form form_;
  size_t capacity_ = 0;
  size_t slots_ = 0;
  size_t null_count_ = 0;
  size_t elements_ = 0;
  Block validity_;
  Block offsets_;
  Block tail_validity_;
  Block tail_offsets_;
  size_t tail_nulls_ = 0;
};

}  // namespace frazil::parquet
