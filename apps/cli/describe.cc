#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "names.h"
#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

using Line = std::pair<std::string, std::string>;

void print_lines(Session& session, const std::vector<Line>& lines) {
  size_t width = 0;
  for (const auto& [label, value] : lines) width = std::max(width, label.size());
  bool color = session.color_out();
  for (const auto& [label, value] : lines) {
    std::string padding(width - label.size() + 2, ' ');
    session.print_line((color ? "\x1b[1m" + label + "\x1b[0m" : label) + padding + value);
  }
}

std::optional<int64_t> figure(const spec::Snapshot& snapshot, std::string_view key) {
  auto text = snapshot.summary_value(key);
  if (!text) return std::nullopt;
  int64_t number = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < 0) return std::nullopt;
  return number;
}

std::string describe_snapshot(const spec::Snapshot& snapshot) {
  std::string text = std::to_string(snapshot.snapshot_id);
  if (!snapshot.operation().empty()) text += ", " + printable(snapshot.operation());
  text += ", " + iso_time(snapshot.timestamp_ms);
  if (auto rows = figure(snapshot, "total-records")) text += ", " + human_count(*rows, "row");
  if (auto files = figure(snapshot, "total-data-files")) text += " in " + human_count(*files, "file");
  if (auto bytes = figure(snapshot, "total-files-size")) {
    text += ", " + human_bytes(static_cast<uint64_t>(*bytes));
  }
  if (auto deletes = figure(snapshot, "total-delete-files"); deletes && *deletes > 0) {
    text += ", " + human_count(*deletes, "delete file");
  }
  return text;
}

void describe_table(Session& session, const catalog::LoadedTable& table) {
  const spec::TableMetadata& metadata = *table.metadata;
  if (session.is_json()) {
    json::Object object;
    object.emplace_back("identifier", json::Value(table.name));
    object.emplace_back("metadata_location", json::Value(table.metadata_location));
    object.emplace_back("metadata", spec::table_metadata_to_json(metadata));
    session.print_json(json::Value(std::move(object)));
    return;
  }
  const spec::Schema& schema = *metadata.current_schema();
  std::vector<Line> lines;
  lines.emplace_back("Table", printable(table.name));
  lines.emplace_back("Format version", std::to_string(metadata.format_version));
  lines.emplace_back("UUID", printable(metadata.table_uuid.value_or("missing")));
  lines.emplace_back("Location", printable(metadata.location));
  lines.emplace_back("Metadata", printable(table.metadata_location));
  lines.emplace_back("Last updated", iso_time(metadata.last_updated_ms));
  const spec::PartitionSpec& partition_spec = metadata.default_spec();
  lines.emplace_back("Partition spec", partition_spec.fields.empty()
                                           ? "unpartitioned"
                                           : printable(partition_spec.to_string(schema)) + "  (id " +
                                                 std::to_string(partition_spec.spec_id) + ")");
  const spec::SortOrder& order = metadata.default_sort_order();
  lines.emplace_back("Sort order", order.is_unsorted() ? "unsorted"
                                                       : printable(order.to_string(schema)) + "  (id " +
                                                             std::to_string(order.order_id) + ")");
  const spec::Snapshot* current = metadata.current_snapshot();
  lines.emplace_back("Current snapshot", current == nullptr ? "none" : describe_snapshot(*current));
  lines.emplace_back("Snapshots", human_count(static_cast<int64_t>(metadata.snapshots.size())));
  std::string refs;
  for (const spec::SnapshotRef& ref : metadata.refs) {
    refs += (refs.empty() ? "" : ", ") + printable(ref.name) + (ref.type == spec::RefType::kTag ? " (tag)" : "");
  }
  if (!refs.empty()) lines.emplace_back("Refs", refs);
  print_lines(session, lines);

  session.print_line("\nSchema, id " + std::to_string(schema.schema_id()));
  size_t id_width = 0;
  size_t name_width = 0;
  for (const spec::NestedField& field : schema.fields()) {
    id_width = std::max(id_width, std::to_string(field.id).size());
    name_width = std::max(name_width, display_width(printable(field.name)));
  }
  for (const spec::NestedField& field : schema.fields()) {
    std::string id = std::to_string(field.id);
    std::string name = printable(field.name);
    session.print_line("  " + std::string(id_width - id.size(), ' ') + id + "  " + name +
                       std::string(name_width - display_width(name), ' ') + "  " + printable(field.type->to_string()) +
                       (field.required ? " required" : "") +
                       (field.doc && !field.doc->empty() ? "  -- " + printable(*field.doc) : ""));
  }
  if (metadata.properties.empty()) return;
  session.print_line("\nProperties");
  for (const auto& [key, value] : metadata.properties) {
    session.print_line("  " + printable(key) + " = " + printable(value));
  }
}

void describe_namespace(Session& session, const std::string& name) {
  catalog::NamespaceInCatalog found = parse_namespace_argument(session, name);
  catalog::Properties properties = session.open_catalog(found.catalog).namespace_properties(found.levels);
  if (session.is_json()) {
    json::Object pairs;
    for (const auto& [key, value] : properties) pairs.emplace_back(key, json::Value(value));
    json::Object object;
    object.emplace_back("namespace", json::Value(catalog::to_string(found.levels)));
    object.emplace_back("properties", json::Value(std::move(pairs)));
    session.print_json(json::Value(std::move(object)));
    return;
  }
  session.print_line("Namespace  " + printable(catalog::to_string(found.levels)));
  if (properties.empty()) return;
  session.print_line("\nProperties");
  for (const auto& [key, value] : properties) session.print_line("  " + printable(key) + " = " + printable(value));
}

}  // namespace

void add_describe(Command& root) {
  struct Options {
    std::string name;
    std::optional<std::string> entity;
  };
  auto options = std::make_shared<Options>();
  root.add("describe", "Print what is known of a table or namespace")
      .positional("NAME", options->name, "a table or its path, or a namespace")
      .choice("--entity", options->entity, {"any", "table", "namespace"},
              "what NAME names; any: a table before a namespace")
      .example("frazil describe web.hits")
      .example("frazil describe ./lake/web/hits --output json")
      .action([options](Session& session) {
        std::string entity = options->entity.value_or("any");
        if (entity == "namespace") {
          describe_namespace(session, options->name);
          return;
        }
        bool may_be_namespace = entity == "any" && !catalog::is_table_path(options->name);
        if (!may_be_namespace) {
          describe_table(session, session.load_table(options->name));
          return;
        }
        std::optional<catalog::LoadedTable> table;
        try {
          table = session.load_table(options->name);
        } catch (const Error& error) {
          if (error.kind() != ErrorKind::kNotFound) throw;
          try {
            describe_namespace(session, options->name);
            return;
          } catch (const Error& second) {
            if (second.kind() != ErrorKind::kNotFound) throw;
          }
          throw;  // it is no namespace either: the first error says more
        }
        describe_table(session, *table);
      });
}

}  // namespace frazil::cli
