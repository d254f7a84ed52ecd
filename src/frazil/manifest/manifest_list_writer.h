// Manifest lists, written (Iceberg spec, "Manifest Lists").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frazil/avro/writer.h"
#include "frazil/io/file_system.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::manifest {

struct ManifestListOptions {
  int32_t format_version = 2;  // 1, 2, 3: the table's
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id = std::nullopt;
  int64_t sequence_number = 0;  // of the commit; 0 in v1
  int64_t first_row_id = 0;     // v3: the table's next-row-id at this attempt
  avro::ContainerWriterOptions container;
  OutputFile::PublishOptions publish;
};

// Writes the list and publishes it. Returns the table's next row id after this commit (v3; else options.first_row_id).
//
// Manifests of this snapshot whose sequence numbers are kUnassignedSequenceNumber get the commit's. In v3, data manifests
// without a first_row_id get one in list order, advanced by their added and existing rows (spec, "First Row ID
// Inheritance"): what the manifests of a v2 table hold is numbered by its first v3 commit.
//
// Throws Error(kInvalidArgument), before anything is written, for what the version cannot hold: a delete manifest in v1,
// unknown counts or snapshot ids in v2 and v3, numbers that another snapshot was to get.
int64_t write_manifest_list(std::unique_ptr<OutputFile> file, const ManifestListOptions& options,
                            std::span<const ManifestFile> manifests, MemoryPool& pool);

}  // namespace frazil::manifest
