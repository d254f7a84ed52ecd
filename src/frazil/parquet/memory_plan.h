// What a BatchReader will need, from what the file says about its chunks and pages. Every figure is an upper bound for
// a file that tells the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_tree.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

// Column chunks of one row group that lie so near each other that one read brings them all.
struct SharedRead {
  ChunkRange range;
  std::vector<size_t> columns;  // indices of requests
};
// Chunks of at most `window_bytes` that are neighbours; none with fewer than two.
std::vector<SharedRead> plan_shared_reads(std::span<const ChunkRange> chunks, size_t window_bytes);

struct BatchLimits {
  size_t rows_max = 0;   // of a batch
  size_t bytes_max = 0;  // of a batch: ReadOptions::batch_bytes_max, at most what int32 offsets can hold
};

// How many bytes the variable values of a batch of the row group may have together, those below lists left out: a quarter
// more than as many rows have on average, where the footer tells that, but no limit below a quarter of bytes_max. What is
// promised for a batch is then near what it takes; where values are longer than elsewhere, batches have fewer rows.
size_t batch_data_bytes_max(const ColumnTree& tree, const RowGroup& row_group, const BatchLimits& limits);

struct MemoryPlan {
  BatchReader::MemoryNeeds needs;
  std::vector<size_t> data_bytes;  // a leaf, those without repetition first: of its variable values in one batch
};

MemoryPlan plan_memory(const InputFile& file, const FileMetadata& metadata, const ColumnTree& tree,
                       std::span<const size_t> row_groups, const ReadOptions& options, const BatchLimits& limits,
                       bool walk_page_headers);

}  // namespace frazil::parquet
