// Type promotion (spec, "Schema Evolution"): the type of a column in a file or a bound against its type in the table.
//
//   int -> long     float -> double     decimal(P, S) -> decimal(P' >= P, S)                 v1, v2
//   date -> timestamp, timestamp_ns     unknown -> anything                                  v3
#pragma once

#include <cstdint>
#include <optional>

#include "frazil/spec/literal.h"
#include "frazil/spec/type.h"

namespace frazil::spec {

enum class Promotion : uint8_t {
  kNone,  // the types are the same
  kIntToLong,
  kFloatToDouble,
  kWiderDecimal,
  kDateToTimestamp,
  kDateToTimestampNs,
  kUnknownToAny,  // all values are null
};

// How `from` becomes `to`; nothing if the spec does not allow it. Structs, lists and maps fit a type of their own kind:
// their fields are resolved by id, each on its own.
std::optional<Promotion> promotion(const Type& from, const Type& to);
// Whether a column of that type may be changed to the other in a table of that format version.
bool can_promote(const Type& from, const Type& to, int format_version);
// The value in the wider type. Throws Error(kInvalidArgument) if there is no such promotion or the value does not fit
// (a date beyond the range of timestamp_ns).
Literal promote(const Literal& value, const TypePtr& to);

}  // namespace frazil::spec
