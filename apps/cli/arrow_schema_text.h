// Arrow schemas as the program prints them.
#pragma once

#include <string>

#include "frazil/columnar/type.h"
#include "frazil/json/value.h"

namespace frazil::cli {

// One field a line: "name: type not null".
std::string arrow_schema_text(const Schema& schema);
// [{"name", "type", "nullable", "extension"}]
json::Value arrow_schema_json(const Schema& schema);

}  // namespace frazil::cli
