#include <memory>
#include <string>
#include <utility>

#include "inspect.h"
#include "manifests_of.h"
#include "session.h"
#include "snapshot_arguments.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/io/file_system.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/stop.h"
#include "frazil/spec/literal.h"

namespace frazil::cli {

std::vector<manifest::ManifestFile> manifests_of(Session& session, const catalog::LoadedTable& table,
                                                 const spec::Snapshot& snapshot) {
  MemoryPool& pool = session.context().memory_pool();
  if (snapshot.manifest_list) {
    return manifest::read_manifest_list(table.files->open_input(*snapshot.manifest_list), pool);
  }
  std::vector<manifest::ManifestFile> manifests;
  if (!snapshot.manifests) return manifests;
  for (const std::string& path : *snapshot.manifests) {
    throw_if_stopped(session.stop());
    manifests.push_back(
        manifest::manifest_file_without_list(table.files->open_input(path), path, snapshot.snapshot_id, pool));
  }
  return manifests;
}

manifest::Manifest open_manifest(Session& session, const catalog::LoadedTable& table,
                                 const manifest::ManifestFile& file, bool with_metrics,
                                 manifest::ManifestSchemaCache& cache) {
  throw_if_stopped(session.stop());
  manifest::ManifestOptions options;
  options.with_metrics = with_metrics;
  options.cache = &cache;
  const spec::TableMetadata& metadata = *table.metadata;
  if (const spec::PartitionSpec* partition_spec = metadata.find_spec(file.partition_spec_id)) {
    options.partition_type = partition_spec->partition_type(*metadata.current_schema());
  }
  return manifest::read_manifest(table.files->open_input(file.path), file, session.context().memory_pool(), options);
}

namespace {

Cell count_cell(const std::optional<int32_t>& count) {
  return count ? Cell(int64_t{*count}) : Cell(Null{});
}
Cell count_cell(const std::optional<int64_t>& count) {
  return count ? Cell(*count) : Cell(Null{});
}

// A bound as its JSON value; hexadecimal where the type is not known.
json::Value bound_json(const spec::TypePtr& type, const std::optional<std::string>& bound) {
  if (!bound) return nullptr;
  std::span<const std::byte> bytes = std::as_bytes(std::span(*bound));
  try {
    if (type != nullptr && type->kind() != spec::TypeKind::kUnknown) {
      auto literal = spec::bound_from_bytes(type, bytes);
      return literal ? spec::literal_to_json(*literal) : json::Value(nullptr);
    }
  } catch (const Error&) {
    // Listing shows what is there, also if it is damaged.
  }
  return encode_hex(*bound);
}

JsonText summaries_json(const spec::TableMetadata& metadata, const manifest::ManifestFile& file) {
  if (!file.partitions) return {"null"};
  const spec::PartitionSpec* partition_spec = metadata.find_spec(file.partition_spec_id);
  spec::TypePtr type;
  if (partition_spec != nullptr) type = partition_spec->partition_type(*metadata.current_schema());
  json::Array summaries;
  for (size_t i = 0; i < file.partitions->size(); ++i) {
    const manifest::FieldSummary& summary = (*file.partitions)[i];
    bool known = type != nullptr && i < type->fields().size();
    spec::TypePtr field_type = known ? type->fields()[i].type : nullptr;
    json::Object object;
    object.emplace_back("name", known ? json::Value(type->fields()[i].name) : json::Value(nullptr));
    object.emplace_back("contains_null", json::Value(summary.contains_null));
    object.emplace_back("contains_nan",
                        summary.contains_nan ? json::Value(*summary.contains_nan) : json::Value(nullptr));
    object.emplace_back("lower_bound", bound_json(field_type, summary.lower_bound));
    object.emplace_back("upper_bound", bound_json(field_type, summary.upper_bound));
    summaries.emplace_back(std::move(object));
  }
  return {json::write(json::Value(std::move(summaries)))};
}

void print(Session& session, const catalog::LoadedTable& table, const spec::SnapshotSelection& selection) {
  spec::SelectedSnapshot selected = spec::select_snapshot(*table.metadata, selection);
  std::vector<manifest::ManifestFile> manifests;
  if (selected.snapshot != nullptr) manifests = manifests_of(session, table, *selected.snapshot);
  auto content = [](const manifest::ManifestFile& file) {
    return std::string(file.content == manifest::ManifestContent::kData ? "data" : "deletes");
  };

  if (!session.is_json()) {
    Listing listing = session.listing({{"content"},
                                       {"length", true},
                                       {"spec_id", true},
                                       {"added_snapshot_id", true},
                                       {"added", true},
                                       {"existing", true},
                                       {"deleted", true},
                                       {"path"}});
    for (const manifest::ManifestFile& file : manifests) {
      listing.row({content(file), file.length, int64_t{file.partition_spec_id}, count_cell(file.added_snapshot_id),
                   count_cell(file.added_files_count), count_cell(file.existing_files_count),
                   count_cell(file.deleted_files_count), file.path});
    }
    listing.finish("no manifests");
    return;
  }
  Listing listing = session.listing({{"content"},
                                     {"path"},
                                     {"length"},
                                     {"partition_spec_id"},
                                     {"sequence_number"},
                                     {"min_sequence_number"},
                                     {"added_snapshot_id"},
                                     {"added_files_count"},
                                     {"existing_files_count"},
                                     {"deleted_files_count"},
                                     {"added_rows_count"},
                                     {"existing_rows_count"},
                                     {"deleted_rows_count"},
                                     {"first_row_id"},
                                     {"partition_summaries"}});
  for (const manifest::ManifestFile& file : manifests) {
    listing.row({content(file), file.path, file.length, int64_t{file.partition_spec_id}, file.sequence_number,
                 file.min_sequence_number, count_cell(file.added_snapshot_id), count_cell(file.added_files_count),
                 count_cell(file.existing_files_count), count_cell(file.deleted_files_count),
                 count_cell(file.added_rows_count), count_cell(file.existing_rows_count),
                 count_cell(file.deleted_rows_count), count_cell(file.first_row_id),
                 summaries_json(*table.metadata, file)});
  }
  listing.finish();
}

}  // namespace

void print_manifests(Session& session, const catalog::LoadedTable& table) {
  print(session, table, spec::CurrentSnapshot{});
}

void add_manifests(Command& root) {
  struct Options {
    std::string table;
    SnapshotArguments snapshot;
  };
  auto options = std::make_shared<Options>();
  Command command = root.add("manifests", "Print the manifests of a table");
  command.positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path");
  add_snapshot_arguments(command, options->snapshot);
  command.example("frazil manifests web.hits").action([options](Session& session) {
    spec::SnapshotSelection selection = select_snapshot_of(options->snapshot);
    print(session, session.load_table(options->table), selection);
  });
}

}  // namespace frazil::cli
