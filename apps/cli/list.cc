#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "names.h"
#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {

void add_list(Command& root) {
  struct Options {
    std::string parent;
    bool recursive = false;
  };
  auto options = std::make_shared<Options>();
  root.add("list", "Print the tables of a namespace and the namespaces below it")
      .positional("NAMESPACE", options->parent, "else the namespaces of the catalog", Presence::kOptional)
      .flag("-r,--recursive", options->recursive, "all tables, of all namespaces below too")
      .example("frazil list")
      .example("frazil list web --output json")
      .action([options](Session& session) {
        catalog::NamespaceInCatalog parent = parse_namespace_argument(session, options->parent);
        catalog::Catalog& catalog = session.open_catalog(parent.catalog);
        std::vector<catalog::TableIdentifier> tables;
        std::vector<catalog::Namespace> namespaces;
        if (options->recursive) {
          namespaces = namespaces_below(session, catalog, parent.levels);
          std::vector<catalog::Namespace> all = namespaces;
          all.insert(all.begin(), parent.levels);
          for (const catalog::Namespace& levels : all) {
            for (catalog::TableIdentifier& table : catalog.list_tables(levels)) tables.push_back(std::move(table));
          }
        } else {
          namespaces = catalog.list_namespaces(parent.levels);
          tables = catalog.list_tables(parent.levels);
        }

        if (session.is_json()) {
          json::Array table_names;
          json::Array namespace_names;
          for (const catalog::TableIdentifier& table : tables) table_names.emplace_back(catalog::to_string(table));
          for (const catalog::Namespace& levels : namespaces) namespace_names.emplace_back(catalog::to_string(levels));
          json::Object object;
          object.emplace_back("tables", json::Value(std::move(table_names)));
          object.emplace_back("namespaces", json::Value(std::move(namespace_names)));
          session.print_json(json::Value(std::move(object)));
          return;
        }
        for (const catalog::TableIdentifier& table : tables) session.print_line(printable(catalog::to_string(table)));
        if (options->recursive) return;
        for (const catalog::Namespace& levels : namespaces) session.print_line(printable(catalog::to_string(levels)));
      });
}

}  // namespace frazil::cli
