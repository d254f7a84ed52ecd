#include "frazil/parquet/page_walk.h"

#include "frazil/base/error.h"
#include "frazil/parquet/memory_source.h"

namespace frazil::parquet {

PageTotals& PageTotals::operator+=(const PageTotals& other) {
  pages += other.pages;
  values += other.values;
  uncompressed_bytes += other.uncompressed_bytes;
  return *this;
}

PageWalk::PageWalk(const InputFile& file, const FileMetadata& metadata, MemoryPool& pool)
    : file_(&file), metadata_(&metadata), pool_(&pool), decompressor_(pool), pages_(file, decompressor_, {}) {}

PageTotals PageWalk::walk(size_t row_group, size_t leaf) {
  try {
    return walk_chunk(metadata_->row_groups()[row_group].columns[leaf]);
  } catch (Error& error) {
    error.add_context(message("column '{}'", metadata_->schema().path(metadata_->schema().leaf_node(leaf))));
    error.add_context(message("reading row group {} of {}", row_group, file_->path()));
    throw;
  }
}

PageTotals PageWalk::walk_chunk(const ColumnChunk& chunk) {
  if (chunk.encrypted) throw_error(ErrorKind::kUnsupported, "the column is encrypted, which is not read yet");
  if (chunk.in_other_file) throw_error(ErrorKind::kUnsupported, "the column lies in another file, which is not read");
  PageTotals totals;
  if (chunk.value_count == 0) return totals;
  Reservation reservation = pool_->reserve(0);
  MemorySource memory(reservation);
  pages_.open(chunk, chunk_range(chunk, *metadata_, file_->size()));
  // As long as values are missing: some writers count what follows the last page as part of the chunk.
  while (totals.values < chunk.value_count) {
    switch (pages_.load(memory)) {
      case ChunkPages::Status::kPage:
        break;
      case ChunkPages::Status::kNeedMemory:
        throw MemoryLimitError(pool_->stats().held_bytes + memory.needed_bytes(),
                               message("a page needs {} more bytes than the budget has", memory.needed_bytes()));
      case ChunkPages::Status::kEnd:
        throw_corrupt(pages_.position(), "the pages of a column chunk have {} values and should have {}", totals.values,
                      chunk.value_count);
    }
    const PageHeader& header = pages_.page().header;
    ++totals.pages;
    if (header.type != PageType::kDictionary) totals.values += header.value_count;
    totals.uncompressed_bytes += static_cast<uint64_t>(header.uncompressed_size);
    pages_.advance();
  }
  return totals;
}

}  // namespace frazil::parquet
