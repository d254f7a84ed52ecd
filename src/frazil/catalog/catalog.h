// Catalogs: who knows which tables there are and where the current metadata of each is. Reading side.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/catalog/configuration.h"
#include "frazil/catalog/identifier.h"
#include "frazil/io/file_system.h"
#include "frazil/spec/table_metadata.h"

namespace frazil {
class FileSystems;
class MemoryPool;
}  // namespace frazil

namespace frazil::catalog {

// A table as it was at one moment: everything that planning and scanning need. Copies are cheap.
struct LoadedTable {
  std::string name;                           // for messages: "web.hits", or the path that it was opened by
  std::optional<TableIdentifier> identifier;  // nothing if opened by its path
  std::string metadata_location;              // as the catalog has it, or the file that was found
  spec::TableMetadataPtr metadata;
  Properties properties;  // the catalog's; empty if opened by its path
  // Opens the files that the metadata names, wherever they are now: through the location map, and below the folder
  // where the table was found.
  std::shared_ptr<FileSystem> files;
  // What the user should know, a line each: "recorded at a, found at b: ...".
  std::vector<std::string> notices;
};

// Thread-safe. Errors: Error(kNotFound) for what does not exist, IoError, CorruptError, Error(kPermission).
class Catalog {
 public:
  virtual ~Catalog() = default;

  // As configured; SQL catalogs store it in each row.
  virtual const std::string& name() const = 0;
  virtual const Properties& properties() const = 0;

  // The namespaces right below `parent`, full, sorted. Throws Error(kNotFound) if `parent` does not exist.
  virtual std::vector<Namespace> list_namespaces(const Namespace& parent) = 0;
  // Throws Error(kNotFound).
  virtual Properties namespace_properties(const Namespace& levels) = 0;
  // The tables of this namespace, not of those below it, without views; sorted. Throws Error(kNotFound).
  virtual std::vector<TableIdentifier> list_tables(const Namespace& levels) = 0;
  // Reads the current metadata. Throws Error(kNotFound), Error(kUnsupported) for a view.
  virtual LoadedTable load_table(const TableIdentifier& identifier) = 0;
};

struct CatalogOptions {
  // Command line flags and the like: these stand above what is configured ("uri", "warehouse", ...).
  Properties overrides = {};
  // Rules "OLD=NEW" (LocationMap::add_rule); they stand above the catalog's properties "map-location" and
  // "map-location.*", of which each is one rule.
  std::vector<std::string> location_rules = {};
};

// The catalog `name` (empty: the default one) as configured. Its type is the property "type", or follows from "uri":
// sqlite:, jdbc:sqlite:, file: and paths of a database are "sql". `files` is copied; `pool` outlives the catalog and
// its tables. Throws Error(kInvalidArgument) if no uri is known or a property is wrong, Error(kUnsupported) for types
// that are not read yet. Whether the database is there is found out at the first use.
std::unique_ptr<Catalog> open_catalog(const Configuration& configuration, std::string_view name,
                                      const FileSystems& files, MemoryPool& pool, const CatalogOptions& options = {});

// The property that bounds metadata files: "metadata.max-bytes".
inline constexpr std::string_view kMetadataMaxBytes = "metadata.max-bytes";
inline constexpr size_t kDefaultMetadataMaxBytes = size_t{512} << 20;

// Of properties, else the default. Throws Error(kInvalidArgument) if it is no size.
size_t metadata_max_bytes(const Properties& properties);

// Reads a metadata file, compressed or not, into `pool` and parses it. Throws MemoryLimitError, before reading, if it
// has more than `max_bytes`.
spec::TableMetadataPtr read_table_metadata(FileSystem& files, std::string_view location, MemoryPool& pool,
                                           size_t max_bytes = kDefaultMetadataMaxBytes);

}  // namespace frazil::catalog
