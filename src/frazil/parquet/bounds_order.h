// The order of a leaf's values (parquet.thrift, ColumnOrder TYPE_ORDER) on PLAIN bytes, as bounds have them:
//
//   BOOLEAN, INT32, INT64     signed; unsigned for INTEGER(_, false)
//   FLOAT, DOUBLE, FLOAT16    by number; no NaNs
//   DECIMAL                   INT32, INT64 signed; byte arrays as signed big-endian numbers of the same length
//   other byte arrays         unsigned, byte by byte
//   INT96, INTERVAL, geo      none: such columns have no bounds
#pragma once

#include <string_view>

#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/leaf_description.h"

namespace frazil::parquet {

// Whether `left` comes before `right`. Requires bounds of that leaf.
bool is_before(const LeafType& leaf, std::string_view left, std::string_view right);

// Makes `bounds` those of both.
void widen(const LeafType& leaf, ValueBounds& bounds, const ValueBounds& other);

}  // namespace frazil::parquet
