#include "frazil/catalog/identifier.h"

#include "frazil/base/error.h"
#include "frazil/catalog/configuration.h"

namespace frazil::catalog {
namespace {

std::string join(const Namespace& levels) {
  std::string text;
  for (const std::string& level : levels) {
    if (!text.empty()) text += '.';
    text += level;
  }
  return text;
}

std::vector<std::string> split_levels(std::string_view text, std::string_view what) {
  std::vector<std::string> levels;
  size_t begin = 0;
  while (true) {
    size_t end = text.find('.', begin);
    std::string_view level = text.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (level.empty()) throw_error(ErrorKind::kInvalidArgument, "{} has an empty part: '{}'", what, text);
    levels.emplace_back(level);
    if (end == std::string_view::npos) return levels;
    begin = end + 1;
  }
}

bool begins_with_scheme(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ':') return i > 1;
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    // A scheme may hold dots, but none in use does, and "namespace.table" must stay an identifier.
    if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-'))) return false;
  }
  return false;
}

}  // namespace

std::string to_string(const Namespace& levels) {
  return join(levels);
}

std::string to_string(const TableIdentifier& identifier) {
  std::string text = join(identifier.levels);
  if (!text.empty()) text += '.';
  return text + identifier.name;
}

Namespace parse_namespace(std::string_view text) {
  if (text.empty()) return {};
  return split_levels(text, "namespace");
}

TableIdentifier parse_identifier(std::string_view text) {
  if (text.empty()) throw_error(ErrorKind::kInvalidArgument, "table name is empty");
  Namespace levels = split_levels(text, "table name");
  TableIdentifier identifier;
  identifier.name = std::move(levels.back());
  levels.pop_back();
  identifier.levels = std::move(levels);
  return identifier;
}

bool is_table_path(std::string_view text) {
  if (text.find('/') != std::string_view::npos || begins_with_scheme(text)) return true;
  return text.ends_with(".metadata.json") || text.ends_with(".metadata.json.gz");
}

TableName parse_table_name(std::string_view text, const Configuration& configuration, bool catalog_given) {
  if (is_table_path(text)) return TablePath{std::string(text)};
  TableInCatalog table;
  table.identifier = parse_identifier(text);
  Namespace& levels = table.identifier.levels;
  // "lake.t" stays table t of namespace lake: an identifier needs a namespace after the catalog.
  if (!catalog_given && levels.size() >= 2 && configuration.has_catalog(levels.front())) {
    table.catalog = levels.front();
    levels.erase(levels.begin());
  }
  return table;
}

NamespaceInCatalog parse_namespace_name(std::string_view text, const Configuration& configuration, bool catalog_given) {
  NamespaceInCatalog result;
  result.levels = parse_namespace(text);
  if (!catalog_given && result.levels.size() >= 2 && configuration.has_catalog(result.levels.front())) {
    result.catalog = result.levels.front();
    result.levels.erase(result.levels.begin());
  }
  return result;
}

}  // namespace frazil::catalog
