// Partition tuples between Avro, Iceberg's types and literals.
#pragma once

#include <optional>

#include "frazil/avro/schema.h"
#include "frazil/avro/writer.h"
#include "frazil/columnar/array.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/type.h"

namespace frazil::manifest {

// The Iceberg type of an Avro type, null branches aside; nullptr if there is none (records, arrays, real unions).
spec::TypePtr iceberg_type_of(const avro::Node& node);

// The Avro type, without null, that manifests store the type as; nullptr for nested types.
avro::NodePtr avro_type_of(const spec::Type& type);

// A value of an array that was decoded as avro_type_of(type).
spec::Literal literal_at(const spec::TypePtr& type, const Array& array, int64_t index);

// The value as written_type_of(type) has it. Requires a value that is not null and fits its type (decimals their
// precision).
void write_value(avro::ValueEncoder& out, const spec::Literal& value);

}  // namespace frazil::manifest
