// RowSorter: rows in a table's sort order (Iceberg spec, "Sorting"). Stable. Floats: -NaN < -Infinity < ... < -0 < 0 <
// ... < Infinity < NaN; strings, bytes and uuids by unsigned bytes; false < true.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/sort_order.h"

namespace frazil {
class MemoryPool;
}

namespace frazil::write {

// Immutable.
class RowSorter {
 public:
  // Throws Error(kUnsupported) for a transform that is not known, Error(kInvalidArgument) for a source that is missing,
  // in a list or map, or of another type than the transform takes.
  RowSorter(const spec::SortOrder& order, const spec::Schema& schema);
  ~RowSorter();

  // The rows of `columns` (as PartitionKeys::number_rows takes them, all of one length below 2^32) in their order: 16
  // bytes a row and field while it sorts, then a copy of each column. O(n log n). Throws Error(kInvalidArgument) for a value that
  // a transform cannot take.
  std::vector<ArrayPtr> sort(std::span<const ArrayPtr> columns, MemoryPool& pool) const;

 private:
  struct FieldPlan;
  std::vector<FieldPlan> fields_;
};

}  // namespace frazil::write
