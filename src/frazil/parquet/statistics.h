// What the statistics of a column chunk or page say, in values that predicates compare (parquet.thrift, Statistics,
// ColumnOrder). Bounds are believed only where the specification defines their order and their writer kept to it:
//
//   min_value, max_value   with a column order that is known, for types that have one
//   min, max (deprecated)  written in signed order whatever the type: for INT32 and INT64 without unsigned annotation,
//                          FLOAT, DOUBLE and BOOLEAN; for other types where both are the same bytes
//   never                  INT96, INTERVAL, GEOMETRY, GEOGRAPHY, annotations from the future
//
//   writer (created_by)                       not believed
//   parquet-mr before 1.8, unknown writers    min, max of binary types (PARQUET-251: buffers were reused)
//   parquet-cpp, parquet-cpp-arrow before 4   bounds of decimals on byte arrays (PARQUET-1655)
//   parquet-cpp-arrow before 12               anything of BYTE_ARRAY chunks with a dictionary: that of arrays of
//                                             dictionaries was not counted (ARROW-12513, apache/arrow#15042, #34106)
//   parquet-rs                                bounds of decimals on BYTE_ARRAY (arrow-rs#10860, #11073)
//   Polars, ClickHouse before 25.8            bounds of decimals on fixed byte arrays: merged as unsigned
//   hyparquet                                 bounds of decimals: scaled twice
//   Parquet.Net before 5                      bounds of timestamps: shifted by a time zone
//   segmentio/parquet-go                      upper bounds of binary pages: cut off without being raised
//
// Values that the column's type does not have (out of range, of a wrong width) are no bounds. A NaN is none, but where
// NaNs are ordered (IEEE_754_TOTAL_ORDER) two of them say that nothing else is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_index.h"
#include "frazil/predicate/pruning.h"
#include "frazil/predicate/value.h"

namespace frazil::parquet {

// For one leaf, whose values are read as `type`: bounds pass through the conversion that the values do, so they have
// the values' form. Immutable; borrows the metadata.
class StatisticsDecoder {
 public:
  StatisticsDecoder(const FileMetadata& metadata, size_t leaf, DataTypePtr type);

  predicate::ColumnStatistics decode(const Statistics& statistics, int64_t row_count) const;
  // Of a page. Requires indexes of as many pages.
  predicate::ColumnStatistics decode(const ColumnIndex& bounds, const OffsetIndex& offsets, size_t page) const;

  // The value that these PLAIN bytes (BYTE_ARRAY without length) are read as; nothing if they are none of the type.
  std::optional<predicate::Value> value(std::span<const std::byte> plain) const;
  // The PLAIN bytes that a value can have in the file: two for zeros of floats, none if the type cannot hold it.
  // Nothing if that is not certain: a conversion that is not exact, decimals of any length.
  std::optional<std::vector<std::string>> plain_forms(const predicate::Value& value) const;

 private:
  bool trusts_deprecated(const Statistics& statistics) const;
  std::optional<std::string> plain_integer(Int128 value) const;

  const SchemaNode* leaf_;
  DataTypePtr type_;
  std::optional<Conversion> conversion_;
  ColumnOrder order_ = ColumnOrder::kUnknown;
  bool trusts_any_ = true;
  bool has_order_ = false;          // the type's values are ordered at all
  bool trusts_deprecated_ = false;  // order and writer
  bool trusts_equal_ = false;       // deprecated ones, where both are the same
  bool trusts_page_uppers_ = true;
};

// created_by := application ' version ' major '.' minor ...; numbers that are not there are 0.
struct WriterVersion {
  std::string_view application;
  int major = 0;
  int minor = 0;
  bool is_known = false;  // has a version
  bool before(int other_major, int other_minor) const {
    return major != other_major ? major < other_major : minor < other_minor;
  }
};
WriterVersion parse_writer(std::string_view created_by);

}  // namespace frazil::parquet
