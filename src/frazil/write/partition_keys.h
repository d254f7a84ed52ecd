// PartitionKeys: which partition each row belongs to, for a whole batch by column. Partitions are numbered in the order
// in which they first come, from 0 on, over all batches.
//
//   source column --transform--> pre-key --table or hash--> code of the field   ┐
//   source column --transform--> pre-key --table or hash--> code of the field   ┴ pair table or hash --> partition
//
// A pre-key is what is cheap to compute and decides the value: for month(ts) the day, so that the calendar is asked once
// a day and not once a row; for text the number of its bytes; of a dictionary array the index. Values of a field that lie
// within 65,536 of each other are looked up in a table, others in a hash; pairs of codes likewise. Nothing is boxed.
//
// Two tuples are one partition as deletes have it (spec::same_partition): all NaNs are one value, -0.0 and 0.0 are two.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"
#include "frazil/write/row_codes.h"

namespace frazil {
class MemoryPool;
class ThreadPool;
}  // namespace frazil

namespace frazil::write {

// More partitions, or values of one field, in one append are an error: each costs memory that no budget sees.
inline constexpr uint32_t kMaxPartitions = 1U << 20;

// One thread at a time.
class PartitionKeys {
 public:
  // `pool` outlives it. `seed` is that of hashes. Throws Error(kUnsupported) for a transform that is not known or has
  // several sources, Error(kInvalidArgument) if a source column is missing, in a list or map, or of a type that the
  // transform does not take.
  PartitionKeys(const spec::PartitionSpec& spec, const spec::Schema& schema, MemoryPool& pool, uint64_t seed = 0);
  ~PartitionKeys();
  PartitionKeys(PartitionKeys&&) noexcept;
  PartitionKeys& operator=(PartitionKeys&&) noexcept;

  // False for a spec without fields, or with void ones alone: all rows are partition 0, which is always there.
  bool is_partitioned() const;
  // Whether column `index` of the schema, or a field in it, is a source.
  bool uses_column(size_t index) const;
  uint32_t count() const;

  // The partition of each row. `columns`: one for each column of the schema, of spec::to_arrow_type of its type; columns
  // of text and bytes may also be dictionary arrays of it. Columns that are no source are not looked at. 1 to 5 ns a row
  // and field, shared by `threads` but where values are new; numbers do not depend on them. Throws
  // Error(kInvalidArgument), naming the row and the field, for a value that the transform cannot take;
  // Error(kUnsupported) past kMaxPartitions.
  RowCodes number_rows(std::span<const ArrayPtr> columns, int64_t row_count, ThreadPool* threads = nullptr);

  // The values of partition `number`, one for each field of the spec.
  std::vector<spec::Literal> tuple(uint32_t number) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::write
