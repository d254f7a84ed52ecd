// Stager: a batch as users bring it becomes rows that can be distributed.
//
//   batch --Conformer--> columns of the table's types --TextCodes--> text that repeats as numbers --PartitionKeys--> a
//   partition for each row
//
// Each step is shared by the context's threads where there is enough to do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/write/conform.h"
#include "frazil/write/partition_keys.h"
#include "frazil/write/staged_batch.h"
#include "frazil/write/text_codes.h"

namespace frazil {
class Context;
}

namespace frazil::write {

// One thread at a time. The context, the metadata and the pool outlive it.
class Stager {
 public:
  // Of the metadata's current schema and default spec. Throws as PartitionKeys does.
  Stager(Context& context, const spec::TableMetadata& metadata, ConformOptions options, MemoryPool& pool);

  // Throws as Conformer::conform() and PartitionKeys::number_rows() do; then there are no rows of the batch, though new
  // values and partitions of it may have numbers.
  StagedBatch stage(const RecordBatch& batch);
  // What was staged is distributed; with `rows_stay` not all of it.
  void end_round(bool rows_stay);

  uint32_t partition_count() const { return keys_.count(); }
  std::vector<spec::Literal> partition_tuple(uint32_t number) const { return keys_.tuple(number); }

 private:
  void number_texts(StagedBatch& staged);

  Context& context_;
  Conformer conformer_;
  PartitionKeys keys_;
  std::vector<std::unique_ptr<TextCodes>> text_codes_;  // of the schema's columns; nullptr: no text
};

}  // namespace frazil::write
