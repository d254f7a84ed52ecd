// The finished pages of a chunk: bytes that are appended and never move, in blocks of the pool.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {

// Blocks double from 1 KiB to 1 MiB, so that small chunks take little and large ones few blocks.
class ChunkBytes {
 public:
  explicit ChunkBytes(MemoryPool& pool) : pool_(&pool) {}

  // Throws MemoryLimitError.
  void append(std::span<const std::byte> bytes);
  size_t size() const { return size_; }
  size_t memory_bytes() const { return memory_bytes_; }
  // Appends its buffers to `out`; empty afterwards.
  void finish(std::vector<Buffer>& out);

 private:
  void freeze_block();

  MemoryPool* pool_;
  std::vector<Buffer> full_;
  MutableBuffer block_;
  size_t used_ = 0;  // of the block
  size_t size_ = 0;
  size_t memory_bytes_ = 0;
};

}  // namespace frazil::parquet
