// Snapshots, references to them, and the two logs of table metadata (spec, "Snapshots", "Snapshot References").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/json/value.h"

namespace frazil::spec {

// The summary in its order, "operation" included.
using Summary = std::vector<std::pair<std::string, std::string>>;

struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;  // 0 in v1
  int64_t timestamp_ms = 0;
  std::optional<std::string> manifest_list;           // v1 may have `manifests` instead
  std::optional<std::vector<std::string>> manifests;  // v1 only: paths
  Summary summary;
  std::optional<int32_t> schema_id;
  std::optional<int64_t> first_row_id;  // v3
  std::optional<int64_t> added_rows;    // v3
  std::optional<std::string> key_id;    // v3: the key that encrypts the manifest list
  json::Object extra;

  // "append", "replace", "overwrite", "delete"; empty if the summary does not say.
  std::string_view operation() const;
  // The value of a summary key, nothing if it is missing.
  std::optional<std::string_view> summary_value(std::string_view key) const;
};

enum class RefType : uint8_t { kBranch, kTag };

inline constexpr std::string_view kMainBranch = "main";

struct SnapshotRef {
  std::string name;
  int64_t snapshot_id = 0;
  RefType type = RefType::kBranch;
  std::optional<int32_t> min_snapshots_to_keep;  // branches only
  std::optional<int64_t> max_snapshot_age_ms;    // branches only
  std::optional<int64_t> max_ref_age_ms;
  json::Object extra;
};

struct SnapshotLogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
  json::Object extra;
};

struct MetadataLogEntry {
  int64_t timestamp_ms = 0;
  std::string metadata_file;
  json::Object extra;
};

// Reading throws CorruptError naming the key that is missing or the rule that is broken in that format version.
Snapshot snapshot_from_json(const json::Value& value, int format_version);
json::Value snapshot_to_json(const Snapshot& snapshot, int format_version);
SnapshotRef snapshot_ref_from_json(std::string name, const json::Value& value);
json::Value snapshot_ref_to_json(const SnapshotRef& ref);

}  // namespace frazil::spec
