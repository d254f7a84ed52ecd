#include <algorithm>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/spec/table_metadata_rules.h"

namespace frazil::spec {

namespace {

constexpr std::string_view kWhat = "table metadata";

[[noreturn]] void throw_missing(std::string_view key) {
  throw_corrupt(CorruptError::kNoOffset, "{}: required key '{}' is missing", kWhat, key);
}

// Snapshot ids have 63 bits: -1, null and a missing key all say that there is none.
std::optional<int64_t> read_current_snapshot_id(ObjectReader& reader) {
  std::optional<int64_t> id = reader.optional_id("current-snapshot-id");
  if (id && *id == -1) return std::nullopt;
  return id;
}

SchemaPtr listed_schema_from_json(const json::Value& value, int format_version) {
  if (format_version >= 2) ObjectReader(value, "schema").required_int("schema-id");
  return schema_from_json(value);
}

// v1 has `schema`, and later writers of it `schemas` with `current-schema-id` besides; since v2 only the latter.
void read_schemas(ObjectReader& reader, TableMetadata& metadata) {
  const json::Array* list = reader.optional_array("schemas");
  std::optional<int32_t> current_id = reader.optional_int("current-schema-id");
  const json::Value* single = reader.optional("schema");
  if (metadata.format_version >= 2) {
    if (list == nullptr) throw_missing("schemas");
    if (!current_id) throw_missing("current-schema-id");
  }
  if (list != nullptr) {
    for (const json::Value& item : *list) {
      metadata.schemas.push_back(listed_schema_from_json(item, metadata.format_version));
    }
  }
  if (current_id && !metadata.schemas.empty()) {
    metadata.current_schema_id = *current_id;
    if (metadata.find_schema(*current_id) == nullptr) {
      throw_corrupt(CorruptError::kNoOffset, "{}: current-schema-id {} is not among the schemas", kWhat, *current_id);
    }
    return;
  }
  if (metadata.format_version >= 2) {
    throw_corrupt(CorruptError::kNoOffset, "{}: 'schemas' must not be empty", kWhat);
  }
  if (single == nullptr) throw_missing(metadata.schemas.empty() ? "schema" : "current-schema-id");
  SchemaPtr schema = schema_from_json(*single);
  metadata.current_schema_id = schema->schema_id();
  if (metadata.find_schema(schema->schema_id()) == nullptr) metadata.schemas.push_back(std::move(schema));
}

// v1 has `partition-spec`, an array of fields, and later writers of it `partition-specs` besides.
void read_partition_specs(ObjectReader& reader, TableMetadata& metadata) {
  const json::Array* list = reader.optional_array("partition-specs");
  std::optional<int32_t> default_id = reader.optional_int("default-spec-id");
  const json::Value* single = reader.optional("partition-spec");
  std::optional<int32_t> last_id = reader.optional_int("last-partition-id");
  if (metadata.format_version >= 2) {
    if (list == nullptr) throw_missing("partition-specs");
    if (!default_id) throw_missing("default-spec-id");
    if (!last_id) throw_missing("last-partition-id");
  }
  if (list != nullptr) {
    for (const json::Value& item : *list) metadata.partition_specs.push_back(partition_spec_from_json(item));
  }
  if (metadata.partition_specs.empty()) {
    if (metadata.format_version >= 2) {
      throw_corrupt(CorruptError::kNoOffset, "{}: 'partition-specs' must not be empty", kWhat);
    }
    if (single == nullptr) throw_missing("partition-spec");
    metadata.partition_specs.push_back(partition_spec_from_fields_json(*single, default_id.value_or(0)));
    default_id = metadata.partition_specs.front().spec_id;
  }
  if (!default_id && single != nullptr) {
    PartitionSpec fields = partition_spec_from_fields_json(*single, 0);
    for (const PartitionSpec& spec : metadata.partition_specs) {
      if (spec.fields == fields.fields) default_id = spec.spec_id;
    }
  }
  int32_t highest_spec_id = metadata.partition_specs.front().spec_id;
  int32_t highest_field_id = kFirstPartitionFieldId - 1;
  for (const PartitionSpec& spec : metadata.partition_specs) {
    highest_spec_id = std::max(highest_spec_id, spec.spec_id);
    highest_field_id = std::max(highest_field_id, spec.highest_field_id());
  }
  metadata.default_spec_id = default_id.value_or(highest_spec_id);
  metadata.last_partition_id = last_id.value_or(highest_field_id);
}

void read_sort_orders(ObjectReader& reader, TableMetadata& metadata) {
  const json::Array* list = reader.optional_array("sort-orders");
  std::optional<int32_t> default_id = reader.optional_int("default-sort-order-id");
  if (metadata.format_version >= 2) {
    if (list == nullptr) throw_missing("sort-orders");
    if (!default_id) throw_missing("default-sort-order-id");
  }
  if (list != nullptr) {
    for (const json::Value& item : *list) metadata.sort_orders.push_back(sort_order_from_json(item));
  }
  if (metadata.sort_orders.empty()) metadata.sort_orders.emplace_back();
  metadata.default_sort_order_id = default_id.value_or(0);
}

void read_refs(ObjectReader& reader, TableMetadata& metadata) {
  if (const json::Value* refs = reader.optional("refs")) {
    for (const auto& [name, value] : ObjectReader(*refs, "refs").rest()) {
      metadata.refs.push_back(snapshot_ref_from_json(name, value));
    }
  }
  // The branch main always exists, even if `refs` does not say so.
  if (metadata.current_snapshot_id && metadata.find_ref(kMainBranch) == nullptr) {
    SnapshotRef main;
    main.name = kMainBranch;
    main.snapshot_id = *metadata.current_snapshot_id;
    metadata.refs.insert(metadata.refs.begin(), std::move(main));
  }
}

void read_logs(ObjectReader& reader, TableMetadata& metadata) {
  if (const json::Array* log = reader.optional_array("snapshot-log")) {
    for (const json::Value& item : *log) {
      ObjectReader each(item, "snapshot-log entry");
      SnapshotLogEntry entry;
      entry.timestamp_ms = each.required_long("timestamp-ms");
      entry.snapshot_id = each.required_id("snapshot-id");
      entry.extra = each.rest();
      metadata.snapshot_log.push_back(std::move(entry));
    }
  }
  if (const json::Array* log = reader.optional_array("metadata-log")) {
    for (const json::Value& item : *log) {
      ObjectReader each(item, "metadata-log entry");
      MetadataLogEntry entry;
      entry.timestamp_ms = each.required_long("timestamp-ms");
      entry.metadata_file = each.required_string("metadata-file");
      entry.extra = each.rest();
      metadata.metadata_log.push_back(std::move(entry));
    }
  }
}

void read_row_ids_and_keys(ObjectReader& reader, TableMetadata& metadata) {
  std::optional<int64_t> next_row_id = reader.optional_long("next-row-id");
  // Required; but some writers leave it out until there is a row to number, and then nothing is lost.
  bool numbered = std::any_of(metadata.snapshots.begin(), metadata.snapshots.end(),
                              [](const Snapshot& snapshot) { return snapshot.first_row_id.has_value(); });
  if (!next_row_id && numbered) throw_missing("next-row-id");
  metadata.next_row_id = next_row_id.value_or(0);
  const json::Array* keys = reader.optional_array("encryption-keys");
  if (keys == nullptr) return;
  for (const json::Value& item : *keys) metadata.encryption_keys.push_back(encrypted_key_from_json(item));
}

template <typename Item, typename ToJson>
json::Value list_to_json(const std::vector<Item>& items, ToJson&& to_json) {
  json::Array array;
  array.reserve(items.size());
  for (const Item& item : items) array.push_back(to_json(item));
  return json::Value(std::move(array));
}

json::Value snapshot_log_to_json(const std::vector<SnapshotLogEntry>& log) {
  return list_to_json(log, [](const SnapshotLogEntry& entry) {
    json::Object object;
    object.emplace_back("timestamp-ms", json::Value(entry.timestamp_ms));
    object.emplace_back("snapshot-id", json::Value(entry.snapshot_id));
    append_extra(object, entry.extra);
    return json::Value(std::move(object));
  });
}

json::Value metadata_log_to_json(const std::vector<MetadataLogEntry>& log) {
  return list_to_json(log, [](const MetadataLogEntry& entry) {
    json::Object object;
    object.emplace_back("timestamp-ms", json::Value(entry.timestamp_ms));
    object.emplace_back("metadata-file", json::Value(entry.metadata_file));
    append_extra(object, entry.extra);
    return json::Value(std::move(object));
  });
}

}  // namespace

EncryptedKey encrypted_key_from_json(const json::Value& value) {
  ObjectReader reader(value, "encryption key");
  EncryptedKey key;
  key.key_id = reader.required_string("key-id");
  key.encrypted_key_metadata = reader.required_string("encrypted-key-metadata");
  key.encrypted_by_id = reader.optional_string("encrypted-by-id");
  key.properties = reader.optional_texts("properties");
  key.extra = reader.rest();
  return key;
}

json::Value encrypted_key_to_json(const EncryptedKey& key) {
  json::Object object;
  object.emplace_back("key-id", json::Value(key.key_id));
  object.emplace_back("encrypted-key-metadata", json::Value(key.encrypted_key_metadata));
  if (key.encrypted_by_id) object.emplace_back("encrypted-by-id", json::Value(*key.encrypted_by_id));
  if (!key.properties.empty()) object.emplace_back("properties", texts_to_json(key.properties));
  append_extra(object, key.extra);
  return json::Value(std::move(object));
}

TableMetadata table_metadata_from_json(const json::Value& value) {
  ObjectReader reader(value, kWhat);
  TableMetadata metadata;
  metadata.format_version = reader.required_int("format-version");
  if (metadata.format_version > kMaxFormatVersion) {
    throw_error(ErrorKind::kUnsupported, "table metadata has format-version {}; versions 1 to {} are supported",
                metadata.format_version, kMaxFormatVersion);
  }
  metadata.table_uuid = reader.optional_string("table-uuid");
  if (!metadata.table_uuid && metadata.format_version >= 2) throw_missing("table-uuid");
  metadata.location = reader.required_string("location");
  if (metadata.format_version >= 2) {
    metadata.last_sequence_number = reader.required_long("last-sequence-number");
  } else {
    reader.optional("last-sequence-number");  // v1 has none: 0
  }
  metadata.last_updated_ms = reader.required_long("last-updated-ms");
  metadata.last_column_id = reader.required_int("last-column-id");
  read_schemas(reader, metadata);
  read_partition_specs(reader, metadata);
  read_sort_orders(reader, metadata);
  metadata.properties = reader.optional_texts("properties");
  metadata.current_snapshot_id = read_current_snapshot_id(reader);
  if (const json::Array* list = reader.optional_array("snapshots")) {
    for (const json::Value& item : *list) {
      metadata.snapshots.push_back(snapshot_from_json(item, metadata.format_version));
      if (metadata.format_version == 1) metadata.snapshots.back().sequence_number = 0;
    }
  }
  read_refs(reader, metadata);
  read_logs(reader, metadata);
  if (const json::Array* list = reader.optional_array("statistics")) {
    for (const json::Value& item : *list) metadata.statistics.push_back(statistics_file_from_json(item));
  }
  if (const json::Array* list = reader.optional_array("partition-statistics")) {
    for (const json::Value& item : *list) {
      metadata.partition_statistics.push_back(partition_statistics_file_from_json(item));
    }
  }
  if (metadata.format_version >= 3) read_row_ids_and_keys(reader, metadata);
  metadata.extra = reader.rest();
  check_readable(metadata);
  return metadata;
}

json::Value table_metadata_to_json(const TableMetadata& metadata) {
  int version = metadata.format_version;
  json::Object object;
  auto put = [&](std::string_view key, json::Value value) { object.emplace_back(std::string(key), std::move(value)); };
  auto put_number = [&](std::string_view key, int64_t number) { put(key, json::Value(number)); };

  put_number("format-version", version);
  if (metadata.table_uuid) put("table-uuid", json::Value(*metadata.table_uuid));
  put("location", json::Value(metadata.location));
  if (version >= 2) put_number("last-sequence-number", metadata.last_sequence_number);
  put_number("last-updated-ms", metadata.last_updated_ms);
  put_number("last-column-id", metadata.last_column_id);
  if (version == 1) put("schema", schema_to_json(*metadata.current_schema()));
  put_number("current-schema-id", metadata.current_schema_id);
  put("schemas", list_to_json(metadata.schemas, [](const SchemaPtr& schema) { return schema_to_json(*schema); }));
  if (version == 1) put("partition-spec", partition_fields_to_json(metadata.default_spec()));
  put_number("default-spec-id", metadata.default_spec_id);
  put("partition-specs", list_to_json(metadata.partition_specs, partition_spec_to_json));
  put_number("last-partition-id", metadata.last_partition_id);
  put_number("default-sort-order-id", metadata.default_sort_order_id);
  put("sort-orders", list_to_json(metadata.sort_orders, sort_order_to_json));
  put("properties", texts_to_json(metadata.properties));
  if (metadata.current_snapshot_id) {
    put_number("current-snapshot-id", *metadata.current_snapshot_id);
  } else if (version < 3) {
    put_number("current-snapshot-id", -1);  // older readers of v1 and v2 expect the key
  }
  if (version >= 3) {
    put_number("next-row-id", metadata.next_row_id);
    if (!metadata.encryption_keys.empty()) {
      put("encryption-keys", list_to_json(metadata.encryption_keys, encrypted_key_to_json));
    }
  }
  json::Object refs;
  for (const SnapshotRef& ref : metadata.refs) refs.emplace_back(ref.name, snapshot_ref_to_json(ref));
  put("refs", json::Value(std::move(refs)));
  put("snapshots",
      list_to_json(metadata.snapshots, [&](const Snapshot& snapshot) { return snapshot_to_json(snapshot, version); }));
  put("statistics", list_to_json(metadata.statistics, statistics_file_to_json));
  put("partition-statistics", list_to_json(metadata.partition_statistics, partition_statistics_file_to_json));
  put("snapshot-log", snapshot_log_to_json(metadata.snapshot_log));
  put("metadata-log", metadata_log_to_json(metadata.metadata_log));
  append_extra(object, metadata.extra);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
