// The manifests of one state of a table.
#pragma once

#include <functional>
#include <vector>

#include "frazil/catalog/catalog.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::cli {

class Session;

// In the order of the list; v1 snapshots may name manifests without one.
std::vector<manifest::ManifestFile> manifests_of(Session& session, const catalog::LoadedTable& table,
                                                 const spec::Snapshot& snapshot);

// Opens one; `partition_type` of its spec.
manifest::Manifest open_manifest(Session& session, const catalog::LoadedTable& table,
                                 const manifest::ManifestFile& file, bool with_metrics,
                                 manifest::ManifestSchemaCache& cache);

}  // namespace frazil::cli
