// The pages of column chunks read and decompressed with nothing decoded: the least that reading them can take. What a
// whole read takes more than this walk is decoding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frazil/codec/codec.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

struct PageTotals {
  int64_t pages = 0;   // dictionary pages too
  int64_t values = 0;  // of data pages, nulls included
  uint64_t uncompressed_bytes = 0;

  PageTotals& operator+=(const PageTotals& other);
};

// One thread at a time. Holds a window, a page and a codec's context of the pool from chunk to chunk.
class PageWalk {
 public:
  // Borrows all, for its life.
  PageWalk(const InputFile& file, const FileMetadata& metadata, MemoryPool& pool);

  // All pages of one chunk. Throws CorruptError, also if the pages have fewer values than the footer says;
  // Error(kUnsupported) for an encrypted chunk or a codec that is not read; MemoryLimitError. Errors name row group,
  // column and file.
  PageTotals walk(size_t row_group, size_t leaf);

 private:
  PageTotals walk_chunk(const ColumnChunk& chunk);

  const InputFile* file_;
  const FileMetadata* metadata_;
  MemoryPool* pool_;
  Decompressor decompressor_;
  ChunkPages pages_;
};

}  // namespace frazil::parquet
