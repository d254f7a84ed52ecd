#include "frazil/manifest/manifest_layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/manifest/container.h"
#include "frazil/manifest/partition_values.h"

namespace frazil::manifest {

namespace {

using avro::Kind;
using avro::Output;

// A table has a schema a spec and version; thousands of them are somebody's mistake.
constexpr size_t kMaxCachedLayouts = 256;

struct PartitionColumn {
  spec::NestedField field;
  avro::Field reader;
};

// The column of one partition field. `written`: the writer's field, if it has one; `wanted`: what the caller or the header
// says the type is, or nullptr.
PartitionColumn make_partition_column(int32_t field_id, const std::string& name, const avro::Field* written,
                                      const spec::TypePtr& wanted) {
  spec::TypePtr type = wanted;
  avro::NodePtr node = wanted != nullptr ? avro_type_of(*wanted) : nullptr;
  const bool is_open = node == nullptr || node->kind == Kind::kNull;
  if (written != nullptr && (is_open || !avro::can_read(written->type, avro::optional_of(node)))) {
    type = iceberg_type_of(*written->type);
    if (type == nullptr) {
      throw_error(ErrorKind::kUnsupported, "partition field '{}' is a {}, which is not supported", name,
                  avro::describe(*written->type));
    }
    node = avro_type_of(*type);
  }
  if (node == nullptr) throw_error(ErrorKind::kUnsupported, "partition field '{}' is nested", name);
  if (node->kind != Kind::kNull) node = avro::optional_of(std::move(node));
  PartitionColumn column;
  column.reader = reader_field(name, field_id, std::move(node));
  if (written != nullptr && written->name != name) column.reader.aliases.push_back(written->name);
  column.field.id = field_id;
  column.field.name = name;
  column.field.type = std::move(type);
  return column;
}

// The fields of `wanted`, each with the writer's field of its id. A writer without ids: by name, else by position.
std::vector<PartitionColumn> match_partition(const avro::Node* written, const spec::Type& wanted) {
  std::vector<PartitionColumn> columns;
  size_t position = 0;
  for (const spec::NestedField& field : wanted.fields()) {
    const avro::Field* found = written != nullptr ? find_field(*written, field.id, field.name) : nullptr;
    const bool by_position = written != nullptr && found == nullptr &&
                             written->fields.size() == wanted.fields().size() &&
                             std::none_of(written->fields.begin(), written->fields.end(),
                                          [](const avro::Field& other) { return other.field_id.has_value(); });
    if (by_position) found = &written->fields[position];
    columns.push_back(make_partition_column(field.id, field.name, found, field.type));
    ++position;
  }
  return columns;
}

spec::TypePtr partition_type_of(const ManifestHeader& header) {
  const auto spec = header.partition_spec();
  const auto schema = header.schema();
  if (!spec || schema == nullptr) return nullptr;
  try {
    return spec->partition_type(*schema);
  } catch (const Error&) {
    return nullptr;  // a broken header
  }
}

std::vector<PartitionColumn> partition_columns(const avro::Node* written, const ManifestHeader& header,
                                               const ManifestOptions& options) {
  if (options.partition_type != nullptr) return match_partition(written, *options.partition_type);
  std::vector<PartitionColumn> columns;
  if (written == nullptr) return columns;
  const spec::TypePtr stated = partition_type_of(header);
  int32_t next_id = spec::kFirstPartitionFieldId;
  for (const avro::Field& field : written->fields) {
    const int32_t field_id = field.field_id.value_or(next_id);
    const spec::NestedField* known = stated != nullptr ? stated->find(field_id) : nullptr;
    columns.push_back(make_partition_column(field_id, known != nullptr ? known->name : field.name, &field,
                                            known != nullptr ? known->type : nullptr));
    next_id = field_id + 1;
  }
  return columns;
}

const avro::Node* record_of(const avro::Field* field) {
  if (field == nullptr) return nullptr;
  const avro::Node* node = field->type->non_null();
  return node != nullptr && node->kind == Kind::kRecord ? node : nullptr;
}

std::vector<avro::Field> file_fields(avro::NodePtr partition, bool with_metrics) {
  // With the maps, the blocks stay in memory anyway, and text is a view into them; without, text is copied and the blocks
  // go, which leaves a sixth.
  const Output text = with_metrics ? Output::kView : Output::kValue;
  const auto required = [](Kind kind) { return avro::primitive(kind); };
  const auto optional = [](Kind kind) { return avro::optional_of(avro::primitive(kind)); };
  const auto list = [](Kind kind, int32_t id) { return avro::optional_of(avro::array_of(avro::primitive(kind), id)); };
  std::vector<avro::Field> fields = {
      reader_field("content", 134, optional(Kind::kInt)),
      reader_field("file_path", 100, required(Kind::kString), {}, text),
      reader_field("file_format", 101, required(Kind::kString), {}, text),
      reader_field("partition", 102, std::move(partition)),
      reader_field("record_count", 103, required(Kind::kLong)),
      reader_field("file_size_in_bytes", 104, required(Kind::kLong)),
      reader_field("key_metadata", 131, optional(Kind::kBytes), {}, text),
      reader_field("split_offsets", 132, list(Kind::kLong, 133)),
      reader_field("equality_ids", 135, list(Kind::kLong, 136)),  // DuckDB writes longs
      reader_field("sort_order_id", 140, optional(Kind::kInt)),
      reader_field("first_row_id", 142, optional(Kind::kLong)),
      reader_field("referenced_data_file", 143, optional(Kind::kString), {}, text),
      reader_field("content_offset", 144, optional(Kind::kLong)),
      reader_field("content_size_in_bytes", 145, optional(Kind::kLong)),
  };
  if (with_metrics) {
    constexpr std::pair<const char*, int32_t> kMetrics[] = {{"column_sizes", 108},      {"value_counts", 109},
                                                            {"null_value_counts", 110}, {"nan_value_counts", 137},
                                                            {"lower_bounds", 125},      {"upper_bounds", 128}};
    for (const auto& [name, id] : kMetrics)
      fields.push_back(reader_field(name, id, avro::primitive(Kind::kNull), {}, Output::kRaw));
  }
  return fields;
}

}  // namespace

std::optional<MapShape> map_shape(const avro::Node* node, int32_t key_id) {
  if (node == nullptr || node->kind != Kind::kArray) return std::nullopt;
  const avro::Node& entry = *node->element;
  if (entry.kind != Kind::kRecord || entry.fields.size() != 2) return std::nullopt;
  MapShape shape;
  shape.key_first =
      entry.fields[1].field_id != key_id && (entry.fields[0].field_id == key_id || entry.fields[1].name != "key");
  const avro::Node& key = *entry.fields[shape.key_first ? 0 : 1].type;
  const avro::Node& value = *entry.fields[shape.key_first ? 1 : 0].type;
  const auto null_branch = [](const avro::Node& type) -> int64_t {
    return type.kind != Kind::kUnion ? -1 : type.branches[0]->kind == Kind::kNull ? 0 : 1;
  };
  const auto is_integer = [](const avro::Node* type) {
    return type != nullptr && (type->kind == Kind::kInt || type->kind == Kind::kLong);
  };
  const avro::Node* inner = value.non_null();
  if ((key.kind == Kind::kUnion && key.branches.size() != 2) ||
      (value.kind == Kind::kUnion && value.branches.size() != 2))
    return std::nullopt;
  if (!is_integer(key.non_null()) || inner == nullptr) return std::nullopt;
  shape.bytes = inner->kind == Kind::kBytes || inner->kind == Kind::kString;
  if (!shape.bytes && !is_integer(inner)) return std::nullopt;
  shape.key_null_branch = null_branch(key);
  shape.value_null_branch = null_branch(value);
  return shape;
}

std::shared_ptr<const ManifestLayout> make_layout(const avro::NodePtr& writer, const ManifestHeader& header,
                                                  const ManifestOptions& options) {
  if (writer->kind != Kind::kRecord) throw_corrupt(0, "manifest entries are {}, not records", avro::describe(*writer));
  const avro::Node* data_file = record_of(find_field(*writer, 2, "data_file"));
  if (data_file == nullptr) throw_corrupt(0, "manifest entries have no data_file");
  const avro::Node* written = record_of(find_field(*data_file, 102, "partition"));

  auto layout = std::make_shared<ManifestLayout>();
  std::vector<spec::NestedField> fields;
  std::vector<avro::Field> partition_fields;
  for (PartitionColumn& column : partition_columns(written, header, options)) {
    fields.push_back(std::move(column.field));
    partition_fields.push_back(std::move(column.reader));
  }
  layout->partition_type = spec::struct_(std::move(fields));
  // A writer of unpartitioned tables may leave the whole tuple out.
  auto partition = avro::optional_of(avro::record("r102", std::move(partition_fields)));
  const auto optional_long = [] { return avro::optional_of(avro::primitive(Kind::kLong)); };
  const auto reader = avro::record(
      "manifest_entry",
      {
          reader_field("status", 0, avro::primitive(Kind::kInt)),
          reader_field("snapshot_id", 1, optional_long()),
          reader_field("sequence_number", 3, optional_long()),
          reader_field("file_sequence_number", 4, optional_long()),
          reader_field("data_file", 2, avro::record("r2", file_fields(std::move(partition), options.with_metrics))),
      });
  layout->program = avro::Program::compile(writer, reader);
  if (options.with_metrics) {
    constexpr int32_t kKeyIds[kMetricCount] = {117, 119, 121, 138, 126, 129};
    for (size_t i = 0; i < kMetricCount; ++i) {
      const std::array<size_t, 2> path = {kDataFile, kFirstMetric + i};
      layout->maps[i] = map_shape(layout->program->raw_type(path), kKeyIds[i]);
      const bool wants_bytes = kFirstMetric + i >= kLowerBounds;
      if (layout->maps[i] && layout->maps[i]->bytes != wants_bytes) layout->maps[i].reset();
    }
  }
  return layout;
}

struct ManifestSchemaCache::State {
  Mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const ManifestLayout>> layouts GUARDED_BY(mutex);
};

ManifestSchemaCache::ManifestSchemaCache() : state_(std::make_unique<State>()) {}
ManifestSchemaCache::~ManifestSchemaCache() = default;

std::shared_ptr<const ManifestLayout> find_layout(std::string_view schema_text, const ManifestHeader& header,
                                                  const ManifestOptions& options, MemoryPool& pool) {
  const auto make = [&] { return make_layout(avro::parse_schema(schema_text, &pool), header, options); };
  if (options.cache == nullptr) return make();
  // Everything that make_layout() looks at.
  std::string key = options.with_metrics ? "+" : "-";
  key += options.partition_type != nullptr ? options.partition_type->to_string()
                                           : header.partition_spec_json + "\n" + header.schema_json;
  key += "\n";
  key += schema_text;
  ManifestSchemaCache::State& state = options.cache->state();
  {
    MutexLock lock(state.mutex);
    if (auto found = state.layouts.find(key); found != state.layouts.end()) return found->second;
  }
  // Two threads may do the same work once; neither waits for the other.
  auto layout = make();
  MutexLock lock(state.mutex);
  if (state.layouts.size() >= kMaxCachedLayouts) state.layouts.clear();
  state.layouts.emplace(std::move(key), layout);
  return layout;
}

}  // namespace frazil::manifest
