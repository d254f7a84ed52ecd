#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "names.h"
#include "properties.h"
#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
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

EntityName parse_entity(const std::vector<std::string>& words) {
  if (words.size() == 1) return {words[0], false};
  if (words.size() == 2 && (words[0] == "table" || words[0] == "namespace")) return {words[1], words[0] == "namespace"};
  throw_error(ErrorKind::kInvalidArgument, "expected a name, with 'table' or 'namespace' before it or nothing");
}

namespace {

void print_done(Session& session, std::string_view done, const std::string& text) {
  if (session.is_json()) {
    session.print_json(json::Value(json::Object{{"namespace", json::Value(text)}}));
  } else {
    session.print_line(printable(message("{} namespace {}", done, text)));
  }
}

}  // namespace

void create_namespace(Session& session, const std::string& name, const std::vector<std::string>& properties) {
  const catalog::NamespaceInCatalog target = parse_namespace_argument(session, name);
  catalog::Properties made;
  for (auto& [key, value] : split_properties(properties)) made[key] = std::move(value);
  session.open_catalog(target.catalog).create_namespace(target.levels, made);
  print_done(session, "created", catalog::to_string(target.levels));
}

void drop_namespace(Session& session, const std::string& name) {
  const catalog::NamespaceInCatalog target = parse_namespace_argument(session, name);
  session.open_catalog(target.catalog).drop_namespace(target.levels);
  print_done(session, "dropped", catalog::to_string(target.levels));
}

void add_namespace(Command& root) {
  struct Options {
    std::string name;
    bool recursive = false;
    std::vector<std::string> properties = {};
  };
  Command group = root.add("namespace", "Create, drop and look into namespaces");

  auto create = std::make_shared<Options>();
  group.add("create", "Create a namespace")
      .positional("NAMESPACE", create->name, "namespace, or catalog.namespace")
      .option("--property", create->properties, "K=V", "a property of the namespace; before the verb: of the catalog")
      .example("frazil namespace create web --property owner=ops")
      .action([create](Session& session) { create_namespace(session, create->name, create->properties); });

  auto drop = std::make_shared<Options>();
  group.add("drop", "Drop a namespace without tables")
      .positional("NAMESPACE", drop->name, "namespace, or catalog.namespace")
      .example("frazil namespace drop web")
      .action([drop](Session& session) { drop_namespace(session, drop->name); });

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
