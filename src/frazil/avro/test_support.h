// For the tests of this layer: values as JSON, to compare with what other readers give.
#pragma once

#include <cstdint>
#include <string>

#include "frazil/avro/test_container.h"
#include "frazil/columnar/array.h"
#include "frazil/json/value.h"

namespace frazil::avro {

// A stored value: integers of dates, times and timestamps, bytes and decimals as hex, maps as lists of pairs, intervals
// as [months, days, nanoseconds], non-finite floats as text.
json::Value stored_value(const Array& array, int64_t index);
json::Value stored_row(const RecordBatch& batch, int64_t index);
// Where they differ, as a path; empty if they are equal. Numbers compare by value, as floats too.
std::string json_difference(const json::Value& left, const json::Value& right);

}  // namespace frazil::avro
