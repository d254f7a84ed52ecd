// From text and JSON to values of Arrow arrays: what columnar/pretty.h prints, and the forms that other programs print.
//
//   type                      text                                              JSON
//   bool                      true, false, t, f, 1, 0, in any case              true, false
//   integers, floats          42, -1.5e3, NaN, Infinity; 1e39 is no float       numbers; the last ones as strings
//   decimal                   14.20, exact at the type's scale                  numbers, strings
//   date, time                2017-11-16, 22:31:08.123456                       strings
//   timestamp                 2017-11-16T22:31:08, with a space, or a date      strings
//   ... with a zone           with any zone; without one: UTC                   strings
//   utf8                      as it is; must be UTF-8                           strings
//   binary, fixed size        hexadecimal; arrow.uuid: with dashes              strings
//   list, map, struct         their JSON    [..]; {"keys": [..], "values": [..]}, or an object if keys are texts; {"name": value}
//
// Spaces around a value are dropped, except of utf8.
#pragma once

#include <string>
#include <string_view>

#include "frazil/columnar/builders.h"
#include "frazil/columnar/type.h"
#include "frazil/json/value.h"

namespace frazil::text {

// Appends a value that is not null to a builder of the field's type; false, with the builder as it was, if `text` is none.
// Throws Error(kInvalidArgument) as append_json does for nested values.
using AppendText = bool (*)(ArrayBuilder& builder, const Field& field, std::string_view text);

// For a type of the table. Throws Error(kUnsupported) that names the field for others (unions, intervals ...).
AppendText append_text_for(const Field& field);

// Appends any value, null too. Missing members of structs are null. Throws Error(kInvalidArgument) for a value that is none of
// the type, with the way down to it as context; the builder is not to be used further then.
void append_json(ArrayBuilder& builder, const Field& field, const json::Value& value);

// For messages: "no int32", "no uuid", "not valid UTF-8".
std::string not_a(const Field& field);

}  // namespace frazil::text
