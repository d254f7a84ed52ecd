// The page headers of column chunks, without what is in the pages.
#pragma once

#include <cstddef>
#include <functional>

#include "parquet_files.h"

#include "frazil/codec/codec.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_pages.h"

namespace frazil::cli {

// One thread at a time.
class PageHeaders {
 public:
  // Borrows both.
  PageHeaders(const ParquetFile& file, MemoryPool& pool)
      : file_(file), pool_(pool), decompressor_(pool), pages_(*file.input, decompressor_, {.window_bytes = 4096}) {}

  // Calls `visit` with each page of the chunk, dictionary pages too; only header and offset of it are there. Throws
  // CorruptError for headers that do not parse or have too few values, Error(kUnsupported) for an encrypted chunk.
  void for_each(const parquet::ColumnChunk& chunk, const std::function<void(const parquet::Page&)>& visit);

 private:
  const ParquetFile& file_;
  MemoryPool& pool_;
  Decompressor decompressor_;
  parquet::ChunkPages pages_;
};

}  // namespace frazil::cli
