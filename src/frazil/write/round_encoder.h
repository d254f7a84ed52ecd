// RoundEncoder: rows that wait are distributed to their partitions and encoded there, column by column.
//
// What comes as runs of partitions is sliced. Else columns are distributed: block by block into few partitions, whole
// into thousands, of which then one after the other is encoded and written; and whole for files that are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/schema.h"
#include "frazil/write/encode_workers.h"
#include "frazil/write/file_layout.h"
#include "frazil/write/partition_state.h"
#include "frazil/write/row_blocks.h"
#include "frazil/write/sort_rows.h"
#include "frazil/write/staged_batch.h"

namespace frazil {
class Context;
class ThreadPool;
}  // namespace frazil

namespace frazil::write {

// What all rounds of a writer have in common. All outlive it.
struct EncodeSetup {
  Context& context;  // its threads are not started for few rows
  MemoryPool& pool;
  const spec::Schema& schema;
  const FileLayout& layout;
  const RowSorter* sorter = nullptr;  // nullptr: files are not sorted
  uint64_t target_file_bytes = 0;
  EncodeWorkers& workers;
};

struct Round {
  std::vector<StagedBatch> staged;
  // By number. Those of `order` have staged rows, which are cut, unless files are sorted.
  std::span<const std::unique_ptr<PartitionState>> partitions;
  // The partitions with staged rows, without duplicates: first those to encode now, then those whose rows wait on.
  std::span<const uint32_t> order;
  size_t wanted_count = 0;  // at least 1
  int64_t rows_per_group = 0;
  bool has_many_chunks = false;  // all of its partitions' chunks together are too much for the memory
  bool is_last = false;          // files end with it
};

// One round; it is used once.
class RoundEncoder {
 public:
  RoundEncoder(const EncodeSetup& setup, Round round);

  // Gives the rows of the other partitions, with their bytes. Throws what encoding and files throw; the round is lost then.
  std::vector<StagedBatch> encode();

 private:
  struct PartitionRows;
  struct SizedColumn;

  bool is_sliced() const;
  std::vector<SizedColumn> columns_by_size() const;
  void cut_blocks(size_t block_count);
  size_t block_count(size_t column_bytes) const;
  ArrayPtr distribute_column(size_t block_index, size_t column);
  std::vector<std::span<const uint32_t>> parts_of(size_t column_bytes, bool is_helped) const;

  void encode_slices();
  void encode_by_block();
  void encode_column(size_t place, bool is_helped);
  void encode_by_partition();
  void encode_sorted();
  void write_sorted(PartitionState& partition, const RecordBatch& batch);

  void encode_rows(size_t place, const Array& rows, PartitionState& partition, const PartitionRows& piece,
                   EncodeWorker& worker);
  void encode_piece(size_t place, const Array& piece, const Segment& segment, EncodeWorker& worker);
  void end_segment(size_t place, const Segment& segment, EncodeWorker& worker);

  std::vector<StagedBatch> take_held();

  const EncodeSetup& setup_;
  Round round_;
  const std::span<const uint32_t> wanted_;
  const std::span<const uint32_t> waiting_;
  int64_t row_count_ = 0;
  ThreadPool* threads_ = nullptr;  // nullptr: too few rows for them
  std::vector<RowBlock> blocks_;
  std::vector<StagedBatch> held_;  // what waits of each block
};

}  // namespace frazil::write
