#pragma once

#include <optional>
#include <string>

namespace frazil::cli {

class Session;

// All properties, or the value of one. Throws Error(kNotFound) if there is no such property.
void print_namespace_properties(Session& session, const std::string& name, const std::optional<std::string>& key);
void print_table_properties(Session& session, const std::string& name, const std::optional<std::string>& key);

}  // namespace frazil::cli
