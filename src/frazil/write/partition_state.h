// PartitionState: what is under way of one partition: rows that wait, row groups that are being encoded, files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "frazil/parquet/chunk_encoder.h"
#include "frazil/spec/literal.h"
#include "frazil/write/partition_files.h"

namespace frazil::write {

// Rows that become a row group: an encoder a leaf, then its chunk.
struct RowGroup {
  explicit RowGroup(size_t leaf_count) : encoders(leaf_count), chunks(leaf_count) {}
  std::vector<std::optional<parquet::ChunkEncoder>> encoders;
  std::vector<parquet::EncodedChunk> chunks;
  int64_t row_count = 0;

  void end_leaf(size_t leaf, parquet::EncoderScratch& scratch);
  // Of what its encoders hold: bytes in a file, about, and bytes of memory.
  size_t encoded_bytes_estimate() const;
  size_t memory_bytes() const;
};

// Rows of a partition in one round, for one row group.
struct Segment {
  RowGroup* group = nullptr;
  int64_t begin = 0;  // among the partition's rows of the round
  int64_t count = 0;
  bool ends_group = false;
};

// One thread at a time, but for what its columns' encoders do, and column_done().
class PartitionState {
 public:
  PartitionState(FileFactory& factory, std::vector<spec::Literal> values) : files(factory, std::move(values)) {}

  PartitionFiles files;
  int64_t staged_rows = 0;
  std::vector<std::unique_ptr<RowGroup>> groups;  // in order; those of the round, and at its end the open one
  std::vector<Segment> segments;                  // of the round

  bool has_open_group() const { return !groups.empty(); }

  // Cuts the staged rows into row groups of at most `rows_max` rows. `keep_open`: the last one may go on in the next
  // round. column_done() is due `column_count` times then.
  void cut(int64_t rows_max, size_t leaf_count, size_t column_count, bool keep_open);
  // A column's rows of the round are encoded. The thread that says so last writes the row groups that ended, and with
  // `finish_files` ends the file.
  void column_done(bool finish_files);
  // Ends and writes the row group that was kept open.
  void end_open_group(parquet::EncoderScratch& scratch);

 private:
  void write_ended_groups();

  std::atomic<size_t> columns_left_ = 0;
};

}  // namespace frazil::write
