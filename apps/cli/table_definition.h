// What `create` and `load --create` say about a new table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"

#include "frazil/catalog/catalog.h"
#include "frazil/spec/new_table.h"

namespace frazil::cli {

struct TableDefinition {
  std::optional<std::string> partition_by;
  std::optional<std::string> sort_by;
  std::optional<std::string> location;
  std::optional<int64_t> format_version;
  std::vector<std::string> properties;  // K=V
};

void add_table_definition(Command& command, TableDefinition& definition);

// Throws Error(kInvalidArgument).
spec::NewTable make_new_table(const TableDefinition& definition, spec::SchemaPtr schema);

// For its catalog or its path, TABLE as on the command line; the first commit to its store creates it.
catalog::LoadedTable stage_table(Session& session, const std::string& table, const spec::NewTable& definition);

}  // namespace frazil::cli
