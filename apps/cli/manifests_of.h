// The manifests of one state of a table.
#pragma once

#include <string>
#include <vector>

#include "output.h"

#include "frazil/catalog/catalog.h"
#include "frazil/json/value.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::cli {

class Session;

// In the order of the list; v1 snapshots may name manifests without one.
std::vector<manifest::ManifestFile> manifests_of(Session& session, const catalog::LoadedTable& table,
                                                 const spec::Snapshot& snapshot);

// Opens one, with the partition type of its spec.
manifest::Manifest open_manifest(Session& session, const catalog::LoadedTable& table,
                                 const manifest::ManifestFile& file, bool with_metrics,
                                 manifest::ManifestSchemaCache& cache);

// How listings show the partition of an entry: "day=2026-11-30/host=a", and an object by the names of its spec's fields.
std::string partition_text(const spec::TableMetadata& metadata, const manifest::Manifest& manifest,
                           const manifest::Entry& entry);
JsonText partition_json(const manifest::Manifest& manifest, const manifest::Entry& entry);
// As a JSON single value; what has none (a variant) is null.
json::Value literal_json(const spec::Literal& literal);

}  // namespace frazil::cli
