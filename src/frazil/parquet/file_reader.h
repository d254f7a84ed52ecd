// FileReader: the rows of one Parquet file that are wanted, as record batches.
//
//   auto file = local.open_input(path);
//   FileReader reader(file, {.projection = {{"id", "label"}}, .predicate = parse("ts >= DATE '2026-11-01'")}, pool);
//   while (auto batch = reader.next()) consume(*batch);
//
// A row group goes through three phases; each reads only for the rows that the one before left:
//
//   1. pruning            statistics, page index, Bloom filters, dictionary pages      (pruning.h)
//   2. predicate columns  decoded and evaluated, unless the predicate is certain
//   3. other columns      decoded for the rows that matched: as ranges, where gaps are long enough to be skipped, and
//                         filtered where they are not
//
// A projected column that the predicate has read already is not read twice, as long as what matched of it stays below
// `kept_bytes_max`. Rows keep the file's order. Batches are never empty; small ones are joined.
//
// A VARIANT that is asked for as a whole is struct<metadata, value> however the file has shredded it
// (variant_shredding.h). Parts of it that are named, "event.typed_value.price", are read as they are stored; predicates
// see it as it is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/metadata_cache.h"
#include "frazil/parquet/projection.h"
#include "frazil/parquet/pruning.h"
#include "frazil/parquet/row_selection.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/predicate.h"

namespace frazil {
class Decompressor;
}

namespace frazil::parquet {

// Which columns of text, binary and fixed-size binary are given out as dictionary<int32, ...>: of those whose pages are
// all dictionary-encoded (dictionary_columns.h) ...
enum class Dictionaries : uint8_t {
  kNever,     // none
  kRestored,  // those that are dictionaries in the embedded Arrow schema, if that is used
  kAlways,    // all
};

struct FileReaderOptions {
  // Columns by name (projection.h); nothing: all of them; none: row counts alone.
  std::optional<std::vector<predicate::ColumnName>> projection = {};
  // Instead of names: exactly these.
  std::vector<ColumnRequest> columns = {};
  // On any columns of the file, projected or not. TRUE by default.
  predicate::Predicate predicate = {};
  bool case_sensitive = true;
  // Instead of `predicate`: one that is bound already, on columns read as the caller's types (projection.h).
  std::optional<PredicateColumns> bound_predicate = {};
  // Rows of the file; nothing: all. Rows that the file does not have are left out.
  std::optional<RowSelection> rows = {};
  int first_row_group = 0;
  int row_group_count = -1;  // -1: to the end
  int64_t batch_rows = 65536;
  int64_t first_batch_rows = 0;  // as in batch_reader.h; not for what is filtered
  size_t batch_bytes_max = size_t{64} << 20;
  size_t kept_bytes_max = size_t{16} << 20;
  bool late_materialization = true;  // false: phases 2 and 3 are one
  PruningOptions pruning = {};
  ArrowTypeOptions types = {};
  // Types and metadata as the Arrow schema in the footer refines them (embedded_schema.h). Not those of `columns`.
  bool use_embedded_schema = true;
  // Not those of `columns` either.
  Dictionaries dictionaries = Dictionaries::kRestored;
  ChecksumPolicy verify_checksums = ChecksumPolicy::kSmallPages;
  bool validate_utf8 = false;
  size_t window_bytes = size_t{256} << 10;
  // The footer, if somebody has it. Else it is read, through `cache` if there is one; `file_version` is what tells two
  // files of one path and size apart there (an ETag, a modification time).
  std::shared_ptr<const FileMetadata> metadata = nullptr;
  MetadataCache* cache = nullptr;
  std::string file_version = {};
  // Used by this reader's thread alone while a call runs, outlives the reader; nullptr: the reader makes its own.
  Decompressor* decompressor = nullptr;
};

struct FileReaderCounters {
  PruningCounters pruning;
  uint64_t rows_evaluated = 0;  // decoded for the predicate
  uint64_t rows_matched = 0;    // given out
};

// One thread at a time. Memory comes from the pool, that of steps from their reservations. Errors as BatchReader's and
// bind_predicate()'s.
class FileReader {
 public:
  // Reads the footer, nothing else. The pool outlives the reader.
  FileReader(std::shared_ptr<const InputFile> file, FileReaderOptions options, MemoryPool& pool);
  ~FileReader();
  FileReader(FileReader&&) noexcept;
  FileReader& operator=(FileReader&&) noexcept;

  // Of the batches.
  const SchemaPtr& schema() const;
  const std::shared_ptr<const FileMetadata>& metadata() const;

  using MemoryNeeds = BatchReader::MemoryNeeds;
  using Step = BatchReader::Step;
  // Upper bounds as BatchReader's; of what a predicate leaves and keeps, what it may be at most.
  MemoryNeeds memory_needs(bool walk_page_headers) const;
  // As BatchReader's: goes on until a batch, the end, or a want of memory, after which it may be called again.
  Step step(Reservation& reservation, std::optional<RecordBatch>& out);
  void use_lanes(const Lanes& lanes);
  size_t bytes_in_use() const;
  size_t spared_bytes() const;
  size_t needed_bytes() const;

  // The next batch; nothing at the end. Throws MemoryLimitError.
  std::optional<RecordBatch> next();
  FileReaderCounters counters() const;

 private:
  friend class PushDecoder;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::parquet
