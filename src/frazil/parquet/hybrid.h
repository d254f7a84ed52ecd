// The RLE / bit-packed hybrid of levels, dictionary indices and booleans (format/Encodings.md, "RLE").
//
//   hybrid := run*
//   run    := varint(count << 1) value[ceil(width / 8)]       // `value` count times
//           | varint(groups << 1 | 1) packed[groups * width]  // groups of 8 values, lowest bits first
//
// What writers did and is read: a last group that is cut where its values end, runs of no values, and no runs at all
// where the width is 0 (every value is 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/parquet/kernels.h"

namespace frazil::parquet {

// A place in the runs: a small value that can be copied to look ahead. Borrows the bytes, which must be readable for
// kBlockPadding bytes behind their end.
class HybridReader {
 public:
  HybridReader() = default;
  // Throws CorruptError unless `width` is 0..32.
  HybridReader(std::span<const std::byte> bytes, int width);

  // BIT_PACKED, the levels of the oldest writers: no runs and no length, `count` values packed highest bits first into
  // ceil(count * width / 8) bytes. Every value comes as a repeated run with its equal neighbours: slow and simple.
  // Throws CorruptError unless `width` is 0..32; fewer bytes are fewer values.
  static HybridReader bit_packed(std::span<const std::byte> bytes, int width, size_t count);

  // Makes the current run one with values left. False at the end of the bytes.
  bool next_run();

  // Of the current run; the rest of a run shrinks as it is consumed.
  bool is_repeated() const { return is_repeated_; }
  uint64_t run_left() const { return run_left_; }
  uint32_t repeated_value() const { return value_; }

  // Consumes `count` <= run_left() values of a repeated run, or skips them in a packed one.
  void skip_in_run(uint64_t count) {
    run_left_ -= count;
    packed_position_ += count;
  }
  // Unpacks `count` <= run_left() values of a packed run. `target` has room for count + 32.
  void unpack(const Kernels& kernels, uint32_t* target, size_t count);
  // Width 1 only: where the bits of the packed run are; then skip_in_run.
  const uint8_t* packed_bits(size_t& bit_offset) const {
    bit_offset = packed_position_;
    return reinterpret_cast<const uint8_t*>(packed_);
  }

  // Decodes up to `count` values of any runs and returns how many there were. `target` has room for count + 32.
  size_t read(const Kernels& kernels, uint32_t* target, size_t count);
  // Skips up to `count` values.
  size_t skip(size_t count);

 private:
  bool next_bit_packed_run();

  const std::byte* cursor_ = nullptr;
  const std::byte* end_ = nullptr;
  const std::byte* packed_ = nullptr;
  uint64_t packed_position_ = 0;  // values of the packed run that are consumed
  uint64_t packed_count_ = 0;     // bit_packed(): values in all
  uint64_t run_left_ = 0;
  uint32_t value_ = 0;
  uint8_t width_ = 0;
  bool is_repeated_ = false;
  bool is_bit_packed_ = false;
};

}  // namespace frazil::parquet
