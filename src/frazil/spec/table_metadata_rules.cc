#include "frazil/spec/table_metadata_rules.h"

#include <unordered_set>

#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/base/uuid.h"

namespace frazil::spec {

namespace {

template <typename... Args>
[[noreturn]] void broken(std::string_view format, const Args&... args) {
  throw CorruptError(CorruptError::kNoOffset, "table metadata: " + message(format, args...));
}

void check_header(const TableMetadata& metadata) {
  if (metadata.format_version < 1) broken("format-version must be at least 1, not {}", metadata.format_version);
  if (metadata.location.empty()) broken("location must not be empty");
  if (!metadata.table_uuid && metadata.format_version >= 2) broken("table-uuid is required since format version 2");
  if (metadata.table_uuid && !try_parse_uuid(*metadata.table_uuid)) {
    broken("table-uuid is not a UUID: '{}'", *metadata.table_uuid);
  }
  if (metadata.last_sequence_number < 0) broken("last-sequence-number must not be negative");
  if (metadata.next_row_id < 0) broken("next-row-id must not be negative");
}

void check_schemas(const TableMetadata& metadata) {
  std::unordered_set<int32_t> ids;
  for (const SchemaPtr& schema : metadata.schemas) {
    if (!ids.insert(schema->schema_id()).second) broken("two schemas have the id {}", schema->schema_id());
    int32_t highest = schema->highest_field_id();
    if (highest > kMaxUserFieldId) broken("field id {} is in the reserved range", highest);
  }
  if (!ids.contains(metadata.current_schema_id)) {
    broken("current-schema-id {} is not among the schemas", metadata.current_schema_id);
  }
}

// The default spec is what writers use: its columns must be primitive, outside of lists and maps, and of a type that
// the transform takes. Columns that are gone are fine, as are transforms that nobody here knows.
void check_default_spec(const TableMetadata& metadata) {
  const Schema& schema = *metadata.current_schema();
  for (const PartitionField& field : metadata.default_spec().fields) {
    for (int32_t source_id : field.source_ids) {
      const NestedField* source = schema.find(source_id);
      if (source == nullptr || field.transform.is_void()) continue;
      if (!source->type->is_primitive()) {
        broken("partition field '{}' has the source '{}', which is not primitive", field.name, source->name);
      }
      for (const NestedField* up = schema.parent(source_id); up != nullptr; up = schema.parent(up->id)) {
        if (!up->type->is_struct()) {
          broken("partition field '{}' has a source inside of the list or map '{}'", field.name, up->name);
        }
      }
      if (!field.is_opaque() && !field.transform.can_transform(*source->type)) {
        broken("partition field '{}': transform {} does not take the type {} of '{}'", field.name,
               field.transform.to_string(), source->type->to_string(), source->name);
      }
    }
  }
}

void check_specs(const TableMetadata& metadata) {
  std::unordered_set<int32_t> ids;
  for (const PartitionSpec& spec : metadata.partition_specs) {
    if (!ids.insert(spec.spec_id).second) broken("two partition specs have the id {}", spec.spec_id);
  }
  if (!ids.contains(metadata.default_spec_id)) {
    broken("default-spec-id {} is not among the partition specs", metadata.default_spec_id);
  }
  check_default_spec(metadata);
}

void check_sort_orders(const TableMetadata& metadata) {
  std::unordered_set<int32_t> ids;
  for (const SortOrder& order : metadata.sort_orders) {
    if (!ids.insert(order.order_id).second) broken("two sort orders have the id {}", order.order_id);
  }
  if (metadata.default_sort_order_id != 0 && !ids.contains(metadata.default_sort_order_id)) {
    broken("default-sort-order-id {} is not among the sort orders", metadata.default_sort_order_id);
  }
}

void check_refs(const TableMetadata& metadata, const std::unordered_set<int64_t>& snapshot_ids) {
  std::unordered_set<std::string_view> names;
  for (const SnapshotRef& ref : metadata.refs) {
    if (!names.insert(ref.name).second) broken("two references have the name '{}'", ref.name);
    if (!snapshot_ids.contains(ref.snapshot_id)) {
      broken("reference '{}' leads to snapshot {}, which is not among the snapshots", ref.name, ref.snapshot_id);
    }
    bool is_branch = ref.type == RefType::kBranch;
    if (!is_branch && (ref.min_snapshots_to_keep || ref.max_snapshot_age_ms)) {
      broken("tag '{}' must not have min-snapshots-to-keep or max-snapshot-age-ms", ref.name);
    }
    if (ref.min_snapshots_to_keep.value_or(1) <= 0 || ref.max_snapshot_age_ms.value_or(1) <= 0 ||
        ref.max_ref_age_ms.value_or(1) <= 0) {
      broken("reference '{}': numbers of snapshots and ages must be positive", ref.name);
    }
    if (ref.name != kMainBranch) continue;
    if (!is_branch) broken("reference 'main' must be a branch");
    if (metadata.current_snapshot_id != ref.snapshot_id) {
      broken("current-snapshot-id {} is not the snapshot {} of the branch main",
             metadata.current_snapshot_id ? std::to_string(*metadata.current_snapshot_id) : std::string("(none)"),
             ref.snapshot_id);
    }
  }
}

void check_snapshots(const TableMetadata& metadata) {
  std::unordered_set<int64_t> ids;
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (!ids.insert(snapshot.snapshot_id).second) broken("two snapshots have the id {}", snapshot.snapshot_id);
    if (metadata.format_version >= 2 && snapshot.sequence_number > metadata.last_sequence_number) {
      broken("snapshot {} has the sequence number {}, above last-sequence-number {}", snapshot.snapshot_id,
             snapshot.sequence_number, metadata.last_sequence_number);
    }
    if (metadata.format_version >= 3 && snapshot.first_row_id) {
      auto end = checked_add(*snapshot.first_row_id, snapshot.added_rows.value_or(0));
      if (!end || *end > metadata.next_row_id) {
        broken("snapshot {} has rows from first-row-id {} on, beyond next-row-id {}", snapshot.snapshot_id,
               *snapshot.first_row_id, metadata.next_row_id);
      }
    }
  }
  if (metadata.current_snapshot_id && !ids.contains(*metadata.current_snapshot_id)) {
    broken("current-snapshot-id {} is not among the snapshots", *metadata.current_snapshot_id);
  }
  check_refs(metadata, ids);
}

void check_keys(const TableMetadata& metadata) {
  std::unordered_set<std::string_view> ids;
  for (const EncryptedKey& key : metadata.encryption_keys) {
    if (!ids.insert(key.key_id).second) broken("two encryption keys have the id '{}'", key.key_id);
  }
}

// ---- What writers owe besides.

void check_versions(const Type& type, int format_version) {
  for (const NestedField& field : type.fields()) {
    int needed = minimum_format_version(field.type->kind());
    if (needed > format_version) {
      broken("field '{}' of type {} needs format version {}", field.name, field.type->to_string(), needed);
    }
    if (field.initial_default != nullptr && !field.initial_default->is_null() && format_version < 3) {
      broken("the initial-default of field '{}' needs format version 3", field.name);
    }
    check_versions(*field.type, format_version);
  }
}

void check_written_snapshots(const TableMetadata& metadata) {
  std::unordered_set<std::string_view> key_ids;
  for (const EncryptedKey& key : metadata.encryption_keys) key_ids.insert(key.key_id);
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (metadata.format_version == 1 && snapshot.sequence_number != 0) {
      broken("snapshot {} must have no sequence number in format version 1", snapshot.snapshot_id);
    }
    if (snapshot.schema_id && metadata.find_schema(*snapshot.schema_id) == nullptr) {
      broken("snapshot {} has the schema id {}, which is not among the schemas", snapshot.snapshot_id,
             *snapshot.schema_id);
    }
    if (snapshot.first_row_id && !snapshot.added_rows) {
      broken("snapshot {} has a first-row-id without added-rows", snapshot.snapshot_id);
    }
    if (snapshot.key_id && !key_ids.contains(*snapshot.key_id)) {
      broken("snapshot {} names the key '{}', which is not among the encryption keys", snapshot.snapshot_id,
             *snapshot.key_id);
    }
  }
}

}  // namespace

void check_readable(const TableMetadata& metadata) {
  check_header(metadata);
  check_schemas(metadata);
  check_specs(metadata);
  check_sort_orders(metadata);
  check_snapshots(metadata);
  check_keys(metadata);
}

void validate(const TableMetadata& metadata) {
  check_readable(metadata);
  if (metadata.format_version > kMaxFormatVersion) broken("format-version {} is not known", metadata.format_version);
  if (metadata.format_version == 1 && metadata.last_sequence_number != 0) {
    broken("last-sequence-number must be 0 in format version 1");
  }
  if (metadata.format_version < 3 && (metadata.next_row_id != 0 || !metadata.encryption_keys.empty())) {
    broken("next-row-id and encryption-keys need format version 3");
  }
  for (const SchemaPtr& schema : metadata.schemas) {
    check_versions(*schema->as_struct(), metadata.format_version);
    if (schema->highest_field_id() > metadata.last_column_id) {
      broken("last-column-id {} is below the field id {} of schema {}", metadata.last_column_id,
             schema->highest_field_id(), schema->schema_id());
    }
  }
  for (const PartitionSpec& spec : metadata.partition_specs) {
    if (!spec.fields.empty() && spec.highest_field_id() > metadata.last_partition_id) {
      broken("last-partition-id {} is below the partition field id {}", metadata.last_partition_id,
             spec.highest_field_id());
    }
    for (const PartitionField& field : spec.fields) {
      if (field.source_ids.empty()) broken("partition field '{}' has no source", field.name);
      if (field.source_ids.size() > 1 && metadata.format_version < 3) {
        broken("partition field '{}': transforms of several columns need format version 3", field.name);
      }
    }
  }
  for (const SortOrder& order : metadata.sort_orders) {
    for (const SortField& field : order.fields) {
      if (field.source_ids.empty()) broken("sort order {} has a field without a source", order.order_id);
      if (field.source_ids.size() > 1 && metadata.format_version < 3) {
        broken("sort order {}: transforms of several columns need format version 3", order.order_id);
      }
    }
  }
  if (metadata.current_snapshot_id && metadata.find_ref(kMainBranch) == nullptr) {
    broken("there is a current snapshot, but no branch main");
  }
  check_written_snapshots(metadata);
  std::unordered_set<int64_t> with_statistics;
  for (const PartitionStatisticsFile& file : metadata.partition_statistics) {
    if (!with_statistics.insert(file.snapshot_id).second) {
      broken("snapshot {} has two partition statistics files", file.snapshot_id);
    }
  }
}

}  // namespace frazil::spec
