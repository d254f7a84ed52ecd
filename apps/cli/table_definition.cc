#include "table_definition.h"

#include <utility>
#include <variant>

#include "session.h"

#include "frazil/base/error.h"
#include "frazil/catalog/path_table.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/ddl.h"

namespace frazil::cli {

void add_table_definition(Command& command, TableDefinition& definition) {
  command.option("--partition-by", definition.partition_by, "SPEC", "such as \"day(ts), bucket(16, id)\"")
      .option("--sort-by", definition.sort_by, "ORDER", "such as \"ts desc, id\": the order within files")
      .option("--property", definition.properties, "K=V", "a property of the table; before the verb: of the catalog")
      .option("--location", definition.location, "URI", "where its files go; else the catalog decides")
      .option("--format-version", definition.format_version, "N", "1, 2 or 3 (2)");
}

spec::NewTable make_new_table(const TableDefinition& definition, spec::SchemaPtr schema) {
  spec::NewTable table{.schema = std::move(schema)};
  if (definition.partition_by) table.spec = spec::parse_partition_spec(*table.schema, *definition.partition_by);
  if (definition.sort_by) table.sort_order = spec::parse_sort_order(*table.schema, *definition.sort_by);
  table.location = definition.location.value_or("");
  for (const auto& [key, value] : split_properties(definition.properties)) table.properties.emplace_back(key, value);
  if (definition.format_version) {
    if (*definition.format_version < 1 || *definition.format_version > spec::kMaxFormatVersion) {
      throw_error(ErrorKind::kInvalidArgument, "--format-version must be 1, 2 or 3, not {}",
                  *definition.format_version);
    }
    table.format_version = static_cast<int>(*definition.format_version);
  }
  return table;
}

catalog::LoadedTable stage_table(Session& session, const std::string& table, const spec::NewTable& definition) {
  const catalog::TableName name = session.table_name(table);
  if (const auto* path = std::get_if<catalog::TablePath>(&name)) {
    return catalog::stage_table_by_path(session.context(), path->path, session.files(), session.context().memory_pool(),
                                        definition, session.path_options());
  }
  const auto& in_catalog = std::get<catalog::TableInCatalog>(name);
  return session.open_catalog(in_catalog.catalog).stage_table(session.context(), in_catalog.identifier, definition);
}

}  // namespace frazil::cli
