// Iceberg schemas and values as Arrow's, by the convention of PyIceberg and Iceberg's own Arrow readers.
//
//   Iceberg                        Arrow
//   unknown                        null
//   boolean, int, long             bool, int32, int64
//   float, double                  float, double
//   decimal(P, S)                  decimal128(P, S)
//   date, time                     date32, time64[us]
//   timestamp, timestamp_ns        timestamp[us], timestamp[ns]
//   timestamptz, timestamptz_ns    timestamp[us, UTC], timestamp[ns, UTC]
//   string, binary                 utf8, binary
//   uuid                           fixed_size_binary(16), extension arrow.uuid
//   fixed[L]                       fixed_size_binary(L)
//   variant                        struct<metadata: binary not null, value: binary not null>, arrow.parquet.variant
//   geometry, geography            binary (WKB), extension geoarrow.wkb with the CRS and edges as metadata
//   struct                         struct
//   list                           list<element>
//   map                            map<key, value>
//
// Each field carries its id as the metadata "PARQUET:field_id" and its doc as "doc".
#pragma once

#include <cstdint>
#include <string_view>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/schema.h"

namespace frazil {
class MemoryPool;
}

namespace frazil::spec {

inline constexpr std::string_view kFieldIdKey = "PARQUET:field_id";

frazil::SchemaPtr to_arrow_schema(const Schema& schema);
frazil::Field to_arrow_field(const NestedField& field);
// The storage type; an extension name is metadata of the field.
DataTypePtr to_arrow_type(const Type& type);

// The schema of a table that holds such columns; the other way round, and wider: integers of 8 and 16 bits and uint16 become int,
// uint32 long, half floats float, dates and times of any unit date and time, timestamps of seconds and milliseconds those of
// microseconds, large, view, dictionary and run-end forms their plain type, decimal256 of up to 38 digits decimal. "doc" metadata
// is kept, ids are new: columns from 1 on, then what is nested in them. Throws Error(kUnsupported) that names the column for
// uint64, unions, intervals, durations, nanoseconds of a day and wider decimals.
SchemaPtr schema_from_arrow(const frazil::Schema& schema);

// `length` times the value, null too, nested too: what a column that a file does not have reads as. A null constant is
// O(length / 8), others O(length * size). Throws Error(kUnsupported) past the 2 GiB of utf8 and binary;
// MemoryLimitError.
ArrayPtr make_constant_array(const Literal& value, int64_t length, MemoryPool& pool);

}  // namespace frazil::spec
