// The order of a column's values and the bounds of many of them (parquet.thrift, ColumnOrder: TYPE_ORDER), for
// statistics that are written. Values are PLAIN bytes, BYTE_ARRAY without length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

enum class ValueOrder : uint8_t {
  kNone,  // INTERVAL, GEOMETRY, GEOGRAPHY, INT96, UNKNOWN: no bounds
  kBoolean,
  kSigned4,
  kUnsigned4,
  kSigned8,
  kUnsigned8,
  kHalf,
  kFloat,
  kDouble,
  kBytes,        // unsigned, byte by byte
  kSignedBytes,  // DECIMAL on fixed bytes: big-endian two's complement
};
ValueOrder value_order(const LeafType& type);

inline bool is_float_order(ValueOrder order) {
  return order == ValueOrder::kHalf || order == ValueOrder::kFloat || order == ValueOrder::kDouble;
}

// Negative, 0, positive. Of floats: no NaN; zeros are equal. Not kNone.
int compare_values(ValueOrder order, std::string_view left, std::string_view right);
// Whether it is a NaN; false where there are none.
bool is_nan(ValueOrder order, std::string_view value);

// The least and the greatest value so far, NaNs left out.
class BoundsBuilder {
 public:
  explicit BoundsBuilder(ValueOrder order) : order_(order) {}

  void add(const FixedValues& values);
  void add(const BytesValues& values);
  void add_value(std::string_view value);
  // Of values that were bounded elsewhere.
  void add(const BoundsBuilder& other);
  // NaNs among what was added by values.
  size_t nan_count() const { return nan_count_; }
  void add_nans(size_t count) { nan_count_ += count; }
  bool is_empty() const { return !has_; }
  void clear();

  // As they are written: zeros of floats as -0.0 and +0.0; byte arrays cut to `length_max` bytes (see cut_min, cut_max).
  std::optional<ValueBounds> finish(const LeafType& type, size_t length_max) const;

 private:
  void add_ordered(std::string_view low, std::string_view high);

  ValueOrder order_;
  bool has_ = false;
  std::string min_;
  std::string max_;
  size_t nan_count_ = 0;
};

// Whether the bounds of pages, pages of nulls left out, ascend or descend.
BoundaryOrder order_of_bounds(ValueOrder order, std::span<const EncodedPage> pages);

// A lower bound of at most `length` bytes; text is cut between code points. `length` is at least 4.
std::string cut_min(std::string_view value, size_t length, bool is_text);
// An upper bound: the prefix whose last code point (text, surrogates skipped) or byte that can be is raised. Nothing if
// none can be raised: the full value it is then.
std::optional<std::string> cut_max(std::string_view value, size_t length, bool is_text);

}  // namespace frazil::parquet
