// Conform: batches as users bring them become columns of the table's types, checked.
//
//   table type           taken from
//   int, long            integers that fit the type whatever their value: int8 .. int32, uint8, uint16; long: int64, uint32
//   float, double        half, float; double: double
//   decimal(P, S)        decimals of any width with a precision up to P and the scale S
//   date                 date32; date64 of whole days
//   time                 time32, time64[us]
//   timestamp(_ns)       timestamps of the same or a coarser unit, where no value is out of range; with a zone for tz
//   string, binary       utf8, binary: plain, large, view
//   uuid, fixed[L]       fixed_size_binary of that size
//   list                 lists of every kind           struct   struct, fields by name
//   map                  map                           any      null; dictionary and run-end encoded arrays of it
//
// Fields are found by name, and where no name fits by the field id of their metadata ("PARQUET:field_id"). What is missing
// gets the field's write-default, nested too, else null.
#pragma once

#include <memory>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/spec/schema.h"

namespace frazil {
class MemoryPool;
class ThreadPool;
}  // namespace frazil

namespace frazil::write {

struct ConformOptions {
  bool fill_missing_columns = true;  // false: even a missing optional field is an error
};

class Conformer {
 public:
  // `pool` outlives it and the columns. Throws Error(kUnsupported) for types that Arrow does not have.
  Conformer(spec::SchemaPtr schema, ConformOptions options, MemoryPool& pool);
  ~Conformer();

  // One for each column of the schema, of spec::to_arrow_type; text and bytes at the top may be dictionary arrays of it.
  // Without a conversion they share the batch's memory. O(1) for flat columns without nulls that must not be, O(bytes) for
  // text, O(values) for nested columns and conversions. Columns side by side if there are `threads`. Thread-safe.
  //
  // Throws Error(kInvalidArgument) with the column, and the row where one is at fault: columns that are unknown, twice
  // there, or missing and required; other types; nulls where there must be none; text that is not UTF-8; times out of the
  // day; arrays that break Arrow's rules. Error(kUnsupported) past 2^31 - 1 bytes or elements of a column.
  std::vector<ArrayPtr> conform(const RecordBatch& batch, ThreadPool* threads = nullptr) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::write
