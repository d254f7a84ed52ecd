#include <algorithm>
#include <unordered_set>
#include <utility>

#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/base/uuid.h"
#include "frazil/spec/bind_fields.h"
#include "frazil/spec/new_table.h"
#include "frazil/spec/table_properties.h"
#include "frazil/spec/table_update.h"

namespace frazil::spec {

namespace {

constexpr std::string_view kFormatVersionKey = "format-version";
constexpr std::string_view kPreviousVersionsKey = "write.metadata.previous-versions-max";
constexpr int64_t kPreviousVersionsMax = 100;

template <typename... Args>
[[noreturn]] void refuse(std::string_view format, const Args&... args) {
  throw Error(ErrorKind::kInvalidArgument, message(format, args...));
}

// Applies update after update to a copy of the base.
class Builder {
 public:
  Builder(const TableMetadata& base, const ApplyOptions& options) : base_(base), options_(options), next_(base) {
    // Time does not go back, whatever this machine's clock says: readers search the logs by time, and Iceberg Java
    // refuses logs that are out of order by more than a minute.
    now_ms_ = std::max(options.now_ms, base.last_updated_ms);
    if (!base.snapshot_log.empty()) now_ms_ = std::max(now_ms_, base.snapshot_log.back().timestamp_ms);
    next_.last_updated_ms = now_ms_;
    // Counters that another writer left behind what they count: the next id must be above both.
    for (const SchemaPtr& schema : next_.schemas) {
      next_.last_column_id = std::max(next_.last_column_id, schema->highest_field_id());
    }
    for (const PartitionSpec& spec : next_.partition_specs) {
      next_.last_partition_id = std::max(next_.last_partition_id, spec.highest_field_id());
    }
  }

  void apply(const AssignUuid& update) {
    if (!try_parse_uuid(update.uuid)) refuse("'{}' is not a UUID", excerpt(update.uuid));
    if (next_.table_uuid && parse_uuid(*next_.table_uuid) != parse_uuid(update.uuid)) {
      refuse("the table has the UUID {} and keeps it", *next_.table_uuid);
    }
    if (!next_.table_uuid) next_.table_uuid = update.uuid;
  }

  void apply(const UpgradeFormatVersion& update) {
    if (update.format_version > kMaxFormatVersion) {
      refuse("format version {} cannot be written; up to {} can", update.format_version, kMaxFormatVersion);
    }
    if (update.format_version < next_.format_version) {
      refuse("a table of format version {} cannot become one of version {}", next_.format_version,
             update.format_version);
    }
    // Old snapshots stay as they are: sequence number 0 (v1), no row ids (v1, v2). The first append numbers the files
    // that are there.
    next_.format_version = update.format_version;
  }

  void apply(const AddSchema& update) {
    if (update.schema == nullptr) refuse("there is no schema to add");
    next_.last_column_id = std::max(next_.last_column_id, update.schema->highest_field_id());
    int32_t id = 0;
    for (const SchemaPtr& schema : next_.schemas) {
      if (schema->same_fields(*update.schema)) {
        last_schema_id_ = schema->schema_id();
        return;
      }
      if (schema->schema_id() == INT32_MAX) refuse("there are no schema ids left");
      id = std::max(id, schema->schema_id() + 1);
    }
    std::vector<NestedField> fields(update.schema->fields().begin(), update.schema->fields().end());
    const auto identifiers = update.schema->identifier_field_ids();
    next_.schemas.push_back(std::make_shared<const Schema>(
        std::move(fields), id, std::vector<int32_t>(identifiers.begin(), identifiers.end())));
    last_schema_id_ = id;
  }

  void apply(const SetCurrentSchema& update) {
    const int32_t id = resolve(update.schema_id, last_schema_id_, "schema");
    if (next_.find_schema(id) == nullptr) refuse("schema {} does not exist", id);
    next_.current_schema_id = id;
  }

  void apply(const AddPartitionSpec& update) {
    check_new_spec(update.spec, *next_.current_schema());
    int32_t id = 0;
    for (const PartitionSpec& spec : next_.partition_specs) {
      if (is_same_partitioning(spec, update.spec)) {
        last_spec_id_ = spec.spec_id;
        return;
      }
      if (spec.spec_id == INT32_MAX) refuse("there are no partition spec ids left");
      id = std::max(id, spec.spec_id + 1);
    }
    PartitionSpec added = update.spec;
    added.spec_id = id;
    next_.last_partition_id =
        assign_field_ids(added, next_.partition_specs, next_.last_partition_id, next_.format_version);
    next_.partition_specs.push_back(std::move(added));
    last_spec_id_ = id;
  }

  void apply(const SetDefaultSpec& update) {
    const int32_t id = resolve(update.spec_id, last_spec_id_, "partition spec");
    if (next_.find_spec(id) == nullptr) refuse("partition spec {} does not exist", id);
    next_.default_spec_id = id;
  }

  void apply(const AddSortOrder& update) {
    check_new_sort_order(update.order, *next_.current_schema());
    if (update.order.is_unsorted()) {
      last_order_id_ = 0;
      if (next_.find_sort_order(0) == nullptr) next_.sort_orders.emplace_back();
      return;
    }
    int32_t id = 1;
    for (const SortOrder& order : next_.sort_orders) {
      if (order.fields == update.order.fields) {
        last_order_id_ = order.order_id;
        return;
      }
      if (order.order_id == INT32_MAX) refuse("there are no sort order ids left");
      id = std::max(id, order.order_id + 1);
    }
    next_.sort_orders.push_back(update.order);
    next_.sort_orders.back().order_id = id;
    last_order_id_ = id;
  }

  void apply(const SetDefaultSortOrder& update) {
    const int32_t id = resolve(update.order_id, last_order_id_, "sort order");
    if (id != 0 && next_.find_sort_order(id) == nullptr) refuse("sort order {} does not exist", id);
    next_.default_sort_order_id = id;
  }

  void apply(const AddSnapshot& update) {
    const Snapshot& snapshot = update.snapshot;
    const int64_t id = snapshot.snapshot_id;
    if (next_.find_snapshot(id) != nullptr) refuse("snapshot {} exists already", id);
    if (next_.format_version >= 2) {
      if (!snapshot.manifest_list) refuse("snapshot {} has no manifest list", id);
      if (snapshot.sequence_number <= next_.last_sequence_number && snapshot.parent_snapshot_id) {
        throw ConflictError(message("snapshot {} has the sequence number {}, but the table is at {} already", id,
                                    snapshot.sequence_number, next_.last_sequence_number));
      }
      next_.last_sequence_number = std::max(next_.last_sequence_number, snapshot.sequence_number);
    }
    if (next_.format_version >= 3) {
      if (!snapshot.first_row_id || !snapshot.added_rows) {
        refuse("snapshot {} needs first-row-id and added-rows in format version 3", id);
      }
      if (*snapshot.first_row_id < next_.next_row_id) {
        throw ConflictError(message("snapshot {} numbers rows from {} on, but the table is at {} already", id,
                                    *snapshot.first_row_id, next_.next_row_id));
      }
      const auto end = checked_add(*snapshot.first_row_id, *snapshot.added_rows);
      if (*snapshot.added_rows < 0 || !end) refuse("snapshot {} adds {} rows", id, *snapshot.added_rows);
      next_.next_row_id = *end;
    } else if (snapshot.first_row_id || snapshot.added_rows) {
      refuse("snapshot {} has row ids, which need format version 3", id);
    }
    next_.snapshots.push_back(snapshot);
    added_snapshots_.insert(id);
    // A snapshot is not newer than the metadata that brings it, nor older than what was there.
    next_.last_updated_ms = std::max(base_.last_updated_ms, snapshot.timestamp_ms);
  }

  void apply(const SetSnapshotRef& update) {
    const SnapshotRef& ref = update.ref;
    if (ref.name.empty()) refuse("a reference needs a name");
    if (next_.find_snapshot(ref.snapshot_id) == nullptr) {
      refuse("reference '{}' leads to snapshot {}, which does not exist", excerpt(ref.name), ref.snapshot_id);
    }
    const auto place = std::find_if(next_.refs.begin(), next_.refs.end(),
                                    [&](const SnapshotRef& each) { return each.name == ref.name; });
    const bool moves = place == next_.refs.end() || place->snapshot_id != ref.snapshot_id;
    if (place == next_.refs.end()) {
      next_.refs.push_back(ref);
    } else {
      *place = ref;
    }
    if (ref.name != kMainBranch || !moves) return;
    if (ref.type != RefType::kBranch) refuse("main is a branch and cannot become a tag");
    next_.current_snapshot_id = ref.snapshot_id;
    SnapshotLogEntry entry;
    entry.timestamp_ms = added_snapshots_.contains(ref.snapshot_id) ? next_.last_updated_ms : now_ms_;
    if (!next_.snapshot_log.empty()) {
      entry.timestamp_ms = std::max(entry.timestamp_ms, next_.snapshot_log.back().timestamp_ms);
    }
    next_.last_updated_ms = std::max(next_.last_updated_ms, entry.timestamp_ms);
    entry.snapshot_id = ref.snapshot_id;
    next_.snapshot_log.push_back(std::move(entry));
  }

  void apply(const RemoveSnapshots& update) {
    const std::unordered_set<int64_t> gone(update.snapshot_ids.begin(), update.snapshot_ids.end());
    const auto is_gone = [&](const auto& each) { return gone.contains(each.snapshot_id); };
    std::erase_if(next_.snapshots, is_gone);
    std::erase_if(next_.statistics, is_gone);
    std::erase_if(next_.partition_statistics, is_gone);
    std::vector<std::string> dangling;
    for (const SnapshotRef& ref : next_.refs) {
      if (gone.contains(ref.snapshot_id)) dangling.push_back(ref.name);
    }
    for (const std::string& name : dangling) apply(RemoveSnapshotRef{name});
  }

  void apply(const RemoveSnapshotRef& update) {
    std::erase_if(next_.refs, [&](const SnapshotRef& ref) { return ref.name == update.name; });
    if (update.name != kMainBranch) return;
    next_.current_snapshot_id.reset();
    next_.snapshot_log.clear();
  }

  void apply(const SetLocation& update) {
    if (update.location.empty()) refuse("the location must not be empty");
    next_.location = update.location;
  }

  void apply(const SetProperties& update) {
    for (const auto& [key, value] : update.updates) {
      if (key == kFormatVersionKey) {
        const std::optional<int64_t> version = parse_int64(value);
        if (!version || *version < 1 || *version > INT32_MAX)
          refuse("format-version must be a number, not '{}'", value);
        apply(UpgradeFormatVersion{static_cast<int>(*version)});
      } else if (!is_reserved_property(key)) {
        set_property(next_.properties, key, value);
      }
    }
  }

  void apply(const RemoveProperties& update) {
    for (const std::string& key : update.keys) remove_property(next_.properties, key);
  }

  void apply(const SetStatistics& update) {
    apply(RemoveStatistics{update.statistics.snapshot_id});
    next_.statistics.push_back(update.statistics);
  }

  void apply(const RemoveStatistics& update) {
    std::erase_if(next_.statistics, [&](const auto& each) { return each.snapshot_id == update.snapshot_id; });
  }

  void apply(const SetPartitionStatistics& update) {
    apply(RemovePartitionStatistics{update.statistics.snapshot_id});
    next_.partition_statistics.push_back(update.statistics);
  }

  void apply(const RemovePartitionStatistics& update) {
    std::erase_if(next_.partition_statistics, [&](const auto& each) { return each.snapshot_id == update.snapshot_id; });
  }

  void apply(const RemovePartitionSpecs& update) {
    for (int32_t id : update.spec_ids) {
      if (id == next_.default_spec_id) refuse("partition spec {} is the default one", id);
      std::erase_if(next_.partition_specs, [&](const PartitionSpec& spec) { return spec.spec_id == id; });
    }
  }

  void apply(const RemoveSchemas& update) {
    for (int32_t id : update.schema_ids) {
      if (id == next_.current_schema_id) refuse("schema {} is the current one", id);
      std::erase_if(next_.schemas, [&](const SchemaPtr& schema) { return schema->schema_id() == id; });
    }
  }

  void apply(const AddEncryptionKey& update) {
    apply(RemoveEncryptionKey{update.key.key_id});
    next_.encryption_keys.push_back(update.key);
  }

  void apply(const RemoveEncryptionKey& update) {
    std::erase_if(next_.encryption_keys, [&](const EncryptedKey& key) { return key.key_id == update.key_id; });
  }

  TableMetadata finish() && {
    correct_snapshot_log();
    log_base();
    try {
      validate(next_);
    } catch (const CorruptError& error) {
      // What was wrong before is the file's fault, not the update's.
      validate(base_);
      throw Error(ErrorKind::kInvalidArgument, error.message());
    }
    return std::move(next_);
  }

 private:
  int32_t resolve(int32_t id, const std::optional<int32_t>& last_added, std::string_view what) const {
    if (id != kLastAdded) return id;
    if (!last_added) refuse("no {} has been added", what);
    return *last_added;
  }

  // By what readers see of it: the ids of fields do not matter.
  static bool is_same_partitioning(const PartitionSpec& left, const PartitionSpec& right) {
    return std::equal(left.fields.begin(), left.fields.end(), right.fields.begin(), right.fields.end(),
                      [](const PartitionField& a, const PartitionField& b) {
                        return a.source_ids == b.source_ids && a.transform == b.transform && a.name == b.name;
                      });
  }

  // The log says what was current when. Snapshots that were added and superseded within these updates never were; and
  // where a snapshot was removed, everything before it would seem to have lasted until the next one: it goes too.
  void correct_snapshot_log() {
    std::vector<SnapshotLogEntry> corrected;
    for (SnapshotLogEntry& entry : next_.snapshot_log) {
      if (next_.find_snapshot(entry.snapshot_id) == nullptr) {
        if (next_.snapshots.size() < base_.snapshots.size() + added_snapshots_.size()) corrected.clear();
        continue;
      }
      const bool intermediate =
          added_snapshots_.contains(entry.snapshot_id) && next_.current_snapshot_id != entry.snapshot_id;
      if (!intermediate) corrected.push_back(std::move(entry));
    }
    next_.snapshot_log = std::move(corrected);
  }

  void log_base() {
    if (options_.base_location.empty()) return;
    MetadataLogEntry entry;
    entry.timestamp_ms = base_.last_updated_ms;
    entry.metadata_file = options_.base_location;
    next_.metadata_log.push_back(std::move(entry));
    const auto most = static_cast<size_t>(
        std::max<int64_t>(1, property_int(next_.properties, kPreviousVersionsKey, kPreviousVersionsMax, INT64_MIN)));
    if (next_.metadata_log.size() > most) {
      next_.metadata_log.erase(next_.metadata_log.begin(), next_.metadata_log.end() - static_cast<ptrdiff_t>(most));
    }
  }

  const TableMetadata& base_;
  const ApplyOptions& options_;
  TableMetadata next_;
  int64_t now_ms_ = 0;
  std::unordered_set<int64_t> added_snapshots_;
  std::optional<int32_t> last_schema_id_;
  std::optional<int32_t> last_spec_id_;
  std::optional<int32_t> last_order_id_;
};

std::string text_of(const std::optional<int64_t>& id) {
  return id ? std::to_string(*id) : std::string("none");
}

struct Requirements {
  const TableMetadata& current;

  [[noreturn]] static void fail(std::string_view what, const std::string& expected, const std::string& found) {
    throw ConflictError(message("{} should be {}, but is {}", what, expected, found));
  }
  static void require(std::string_view what, int64_t expected, int64_t found) {
    if (expected != found) fail(what, std::to_string(expected), std::to_string(found));
  }

  void operator()(const AssertCreate&) const { throw ConflictError("the table exists already"); }
  void operator()(const AssertTableUuid& requirement) const {
    const std::string found = current.table_uuid.value_or("none");
    const std::optional<Uuid> expected_uuid = try_parse_uuid(requirement.uuid);
    const std::optional<Uuid> found_uuid = try_parse_uuid(found);
    if (!expected_uuid || expected_uuid != found_uuid) fail("the table's UUID", excerpt(requirement.uuid), found);
  }
  void operator()(const AssertRefSnapshotId& requirement) const {
    const SnapshotRef* ref = current.find_ref(requirement.ref);
    const std::optional<int64_t> found = ref == nullptr ? std::nullopt : std::optional(ref->snapshot_id);
    if (found != requirement.snapshot_id) {
      fail(message("the snapshot of '{}'", excerpt(requirement.ref)), text_of(requirement.snapshot_id), text_of(found));
    }
  }
  void operator()(const AssertLastAssignedFieldId& requirement) const {
    require("the last assigned field id", requirement.id, current.last_column_id);
  }
  void operator()(const AssertCurrentSchemaId& requirement) const {
    require("the current schema id", requirement.id, current.current_schema_id);
  }
  void operator()(const AssertLastAssignedPartitionId& requirement) const {
    require("the last assigned partition id", requirement.id, current.last_partition_id);
  }
  void operator()(const AssertDefaultSpecId& requirement) const {
    require("the default spec id", requirement.id, current.default_spec_id);
  }
  void operator()(const AssertDefaultSortOrderId& requirement) const {
    require("the default sort order id", requirement.id, current.default_sort_order_id);
  }
};

}  // namespace

void check_requirements(const TableMetadata* current, std::span<const TableRequirement> requirements) {
  for (const TableRequirement& requirement : requirements) {
    if (current != nullptr) {
      std::visit(Requirements{*current}, requirement);
    } else if (!std::holds_alternative<AssertCreate>(requirement)) {
      throw ConflictError("the table does not exist");
    }
  }
}

TableMetadata apply_updates(const TableMetadata& base, std::span<const TableUpdate> updates,
                            const ApplyOptions& options) {
  if (updates.empty()) return base;
  Builder builder(base, options);
  for (const TableUpdate& update : updates) {
    try {
      std::visit([&](const auto& each) { builder.apply(each); }, update);
    } catch (Error& error) {
      error.add_context(message("applying the table update '{}'", action_of(update)));
      throw;
    }
  }
  return std::move(builder).finish();
}

}  // namespace frazil::spec
