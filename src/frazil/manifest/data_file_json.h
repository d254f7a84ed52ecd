// Data files as JSON: the content file of the Iceberg REST specification, as Iceberg Java 1.11 writes it. Work that leaves
// a machine (files written elsewhere, one commit) travels in it; the document around it carries the version.
//
//   {"spec-id": 0, "content": "data", "file-path": "s3://...", "file-format": "parquet", "partition": [19000, null],
//    "file-size-in-bytes": 1000, "record-count": 10, "column-sizes": {"keys": [1], "values": [100]}, ...,
//    "lower-bounds": {"keys": [1], "values": ["01000000"]}, "split-offsets": [4], "sort-order-id": 0, ...}
//
// Partition values are in the JSON single-value form, bounds and key metadata in hex.
#pragma once

#include "frazil/json/value.h"
#include "frazil/manifest/data_file.h"
#include "frazil/spec/type.h"

namespace frazil::manifest {

// Throws Error(kInvalidArgument) for what JSON cannot say: a partition value that is NaN or infinite, text that is not
// UTF-8.
json::Value data_file_to_json(const DataFile& file);

// `partition_type`: of the spec that "spec-id" names (PartitionSpec::partition_type). The partition may also be an object
// by field id, and content in upper case, as older versions have it. Throws CorruptError with the key and what is wrong
// with it: missing, of another type, maps of unequal lists, a partition of another size.
DataFile data_file_from_json(const json::Value& value, const spec::Type& partition_type);

}  // namespace frazil::manifest
