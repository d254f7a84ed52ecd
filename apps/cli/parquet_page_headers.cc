#include "parquet_page_headers.h"

#include "frazil/base/error.h"
#include "frazil/parquet/memory_source.h"

namespace frazil::cli {

void PageHeaders::for_each(const parquet::ColumnChunk& chunk, const std::function<void(const parquet::Page&)>& visit) {
  if (chunk.encrypted) throw_error(ErrorKind::kUnsupported, "the column is encrypted, which is not read yet");
  if (chunk.in_other_file) throw_error(ErrorKind::kUnsupported, "the column lies in another file, which is not read");
  if (chunk.value_count == 0) return;
  Reservation reservation = pool_.reserve(0);
  parquet::MemorySource memory(reservation);
  pages_.open(chunk, parquet::chunk_range(chunk, *file_.metadata, file_.input->size()));
  // As long as values are missing: some writers count what follows the last page as part of the chunk.
  for (int64_t values = 0; values < chunk.value_count;) {
    const auto status = pages_.load_header(memory);
    if (status == parquet::ChunkPages::Status::kNeedMemory) {
      throw MemoryLimitError(pool_.stats().held_bytes + memory.needed_bytes(),
                             message("a page header needs {} more bytes than the budget has", memory.needed_bytes()));
    }
    if (status == parquet::ChunkPages::Status::kEnd) {
      throw_corrupt(pages_.position(), "the pages of a column chunk have {} values and should have {}", values,
                    chunk.value_count);
    }
    visit(pages_.page());
    if (pages_.page().header.type != parquet::PageType::kDictionary) values += pages_.page().header.value_count;
    pages_.advance();
  }
  pages_.close();
}

}  // namespace frazil::cli
