#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "names.h"
#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/commit/purge.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::vector<std::string> name;
  bool purge = false;
};

const catalog::TableInCatalog& require_catalog(const catalog::TableName& name) {
  const auto* in_catalog = std::get_if<catalog::TableInCatalog>(&name);
  if (in_catalog != nullptr) return *in_catalog;
  throw Error(ErrorKind::kUnsupported, "a table at a path is in no catalog that could forget it")
      .set_hint("remove its folder");
}

void drop(Session& session, const Arguments& arguments) {
  const EntityName entity = parse_entity(arguments.name);
  if (entity.is_namespace) {
    drop_namespace(session, entity.name);
    return;
  }
  const catalog::TableName name = session.table_name(entity.name);
  const catalog::TableInCatalog& target = require_catalog(name);
  catalog::Catalog& catalog = session.open_catalog(target.catalog);
  commit::PurgeResult purged;
  if (arguments.purge) {
    purged = commit::drop_and_purge(session.context(), catalog, target.identifier);
  } else {
    catalog.drop_table(target.identifier);
  }
  for (const std::string& failure : purged.failures) session.notice(failure);
  const std::string text = catalog::to_string(target.identifier);
  if (session.is_json()) {
    session.print_json(json::Value(json::Object{{"table", json::Value(text)},
                                                {"deleted_files", json::Value(purged.deleted_files)},
                                                {"failed_files", json::Value(purged.failure_count)}}));
    return;
  }
  session.print_line(printable("dropped " + text) + (arguments.purge
                                                         ? " and deleted " + human_count(purged.deleted_files, "file")
                                                         : "; its files are still there"));
}

}  // namespace

void add_drop(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  root.add("drop", "Drop a table from its catalog")
      .positionals("TABLE", arguments->name, "namespace.table; 'namespace NAME' drops a namespace")
      .flag("--purge", arguments->purge, "delete all files that its snapshots name")
      .example("frazil drop web.hits")
      .example("frazil drop web.hits --purge")
      .action([arguments](Session& session) { drop(session, *arguments); });
}

}  // namespace frazil::cli
