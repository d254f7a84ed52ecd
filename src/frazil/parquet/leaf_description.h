// A leaf column as a writer sees it: the Arrow type of its values, and what they are in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frazil/columnar/type.h"
#include "frazil/parquet/format.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

// What the values of an Arrow leaf are in a file.
struct LeafType {
  PhysicalType physical = PhysicalType::kInt32;
  int32_t type_length = 0;  // FIXED_LEN_BYTE_ARRAY
  LogicalType logical;      // its `crs` stays empty: a view could dangle
  std::string crs;          // GEOMETRY, GEOGRAPHY; empty: the default
};

// The inverse of arrow_leaf_type() and add_extension(); dictionaries stand for their values:
//
//   null                          INT32, UNKNOWN
//   bool                          BOOLEAN
//   int8 .. uint64                INT32, INT64 with INTEGER, but int32 and int64 without
//   halffloat, float, double      FIXED_LEN_BYTE_ARRAY(2) FLOAT16, FLOAT, DOUBLE
//   decimal(p, s) of any width    DECIMAL on INT32 (p <= 9), INT64 (p <= 18), else the shortest FIXED_LEN_BYTE_ARRAY
//   date32, date64                INT32 DATE
//   time32[s, ms], time64[us, ns] INT32 TIME_MILLIS, INT64 TIME_MICROS, TIME_NANOS; seconds become milliseconds
//   timestamp[unit, zone]         INT64 TIMESTAMP, adjusted to UTC if it has a zone; seconds become milliseconds
//   duration                      INT64
//   intervals of any kind         FIXED_LEN_BYTE_ARRAY(12) INTERVAL
//   utf8 and its other forms      BYTE_ARRAY STRING, or JSON (extension arrow.json)
//   binary and its other forms    BYTE_ARRAY, or GEOMETRY, GEOGRAPHY (extension geoarrow.wkb)
//   fixed_size_binary             FIXED_LEN_BYTE_ARRAY, or UUID (extension arrow.uuid, 16 bytes)
//
// Throws Error(kUnsupported), which names the field, for what Parquet cannot hold: width 0, negative scales, unions,
// run-end encoded arrays, nested types (they are no leaves).
LeafType leaf_type(const Field& field);

struct LeafDescription {
  std::string path;  // the names below the root, joined by dots
  std::optional<int32_t> field_id;
  DataTypePtr type;  // of its values; of dictionary arrays, the type of the dictionary's values
  LeafType file_type;
  uint8_t max_definition = 0;
  uint8_t max_repetition = 0;
  bool is_required = false;    // itself; what is above it may be null
  bool is_dictionary = false;  // in the Arrow schema
};

}  // namespace frazil::parquet
