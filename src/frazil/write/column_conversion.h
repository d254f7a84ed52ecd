// Columns as users bring them become arrays of the table's types (conform.h has the table), value by value where they must.
// Nulls stay where they are; nothing is checked that is not needed for it.
#pragma once

#include <span>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/type.h"
#include "frazil/write/conform.h"
#include "frazil/write/value_place.h"

namespace frazil::write {

// For each of `wanted` the index in `given`, by name, else by field id; -1 if it is not there. Throws
// Error(kInvalidArgument) for what nobody wants and for what is there twice. `parent`: the struct, nullptr for a batch.
std::vector<int> match_fields(std::span<const spec::NestedField> wanted, std::span<const Field> given,
                              const ValuePlace* parent);

// `source` as spec::to_arrow_type of the field's type; text and bytes may stay a dictionary array. Throws
// Error(kInvalidArgument) for another type and for a value that is none of the table's type, Error(kUnsupported) past
// 2^31 - 1 bytes or elements.
ArrayPtr convert_column(const ArrayPtr& source, const spec::NestedField& field, const ValuePlace& place,
                        const ConformOptions& options, MemoryPool& pool);

// What a column that was not brought has: the field's write-default, else nulls. Throws Error(kInvalidArgument) if it must
// be brought.
ArrayPtr missing_column(const spec::NestedField& field, int64_t length, const ValuePlace& place,
                        const ConformOptions& options, MemoryPool& pool);

}  // namespace frazil::write
