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
//
// Writing is for tables whose files are called v<N> (Iceberg Java's HadoopTables). The next version goes into a temporary
// that gets the name v<N+1> if nothing has it; who comes second has a conflict. All that begin from one version take one
// of its two names, compressed or not, as that version's properties say. Then the hint is replaced. It can be behind (a
// writer was killed, or two wrote it in the other order), so writers look for versions after it: TableStore::load() does.
// Where old versions are deleted a name becomes free again; a writer that took one finds out by the version before it,
// which is gone then, and takes its own back.
//
// Tables with other names belong to a catalog, which would not see a version made here: they are read only.
#pragma once

#include <string_view>

#include "frazil/catalog/catalog.h"

namespace frazil::catalog {

struct PathTableOptions {
  std::vector<std::string> location_rules = {};  // "OLD=NEW"
  size_t metadata_max_bytes = kDefaultMetadataMaxBytes;
};

// `files` is copied; `pool` outlives the table and its store. If the table is not where its metadata says, a notice says
// so, and LoadedTable::files looks below the place where it was found (relocated_files.h). Throws Error(kNotFound) if
// there is no table, CorruptError, IoError.
LoadedTable open_table_by_path(std::string_view path, const FileSystems& files, MemoryPool& pool,
                               const PathTableOptions& options = {});

// A new table in that folder, with v1.metadata.json and the hint. `table.location` is not looked at. Throws
// Error(kAlreadyExists) if the folder holds a table.
LoadedTable create_table_by_path(Context& context, std::string_view path, const FileSystems& files, MemoryPool& pool,
                                 const spec::NewTable& table, const PathTableOptions& options = {},
                                 const CommitOptions& commit = {});

// The same table before it is there: nothing is written. The first commit to its store creates it, as
// Catalog::stage_table() says.
LoadedTable stage_table_by_path(Context& context, std::string_view path, const FileSystems& files, MemoryPool& pool,
                                const spec::NewTable& table, const PathTableOptions& options = {});

// The location of the current metadata file of the table in `folder`. `notices` gets what the user should know.
std::string find_current_metadata(FileSystem& files, std::string_view folder, MemoryPool& pool, size_t max_bytes,
                                  std::vector<std::string>& notices);

}  // namespace frazil::catalog
