// Rows as JSON get what they do not say (spec, "Default values": a write default must be written if a field is not supplied).
#pragma once

#include "frazil/json/value.h"
#include "frazil/spec/schema.h"

namespace frazil::spec {

// Whether a field has one, at any depth.
bool has_write_defaults(const Schema& schema);

// Adds members with a write-default that `row` does not have, at every depth where it has the struct. A null is a value and
// stays. What is not of its field's type is left to whoever reads the row.
void add_write_defaults(json::Value& row, const Schema& schema);

}  // namespace frazil::spec
