// Planning, manifest by manifest: snapshot -> manifest list -> one task a live data file.
#pragma once

#include <cstddef>
#include <vector>

#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/scan/scan.h"

namespace frazil::scan {

// Reads the parts of a plan.
class Planner {
 public:
  // Reads the manifest list, and the manifests of deletes: a table that cannot be read says so at once. Memory is
  // counted in `pool`, which outlives the planner as the source does.
  Planner(const Source& source, const Options& options, MemoryPool& pool);

  const Target& target() const { return target_; }
  // Of data, in the order of the list; those that say that they have no live files are left out.
  size_t manifest_count() const { return manifests_.size(); }
  // The tasks of one manifest, in its order. From any thread. Throws CorruptError, IoError, MemoryLimitError.
  std::vector<Task> read_manifest(size_t index) const;

 private:
  std::vector<Task> read(const manifest::ManifestFile& file) const;

  const Source source_;
  MemoryPool& pool_;
  Target target_;
  std::vector<manifest::ManifestFile> manifests_;
  mutable manifest::ManifestSchemaCache cache_;
};

// What a task takes of memory.
size_t task_bytes(const Task& task);

}  // namespace frazil::scan
