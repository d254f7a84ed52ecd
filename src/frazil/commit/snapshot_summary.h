// The summary of a snapshot (Iceberg spec, "Optional Snapshot Summary Fields"), with the keys and rules of Iceberg Java.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "frazil/manifest/data_file.h"
#include "frazil/spec/snapshot.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::commit {

struct ManifestCounts {
  int64_t created = 0;
  int64_t kept = 0;
  int64_t replaced = 0;
};

// Of files that are to be appended. The same at each attempt.
class AppendedFiles {
 public:
  // `files` have partition values that fit `metadata`'s specs. Counts partitions by their paths.
  AppendedFiles(std::span<const manifest::DataFile> files, const spec::TableMetadata& metadata);

  // "operation" = "append", then `extra` without what is written here, then what was added and the totals: those of
  // `parent` (nullptr: none, zeros) and what was added. A total that the parent does not have stays unknown.
  spec::Summary summary(const spec::Snapshot* parent, const ManifestCounts& manifests,
                        const spec::Summary& extra) const;

 private:
  int64_t file_count_ = 0;
  int64_t record_count_ = 0;
  int64_t file_bytes_ = 0;
  int64_t partition_count_ = 0;
  spec::Summary partitions_;  // "partitions.<path>", if there are no more than write.summary.partition-limit
};

}  // namespace frazil::commit
