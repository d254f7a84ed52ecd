// Catalogs: who knows which tables there are and where the current metadata of each is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/catalog/configuration.h"
#include "frazil/catalog/identifier.h"
#include "frazil/io/file_system.h"
#include "frazil/spec/new_table.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/spec/table_update.h"

namespace frazil {
class Context;
class FileSystems;
class MemoryPool;
}  // namespace frazil

namespace frazil::catalog {

class TableStore;

// What must survive what before a commit is acknowledged.
enum class Durability : uint8_t {
  // A killed process loses nothing: what is written is with the operating system. A power cut may lose the last commits;
  // the SQLite database itself stays whole. As with every other implementation.
  kProcess,
  // A power cut loses nothing: each file and each changed folder is synced before the commit.
  kFull,
};

struct CommitOptions {
  Durability durability = Durability::kProcess;
};

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
  // Where its next version goes; nullptr for metadata that belongs to no catalog and no path. Lives on its own: the
  // catalog may be gone.
  std::shared_ptr<TableStore> store = nullptr;
};

// One table's place in a catalog, or its folder. Thread-safe.
class TableStore {
 public:
  virtual ~TableStore() = default;

  // The table as it is now.
  virtual LoadedTable load() = 0;

  // Makes `updates` of `base` the table's next version: checks the requirements, applies, writes the metadata file and
  // puts it in the place of base.metadata_location by one atomic step. `base` is what load() or commit() gave; no
  // updates: gives `base`, or creates it if it was staged. Afterwards, with write.metadata.delete-after-commit.enabled, metadata files that fell out of
  // the log are deleted.
  //
  // Throws ConflictError if the table is no longer `base` (nothing has changed, nothing is left behind),
  // CommitStateUnknownError if the step was taken and its outcome could not be found out, Error(kUnsupported) for a
  // table that can only be read. Any other error: the table is as before and what was written is removed.
  virtual LoadedTable commit(Context& context, const LoadedTable& base,
                             std::span<const spec::TableRequirement> requirements,
                             std::span<const spec::TableUpdate> updates, const CommitOptions& options = {}) = 0;
};

// Thread-safe. Errors: Error(kNotFound) for what does not exist, IoError, CorruptError, Error(kPermission). What writes
// makes the catalog's database if there is none; an error leaves everything as it was, but for CommitStateUnknownError.
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

  // The namespaces above need not exist. Throws Error(kAlreadyExists), Error(kInvalidArgument) for the root.
  virtual void create_namespace(const Namespace& levels, const Properties& properties = {}) = 0;
  // Throws Error(kNotFound), Error(kInvalidArgument) if there are tables, views or namespaces in it.
  virtual void drop_namespace(const Namespace& levels) = 0;
  // Throws Error(kNotFound), Error(kInvalidArgument) for a key that is both set and removed.
  virtual void update_namespace_properties(const Namespace& levels, const Properties& updates,
                                           std::span<const std::string> removals) = 0;

  // Without a location in `table` it is "<location of the namespace>/<name>" if the namespace has the property
  // "location", else "<warehouse>/<namespace>/<name>", with "-<8 hex digits>" behind if there is a table in that folder
  // (dropped without purge, or renamed). Throws Error(kAlreadyExists), Error(kNotFound) if the namespace does not
  // exist, and as new_table_metadata().
  virtual LoadedTable create_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table,
                                   const CommitOptions& options = {}) = 0;
  // The same table before it is there: nothing is written, and what LoadedTable::files gets below its location is nobody's
  // yet. The first commit to its store creates the table with what that commit adds, by one atomic step; it throws
  // Error(kAlreadyExists) if somebody else has created one of that name meanwhile. Until then its store cannot load().
  virtual LoadedTable stage_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table) = 0;
  // Forgets the table; its files stay (commit/purge.h deletes those of a LoadedTable). Throws Error(kNotFound).
  virtual void drop_table(const TableIdentifier& identifier) = 0;
  // Its files stay where they are. Throws Error(kNotFound) also for the namespace of `to`, Error(kAlreadyExists).
  virtual void rename_table(const TableIdentifier& from, const TableIdentifier& to) = 0;
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
