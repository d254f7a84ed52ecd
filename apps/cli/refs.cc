#include <memory>
#include <optional>
#include <string>

#include "inspect.h"
#include "session.h"
#include "verbs.h"

namespace frazil::cli {
namespace {

void print(Session& session, const catalog::LoadedTable& table, const std::optional<std::string>& type) {
  Listing listing = session.listing({{"name"},
                                     {"type"},
                                     {"snapshot_id", true},
                                     {"max_reference_age_in_ms", true},
                                     {"min_snapshots_to_keep", true},
                                     {"max_snapshot_age_in_ms", true}});
  for (const spec::SnapshotRef& ref : table.metadata->refs) {
    bool is_branch = ref.type == spec::RefType::kBranch;
    if (type && (*type == "branch") != is_branch) continue;
    listing.row({ref.name, std::string(is_branch ? "branch" : "tag"), ref.snapshot_id,
                 ref.max_ref_age_ms ? Cell(*ref.max_ref_age_ms) : Cell(Null{}),
                 ref.min_snapshots_to_keep ? Cell(int64_t{*ref.min_snapshots_to_keep}) : Cell(Null{}),
                 ref.max_snapshot_age_ms ? Cell(*ref.max_snapshot_age_ms) : Cell(Null{})});
  }
  listing.finish("no branches and no tags");
}

}  // namespace

void print_refs(Session& session, const catalog::LoadedTable& table) {
  print(session, table, std::nullopt);
}

void add_refs(Command& root) {
  struct Options {
    std::string table;
    std::optional<std::string> type;
  };
  auto options = std::make_shared<Options>();
  root.add("refs,list-refs", "Print the branches and tags of a table")
      .positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path")
      .choice("--type", options->type, {"branch", "tag"}, "only these")
      .example("frazil refs web.hits --type tag")
      .action([options](Session& session) { print(session, session.load_table(options->table), options->type); });
}

}  // namespace frazil::cli
