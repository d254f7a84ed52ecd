// Changes of table metadata and what must hold for them, as the Iceberg REST specification has them (rest-catalog
// open-api, "TableUpdate", "TableRequirement"). A commit to any catalog is a list of requirements and a list of updates.
//
//   update      := {"action": "add-snapshot", "snapshot": {...}} | {"action": "set-snapshot-ref", ...} | ...
//   requirement := {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": I | null} | ...
//
// A schema, spec or sort order that an update adds gets its id when it is applied (an equal one that is there already is
// used again); the id -1 in the update after it means "the one added last".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::spec {

// In SetCurrentSchema, SetDefaultSpec, SetDefaultSortOrder.
inline constexpr int32_t kLastAdded = -1;
// A partition field with this id gets one when its spec is added: that of the same field of an older spec, or a new one.
inline constexpr int32_t kUnassignedFieldId = 0;

struct AssignUuid {
  std::string uuid;
};
struct UpgradeFormatVersion {
  int format_version = 2;
};
struct AddSchema {
  SchemaPtr schema;
};
struct SetCurrentSchema {
  int32_t schema_id = kLastAdded;
};
struct AddPartitionSpec {
  PartitionSpec spec;
};
struct SetDefaultSpec {
  int32_t spec_id = kLastAdded;
};
struct AddSortOrder {
  SortOrder order;
};
struct SetDefaultSortOrder {
  int32_t order_id = kLastAdded;
};
struct AddSnapshot {
  Snapshot snapshot;
};
struct SetSnapshotRef {
  SnapshotRef ref;
};
// Their statistics and the references that lead to them go too.
struct RemoveSnapshots {
  std::vector<int64_t> snapshot_ids;
};
struct RemoveSnapshotRef {
  std::string name;
};
struct SetLocation {
  std::string location;
};
struct SetProperties {
  Properties updates;
};
struct RemoveProperties {
  std::vector<std::string> keys;
};
struct SetStatistics {
  StatisticsFile statistics;
};
struct RemoveStatistics {
  int64_t snapshot_id = 0;
};
struct SetPartitionStatistics {
  PartitionStatisticsFile statistics;
};
struct RemovePartitionStatistics {
  int64_t snapshot_id = 0;
};
struct RemovePartitionSpecs {
  std::vector<int32_t> spec_ids;
};
struct RemoveSchemas {
  std::vector<int32_t> schema_ids;
};
struct AddEncryptionKey {
  EncryptedKey key;
};
struct RemoveEncryptionKey {
  std::string key_id;
};

using TableUpdate =
    std::variant<AssignUuid, UpgradeFormatVersion, AddSchema, SetCurrentSchema, AddPartitionSpec, SetDefaultSpec,
                 AddSortOrder, SetDefaultSortOrder, AddSnapshot, SetSnapshotRef, RemoveSnapshots, RemoveSnapshotRef,
                 SetLocation, SetProperties, RemoveProperties, SetStatistics, RemoveStatistics, SetPartitionStatistics,
                 RemovePartitionStatistics, RemovePartitionSpecs, RemoveSchemas, AddEncryptionKey, RemoveEncryptionKey>;

// The table must not exist.
struct AssertCreate {};
struct AssertTableUuid {
  std::string uuid;
};
// Nothing: the reference must not exist.
struct AssertRefSnapshotId {
  std::string ref;
  std::optional<int64_t> snapshot_id;
};
struct AssertLastAssignedFieldId {
  int32_t id = 0;
};
struct AssertCurrentSchemaId {
  int32_t id = 0;
};
struct AssertLastAssignedPartitionId {
  int32_t id = 0;
};
struct AssertDefaultSpecId {
  int32_t id = 0;
};
struct AssertDefaultSortOrderId {
  int32_t id = 0;
};

using TableRequirement =
    std::variant<AssertCreate, AssertTableUuid, AssertRefSnapshotId, AssertLastAssignedFieldId, AssertCurrentSchemaId,
                 AssertLastAssignedPartitionId, AssertDefaultSpecId, AssertDefaultSortOrderId>;

// "add-snapshot", "assert-create": as JSON has it.
std::string_view action_of(const TableUpdate& update);
std::string_view type_of(const TableRequirement& requirement);

// Reading throws CorruptError for a rule that is broken, Error(kUnsupported) for an action or type that is not known:
// none of them may be passed over.
TableUpdate table_update_from_json(const json::Value& value);
json::Value table_update_to_json(const TableUpdate& update);
TableRequirement table_requirement_from_json(const json::Value& value);
json::Value table_requirement_to_json(const TableRequirement& requirement);

// Throws ConflictError, which says what was expected and what is there, unless all hold. `current`: nullptr if there is
// no table.
void check_requirements(const TableMetadata* current, std::span<const TableRequirement> requirements);

struct ApplyOptions {
  int64_t now_ms = 0;
  // Where `base` stands: becomes the metadata log's last entry. Empty: none (a table that was never written).
  std::string base_location = {};
};

// The metadata after `updates`, one after the other; `base` itself if there are none. Pure: neither clock nor files.
// What it gives is valid (spec::validate) and what Iceberg Java makes of the same updates: snapshot-log holds only
// snapshots that were current after a commit, metadata-log at most write.metadata.previous-versions-max entries, and
// time does not go back. The reserved property "format-version" upgrades, other reserved ones are dropped. Throws
// Error(kInvalidArgument) with the update that cannot be, ConflictError where the table has moved on since the update
// was made (a snapshot behind last-sequence-number or next-row-id).
TableMetadata apply_updates(const TableMetadata& base, std::span<const TableUpdate> updates,
                            const ApplyOptions& options);

}  // namespace frazil::spec
