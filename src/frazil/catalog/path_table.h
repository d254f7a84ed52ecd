// Tables opened by their path, without a catalog.
//
//   path       := metadata file | table folder | its folder "metadata"
//   current    := what metadata/version-hint.text says, else the newest metadata file by its name
//   hint       := N                 v<N>.metadata.json, compressed or not
//              |  name              name.metadata.json, name itself
//   name       := ("v" N | N "-" any) suffix
//   suffix     := .metadata.json | .gz.metadata.json | .metadata.json.gz | .zstd.metadata.json | .metadata.json.zst ...
//
// v3.metadata.json and v3.gz.metadata.json are the same version (Iceberg Java). Of several files of the newest version
// (catalogs leave some of failed commits behind) the one with the latest last-updated-ms is current; so is a file
// without a version in its name if it is later still.
//
// Iceberg Java's path tables look for versions after the hint's too; PyIceberg and DuckDB do not, and nor do we: a
// notice names the newer file.
#pragma once

#include <string_view>

#include "frazil/catalog/catalog.h"

namespace frazil::catalog {

struct PathTableOptions {
  std::vector<std::string> location_rules = {};  // "OLD=NEW"
  size_t metadata_max_bytes = kDefaultMetadataMaxBytes;
};

// `files` is copied; `pool` is used until the call returns. If the table is not where its metadata says, a notice says
// so, and LoadedTable::files looks below the place where it was found (relocated_files.h). Throws Error(kNotFound) if
// there is no table, CorruptError, IoError.
LoadedTable open_table_by_path(std::string_view path, const FileSystems& files, MemoryPool& pool,
                               const PathTableOptions& options = {});

// The location of the current metadata file of the table in `folder`. `notices` gets what the user should know.
std::string find_current_metadata(FileSystem& files, std::string_view folder, MemoryPool& pool, size_t max_bytes,
                                  std::vector<std::string>& notices);

}  // namespace frazil::catalog
