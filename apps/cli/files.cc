#include <map>
#include <memory>
#include <set>
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

namespace frazil::cli {
namespace {

json::Value bound_json(const spec::NestedField& field, std::string_view bound) {
  try {
    auto literal = spec::bound_from_bytes(field.type, std::as_bytes(std::span(bound)));
    return literal ? literal_json(*literal) : json::Value(nullptr);
  } catch (const Error&) {
    return encode_hex(bound);  // listing shows what is there, also if it is damaged
  }
}

// {"column": {"value_count": ..., "lower_bound": ...}}, as readable_metrics of Iceberg's metadata tables. Columns that
// the schema no longer has go by their id.
JsonText metrics_json(const spec::Schema& schema, const manifest::Entry& entry) {
  std::map<int32_t, json::Object> by_id;
  auto add_counts = [&](manifest::CountKind kind, const char* name) {
    for (auto [id, count] : entry.counts(kind)) by_id[id].emplace_back(name, json::Value(count));
  };
  auto add_bounds = [&](manifest::BoundKind kind, const char* name) {
    for (auto [id, bound] : entry.bounds(kind)) {
      const spec::NestedField* field = schema.find(id);
      by_id[id].emplace_back(name, field != nullptr ? bound_json(*field, bound) : json::Value(encode_hex(bound)));
    }
  };
  add_counts(manifest::CountKind::kColumnSize, "column_size");
  add_counts(manifest::CountKind::kValueCount, "value_count");
  add_counts(manifest::CountKind::kNullValueCount, "null_value_count");
  add_counts(manifest::CountKind::kNanValueCount, "nan_value_count");
  add_bounds(manifest::BoundKind::kLower, "lower_bound");
  add_bounds(manifest::BoundKind::kUpper, "upper_bound");
  json::Object columns;
  for (auto& [id, object] : by_id) {
    std::string name = schema.full_name(id);
    columns.emplace_back(name.empty() ? std::to_string(id) : name, json::Value(std::move(object)));
  }
  return {json::write(json::Value(std::move(columns)))};
}

JsonText numbers_json(const auto& numbers) {
  std::string text = "[";
  for (auto number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return {text + "]"};
}

struct Options {
  std::string table;
  SnapshotArguments snapshot;
  bool history = false;
  bool metrics = false;
};

class FilesPrinter {
 public:
  FilesPrinter(Session& session, const catalog::LoadedTable& table, bool with_metrics)
      : session_(session),
        table_(table),
        with_metrics_(with_metrics),
        listing_(session.is_json() ? session.listing(json_columns()) : session.listing(text_columns())) {}

  void print(const spec::Snapshot& snapshot) {
    for (const manifest::ManifestFile& file : manifests_of(session_, table_, snapshot)) {
      if (!file.may_have_live_files() || !seen_.insert(file.path).second) continue;
      print(open_manifest(session_, table_, file, with_metrics_, cache_));
    }
  }

  void finish() { listing_.finish("no files"); }

 private:
  static std::vector<ListingColumn> text_columns() {
    return {{"content"}, {"format"}, {"rows", true}, {"bytes", true}, {"partition"}, {"file_path"}};
  }

  std::vector<ListingColumn> json_columns() const {
    std::vector<ListingColumn> columns = {{"content"},
                                          {"file_path"},
                                          {"file_format"},
                                          {"spec_id"},
                                          {"partition"},
                                          {"record_count"},
                                          {"file_size_in_bytes"},
                                          {"snapshot_id"},
                                          {"sequence_number"},
                                          {"file_sequence_number"},
                                          {"sort_order_id"},
                                          {"split_offsets"},
                                          {"equality_ids"},
                                          {"first_row_id"},
                                          {"referenced_data_file"},
                                          {"content_offset"},
                                          {"content_size_in_bytes"}};
    if (with_metrics_) columns.push_back({"readable_metrics"});
    return columns;
  }

  void print(const manifest::Manifest& manifest) {
    const spec::TableMetadata& metadata = *table_.metadata;
    for (size_t i = 0; i < manifest.size(); ++i) {
      manifest::Entry entry = manifest[i];
      if (!entry.is_live()) continue;
      std::string content(manifest::to_string(entry.content()));
      std::string path(entry.file_path());
      if (!session_.is_json()) {
        listing_.row({std::move(content), std::string(manifest::to_string(entry.file_format())), entry.record_count(),
                      entry.file_size_bytes(), partition_text(metadata, manifest, entry), std::move(path)});
        continue;
      }
      std::vector<int64_t> split_offsets = entry.split_offsets();
      std::vector<int32_t> equality_ids = entry.equality_ids();
      std::vector<Cell> cells = {
          std::move(content),
          std::move(path),
          std::string(manifest::to_string(entry.file_format())),
          int64_t{manifest.file().partition_spec_id},
          partition_json(manifest, entry),
          entry.record_count(),
          entry.file_size_bytes(),
          optional_cell(entry.snapshot_id()),
          optional_cell(entry.sequence_number()),
          optional_cell(entry.file_sequence_number()),
          optional_cell(entry.sort_order_id()),
          split_offsets.empty() ? Cell(Null{}) : Cell(numbers_json(split_offsets)),
          equality_ids.empty() ? Cell(Null{}) : Cell(numbers_json(equality_ids)),
          optional_cell(entry.first_row_id()),
          entry.referenced_data_file() ? Cell(std::string(*entry.referenced_data_file())) : Cell(Null{}),
          optional_cell(entry.content_offset()),
          optional_cell(entry.content_size_bytes()),
      };
      if (with_metrics_) cells.emplace_back(metrics_json(*metadata.current_schema(), entry));
      listing_.row(std::move(cells));
    }
  }

  Session& session_;
  const catalog::LoadedTable& table_;
  bool with_metrics_;
  Listing listing_;
  manifest::ManifestSchemaCache cache_;
  std::set<std::string> seen_;  // a manifest is part of many snapshots
};

}  // namespace

void print_files(Session& session, const catalog::LoadedTable& table) {
  FilesPrinter printer(session, table, false);
  if (const spec::Snapshot* snapshot = table.metadata->current_snapshot()) printer.print(*snapshot);
  printer.finish();
}

void add_files(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add("files", "Print the data and delete files of a table");
  command.positional("TABLE", options->table, "namespace.table, catalog.namespace.table, or a path")
      .flag("--history", options->history, "the files of all snapshots, each once a manifest")
      .flag("--metrics", options->metrics, "with --output json: counts and bounds of each column");
  add_snapshot_arguments(command, options->snapshot);
  command.example("frazil files web.hits")
      .example("frazil files web.hits --ref audit --output json --metrics")
      .action([options](Session& session) {
        spec::SnapshotSelection selection = select_snapshot_of(options->snapshot);
        catalog::LoadedTable table = session.load_table(options->table);
        FilesPrinter printer(session, table, options->metrics && session.is_json());
        if (options->history) {
          for (const spec::Snapshot& snapshot : table.metadata->snapshots) printer.print(snapshot);
        } else if (const auto* snapshot = spec::select_snapshot(*table.metadata, selection).snapshot) {
          printer.print(*snapshot);
        }
        printer.finish();
      });
}

}  // namespace frazil::cli
