// Arrow's integration test JSON (docs/format/Integration, "JSON test data format"), the text in which implementations of
// Arrow state what their files hold: the oracle of the gold files, and what test programs of others read and write.
//
//   file       := {schema, batches: [batch], dictionaries: [{id, data: batch}]}
//   schema     := {fields: [field], metadata}
//   field      := {name, nullable, type: {name, ...}, children: [field], dictionary: {id, indexType, isOrdered}, metadata}
//   batch      := {count, columns: [column]}
//   column     := {name, count, VALIDITY, OFFSET, SIZE, TYPE_ID, DATA, VIEWS, VARIADIC_DATA_BUFFERS, children: [column]}
//
// A field with a dictionary has the type and the children of its values, and indices as DATA. Integers of 64 bits and
// decimals (unscaled) are strings, integers of 64 bits in old files numbers; binary is hexadecimal. The format has no
// numbers that are not finite: here they are "NaN", "Infinity" and "-Infinity".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::testing {

struct IntegrationData {
  SchemaPtr schema;
  std::vector<RecordBatch> batches;
};

// Arrays come from `pool`, which must outlive them, and hold to validate_full(). Throws CorruptError for what is not JSON or
// breaks the format, Error(kUnsupported) for a type that is not known, MemoryLimitError.
IntegrationData read_integration_json(std::string_view text, MemoryPool& pool);

// What is under nulls is written as 0 or nothing, slices as what they show. A file has one dictionary a field: where those
// of the batches differ they are joined, in memory of `pool`. Requires validated batches of `schema`, and UTF-8 in utf8.
std::string write_integration_json(const SchemaPtr& schema, std::span<const RecordBatch> batches, MemoryPool& pool);

}  // namespace frazil::testing
