// The buffers of one leaf's array in one batch, filled in place: values at their slots, zeros where a slot is null.
//
// A slot is a place in the array: a row in columns without lists, an element in lists. Values come in strides: slots of
// one page whose levels are read. Where a batch's slots are known beforehand begin() takes all of the room, else
// reserve() makes more as it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frazil/columnar/array.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

// A batch's string data lies in a block for at most this many bytes where it has `used`; so do buffers that grew.
inline constexpr size_t kDataBytesMin = 1024;
constexpr size_t trimmed_bytes(size_t used) {
  return used + used / 4 + 4096;
}

// Makes `block` hold its first `used` bytes in no more than trimmed_bytes(), if the memory for that can be had.
void trim_block(Block& block, size_t used, MemorySource& memory);
// A larger block with the first `used` bytes of the old one. False, and nothing changed, for want of memory.
[[nodiscard]] bool grow_block(Block& block, size_t used, size_t bytes, MemorySource& memory);
// How many slots to make room for where `capacity` are too few for `needed`: growing is copying.
constexpr size_t grown_slots(size_t capacity, size_t needed, size_t expected) {
  const size_t grown = capacity + capacity / 4 + 64;
  const size_t wanted = grown > expected ? grown : expected;
  return wanted > needed ? wanted : needed;
}

// Makes the bits behind the first `count` 0, up to the end of their byte.
void clear_last_bits(uint8_t* bits, size_t count);

class LeafValues {
 public:
  // No block for data of more than `data_bytes_max` is made, unless one value alone is larger.
  LeafValues(const Conversion& conversion, size_t data_bytes_max)
      : conversion_(conversion), data_bytes_max_(data_bytes_max) {}

  const Conversion& conversion() const { return conversion_; }
  // Slots take a number of bytes that only their values tell.
  bool is_variable() const { return conversion_.is_of_bytes(); }
  // Bits of a slot, validity and the bytes of variable values not counted.
  size_t slot_bits() const;
  // The same as bytes of the values or offsets buffer of `slots` slots.
  size_t fixed_bytes(size_t slots) const;
  // Blocks for the data of a batch are made no larger in advance.
  void limit_data_bytes(size_t bytes) { data_bytes_max_ = bytes; }
  // What the file says about a slot's bytes: a guess for the first block.
  void guess_data_bytes(double bytes_per_slot) { guess_ = bytes_per_slot; }

  // ---- One batch. What returns false does so for want of memory, with all progress kept. ----

  // Makes room for `slots` slots in all; the present ones stay.
  [[nodiscard]] bool reserve(size_t slots, MemorySource& memory);
  size_t capacity() const { return capacity_; }
  // From the first null on there is a validity bitmap: 1s for the slots before.
  bool has_validity() const { return now_.validity.capacity() > 0; }
  [[nodiscard]] bool add_validity(MemorySource& memory);
  uint8_t* validity() { return now_.validity.as<uint8_t>(); }

  // PLAIN values are its own as they are.
  bool takes_plain() const { return conversion_.takes_plain(); }
  // Where the next `count` values belong if none is null. Requires takes_plain() and room for them.
  ValuePlace place(size_t count) {
    const auto width = static_cast<size_t>(conversion_.target_width);
    return {.target = now_.fixed.data() + slots_ * width, .bytes = count * width, .before = slots_ * width};
  }
  // Starts a stride of `slots` slots, `valid` of which have a value: validity() has their bits at slots() on already, if it
  // is there; it must be if valid < slots.
  void start_stride(size_t slots, size_t valid) { stride_ = {.slots = slots, .valid = valid, .done = 0}; }
  bool in_stride() const { return stride_.slots > 0; }
  // Decodes the stride.
  [[nodiscard]] bool decode(ValueDecoder& values, MemorySource& memory);
  size_t slots() const { return slots_; }
  // Bytes of variable values in the first `slots` slots.
  uint64_t data_bytes(size_t slots) const;
  uint64_t data_bytes() const { return data_used_; }
  size_t valid_count() const { return slots_ - null_count_; }

  // Keeps the slots from `from` on for the next batch, which then begins with them. Call finish(from) behind it.
  [[nodiscard]] bool keep_tail(size_t from, MemorySource& memory);
  // The array of the first `slots` slots; the buffers are its own then.
  std::shared_ptr<Array> finish(const DataTypePtr& type, size_t slots, MemorySource& memory);

  size_t bytes_in_use() const { return now_.bytes_in_use() + tail_.bytes_in_use(); }

 private:
  template <typename Offset>
  bool decode_offsets(ValueDecoder& values, MemorySource& memory);
  bool decode_views(ValueDecoder& values, MemorySource& memory);
  size_t view_data_from(size_t slot) const;
  void decode_fixed(ValueDecoder& values);
  void decode_bits(ValueDecoder& values);
  bool grow_data(const ValueDecoder& values, MemorySource& memory);
  size_t estimate_data_bytes(const ValueDecoder& values, size_t slots_done) const;

  struct Stride {
    size_t slots = 0;
    size_t valid = 0;
    size_t done = 0;  // of valid
  };
  struct Buffers {
    Block validity;
    Block fixed;  // values or offsets
    Block data;
    size_t bytes_in_use() const { return validity.bytes_in_use() + fixed.bytes_in_use() + data.bytes_in_use(); }
  };
  template <typename Offset>
  uint64_t end_of(size_t slots) const {
    return slots == 0 ? 0 : static_cast<uint64_t>(now_.fixed.as<Offset>()[slots]);
  }

  Conversion conversion_;
  size_t data_bytes_max_;
  double guess_ = 0;
  size_t capacity_ = 0;
  size_t slots_ = 0;
  size_t null_count_ = 0;
  Stride stride_;
  Buffers now_;
  size_t data_used_ = 0;
  double bytes_per_slot_ = -1;  // of the batch before; -1: not known
  Buffers tail_;                // what keep_tail() kept
  size_t tail_nulls_ = 0;
};

}  // namespace frazil::parquet
