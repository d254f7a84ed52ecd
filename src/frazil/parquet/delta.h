// DELTA_BINARY_PACKED (format/Encodings.md, "Delta Encoding"): integers as bit-packed differences. Also the lengths of
// DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
//
//   stream    := block_values:varint miniblocks:varint count:varint first:zigzag block*
//   block     := min_delta:zigzag width[miniblocks]:u8 miniblock*
//   miniblock := (delta - min_delta)[block_values / miniblocks], packed with its width, lowest bits first
//
// Sums wrap around. Only miniblocks that have values are there; the last is filled up, and the widths of absent ones
// may be anything. What writers did and is read: a last miniblock that is cut where its values end, if nothing follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/parquet/kernels.h"

namespace frazil::parquet {

// A place in the stream: a value that can be copied to look ahead. Borrows the bytes, which must be readable for
// kBlockPadding bytes behind their end. Throws CorruptError (without offset) for damage, none of it before it is reached.
class DeltaReader {
 public:
  DeltaReader() = default;  // no values
  // No bytes are a stream without values.
  explicit DeltaReader(std::span<const std::byte> bytes);

  uint64_t left() const { return left_; }

  // Reads `count` values, modulo 2^32 or 2^64. `target` has room for count and kBlockPadding bytes.
  void read(const Kernels& kernels, uint32_t* target, size_t count) { read_any(kernels, target, count); }
  void read(const Kernels& kernels, uint64_t* target, size_t count) { read_any(kernels, target, count); }
  // Costs nothing if no value is left behind it, else hardly less than reading: each value needs the ones before it.
  void skip(const Kernels& kernels, uint64_t count);

  // The first byte behind the stream. Walks its blocks, not its values.
  const std::byte* find_end() const;

 private:
  template <typename T>
  void read_any(const Kernels& kernels, T* target, size_t count);
  uint64_t read_varint();
  void open_block();
  template <typename T>
  void unpack(const Kernels& kernels, T* deltas, size_t count);
  size_t miniblock_bytes(size_t index) const;

  const std::byte* cursor_ = nullptr;  // behind the open block's header: its next miniblock
  const std::byte* end_ = nullptr;
  const std::byte* widths_ = nullptr;  // of the open block
  uint64_t left_ = 0;                  // values, the first one included
  uint64_t last_ = 0;                  // the value before the next one; at first: the first value
  uint64_t min_delta_ = 0;
  size_t block_values_ = 0;
  size_t miniblock_values_ = 0;
  size_t miniblock_count_ = 0;
  size_t block_left_ = 0;          // values of the open block, the first value of the stream not counted
  size_t miniblock_ = 0;           // of the open block
  size_t miniblock_position_ = 0;  // values of it that are consumed
  bool is_at_first_ = false;
  bool is_wide_ = false;  // the open block has widths beyond 32
};

}  // namespace frazil::parquet
