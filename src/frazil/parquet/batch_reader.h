// BatchReader: streams chosen columns of chosen row groups of one Parquet file as record batches.
//
// A row group is never whole in memory. Each column has a window on its chunk's bytes, one decompressed page and its
// dictionary; values go from the page straight into the final buffers of the batch, converted to the wanted type on
// the way. A batch ends at batch_rows, at batch_bytes_max, at batch_data_bytes_max() (memory_plan.h), or at the end of the
// row group, whichever comes first: its boundaries depend on the file and on the first two numbers alone.
//
//   BatchReader reader(file, metadata, {.columns = request_columns(metadata->schema())}, pool);
//   while (auto batch = reader.next()) consume(*batch);
//
// Columns are asked for by trees: leaves, structs, lists and maps, whole or in parts (column_request.h). What is not read is
// Error(kUnsupported) that names column and encoding. Leaves asked for as dictionaries (dictionary_columns.h) become indices
// and one dictionary a row group, which its batches share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/lanes.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_header.h"
#include "frazil/parquet/row_selection.h"

namespace frazil {
class Decompressor;
}

namespace frazil::parquet {

class PageIndex;

// Which rows of one row group are read.
struct GroupRows {
  RowSelection rows;
  // Where its pages are, if that is known: those without a wanted row are not read then. Without it their headers are, and
  // of columns with lists in pages v1 their levels.
  std::shared_ptr<const PageIndex> pages = nullptr;
};

struct ReadOptions {
  std::vector<ColumnRequest> columns = {};  // may be empty: batches with row counts alone
  int first_row_group = 0;
  int row_group_count = -1;  // -1: to the end
  // One a row group that is read, in their order; empty: all rows of all. Values of other rows are passed over, and take no
  // room in the batches.
  std::vector<GroupRows> rows = {};
  int64_t batch_rows = 65536;
  // 0, or of the first batch: it is to come soon. Of large dictionaries, the rest is then loaded behind it.
  int64_t first_batch_rows = 0;
  // Of a batch's values, offsets and validity; block rounding and dictionaries come on top. A single row that is larger
  // is a batch alone.
  size_t batch_bytes_max = size_t{64} << 20;
  // Of pages that have one. Small pages by default: it costs little there, and their damage is as likely.
  ChecksumPolicy verify_checksums = ChecksumPolicy::kSmallPages;
  bool validate_utf8 = false;  // of utf8 columns: CorruptError for a value that is not
  // Bytes of a chunk read at a time. Pages that are larger make their column's window larger.
  size_t window_bytes = size_t{256} << 10;
  // Used by this reader's thread alone while a step runs, outlives the reader; nullptr: the reader makes its own.
  Decompressor* decompressor = nullptr;
};

// One thread at a time. Errors carry row group, column and file in their context, the file offset in CorruptError.
class BatchReader {
 public:
  // Throws Error(kInvalidArgument) for a node or row group that does not exist, a tree that is not the schema's, or a type
  // that a leaf cannot be read as, Error(kUnsupported) for a column that is not read yet. Reads nothing, takes no memory of the pool.
  BatchReader(std::shared_ptr<const InputFile> file, std::shared_ptr<const FileMetadata> metadata, ReadOptions options,
              MemoryPool& pool);
  ~BatchReader();
  BatchReader(BatchReader&&) noexcept;
  BatchReader& operator=(BatchReader&&) noexcept;

  const SchemaPtr& schema() const;

  struct MemoryNeeds {
    size_t working_bytes = 0;  // beside the batches: windows, largest pages, dictionaries, contexts of codecs
    size_t batch_bytes = 0;    // one batch
    // Beside both, of a batch of one row that is longer than what a batch has on average: rare, and at most this.
    size_t row_bytes = 0;
    size_t lane_bytes = 0;  // of working memory more for each lane but the first
    size_t total() const { return working_bytes + batch_bytes; }
  };
  // Upper bounds in MemoryPool::block_bytes terms, as the file declares its sizes; a file that lies, and a row that is
  // larger than batch_bytes_max, asks for more with kNeedMemory. `walk_page_headers` false: from the footer alone, loose for large chunks. True: reads the header of
  // each page (a small read a page) for tight bounds.
  MemoryNeeds memory_needs(bool walk_page_headers) const;

  enum class Step : uint8_t {
    kBatch,       // `out` holds the next batch
    kEnd,         // no more, now and ever after
    kNeedMemory,  // the reservation and its pool have less than needed_bytes(); nothing is lost, call again
  };
  // Goes on until one of these. Every byte allocated, for the batch and for the state that stays, is drawn from
  // `reservation`, which may grow if its pool has room; it may be another one in each call.
  Step step(Reservation& reservation, std::optional<RecordBatch>& out);
  // From the next step on. Fewer lanes free what the others held. The batches are the same.
  void use_lanes(const Lanes& lanes);
  // Bytes of the pool that the reader holds between steps; batches that it gave out are their holders'.
  size_t bytes_in_use() const;
  // Of the working bytes that memory_needs() tells, those of dictionaries that no page to come refers to.
  size_t spared_bytes() const;
  // After kNeedMemory: the bytes that the reservation must offer for the step to go on.
  size_t needed_bytes() const;

  // The next batch with memory of the pool; nothing at the end. Throws MemoryLimitError.
  std::optional<RecordBatch> next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::parquet
