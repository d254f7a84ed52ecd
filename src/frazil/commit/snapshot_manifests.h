// The manifests of a new snapshot: those that the branch has, those of new files, and small ones merged into larger
// ones (table properties commit.manifest.*).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frazil/avro/writer.h"
#include "frazil/commit/written_files.h"
#include "frazil/io/file_system.h"
#include "frazil/manifest/data_file.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/manifest/manifest_writer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::commit {

// "<metadata folder>/<commit uuid>-m<N>.avro", N from 0 on.
class ManifestNames {
 public:
  explicit ManifestNames(std::string commit_uuid) : commit_uuid_(std::move(commit_uuid)) {}
  std::string next(const spec::TableMetadata& metadata);
  const std::string& commit_uuid() const { return commit_uuid_; }

 private:
  const std::string commit_uuid_;
  int64_t count_ = 0;
};

// What manifests of one snapshot are written with.
struct ManifestWriting {
  FileSystem& files;
  MemoryPool& pool;
  ManifestNames& names;
  WrittenFiles& written;  // gets each path
  int64_t snapshot_id;
  OutputFile::PublishOptions publish;
};

// By the property write.manifest.compression-codec.
avro::ContainerWriterOptions manifest_container(const spec::TableMetadata& metadata);

// The manifests that a snapshot names, in its order. For format 2 and up, counts that an old list leaves out are counted.
std::vector<manifest::ManifestFile> manifests_of(const spec::Snapshot& snapshot, const spec::TableMetadata& metadata,
                                                 FileSystem& files, MemoryPool& pool);

// Manifests of added files: one or more for each partition spec, up to commit.manifest.target-size-bytes each.
std::vector<manifest::ManifestFile> write_added(std::span<const manifest::DataFile> files,
                                                const spec::TableMetadata& metadata, const ManifestWriting& writing);

struct MergedManifests {
  std::vector<manifest::ManifestFile> manifests;
  int64_t replaced = 0;  // manifests that are not among them any more
};

// As Iceberg Java merges: data manifests of one spec are packed from the oldest on into bins of
// commit.manifest.target-size-bytes, and each bin becomes one manifest; the bin with the newest manifest only once it
// holds commit.manifest.min-count-to-merge. Delete manifests likewise, behind them. Encrypted ones and those of a spec
// that was removed stay as they are; entries of files that are gone, and manifests without others, are dropped.
// `manifests`: the newest first.
MergedManifests merge_manifests(const std::vector<manifest::ManifestFile>& manifests,
                                const spec::TableMetadata& metadata, const ManifestWriting& writing);

}  // namespace frazil::commit
