#include "frazil/spec/new_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/codec/compressor.h"
#include "frazil/json/value.h"
#include "frazil/spec/bind_fields.h"
#include "frazil/spec/table_properties.h"
#include "frazil/spec/table_update.h"

namespace frazil::spec {

namespace {

constexpr std::string_view kFormatVersionKey = "format-version";
constexpr std::string_view kCompressionKey = "write.metadata.compression-codec";
constexpr std::string_view kParquetCodecKey = "write.parquet.compression-codec";

int version_of(const NewTable& table) {
  int64_t version = kDefaultFormatVersion;
  if (table.format_version) {
    version = *table.format_version;
  } else {
    version = property_int(table.properties, kFormatVersionKey, version, 1);
  }
  if (version < 1 || version > kMaxFormatVersion) {
    throw_error(ErrorKind::kInvalidArgument, "format version {} cannot be written; 1 to {} can", version,
                kMaxFormatVersion);
  }
  return static_cast<int>(version);
}

Properties stored(const Properties& properties) {
  Properties kept;
  for (const auto& [key, value] : properties) {
    if (!is_reserved_property(key)) set_property(kept, key, value);
  }
  const bool says_codec =
      std::any_of(kept.begin(), kept.end(), [](const auto& property) { return property.first == kParquetCodecKey; });
  if (!says_codec) kept.emplace_back(kParquetCodecKey, "zstd");
  return kept;
}

// The new id of what `old_schema` calls `old_id`: both schemas have the same names.
int32_t translated(int32_t old_id, const Schema& old_schema, const Schema& fresh) {
  // By path, not by name: names with dots can be ambiguous, places cannot.
  const Type* old_type = old_schema.as_struct().get();
  const Type* new_type = fresh.as_struct().get();
  const NestedField* found = nullptr;
  for (int32_t id : old_schema.path(old_id)) {
    for (size_t i = 0; i < old_type->fields().size(); ++i) {
      if (old_type->fields()[i].id != id) continue;
      found = &new_type->fields()[i];
      old_type = old_type->fields()[i].type.get();
      break;
    }
    new_type = found->type.get();
  }
  if (found == nullptr) throw_error(ErrorKind::kInvalidArgument, "the schema has no field with the id {}", old_id);
  return found->id;
}

}  // namespace

bool is_reserved_property(std::string_view key) {
  constexpr std::array<std::string_view, 9> kReserved = {kFormatVersionKey,          "uuid",
                                                         "snapshot-count",           "current-snapshot-id",
                                                         "current-snapshot-summary", "current-snapshot-timestamp-ms",
                                                         "current-schema",           "default-partition-spec",
                                                         "default-sort-order"};
  return std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end();
}

TableMetadata new_table_metadata(const NewTable& table, const Uuid& uuid, int64_t now_ms) {
  if (table.schema == nullptr) throw_error(ErrorKind::kInvalidArgument, "a new table needs a schema");
  if (table.location.empty()) throw_error(ErrorKind::kInvalidArgument, "a new table needs a location");
  if (table.schema->fields().empty()) throw_error(ErrorKind::kInvalidArgument, "a new table needs a column");
  for (const NestedField& field : table.schema->fields()) {
    if (field.name.empty()) throw_error(ErrorKind::kInvalidArgument, "a column has no name");
  }
  const Schema& given = *table.schema;
  TableMetadata metadata;
  metadata.format_version = version_of(table);
  metadata.table_uuid = to_string(uuid);
  metadata.location = table.location;
  metadata.last_updated_ms = now_ms;
  metadata.properties = stored(table.properties);

  SchemaPtr schema = with_fresh_ids(given);
  metadata.last_column_id = schema->highest_field_id();
  metadata.current_schema_id = schema->schema_id();
  metadata.schemas = {schema};

  PartitionSpec spec;
  for (const PartitionField& field : table.spec.fields) {
    PartitionField bound = field;
    for (int32_t& id : bound.source_ids) id = translated(id, given, *schema);
    bound.field_id = kUnassignedFieldId;
    spec.fields.push_back(std::move(bound));
  }
  check_new_spec(spec, *schema);
  metadata.last_partition_id = assign_field_ids(spec, {}, kFirstPartitionFieldId - 1, metadata.format_version);
  metadata.partition_specs = {std::move(spec)};

  SortOrder order;
  for (const SortField& field : table.sort_order.fields) {
    SortField bound = field;
    for (int32_t& id : bound.source_ids) id = translated(id, given, *schema);
    order.fields.push_back(std::move(bound));
  }
  check_new_sort_order(order, *schema);
  order.order_id = order.is_unsorted() ? 0 : 1;
  metadata.default_sort_order_id = order.order_id;
  metadata.sort_orders = {std::move(order)};

  try {
    validate(metadata);
  } catch (const CorruptError& error) {
    throw Error(ErrorKind::kInvalidArgument, error.message());
  }
  return metadata;
}

std::string metadata_folder(const TableMetadata& metadata) {
  std::string folder(metadata.property("write.metadata.path").value_or(""));
  if (folder.empty()) folder = metadata.location + "/metadata";
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

bool writes_gzip_metadata(const TableMetadata& metadata) {
  const std::string codec = property_word(metadata.properties, kCompressionKey, "none");
  if (codec == "none") return false;
  if (codec == "gzip" || codec == "gz") return true;
  throw_error(ErrorKind::kInvalidArgument, "table property {} must be none or gzip, not '{}'", kCompressionKey,
              excerpt(codec));
}

Buffer metadata_file_bytes(const TableMetadata& metadata, bool gzip, MemoryPool& pool) {
  validate(metadata);
  std::string text = json::write(table_metadata_to_json(metadata));
  if (!gzip) return Buffer::from_string(std::move(text));
  Compressor compressor(pool);
  return compressor.compress(Codec::kGzip, std::nullopt, std::as_bytes(std::span(text))).freeze();
}

}  // namespace frazil::spec
