// The Avro schemas that manifests and manifest lists are written with: columns, order, names and ids as Iceberg Java has
// them for the format version (interop: readers of Java's files read ours).
#pragma once

#include <string>
#include <string_view>

#include "frazil/avro/schema.h"
#include "frazil/spec/type.h"

namespace frazil::manifest {

// The block size that v1 demands and nobody reads.
inline constexpr int64_t kBlockSizeV1 = 64 << 20;

// Record "manifest_entry". `partition_type`: a struct. Throws Error(kUnsupported) for a partition type that Avro does not
// have. Fields of type `unknown` are of type null.
avro::NodePtr written_entry_schema(int32_t format_version, const spec::Type& partition_type);

// Record "manifest_file".
avro::NodePtr written_list_schema(int32_t format_version);

// A partition value's type in a file that is written, without null: as avro_type_of(), but decimals are fixed of the
// smallest size, and what has to have a name has one. nullptr for nested types.
avro::NodePtr written_type_of(const spec::Type& type);

// Bytes of the smallest two's complement number that holds any value of so many digits.
int32_t decimal_fixed_bytes(int32_t precision);

// The name itself if Avro takes it ([A-Za-z_][A-Za-z0-9_]*); else with _xHEX for what it does not, and _ before a leading
// digit, as Iceberg Java writes it: "a b" is "a_x20b".
std::string avro_name(std::string_view name);

}  // namespace frazil::manifest
