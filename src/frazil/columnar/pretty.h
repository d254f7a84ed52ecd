// Values as text: one cell for CSV, tables and messages; Iceberg's JSON single-value form (Iceberg spec, Appendix C,
// "JSON single-value serialization") for JSON output; whole arrays for people.
//
//   type                     text                                            JSON, where it is not that text as a string
//   bool, integers           true, 42                                        true, 42
//   floats                   1.0, 1e+20, NaN, Infinity, -Infinity            numbers; the last three strings
//   decimal                  14.20
//   date, time               2017-11-16, 22:31:08.123456
//   timestamp                2017-11-16T22:31:08.123456, with a zone in UTC: ...+00:00
//   utf8                     as it is; in JSON invalid UTF-8 is replaced
//   binary, fixed-size       lower-case hex; arrow.uuid: f79c3e09-677c-4bbd-a479-3f349cb785e7
//   list, map, struct        their JSON                                      [1, 2]; {"keys": [..], "values": [..]};
//                                                                            {"name": value}
//   duration, intervals      ISO 8601: PT1.500S, P14M, P3DT0.250S
//   dictionary, run-end, union: the value
// Every array has a text: a time of day outside a day is printed as the number of its unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"

namespace frazil {

// Both append; both require a validated array and index < length. A null is "null". `field` gives the
// extension (arrow.uuid); its type must be the array's. No spaces in JSON: {"a":1,"b":[1,2]}.
void append_value_text(std::string& out, const Field& field, const Array& array, int64_t index);
void append_value_json(std::string& out, const Field& field, const Array& array, int64_t index);

std::string value_to_text(const Array& array, int64_t index);
std::string value_to_json(const Array& array, int64_t index);
// Row `index` as one JSON object.
void append_row_json(std::string& out, const RecordBatch& batch, int64_t index);

// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

// "[1, null, 3]"; the middle of arrays longer than 2 * `edge` is left out: "[1, 2, ... 96 more ..., 99, 100]".
std::string to_string(const Array& array, int64_t edge = 10);
// A column a line: "name: type = [...]".
std::string to_string(const RecordBatch& batch, int64_t edge = 10);

}  // namespace frazil
