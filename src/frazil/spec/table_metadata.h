// Table metadata: the root of a table, a JSON file of format version 1, 2 or 3 (spec, "Table Metadata", "Appendix C").
//
// Reading checks the rules that the spec has for the file and its version, as far as a reader relies on them: samples of
// other projects break the rest (last-column-id below a column's id) and still read alike. Whoever changes a
// TableMetadata calls validate(), which checks all of them, before it is written. Members that the spec does not know
// are kept for the round trip, at every level but inside of list and map types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/snapshot.h"
#include "frazil/spec/sort_order.h"
#include "frazil/spec/statistics.h"

namespace frazil {
class MemoryPool;
}

namespace frazil::spec {

inline constexpr int kMaxFormatVersion = 3;

// A table's encryption key, itself encrypted (v3). Data only: nothing here decrypts.
struct EncryptedKey {
  std::string key_id;
  std::string encrypted_key_metadata;  // base64, as it stood
  std::optional<std::string> encrypted_by_id;
  Properties properties;
  json::Object extra;
};

EncryptedKey encrypted_key_from_json(const json::Value& value);
json::Value encrypted_key_to_json(const EncryptedKey& key);

struct TableMetadata {
  int format_version = 2;
  std::optional<std::string> table_uuid;  // required since v2
  std::string location;
  int64_t last_sequence_number = 0;  // 0 in v1
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<SchemaPtr> schemas;  // at least one
  int32_t current_schema_id = 0;
  std::vector<PartitionSpec> partition_specs;  // at least one
  int32_t default_spec_id = 0;
  int32_t last_partition_id = kFirstPartitionFieldId - 1;
  Properties properties;
  std::optional<int64_t> current_snapshot_id;  // of the branch main; absent, null and -1 in the file all are "none"
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::vector<SortOrder> sort_orders;  // at least one
  int32_t default_sort_order_id = 0;
  std::vector<SnapshotRef> refs;  // main is there whenever there is a current snapshot
  std::vector<StatisticsFile> statistics;
  std::vector<PartitionStatisticsFile> partition_statistics;
  int64_t next_row_id = 0;                    // v3
  std::vector<EncryptedKey> encryption_keys;  // v3
  json::Object extra;

  // Lookups, linear. The first three throw Error(kNotFound); validated metadata has what they ask for.
  const SchemaPtr& current_schema() const;
  const PartitionSpec& default_spec() const;
  const SortOrder& default_sort_order() const;
  SchemaPtr find_schema(int32_t schema_id) const;            // nullptr if there is none
  const PartitionSpec* find_spec(int32_t spec_id) const;     // nullptr
  const SortOrder* find_sort_order(int32_t order_id) const;  // nullptr
  const Snapshot* find_snapshot(int64_t snapshot_id) const;  // nullptr
  const SnapshotRef* find_ref(std::string_view name) const;  // nullptr
  const Snapshot* current_snapshot() const;                  // nullptr if the table has none
  std::optional<std::string_view> property(std::string_view key) const;
  // All partition fields of all specs as one struct, for metadata tables: by field id, the newest name.
  TypePtr all_partition_fields() const;
};

using TableMetadataPtr = std::shared_ptr<const TableMetadata>;

struct MetadataParseOptions {
  size_t max_bytes = size_t{512} << 20;  // of JSON text, after decompression: "metadata.max-bytes"
};

// The content of a metadata file, whatever its name: plain, gzip (1f 8b) or zstd (28 b5 2f fd), found out by its first
// bytes. The JSON tree is charged to `pool` while parsing. Throws CorruptError with the rule that is broken,
// Error(kUnsupported) for a format version beyond kMaxFormatVersion, MemoryLimitError.
TableMetadataPtr parse_metadata_file(std::span<const std::byte> bytes, MemoryPool& pool,
                                     const MetadataParseOptions& options = {});
// The same from a parsed tree.
TableMetadata table_metadata_from_json(const json::Value& value);
// As Iceberg Java writes that version: deprecated v1 members too, current-snapshot-id -1 for none in v1 and v2.
json::Value table_metadata_to_json(const TableMetadata& metadata);
// All rules, those for writers too. Throws CorruptError with the rule that is broken.
void validate(const TableMetadata& metadata);

// ---- Time travel ----

struct CurrentSnapshot {};
struct SnapshotById {
  int64_t snapshot_id;
};
struct SnapshotByRef {
  std::string name;  // a branch or a tag
};
struct SnapshotAsOf {
  int64_t timestamp_ms;
};
using SnapshotSelection = std::variant<CurrentSnapshot, SnapshotById, SnapshotByRef, SnapshotAsOf>;

// What a scan reads: the snapshot (nullptr: a table without snapshots; points into the metadata) and the schema that
// goes with the selection: the table's current one for the current snapshot and branches, the snapshot's own for tags,
// ids and times (the current one if the snapshot does not say).
struct SelectedSnapshot {
  const Snapshot* snapshot = nullptr;
  SchemaPtr schema;
};

// A time looks in snapshot-log alone: its last entry at or before that time. Throws Error(kNotFound) if there is no
// such snapshot or ref, if nothing precedes the time, or if the snapshot has been expired since.
SelectedSnapshot select_snapshot(const TableMetadata& metadata, const SnapshotSelection& selection);

}  // namespace frazil::spec
