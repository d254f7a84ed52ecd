// The body of a record batch or dictionary batch: nodes, buffers and their bytes, as far as the array's slice uses them
// (Columnar format, "Recursive Flattening" and "RecordBatch message").
//
//   array              piece of the body                      changed where the slice does not begin the buffer
//   validity, bits     from the byte of the first bit on      shifted, unless it begins a byte
//   fixed width        values                                 -
//   offsets            count + 1                              the first one subtracted, unless it is 0
//   views              count; their data from the first to    offsets of views, where the front of a buffer is left out
//                      the last byte used
//   list views         count; elements likewise               offsets and sizes, empty ones at 0
//   dense union        type ids, offsets; children likewise   offsets
//   run ends           runs of the slice                      counted from the slice's start
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frazil/codec/compressor.h"
#include "frazil/columnar/array.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/write_options.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// Borrows the arrays from add() to the next begin(): unchanged buffers are pieces where they lie. Everything else is in blocks
// that are kept.
class BodyEncoder {
 public:
  // `pool` outlives it. The options must have been checked.
  BodyEncoder(MemoryPool& pool, const WriteOptions& options);

  // A next body, of some `columns`.
  void begin(size_t columns);
  // Nodes and buffers of the array and of all below it, dictionaries aside. Requires an array that validate() accepts. Throws
  // CorruptError where a value that must be followed leads outside, MemoryLimitError; Error(kUnsupported) for what the codec
  // cannot take.
  void add(const Array& array) { add(array, 0, array.length); }

  std::span<const FieldNode> nodes() const { return nodes_; }
  std::span<const BufferPlace> buffers() const { return buffers_; }
  // How many data buffers each view array has, in the order of the nodes.
  std::span<const int64_t> variadic_counts() const { return variadic_counts_; }
  // All bytes of the body, with padding, in order.
  std::span<const std::span<const std::byte>> pieces() const { return pieces_; }
  int64_t body_bytes() const { return static_cast<int64_t>(body_bytes_); }

 private:
  // Values [from, from + count) of `array`.
  void add(const Array& array, int64_t from, int64_t count);
  void add_validity(const Array& array, int64_t begin, int64_t count, int64_t null_count);
  void add_bits(const Buffer& bits, int64_t begin, int64_t count);
  void add_offsets(const Array& array, int64_t begin, int64_t count, int64_t& first, int64_t& last);
  void add_views(const Array& array, int64_t begin, int64_t count);
  void add_list_views(const Array& array, int64_t begin, int64_t count);
  template <typename Offset>
  std::pair<int64_t, int64_t> add_rebased_list_views(const Array& array, int64_t begin, int64_t count);
  void add_dense_union(const Array& array, int64_t begin, int64_t count);
  void add_runs(const Array& array, int64_t begin, int64_t count);
  // `count` values of `width` bytes of buffers[index], from value `begin` on.
  void add_values(const Array& array, size_t index, int64_t begin, int64_t count, int width);
  void add_buffer(std::span<const std::byte> bytes);
  void add_piece(std::span<const std::byte> bytes);
  // Room for `size` bytes, aligned to 8, until begin(). What is left of it after keep() is given again.
  std::byte* scratch(size_t size);
  void keep(size_t size);

  MemoryPool& pool_;
  const WriteOptions options_;
  std::vector<FieldNode> nodes_;
  std::vector<BufferPlace> buffers_;
  std::vector<int64_t> variadic_counts_;
  std::vector<std::span<const std::byte>> pieces_;
  uint64_t body_bytes_ = 0;

  std::vector<MutableBuffer> blocks_;  // the last one is in use
  size_t blocks_bytes_ = 0;            // of all of them, also after they were given back
  size_t block_used_ = 0;
  std::optional<Compressor> compressor_;
};

}  // namespace frazil::ipc
