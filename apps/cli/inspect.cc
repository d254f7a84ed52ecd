#include "inspect.h"

#include <memory>
#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"

namespace frazil::cli {
namespace {

constexpr MetadataTable kTables[] = {
    {"files", "data and delete files", &print_files},
    {"history", "which snapshot was current when", &print_history},
    {"manifests", "the manifests of the current snapshot", &print_manifests},
    {"metadata_log_entries", "the metadata files before this one", &print_metadata_log},
    {"partitions", "the partitions and what each holds", &print_partitions},
    {"refs", "branches and tags", &print_refs},
    {"snapshots", "the snapshots and what each changed", &print_snapshots},
};

}  // namespace

std::span<const MetadataTable> metadata_tables() {
  return kTables;
}

void add_inspect(Command& root) {
  struct Options {
    std::string table;
    std::string name;
  };
  auto options = std::make_shared<Options>();
  std::string names;
  for (const MetadataTable& table : kTables) names += (names.empty() ? "" : ", ") + std::string(table.name);
  root.add("inspect", "Print a table about a table")
      .positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path")
      .positional("NAME", options->name, names)
      .example("frazil inspect web.hits snapshots")
      .action([options, names](Session& session) {
        for (const MetadataTable& table : kTables) {
          if (table.name != options->name) continue;
          table.print(session, session.load_table(options->table));
          return;
        }
        Error error(ErrorKind::kInvalidArgument, message("there is no table '{}' about tables", options->name));
        throw error.set_hint("there are " + names);
      });
}

}  // namespace frazil::cli
