#include <memory>
#include <string>
#include <variant>

#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::string from;
  std::string to;
};

void rename(Session& session, const Arguments& arguments) {
  const catalog::TableName from = session.table_name(arguments.from);
  const catalog::TableName to = session.table_name(arguments.to);
  const auto* old_name = std::get_if<catalog::TableInCatalog>(&from);
  const auto* new_name = std::get_if<catalog::TableInCatalog>(&to);
  if (old_name == nullptr || new_name == nullptr) {
    throw_error(ErrorKind::kUnsupported, "only tables of a catalog have a name");
  }
  if (old_name->catalog != new_name->catalog) {
    throw_error(ErrorKind::kInvalidArgument, "a table cannot move from catalog '{}' to '{}'", old_name->catalog,
                new_name->catalog);
  }
  session.open_catalog(old_name->catalog).rename_table(old_name->identifier, new_name->identifier);
  const std::string before = catalog::to_string(old_name->identifier);
  const std::string after = catalog::to_string(new_name->identifier);
  if (session.is_json()) {
    session.print_json(json::Value(json::Object{{"from", json::Value(before)}, {"to", json::Value(after)}}));
  } else {
    session.print_line(printable("renamed " + before + " to " + after));
  }
}

}  // namespace

void add_rename(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  root.add("rename", "Give a table another name; its files stay where they are")
      .positional("FROM", arguments->from, "namespace.table")
      .positional("TO", arguments->to, "namespace.table, of the same catalog")
      .example("frazil rename web.hits archive.hits_2026")
      .action([arguments](Session& session) { rename(session, *arguments); });
}

}  // namespace frazil::cli
