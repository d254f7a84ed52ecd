// One data file's own columns as batches: what differs between the formats.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/scan/data_file.h"
#include "frazil/scan/resolve.h"

namespace frazil::scan {

// One thread at a time. Gives what `sources` takes from a part of the file, at the places that they say, of the rows that
// the scan's filter wants.
class FormatReader {
 public:
  using MemoryNeeds = parquet::BatchReader::MemoryNeeds;
  using Step = parquet::BatchReader::Step;

  virtual ~FormatReader() = default;
  // The contracts of parquet::BatchReader.
  virtual MemoryNeeds memory_needs(bool exact) const = 0;
  virtual size_t bytes_in_use() const = 0;
  virtual size_t spared_bytes() const { return 0; }
  virtual size_t needed_bytes() const = 0;
  virtual void use_lanes(const parquet::Lanes&) {}
  virtual Step step(Reservation& reservation, std::optional<RecordBatch>& out) = 0;
};

// An open file. Its parts are runs of its rows, which readers of their own can read at the same time.
class FormatFile {
 public:
  virtual ~FormatFile() = default;
  virtual size_t part_count() const = 0;
  // Once a part; again if it threw. One thread at a time, whichever reads.
  virtual std::unique_ptr<FormatReader> open_part(const Part& part, MemoryPool& pool) = 0;
};

// Open the file and resolve the scan's columns into `sources`.
std::unique_ptr<FormatFile> open_parquet(const ReadSetup& setup, const Task& task, const FileContext& context,
                                         MemoryPool& pool, std::vector<ColumnSource>& sources);
std::unique_ptr<FormatFile> open_avro(const ReadSetup& setup, const Task& task, const FileContext& context,
                                      MemoryPool& pool, std::vector<ColumnSource>& sources);

}  // namespace frazil::scan
