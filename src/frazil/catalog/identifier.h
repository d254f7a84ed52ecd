// How a user names a table on the command line:
//
//   TABLE       := path | identifier
//   path        := contains "/", or begins with a scheme ("file:"), or ends in .metadata.json, .gz.metadata.json or
//                  .metadata.json.gz                       // a metadata file or a table's folder; "./x" forces one
//   identifier  := [catalog "."] namespace level ("." level)* "." name
//
// The first word names a catalog only if one of that name is configured.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace frazil::catalog {

class Configuration;

// The levels of a namespace, outermost first. Empty: the root of the catalog.
using Namespace = std::vector<std::string>;

struct TableIdentifier {
  Namespace levels;
  std::string name;

  bool operator==(const TableIdentifier&) const = default;
};

std::string to_string(const Namespace& levels);            // "a.b"
std::string to_string(const TableIdentifier& identifier);  // "a.b.name"

// Throw Error(kInvalidArgument) on an empty level or name. An empty text is the root namespace.
Namespace parse_namespace(std::string_view text);
TableIdentifier parse_identifier(std::string_view text);

bool is_table_path(std::string_view text);

struct TablePath {
  std::string path;
};
struct TableInCatalog {
  std::string catalog;  // as the user wrote it; empty: the default one
  TableIdentifier identifier;
};
using TableName = std::variant<TablePath, TableInCatalog>;

// Reads TABLE as above. With `catalog_given` (--catalog) the first word is never taken for a catalog.
TableName parse_table_name(std::string_view text, const Configuration& configuration, bool catalog_given);

// "lake.a.b" as a namespace with its catalog, by the same rule.
struct NamespaceInCatalog {
  std::string catalog;
  Namespace levels;
};
NamespaceInCatalog parse_namespace_name(std::string_view text, const Configuration& configuration, bool catalog_given);

}  // namespace frazil::catalog
