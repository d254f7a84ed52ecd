// The values of a dictionary page as an Arrow array, for columns that are read as indices into it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/leaf_values.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/schema.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

class DictionaryArray {
 public:
  // Requires that values of `leaf` can be `type`, which is text, binary or fixed-size binary.
  DictionaryArray(const SchemaNode& leaf, DataTypePtr type, bool validate_utf8);

  // Makes the array of the `count` plain values of a page. False for want of memory: then it is called again with the
  // same. Throws CorruptError if they are not there, or not UTF-8 where that is asked for.
  [[nodiscard]] bool load(std::span<const std::byte> page, size_t count, MemorySource& memory);
  // Lets go of the array; batches that have it keep it.
  void clear();
  // Of the row group; empty if it has no dictionary page, and so no values.
  ArrayPtr array() const;

  // What it holds of the pool, the array included while it is not cleared.
  size_t bytes_in_use() const { return values_ ? values_->bytes_in_use() : array_bytes_; }
  // No page of that size with `count` values takes more: offsets or views, and the bytes.
  static size_t bytes_bound(size_t page_bytes, size_t count);

 private:
  Conversion conversion_;
  DataTypePtr type_;
  ValueDecoder decoder_;
  std::optional<LeafValues> values_;  // while it is made
  ArrayPtr array_;
  size_t array_bytes_ = 0;
};

}  // namespace frazil::parquet
