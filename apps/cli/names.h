// Names on the command line; namespaces, and all that are below one.
#pragma once

#include <string>
#include <vector>

#include "frazil/catalog/catalog.h"

namespace frazil::cli {

class Session;

catalog::NamespaceInCatalog parse_namespace_argument(Session& session, const std::string& text);

// Creates or drops the namespace and says so.
void create_namespace(Session& session, const std::string& name, const std::vector<std::string>& properties);
void drop_namespace(Session& session, const std::string& name);

// "[table|namespace] NAME", PyIceberg's words: NAME, and whether `namespace` stood before it.
struct EntityName {
  std::string name;
  bool is_namespace = false;
};
EntityName parse_entity(const std::vector<std::string>& words);

// Of every depth, parents before children. Throws CancelledError when the user stops it.
std::vector<catalog::Namespace> namespaces_below(Session& session, catalog::Catalog& catalog,
                                                 const catalog::Namespace& parent);

}  // namespace frazil::cli
