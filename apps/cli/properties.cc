#include "properties.h"

#include <memory>
#include <utility>
#include <vector>

#include "names.h"
#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void print(Session& session, const Pairs& properties, const std::optional<std::string>& key, const std::string& owner) {
  if (key) {
    for (const auto& [name, value] : properties) {
      if (name != *key) continue;
      if (session.is_json()) {
        session.print_json(json::Value(value));
      } else {
        session.print_line(printable(value));
      }
      return;
    }
    throw_error(ErrorKind::kNotFound, "{} has no property '{}'", owner, *key);
  }
  if (session.is_json()) {
    json::Object object;
    for (const auto& [name, value] : properties) object.emplace_back(name, json::Value(value));
    session.print_json(json::Value(std::move(object)));
    return;
  }
  Listing listing = session.listing({{"property"}, {"value"}});
  for (const auto& [name, value] : properties) listing.row({name, value});
  listing.finish("no properties");
}

struct Options {
  std::vector<std::string> words;
};

// get NAME [KEY], and PyIceberg's get table NAME [KEY], get namespace NAME [KEY].
void run(Session& session, std::vector<std::string> words) {
  std::string kind = "any";
  if (words.size() >= 2 && (words.front() == "table" || words.front() == "namespace")) {
    kind = words.front();
    words.erase(words.begin());
  }
  if (words.empty() || words.size() > 2) {
    Error error(ErrorKind::kInvalidArgument, "expected a table or namespace, and perhaps a property");
    throw error.set_hint("frazil properties get [table|namespace] NAME [KEY]");
  }
  std::optional<std::string> key;
  if (words.size() == 2) key = words[1];
  if (kind == "namespace") {
    print_namespace_properties(session, words[0], key);
    return;
  }
  print_table_properties(session, words[0], key);
}

}  // namespace

void print_namespace_properties(Session& session, const std::string& name, const std::optional<std::string>& key) {
  catalog::NamespaceInCatalog found = parse_namespace_argument(session, name);
  Pairs pairs;
  for (const auto& [key_name, value] : session.open_catalog(found.catalog).namespace_properties(found.levels)) {
    pairs.emplace_back(key_name, value);
  }
  print(session, pairs, key, "namespace '" + name + "'");
}

void print_table_properties(Session& session, const std::string& name, const std::optional<std::string>& key) {
  catalog::LoadedTable table = session.load_table(name);
  print(session, table.metadata->properties, key, "table '" + name + "'");
}

void add_properties(Command& root) {
  Command group = root.add("properties", "Print the properties of a table or namespace");
  auto all = std::make_shared<Options>();
  group.positionals("NAME [KEY]", all->words, "a table, and perhaps one property of it", Presence::kOptional)
      .example("frazil properties web.hits")
      .example("frazil properties get web.hits write.format.default")
      .example("frazil properties get namespace web")
      .action([all](Session& session) { run(session, all->words); });
  auto get = std::make_shared<Options>();
  group.add("get", "Print all properties, or one")
      .positionals("[table|namespace] NAME [KEY]", get->words, "a table unless 'namespace' stands before it",
                   Presence::kRequired)
      .action([get](Session& session) { run(session, get->words); });
}

}  // namespace frazil::cli
