#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "names.h"
#include "properties.h"
#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"
#include "frazil/runtime/stop.h"

namespace frazil::cli {

catalog::NamespaceInCatalog parse_namespace_argument(Session& session, const std::string& text) {
  bool catalog_given = session.options().catalog.has_value() || session.options().uri.has_value();
  return catalog::parse_namespace_name(text, session.configuration(), catalog_given);
}

std::vector<catalog::Namespace> namespaces_below(Session& session, catalog::Catalog& catalog,
                                                 const catalog::Namespace& parent) {
  std::vector<catalog::Namespace> found;
  std::vector<catalog::Namespace> open = {parent};
  while (!open.empty()) {
    throw_if_stopped(session.stop());
    catalog::Namespace at = std::move(open.back());
    open.pop_back();
    std::vector<catalog::Namespace> children = catalog.list_namespaces(at);
    if (at != parent) found.push_back(std::move(at));
    for (auto child = children.rbegin(); child != children.rend(); ++child) open.push_back(std::move(*child));
  }
  return found;
}

void add_namespace(Command& root) {
  struct Options {
    std::string name;
    bool recursive = false;
  };
  Command group = root.add("namespace", "Look into namespaces");

  auto list = std::make_shared<Options>();
  group.add("list", "Print the namespaces of a catalog, or those below one")
      .positional("NAMESPACE", list->name, "else those of the catalog", Presence::kOptional)
      .flag("-r,--recursive", list->recursive, "of every depth")
      .example("frazil namespace list")
      .action([list](Session& session) {
        catalog::NamespaceInCatalog parent = parse_namespace_argument(session, list->name);
        catalog::Catalog& catalog = session.open_catalog(parent.catalog);
        auto namespaces = list->recursive ? namespaces_below(session, catalog, parent.levels)
                                          : catalog.list_namespaces(parent.levels);
        if (session.is_json()) {
          json::Array names;
          for (const catalog::Namespace& levels : namespaces) names.emplace_back(catalog::to_string(levels));
          session.print_json(json::Value(std::move(names)));
        } else {
          for (const catalog::Namespace& levels : namespaces) session.print_line(printable(catalog::to_string(levels)));
        }
      });

  auto properties = std::make_shared<Options>();
  group.add("properties", "Print the properties of a namespace")
      .positional("NAMESPACE", properties->name, "namespace, or catalog.namespace")
      .example("frazil namespace properties web")
      .action([properties](Session& session) { print_namespace_properties(session, properties->name, {}); });
}

}  // namespace frazil::cli
