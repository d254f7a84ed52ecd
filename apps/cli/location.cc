#include <memory>
#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {

void add_location(Command& root) {
  auto name = std::make_shared<std::string>();
  root.add("location", "Print where a table is, as its metadata says")
      .positional("TABLE", *name, "namespace.table, catalog.namespace.table, or a path")
      .action([name](Session& session) {
        catalog::LoadedTable table = session.load_table(*name);
        if (session.is_json()) {
          json::Object object;
          object.emplace_back("location", json::Value(table.metadata->location));
          object.emplace_back("metadata_location", json::Value(table.metadata_location));
          session.print_json(json::Value(std::move(object)));
        } else {
          session.print_line(printable(table.metadata->location));
        }
      });
}

}  // namespace frazil::cli
