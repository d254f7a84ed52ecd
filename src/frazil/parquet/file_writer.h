// FileWriter: record batches, or row groups that somebody else encoded, become one Parquet file.
//
//   FileWriter writer(files.open_output(path), schema, {.row_group_rows = 500'000}, pool);
//   while (auto batch = stream.next()) writer.write(*batch);
//   FileSummary summary = writer.finish();
//
//   file := "PAR1" row group* index* footer length:u32 "PAR1"
//   row group := column chunk* Bloom filter*          // pages as ChunkEncoder makes them
//   index := column index* offset index*              // of all row groups, beside the footer: one read brings them
//
// Memory: the encoded pages of one row group, a page in work for each column, and what the footer will need of the row
// groups before (some 200 bytes a column chunk, 60 a page). Nothing is visible under the file's name before finish().
//
// Callers that encode in parallel give each thread leaves of their own: a Shredder, an EncoderScratch and, by
// WritePlan::leaves() and chunk_options(), a ChunkEncoder a leaf; then append_row_group().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/leaf_summary.h"
#include "frazil/parquet/writer_options.h"

namespace frazil::parquet {

struct FileSummary {
  uint64_t file_bytes = 0;
  uint64_t footer_bytes = 0;  // without length and magic
  int64_t row_count = 0;
  std::vector<int64_t> row_group_offsets;  // ascending: split offsets
  std::vector<LeafSummary> leaves;         // as WritePlan::leaves()
};

// One thread at a time. After an exception only abort() and destruction are allowed, but for the Error(kInvalidArgument)
// of a batch that does not have the schema's columns.
class FileWriter {
 public:
  // `pool` outlives it. Writes nothing yet.
  FileWriter(std::unique_ptr<OutputFile> file, WritePlanPtr plan, MemoryPool& pool);
  FileWriter(std::unique_ptr<OutputFile> file, SchemaPtr schema, WriterOptions options, MemoryPool& pool);
  // Aborts unless finish() returned.
  ~FileWriter();
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) noexcept;

  const WritePlan& plan() const;
  std::span<const LeafDescription> leaves() const { return plan().leaves(); }
  const std::string& path() const;

  // Validated columns of the schema's types, in its order (names do not matter; see Shredder::shred() for what else may
  // differ). Writes a row group whenever one is full. Throws Error(kInvalidArgument) for other columns, nulls where there
  // must be none (with the row of the file) and values that the file cannot hold, MemoryLimitError, IoError.
  void write(const RecordBatch& batch);
  // Writes what is open as a row group, unless it has no rows.
  void end_row_group();
  // One chunk a leaf, each of `rows` rows, encoded by plan(). Ends an open row group first. Frees each chunk's pages once
  // they are written.
  void append_row_group(int64_t rows, std::vector<EncodedChunk> chunks);

  int64_t row_count() const;             // those of the open row group included
  size_t buffered_bytes() const;         // of the pool
  uint64_t bytes_written() const;        // to the file
  uint64_t file_bytes_estimate() const;  // bytes_written() and what the open row group will take

  // Writes indexes and footer and publishes. A file without rows has no row group.
  FileSummary finish(OutputFile::PublishOptions options);
  FileSummary finish() { return finish(OutputFile::PublishOptions{}); }
  // Removes what was written. Idempotent.
  void abort() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All batches of `stream`, which is closed on failure: the file is finished, or nothing is left of it.
FileSummary write_stream(BatchStream& stream, std::unique_ptr<OutputFile> file, WriterOptions options, MemoryPool& pool,
                         OutputFile::PublishOptions publish);

}  // namespace frazil::parquet
