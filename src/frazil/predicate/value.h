// Values in a column's own form: what literals become when they are bound, and what statistics are made of.
//
//   column type                              holds
//   bool                                     bool
//   int8..int64, date, time, timestamp       int64_t    in the column's unit
//   uint8..uint64                            uint64_t
//   half float, float, double                double     widened, exact
//   decimal32, 64, 128                       Int128     unscaled, at the column's scale
//   decimal256                               Int256
//   utf8, binary, fixed-size binary (uuid)   std::string  bytes
//   dictionary, run-end encoded              as their values
//   everything else                          nothing: only IS [NOT] NULL can be asked
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "frazil/base/int128.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/predicate/int256.h"

namespace frazil::predicate {

using Value = std::variant<bool, int64_t, uint64_t, double, Int128, Int256, std::string>;

// The alternative of Value that a type's values are.
enum class ValueKind : uint8_t { kBool, kSigned, kUnsigned, kFloating, kDecimal, kWideDecimal, kBytes, kNone };
ValueKind value_kind(const DataType& type);
inline ValueKind kind_of(const Value& value) {
  return static_cast<ValueKind>(value.index());
}

// The order of predicate.h: NaN greatest and equal to itself, -0.0 = 0.0, bytes unsigned. Throws Error(kInternal) for
// values of different kinds.
std::strong_ordering compare(const Value& left, const Value& right);

bool is_nan(const Value& value);

// Value `index` of an array, through dictionaries and runs; nothing if it is null. Throws Error(kUnsupported) for types
// of ValueKind::kNone. Requires a validated array.
std::optional<Value> value_at(const Array& array, int64_t index);

}  // namespace frazil::predicate
