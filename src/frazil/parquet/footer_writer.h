// What stands behind the row groups of a file (parquet.thrift): the page indexes and FileMetaData. Row groups are taken
// down one by one and kept as the bytes that they will be.
//
//   column index*     of all chunks that have one, in the order of the chunks
//   offset index*
//   FileMetaData      // its length and the magic are the caller's
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/columnar/builders.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/writer_options.h"

namespace frazil::parquet {

// Where a chunk went.
struct ChunkPlace {
  uint64_t offset = 0;        // of its first page
  uint64_t bloom_offset = 0;  // 0: no Bloom filter
  uint32_t bloom_size = 0;    // header included
};

class FooterWriter {
 public:
  // `plan` and `pool` outlive it.
  FooterWriter(const WritePlan& plan, MemoryPool& pool);

  // `chunks` and `places`: one a leaf. Pages of the chunks are not looked at. Throws MemoryLimitError.
  void add_row_group(int64_t rows, std::span<const EncodedChunk> chunks, std::span<const ChunkPlace> places);

  struct Parts {
    Buffer column_indexes;
    Buffer offset_indexes;
    Buffer footer;
  };
  // `offset`: where the parts will stand, one after the other. Once. Throws MemoryLimitError.
  Parts finish(uint64_t offset);

  size_t buffered_bytes() const { return column_indexes_.size() + offset_indexes_.size() + chunk_metadata_.size(); }

 private:
  struct Chunk {
    size_t metadata_size = 0;  // in chunk_metadata_
    uint32_t column_index_size = 0;
    uint32_t offset_index_size = 0;
  };
  struct RowGroup {
    int64_t row_count = 0;
    uint64_t offset = 0;
    uint64_t uncompressed_size = 0;
    uint64_t compressed_size = 0;
  };

  void write_metadata(size_t leaf, const EncodedChunk& chunk, const ChunkPlace& place);
  void write_schema(class ThriftWriter& footer) const;
  void write_row_groups(class ThriftWriter& footer, uint64_t column_index_offset, uint64_t offset_index_offset) const;

  const WritePlan& plan_;
  MemoryPool& pool_;
  int64_t row_count_ = 0;
  std::vector<RowGroup> row_groups_;
  std::vector<Chunk> chunks_;     // one a leaf, row group by row group
  GrowingBuffer chunk_metadata_;  // ColumnMetaData of each chunk
  GrowingBuffer column_indexes_;
  GrowingBuffer offset_indexes_;
};

}  // namespace frazil::parquet
