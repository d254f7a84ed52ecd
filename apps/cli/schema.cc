#include "frazil/spec/schema.h"

#include <memory>
#include <optional>
#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {

void add_schema(Command& root) {
  struct Options {
    std::string table;
    std::optional<int64_t> schema_id;
  };
  auto options = std::make_shared<Options>();
  root.add("schema", "Print the schema of a table")
      .positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path")
      .option("--schema-id", options->schema_id, "ID", "an older schema")
      .example("frazil schema web.hits --output json")
      .action([options](Session& session) {
        catalog::LoadedTable table = session.load_table(options->table);
        spec::SchemaPtr schema = table.metadata->current_schema();
        if (options->schema_id) {
          schema = nullptr;
          for (const spec::SchemaPtr& other : table.metadata->schemas) {
            if (other->schema_id() == *options->schema_id) schema = other;
          }
          if (schema == nullptr) {
            throw_error(ErrorKind::kNotFound, "table '{}' has no schema {}", table.name, *options->schema_id);
          }
        }
        if (session.is_json()) {
          session.print_json(spec::schema_to_json(*schema));
          return;
        }
        Listing listing = session.listing({{"id", true}, {"name"}, {"type"}, {"required"}, {"doc"}});
        for (const spec::NestedField& field : schema->fields()) {
          std::string required = field.required ? "required" : "optional";
          if (schema->is_identifier(field.id)) required += ", identifier";
          listing.row({int64_t{field.id}, field.name, field.type->to_string(), required, field.doc.value_or("")});
        }
        listing.finish("no columns");
      });
}

}  // namespace frazil::cli
