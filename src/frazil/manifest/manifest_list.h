// Manifest lists (Iceberg spec, "Manifest Lists", "Snapshots"): Avro container files with one record a manifest.
//
// Columns are found by field id; files without ids by name, today's or an older one (added_data_files_count). Format
// versions 1, 2 and 3 are one schema in which later columns may be missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::manifest {

enum class ManifestContent : uint8_t { kData = 0, kDeletes = 1 };

// What the manifest's files hold of one partition field. Bounds are in the binary single-value form, of the type that
// the field had when the manifest was written.
struct FieldSummary {
  bool contains_null = true;
  std::optional<bool> contains_nan;        // unknown: v1 writers do not tell
  std::optional<std::string> lower_bound;  // none if all are null or NaN
  std::optional<std::string> upper_bound;
};

struct ManifestFile {
  std::string path;
  int64_t length = 0;  // bytes
  int32_t partition_spec_id = 0;
  ManifestContent content = ManifestContent::kData;
  int64_t sequence_number = 0;               // 0 in v1, and for manifests that a v1 table brought along
  int64_t min_sequence_number = 0;           // of live files
  std::optional<int64_t> added_snapshot_id;  // v1 writers may leave it out
  // Unknown is not zero: v1 writers may leave them out.
  std::optional<int32_t> added_files_count;
  std::optional<int32_t> existing_files_count;
  std::optional<int32_t> deleted_files_count;
  std::optional<int64_t> added_rows_count;
  std::optional<int64_t> existing_rows_count;
  std::optional<int64_t> deleted_rows_count;
  std::optional<std::vector<FieldSummary>> partitions;  // one a field of the spec
  std::optional<std::string> key_metadata;              // the manifest may be encrypted
  std::optional<int64_t> first_row_id;                  // v3, data manifests

  // False only if the list says that no file is added or existing.
  bool may_have_live_files() const { return added_files_count != 0 || existing_files_count != 0; }
};

// In the order of the file. Charged to no budget afterwards: some 400 bytes a manifest. Throws CorruptError,
// Error(kUnsupported) for an encrypted file; the path is in the context.
std::vector<ManifestFile> read_manifest_list(const std::shared_ptr<const InputFile>& file, MemoryPool& pool);

// A v1 snapshot may name its manifests without a list: the entry that a list would have, from the manifest's own
// header. Counts are unknown. `path`: as the snapshot has it; `snapshot_id`: the snapshot's.
ManifestFile manifest_file_without_list(const std::shared_ptr<const InputFile>& file, std::string path,
                                        int64_t snapshot_id, MemoryPool& pool);

}  // namespace frazil::manifest
