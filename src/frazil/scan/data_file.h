// One data file read as batches of the scan's schema, of the rows that its filter wants.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/scan/assemble.h"
#include "frazil/scan/filter.h"
#include "frazil/scan/resolve.h"
#include "frazil/scan/scan.h"

namespace frazil {
class Decompressor;
}

namespace frazil::scan {

// Everything that the readers of one scan share. Immutable.
struct ReadSetup {
  spec::TableMetadataPtr metadata;
  spec::SchemaPtr table_schema;  // what the selection was made from
  spec::SchemaPtr columns;
  SchemaPtr arrow_schema;
  std::optional<Filter> filter;
  bool skips = true;  // Options::skip
  std::optional<spec::NameMapping> name_mapping;
  FileSystem* files = nullptr;
  int64_t batch_rows = 0;
  size_t batch_bytes_max = 0;
  size_t window_bytes = 0;
  bool verify_checksums = false;
  bool validate_utf8 = false;
};

class FormatFile;
class FormatReader;

// What a reader reads of its file, and how.
struct Part {
  size_t index = 0;
  Decompressor* decompressor = nullptr;  // the reader's while it lives, outlives it
  int64_t first_batch_rows = 0;          // 0, or the first batch has no more of them and is to come soon
};

// An open data file. Its parts, one or more, are in their order all of its rows, and do not depend on the threads. Their
// readers keep it open. Errors name the file.
class DataFile {
 public:
  // Opens the file, reads its footer and resolves the columns. Memory for the footer comes from the pool at large:
  // throws MemoryLimitError if it does not fit now.
  DataFile(const ReadSetup& setup, const Task& task, MemoryPool& pool);
  ~DataFile();

  const std::string& path() const { return path_; }
  size_t part_count() const;

 private:
  friend class DataFileReader;

  const std::string path_;
  const int64_t constant_rows_;  // as many rows as a batch of this file may have
  const SchemaPtr schema_;
  std::vector<ColumnSource> sources_;
  std::unique_ptr<FormatFile> file_;
};

// Reads a part of a file. One thread at a time; readers of several parts at the same time. Errors name the file.
class DataFileReader {
 public:
  // One thread at a time for all readers of a file, once for each part, and again if it threw.
  DataFileReader(std::shared_ptr<DataFile> file, const Part& part, MemoryPool& pool);
  ~DataFileReader();

  const std::string& path() const { return file_->path(); }
  // Bytes beside the batches and of one batch, upper bounds; see parquet::BatchReader.
  parquet::BatchReader::MemoryNeeds memory_needs(bool exact) const;
  // Bytes of the pool that the reader holds between steps; batches that it gave out are their holders'.
  size_t bytes_in_use() const;
  // Of the working bytes, those that are not needed any more; it only grows.
  size_t spared_bytes() const;
  // From the next step on; see parquet::BatchReader.
  void use_lanes(const parquet::Lanes& lanes);
  // After kNeedMemory: what the reservation must offer for the step to go on.
  size_t needed_bytes() const { return needed_bytes_; }

  using Step = parquet::BatchReader::Step;
  Step step(Reservation& reservation, std::optional<RecordBatch>& out);

 private:
  // Runs `work` with a pool that draws on the reservation. False for want of memory: it may be run again.
  template <typename Work>
  bool draw(Reservation& reservation, Work&& work);

  const std::shared_ptr<DataFile> file_;
  const std::unique_ptr<FormatReader> reader_;
  Assembler assembler_;
  bool has_constants_ = false;
  std::optional<RecordBatch> decoded_;  // and not assembled
  size_t needed_bytes_ = 0;
};

}  // namespace frazil::scan
