#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "inspect.h"
#include "session.h"
#include "verbs.h"

namespace frazil::cli {

void print_history(Session& session, const catalog::LoadedTable& table) {
  const spec::TableMetadata& metadata = *table.metadata;
  std::unordered_map<int64_t, const spec::Snapshot*> by_id;
  for (const spec::Snapshot& snapshot : metadata.snapshots) by_id.emplace(snapshot.snapshot_id, &snapshot);
  // The current snapshot and those before it. Metadata of others may have a cycle: each id counts once.
  std::unordered_set<int64_t> ancestors;
  for (const spec::Snapshot* at = metadata.current_snapshot(); at != nullptr;) {
    if (!ancestors.insert(at->snapshot_id).second || !at->parent_snapshot_id) break;
    auto parent = by_id.find(*at->parent_snapshot_id);
    at = parent == by_id.end() ? nullptr : parent->second;
  }

  Listing listing =
      session.listing({{"made_current_at"}, {"snapshot_id", true}, {"parent_id", true}, {"is_current_ancestor"}});
  for (const spec::SnapshotLogEntry& entry : metadata.snapshot_log) {
    auto snapshot = by_id.find(entry.snapshot_id);
    bool has_parent = snapshot != by_id.end() && snapshot->second->parent_snapshot_id;
    listing.row({iso_time(entry.timestamp_ms), entry.snapshot_id,
                 has_parent ? Cell(*snapshot->second->parent_snapshot_id) : Cell(Null{}),
                 ancestors.contains(entry.snapshot_id)});
  }
  listing.finish("no history");
}

void print_metadata_log(Session& session, const catalog::LoadedTable& table) {
  Listing listing = session.listing({{"timestamp"}, {"file"}});
  for (const spec::MetadataLogEntry& entry : table.metadata->metadata_log) {
    listing.row({iso_time(entry.timestamp_ms), entry.metadata_file});
  }
  listing.row({iso_time(table.metadata->last_updated_ms), table.metadata_location});
  listing.finish();
}

void add_history(Command& root) {
  auto table = std::make_shared<std::string>();
  root.add("history", "Print which snapshot was current when")
      .positional("TABLE", *table, "namespace.table, catalog.namespace.table, or a path")
      .example("frazil history web.hits")
      .action([table](Session& session) { print_history(session, session.load_table(*table)); });
}

}  // namespace frazil::cli
