// Namespaces on the command line, and all that are below one.
#pragma once

#include <string>
#include <vector>

#include "frazil/catalog/catalog.h"

namespace frazil::cli {

class Session;

catalog::NamespaceInCatalog parse_namespace_argument(Session& session, const std::string& text);

// Of every depth, parents before children. Throws CancelledError when the user stops it.
std::vector<catalog::Namespace> namespaces_below(Session& session, catalog::Catalog& catalog,
                                                 const catalog::Namespace& parent);

}  // namespace frazil::cli
