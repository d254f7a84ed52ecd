// Checks that every value of a VARIANT column is one: what the reader passes on without a look at it.
#pragma once

#include <cstdint>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/schema.h"
#include "frazil/parquet/variant_shredding.h"

namespace frazil::cli {

class VariantCheck {
 public:
  // Throws as VariantColumn.
  VariantCheck(const parquet::FileSchema& schema, const parquet::ColumnRequest& request) : column_(schema, request) {}

  bool has_variants() const { return column_.has_variants(); }
  // `stored`: the column in a batch, whose first row is `first_row` of the row group. Puts shredded variants together and
  // looks at all of each. Throws CorruptError, Error(kUnsupported) that name the row.
  void check(const ArrayPtr& stored, int64_t first_row, MemoryPool& pool) const;

 private:
  parquet::VariantColumn column_;
};

}  // namespace frazil::cli
