#include <memory>
#include <string>

#include "inspect.h"
#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {

void print_snapshots(Session& session, const catalog::LoadedTable& table) {
  const spec::TableMetadata& metadata = *table.metadata;
  if (session.is_json()) {
    Listing listing = session.listing({{"committed_at"},
                                       {"snapshot_id"},
                                       {"parent_id"},
                                       {"operation"},
                                       {"manifest_list"},
                                       {"sequence_number"},
                                       {"schema_id"},
                                       {"summary"}});
    for (const spec::Snapshot& snapshot : metadata.snapshots) {
      json::Object summary;
      for (const auto& [key, value] : snapshot.summary) {
        if (key != "operation") summary.emplace_back(key, json::Value(value));
      }
      listing.row({iso_time(snapshot.timestamp_ms), snapshot.snapshot_id,
                   snapshot.parent_snapshot_id ? Cell(*snapshot.parent_snapshot_id) : Cell(Null{}),
                   snapshot.operation().empty() ? Cell(Null{}) : Cell(std::string(snapshot.operation())),
                   snapshot.manifest_list ? Cell(*snapshot.manifest_list) : Cell(Null{}), snapshot.sequence_number,
                   snapshot.schema_id ? Cell(int64_t{*snapshot.schema_id}) : Cell(Null{}),
                   JsonText{json::write(json::Value(std::move(summary)))}});
    }
    listing.finish();
    return;
  }

  Listing listing = session.listing({{"committed_at"},
                                     {"snapshot_id", true},
                                     {"parent_id", true},
                                     {"operation"},
                                     {"schema", true},
                                     {"added_files", true},
                                     {"added_rows", true},
                                     {"total_files", true},
                                     {"total_rows", true},
                                     {"refs"}});
  for (const spec::Snapshot& snapshot : metadata.snapshots) {
    auto figure = [&](std::string_view key) {
      auto value = snapshot.summary_value(key);
      return value ? Cell(std::string(*value)) : Cell(Null{});
    };
    std::string refs;
    for (const spec::SnapshotRef& ref : metadata.refs) {
      if (ref.snapshot_id == snapshot.snapshot_id) refs += (refs.empty() ? "" : ", ") + ref.name;
    }
    listing.row({iso_time(snapshot.timestamp_ms), snapshot.snapshot_id,
                 snapshot.parent_snapshot_id ? Cell(*snapshot.parent_snapshot_id) : Cell(Null{}),
                 std::string(snapshot.operation()),
                 snapshot.schema_id ? Cell(int64_t{*snapshot.schema_id}) : Cell(Null{}), figure("added-data-files"),
                 figure("added-records"), figure("total-data-files"), figure("total-records"), refs});
  }
  listing.finish("no snapshots");
}

void add_snapshots(Command& root) {
  auto table = std::make_shared<std::string>();
  root.add("snapshots", "Print the snapshots of a table")
      .positional("TABLE", *table, "namespace.table, catalog.namespace.table, or a path")
      .example("frazil snapshots web.hits")
      .action([table](Session& session) { print_snapshots(session, session.load_table(*table)); });
}

}  // namespace frazil::cli
