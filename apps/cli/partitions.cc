#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "inspect.h"
#include "manifests_of.h"
#include "session.h"
#include "snapshot_arguments.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {

json::Value literal_json(const spec::Literal& literal) {
  if (literal.is_null()) return nullptr;
  try {
    return spec::literal_to_json(literal);
  } catch (const Error&) {
    return nullptr;
  }
}

std::string partition_text(const spec::TableMetadata& metadata, const manifest::Manifest& manifest,
                           const manifest::Entry& entry) {
  std::string text;
  const spec::PartitionSpec* partition_spec = metadata.find_spec(manifest.file().partition_spec_id);
  std::span<const spec::NestedField> fields = manifest.partition_type()->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += '/';
    const spec::PartitionField* field = partition_spec != nullptr ? partition_spec->find(fields[i].id) : nullptr;
    spec::Literal value = entry.partition_value(i);
    std::string shown = "null";
    if (!value.is_null()) {
      try {
        shown = field != nullptr ? field->transform.human_string(value) : json::write(spec::literal_to_json(value));
      } catch (const Error&) {
        shown = "?";
      }
    }
    text += fields[i].name + "=" + shown;
  }
  return text;
}

JsonText partition_json(const manifest::Manifest& manifest, const manifest::Entry& entry) {
  std::span<const spec::NestedField> fields = manifest.partition_type()->fields();
  json::Object partition;
  for (size_t i = 0; i < fields.size(); ++i) {
    partition.emplace_back(fields[i].name, literal_json(entry.partition_value(i)));
  }
  return {json::write(json::Value(std::move(partition)))};
}

namespace {

struct Figures {
  std::string text;
  int64_t records = 0;
  int64_t files = 0;
  int64_t bytes = 0;  // of data files
  int64_t position_delete_records = 0;
  int64_t position_delete_files = 0;
  int64_t equality_delete_records = 0;
  int64_t equality_delete_files = 0;
  std::optional<int64_t> last_snapshot_id;
  std::optional<int64_t> last_updated_ms;
};

// By spec and the partition's JSON, which is one for one value.
using Partitions = std::map<std::pair<int32_t, std::string>, Figures>;

void add(Figures& figures, const manifest::Entry& entry, const spec::TableMetadata& metadata) {
  switch (entry.content()) {
    case manifest::FileContent::kData:
      figures.records += entry.record_count();
      figures.bytes += entry.file_size_bytes();
      ++figures.files;
      break;
    case manifest::FileContent::kPositionDeletes:
      figures.position_delete_records += entry.record_count();
      ++figures.position_delete_files;
      break;
    case manifest::FileContent::kEqualityDeletes:
      figures.equality_delete_records += entry.record_count();
      ++figures.equality_delete_files;
      break;
  }
  auto snapshot_id = entry.snapshot_id();
  const spec::Snapshot* snapshot = snapshot_id ? metadata.find_snapshot(*snapshot_id) : nullptr;
  // An expired snapshot's time is not known any more.
  if (snapshot != nullptr && (!figures.last_updated_ms || snapshot->timestamp_ms > *figures.last_updated_ms)) {
    figures.last_updated_ms = snapshot->timestamp_ms;
    figures.last_snapshot_id = snapshot_id;
  }
}

void print(Session& session, const catalog::LoadedTable& table, const spec::SnapshotSelection& selection) {
  const spec::TableMetadata& metadata = *table.metadata;
  Partitions partitions;
  manifest::ManifestSchemaCache cache;
  if (const spec::Snapshot* snapshot = spec::select_snapshot(metadata, selection).snapshot) {
    for (const manifest::ManifestFile& file : manifests_of(session, table, *snapshot)) {
      if (!file.may_have_live_files()) continue;
      manifest::Manifest manifest = open_manifest(session, table, file, false, cache);
      for (size_t i = 0; i < manifest.size(); ++i) {
        manifest::Entry entry = manifest[i];
        if (!entry.is_live()) continue;
        Figures& figures = partitions[{file.partition_spec_id, partition_json(manifest, entry).text}];
        if (figures.text.empty()) figures.text = partition_text(metadata, manifest, entry);
        add(figures, entry, metadata);
      }
    }
  }

  auto time = [](const Figures& figures) {
    return figures.last_updated_ms ? Cell(iso_time(*figures.last_updated_ms)) : Cell(Null{});
  };
  if (!session.is_json()) {
    Listing listing = session.listing({{"partition"},
                                       {"spec_id", true},
                                       {"rows", true},
                                       {"files", true},
                                       {"bytes", true},
                                       {"delete_files", true},
                                       {"last_updated_at"}});
    for (const auto& [key, figures] : partitions) {
      listing.row({figures.text.empty() ? std::string("(unpartitioned)") : figures.text, int64_t{key.first},
                   figures.records, figures.files, figures.bytes,
                   figures.position_delete_files + figures.equality_delete_files, time(figures)});
    }
    listing.finish("no partitions");
    return;
  }
  Listing listing = session.listing({{"partition"},
                                     {"spec_id"},
                                     {"record_count"},
                                     {"file_count"},
                                     {"total_data_file_size_in_bytes"},
                                     {"position_delete_record_count"},
                                     {"position_delete_file_count"},
                                     {"equality_delete_record_count"},
                                     {"equality_delete_file_count"},
                                     {"last_updated_at"},
                                     {"last_updated_snapshot_id"}});
  for (const auto& [key, figures] : partitions) {
    listing.row({JsonText{key.second}, int64_t{key.first}, figures.records, figures.files, figures.bytes,
                 figures.position_delete_records, figures.position_delete_files, figures.equality_delete_records,
                 figures.equality_delete_files, time(figures),
                 figures.last_snapshot_id ? Cell(*figures.last_snapshot_id) : Cell(Null{})});
  }
  listing.finish();
}

}  // namespace

void print_partitions(Session& session, const catalog::LoadedTable& table) {
  print(session, table, spec::CurrentSnapshot{});
}

void add_partitions(Command& root) {
  struct Options {
    std::string table;
    SnapshotArguments snapshot;
  };
  auto options = std::make_shared<Options>();
  Command command = root.add("partitions", "Print the partitions of a table and what each holds");
  command.positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path");
  add_snapshot_arguments(command, options->snapshot);
  command.example("frazil partitions web.hits").action([options](Session& session) {
    spec::SnapshotSelection selection = select_snapshot_of(options->snapshot);
    print(session, session.load_table(options->table), selection);
  });
}

}  // namespace frazil::cli
