// The rows of a SQL catalog on SQLite, as Iceberg Java (JdbcCatalog), PyIceberg (SqlCatalog) and iceberg-rust keep them.
//
//   iceberg_tables                  catalog_name, table_namespace, table_name, metadata_location,
//                                   previous_metadata_location [, iceberg_type]           V0: without, V1: with it
//   iceberg_namespace_properties    catalog_name, namespace, property_key, property_value
//
// Several catalogs share a database, each by its name, so both programs must use one name. The levels of a namespace
// are joined by '.'. iceberg_type is 'TABLE', 'VIEW', or NULL, which counts as a table (rows older than V1). A
// namespace exists if a table or a property has it or one below it; one without any of those is marked by the property
// exists = 'true', which is no property of the user's and not shown.
//
// A database that is made here is V1, unless the property "schema_version" (PyIceberg) or "jdbc.schema-version" (Java)
// says V0; one of V0 stays so, unless it says V1.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/base/mutex.h"
#include "frazil/catalog/configuration.h"
#include "frazil/catalog/identifier.h"
#include "frazil/catalog/sqlite_database.h"

namespace frazil::catalog {

// Thread-safe. The database is opened at the first use, for reading; the first writing use opens it for writing, and
// create_namespace() creates it. Each function is one transaction. Throws what SqliteDatabase throws, and Error(kNotFound)
// for a database that is not there or holds no catalog.
class SqlTables {
 public:
  // `properties` needs "uri". Throws Error(kInvalidArgument) for a bad one, or for another bad property.
  SqlTables(std::string catalog_name, const Properties& properties);

  std::vector<Namespace> list_namespaces(const Namespace& parent) EXCLUDES(mutex_);
  Properties namespace_properties(const Namespace& levels) EXCLUDES(mutex_);
  std::vector<TableIdentifier> list_tables(const Namespace& levels) EXCLUDES(mutex_);
  // The metadata location. Throws Error(kNotFound), Error(kUnsupported) for a view.
  std::string find_table(const TableIdentifier& identifier) EXCLUDES(mutex_);

  void create_namespace(const Namespace& levels, const Properties& properties) EXCLUDES(mutex_);
  void drop_namespace(const Namespace& levels) EXCLUDES(mutex_);
  void update_namespace_properties(const Namespace& levels, const Properties& updates,
                                   std::span<const std::string> removals) EXCLUDES(mutex_);
  // Throws Error(kAlreadyExists) if a table or view has that name, Error(kNotFound) if the namespace does not exist.
  void require_absent(const TableIdentifier& identifier) EXCLUDES(mutex_);
  void insert_table(const TableIdentifier& identifier, const std::string& location, bool extra_durable)
      EXCLUDES(mutex_);
  void delete_table(const TableIdentifier& identifier) EXCLUDES(mutex_);
  void rename_table(const TableIdentifier& from, const TableIdentifier& to) EXCLUDES(mutex_);
  // Compare and set, in one statement: false if the table's location is no longer `expected`, or the table is gone.
  [[nodiscard]] bool replace_location(const TableIdentifier& identifier, const std::string& expected,
                                      const std::string& location, bool extra_durable) EXCLUDES(mutex_);
  // Closes the connection: the next use opens a new one, which sees what the last left behind.
  void reconnect() EXCLUDES(mutex_);

 private:
  // The open database with what is known of its layout.
  struct Database {
    SqliteDatabase sqlite;
    bool has_types = false;                 // V1
    bool has_namespace_properties = false;  // a table of its own; without it there are no properties
  };
  Database& database() REQUIRES(mutex_);
  Database& writable(SqliteAccess access) REQUIRES(mutex_);
  void create_layout(SqliteDatabase& sqlite) const;
  bool namespace_exists(Database& database, const std::string& joined) REQUIRES(mutex_);
  void require_namespace(Database& database, const Namespace& levels) REQUIRES(mutex_);
  void require_absent(Database& database, const TableIdentifier& identifier) REQUIRES(mutex_);
  void put_property(Database& database, const std::string& joined, const std::string& key, const std::string& value)
      REQUIRES(mutex_);
  void keep_namespace(Database& database, const Namespace& levels) REQUIRES(mutex_);
  [[noreturn]] void throw_no_table(Database& database, const TableIdentifier& identifier) REQUIRES(mutex_);
  // "the database has catalogs a, b: --catalog a", if this one has no rows.
  std::string hint_of_other_catalogs(Database& database) REQUIRES(mutex_);

  enum class Layout : uint8_t { kAsItIs, kV0, kV1 };

  const std::string name_;
  const std::string path_;
  const std::optional<std::chrono::milliseconds> timeout_;
  const Layout layout_;
  const bool creates_layout_;  // PyIceberg's "init_catalog_tables"
  Mutex mutex_;
  std::unique_ptr<Database> database_ GUARDED_BY(mutex_);
};

}  // namespace frazil::catalog
