// The SQL catalog of Iceberg Java (JdbcCatalog), PyIceberg (SqlCatalog) and iceberg-rust on SQLite; reading.
//
//   iceberg_tables                  catalog_name, table_namespace, table_name, metadata_location,
//                                   previous_metadata_location [, iceberg_type]           V0: without, V1: with it
//   iceberg_namespace_properties    catalog_name, namespace, property_key, property_value
//
// Several catalogs share a database, each by its name, so both programs must use one name. The levels of a namespace
// are joined by '.'. iceberg_type is 'TABLE', 'VIEW', or NULL, which counts as a table (rows older than V1). A
// namespace exists if a table or a property has it or one below it; one without any of those is marked by the property
// exists = 'true', which is no property of the user's and not shown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frazil/base/mutex.h"
#include "frazil/catalog/catalog.h"
#include "frazil/catalog/sqlite_database.h"

namespace frazil::catalog {

class SqlCatalog final : public Catalog {
 public:
  // `properties` needs "uri". The database is opened at the first use, for reading; nothing is created. Throws
  // Error(kInvalidArgument) for a bad uri.
  SqlCatalog(std::string name, Properties properties, std::shared_ptr<FileSystem> files, MemoryPool& pool);

  const std::string& name() const override { return name_; }
  const Properties& properties() const override { return properties_; }
  std::vector<Namespace> list_namespaces(const Namespace& parent) override EXCLUDES(mutex_);
  Properties namespace_properties(const Namespace& levels) override EXCLUDES(mutex_);
  std::vector<TableIdentifier> list_tables(const Namespace& levels) override EXCLUDES(mutex_);
  LoadedTable load_table(const TableIdentifier& identifier) override EXCLUDES(mutex_);
  void create_namespace(const Namespace& levels, const Properties& properties) override;
  void drop_namespace(const Namespace& levels) override;
  void update_namespace_properties(const Namespace& levels, const Properties& updates,
                                   std::span<const std::string> removals) override;
  LoadedTable create_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table,
                           const CommitOptions& options) override;
  void drop_table(const TableIdentifier& identifier) override;
  void rename_table(const TableIdentifier& from, const TableIdentifier& to) override;

 private:
  // The open database with what is known of its layout.
  struct Database {
    SqliteDatabase sqlite;
    bool has_types = false;                 // V1
    bool has_namespace_properties = false;  // a table of its own; without it there are no properties
  };
  Database& database() REQUIRES(mutex_);
  bool namespace_exists(Database& database, const std::string& joined) REQUIRES(mutex_);
  void require_namespace(Database& database, const Namespace& levels) REQUIRES(mutex_);
  [[noreturn]] void throw_no_table(Database& database, const TableIdentifier& identifier) REQUIRES(mutex_);
  // "the database has catalogs a, b: --catalog a", if this one has no rows.
  std::string hint_of_other_catalogs(Database& database) REQUIRES(mutex_);

  const std::string name_;
  const Properties properties_;
  const std::string path_;
  const std::shared_ptr<FileSystem> files_;
  MemoryPool& pool_;
  Mutex mutex_;
  std::unique_ptr<Database> database_ GUARDED_BY(mutex_);
};

}  // namespace frazil::catalog
