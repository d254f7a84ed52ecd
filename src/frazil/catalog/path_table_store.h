// Writing tables by their path; the rules are in path_table.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "frazil/catalog/catalog.h"
#include "frazil/io/file_systems.h"

namespace frazil::catalog {

// Where a table is, and what it is read with.
struct PathTable {
  std::string path;
  std::shared_ptr<FileSystems> files;  // as they are on the disk: not relocated
  MemoryPool* pool;
  size_t metadata_max_bytes;
};

enum class PathVersion : uint8_t {
  kHinted,  // what readers take
  kNewest,  // and what was written after it
};
LoadedTable open_path_table(const PathTable& place, PathVersion which);

// `why_read_only`: empty if it can be written to.
std::shared_ptr<TableStore> make_path_table_store(PathTable place, std::string why_read_only);

// The location of the last version that follows `location`, one by one; of another name than v<N>: itself.
std::string find_version_after(FileSystem& files, std::string_view folder, const std::string& location);

// A table that is not there yet, with a store whose first commit() writes v1.metadata.json and the hint. Throws
// Error(kAlreadyExists) if there is any metadata file.
LoadedTable stage_path_table(PathTable place, spec::TableMetadataPtr metadata);

}  // namespace frazil::catalog
