// What of a table's columns is in data files: all but fields of type unknown, which the specification does not store.
// A struct of nothing else keeps the first of them, and lists and maps theirs (as columns of Parquet's UNKNOWN), because a
// group without fields cannot be written.
#pragma once

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/spec/type.h"

namespace frazil::write {

// The type of what is in the file of a column; `type` itself if that is all of it.
spec::TypePtr stored_type(const spec::TypePtr& type);

// What is in the file of `array`, which is of spec::to_arrow_type(type), with its buffers. `stored`: the Arrow type of
// stored_type(type). O(fields).
ArrayPtr stored_array(const Array& array, const spec::Type& type, const DataTypePtr& stored);

}  // namespace frazil::write
