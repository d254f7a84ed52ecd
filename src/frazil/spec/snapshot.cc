#include "frazil/spec/snapshot.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/json_object.h"

namespace frazil::spec {

namespace {

constexpr std::string_view kOperationKey = "operation";

// Ids that mean "none": some writers put -1 where others leave the key out.
std::optional<int64_t> known_id(std::optional<int64_t> id) {
  return id && *id == -1 ? std::nullopt : id;
}

void read_row_lineage(ObjectReader& reader, Snapshot& snapshot) {
  snapshot.first_row_id = reader.optional_long("first-row-id");
  snapshot.added_rows = reader.optional_long("added-rows");
  snapshot.key_id = reader.optional_string("key-id");
  if (snapshot.first_row_id.value_or(0) < 0 || snapshot.added_rows.value_or(0) < 0) {
    throw_corrupt(CorruptError::kNoOffset, "snapshot: first-row-id and added-rows must not be negative");
  }
}

}  // namespace

std::string_view Snapshot::operation() const {
  return summary_value(kOperationKey).value_or("");
}

std::optional<std::string_view> Snapshot::summary_value(std::string_view key) const {
  for (const auto& [name, value] : summary) {
    if (name == key) return value;
  }
  return std::nullopt;
}

Snapshot snapshot_from_json(const json::Value& value, int format_version) {
  ObjectReader reader(value, "snapshot");
  Snapshot snapshot;
  snapshot.snapshot_id = reader.required_id("snapshot-id");
  try {
    snapshot.parent_snapshot_id = known_id(reader.optional_id("parent-snapshot-id"));
    // Snapshots of an upgraded table come from v1, which had no sequence numbers: 0.
    snapshot.sequence_number = reader.optional_long("sequence-number").value_or(0);
    if (snapshot.sequence_number < 0) {
      throw_corrupt(CorruptError::kNoOffset, "snapshot: sequence-number must not be negative");
    }
    snapshot.timestamp_ms = reader.required_long("timestamp-ms");
    snapshot.manifest_list = reader.optional_string("manifest-list");
    if (const json::Array* paths = reader.optional_array("manifests")) {
      snapshot.manifests.emplace();
      for (const json::Value& path : *paths) snapshot.manifests->push_back(path.as_string());
    }
    if (!snapshot.manifest_list && !snapshot.manifests) {
      throw_corrupt(CorruptError::kNoOffset, "snapshot: required key 'manifest-list' is missing{}",
                    format_version == 1 ? " ('manifests' too)" : "");
    }
    snapshot.summary = reader.optional_texts("summary");
    snapshot.schema_id = reader.optional_int("schema-id");
    if (format_version >= 3) read_row_lineage(reader, snapshot);
    snapshot.extra = reader.rest();
  } catch (Error& error) {
    error.add_context(message("snapshot {}", snapshot.snapshot_id));
    throw;
  }
  return snapshot;
}

json::Value snapshot_to_json(const Snapshot& snapshot, int format_version) {
  json::Object object;
  if (format_version >= 2) object.emplace_back("sequence-number", json::Value(snapshot.sequence_number));
  object.emplace_back("snapshot-id", json::Value(snapshot.snapshot_id));
  if (snapshot.parent_snapshot_id) {
    object.emplace_back("parent-snapshot-id", json::Value(*snapshot.parent_snapshot_id));
  }
  object.emplace_back("timestamp-ms", json::Value(snapshot.timestamp_ms));
  if (!snapshot.summary.empty()) object.emplace_back("summary", texts_to_json(snapshot.summary));
  if (snapshot.manifest_list) object.emplace_back("manifest-list", json::Value(*snapshot.manifest_list));
  if (snapshot.manifests) {
    json::Array paths;
    for (const std::string& path : *snapshot.manifests) paths.emplace_back(path);
    object.emplace_back("manifests", json::Value(std::move(paths)));
  }
  if (snapshot.schema_id) object.emplace_back("schema-id", json::Value(int64_t{*snapshot.schema_id}));
  if (format_version >= 3) {
    if (snapshot.first_row_id) object.emplace_back("first-row-id", json::Value(*snapshot.first_row_id));
    if (snapshot.added_rows) object.emplace_back("added-rows", json::Value(*snapshot.added_rows));
    if (snapshot.key_id) object.emplace_back("key-id", json::Value(*snapshot.key_id));
  }
  append_extra(object, snapshot.extra);
  return json::Value(std::move(object));
}

SnapshotRef snapshot_ref_from_json(std::string name, const json::Value& value) {
  SnapshotRef ref;
  ref.name = std::move(name);
  try {
    ObjectReader reader(value, "snapshot reference");
    ref.snapshot_id = reader.required_id("snapshot-id");
    std::string type = reader.required_string("type");
    if (type != "branch" && type != "tag") {
      throw_corrupt(CorruptError::kNoOffset, "snapshot reference: type must be 'branch' or 'tag', not '{}'", type);
    }
    ref.type = type == "branch" ? RefType::kBranch : RefType::kTag;
    ref.min_snapshots_to_keep = reader.optional_int("min-snapshots-to-keep");
    ref.max_snapshot_age_ms = reader.optional_long("max-snapshot-age-ms");
    ref.max_ref_age_ms = reader.optional_long("max-ref-age-ms");
    ref.extra = reader.rest();
  } catch (Error& error) {
    error.add_context(message("reference '{}'", ref.name));
    throw;
  }
  return ref;
}

json::Value snapshot_ref_to_json(const SnapshotRef& ref) {
  json::Object object;
  object.emplace_back("snapshot-id", json::Value(ref.snapshot_id));
  object.emplace_back("type", json::Value(ref.type == RefType::kBranch ? "branch" : "tag"));
  if (ref.min_snapshots_to_keep) {
    object.emplace_back("min-snapshots-to-keep", json::Value(int64_t{*ref.min_snapshots_to_keep}));
  }
  if (ref.max_snapshot_age_ms) object.emplace_back("max-snapshot-age-ms", json::Value(*ref.max_snapshot_age_ms));
  if (ref.max_ref_age_ms) object.emplace_back("max-ref-age-ms", json::Value(*ref.max_ref_age_ms));
  append_extra(object, ref.extra);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
