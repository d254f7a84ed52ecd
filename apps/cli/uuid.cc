#include <memory>
#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {

void add_uuid(Command& root) {
  auto name = std::make_shared<std::string>();
  root.add("uuid", "Print the UUID of a table")
      .positional("TABLE", *name, "namespace.table, catalog.namespace.table, or a path")
      .action([name](Session& session) {
        catalog::LoadedTable table = session.load_table(*name);
        if (session.is_json()) {
          json::Object object;
          object.emplace_back(
              "uuid", table.metadata->table_uuid ? json::Value(*table.metadata->table_uuid) : json::Value(nullptr));
          session.print_json(json::Value(std::move(object)));
        } else {
          session.print_line(printable(table.metadata->table_uuid.value_or("missing")));  // v1 need not have one
        }
      });
}

}  // namespace frazil::cli
