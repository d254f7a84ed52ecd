// Where a literal stands among the values that a column can hold.
#pragma once

#include <optional>
#include <string_view>

#include "frazil/columnar/type.h"
#include "frazil/predicate/predicate.h"
#include "frazil/predicate/value.h"

namespace frazil::predicate {

// Every column type's values are an ordered, discrete set, so a literal is one of them, or stands between two of them,
// or beyond an end. Comparing with it is then comparing with `value`, exactly:
//
//              kExact     kBetween          kBelowAll        kAboveAll
//   x =  lit   x = v      never             never            never
//   x <  lit   x < v      x <= v            never            always
//   x <= lit   x <= v     x <= v            never            always
//   x >  lit   x > v      x > v             always           never
//   x >= lit   x >= v     x > v             always           never
struct Position {
  enum Kind : uint8_t { kExact, kBetween, kBelowAll, kAboveAll };
  Kind kind = kExact;
  Value value;  // kBetween: the greatest value of the column's type below the literal
};

// `type` is the field's type without dictionary and run-end encoding; value_kind(type) is not kNone. Throws
// Error(kInvalidArgument), naming both types and `column`, if the literal is of a kind that the column does not take.
Position coerce(const Literal& literal, const Field& field, const DataType& type, std::string_view column);

// A literal in messages: its text, cut short.
std::string describe(const Literal& literal);

}  // namespace frazil::predicate
