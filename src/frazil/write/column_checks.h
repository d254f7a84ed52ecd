// What columns of the table's types must keep to: nulls, text, times of a day, digits, and Arrow's own rules.
#pragma once

#include <string>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/type.h"
#include "frazil/write/value_place.h"

namespace frazil::write {

// Offsets rise, and indices are in their dictionary: what every loop over the values relies on. Throws
// Error(kInvalidArgument) with the column's name.
void check_structure(const Array& array, const std::string& name);

// The values of a converted column. What lies under nulls, or in no list, does not count. Throws Error(kInvalidArgument)
// with column and row.
void check_column(const Array& array, const spec::NestedField& field, const ValuePlace& place, MemoryPool& pool);

}  // namespace frazil::write
