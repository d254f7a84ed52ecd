// Bytes that came in pieces, given out in others.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// What is given out shares the memory of what came in, where it lies in one piece. What is put together goes to its place once:
// whoever appends says how many bytes of the piece at hand are missing. One thread at a time.
class PieceQueue {
 public:
  // `pool` outlives it.
  explicit PieceQueue(MemoryPool& pool) : pool_(&pool) {}

  // Bytes that are there.
  size_t size() const { return queued_ + tail_.size(); }

  void append(Buffer bytes);
  // `missing`: how many bytes the next piece that is taken lacks, 0 if it is there.
  void append(std::span<const std::byte> bytes, size_t missing);
  // Where the next bytes may go, and how many did. Never empty if a byte is missing. Offers memory for what is missing as it
  // comes, not as it is claimed, and `read_ahead` bytes of what follows a small piece.
  std::span<std::byte> room(size_t missing, size_t read_ahead);
  void filled(size_t bytes);

  // The first bytes, copied; fewer if fewer are there.
  size_t peek(std::span<std::byte> out) const;
  // The first bytes, which are there.
  Buffer take(size_t bytes);
  void drop(size_t bytes);

 private:
  // Blocks for a piece that is still to come are no larger than this, or twice what has come.
  static constexpr size_t kFirstBlockBytes = size_t{16} << 20;

  void reserve_tail(size_t capacity);
  // Moves what is queued to the tail, where a piece is put together.
  void gather(size_t missing);
  void flush_tail();

  MemoryPool* pool_;
  std::vector<Buffer> queue_;  // from head_ on
  size_t head_ = 0;
  size_t queued_ = 0;   // bytes of them
  MutableBuffer tail_;  // behind them; its size is what is there
};

}  // namespace frazil::ipc
