// The SQL catalog of Iceberg Java (JdbcCatalog), PyIceberg (SqlCatalog) and iceberg-rust on SQLite. Its rows: sql_tables.h.
//
// A commit writes the metadata file and then sets the table's metadata_location in one UPDATE, if it is still what the
// commit began from. If that statement fails in a way that leaves its outcome open, the row is read again on a new
// connection.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frazil/catalog/catalog.h"

namespace frazil::catalog {

class SqlCatalog final : public Catalog {
 public:
  // `properties` needs "uri". The database is opened at the first use. Throws Error(kInvalidArgument) for a bad uri.
  SqlCatalog(std::string name, Properties properties, std::shared_ptr<FileSystem> files, MemoryPool& pool);
  ~SqlCatalog() override;

  const std::string& name() const override;
  const Properties& properties() const override;
  std::vector<Namespace> list_namespaces(const Namespace& parent) override;
  Properties namespace_properties(const Namespace& levels) override;
  std::vector<TableIdentifier> list_tables(const Namespace& levels) override;
  LoadedTable load_table(const TableIdentifier& identifier) override;
  void create_namespace(const Namespace& levels, const Properties& properties) override;
  void drop_namespace(const Namespace& levels) override;
  void update_namespace_properties(const Namespace& levels, const Properties& updates,
                                   std::span<const std::string> removals) override;
  LoadedTable create_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table,
                           const CommitOptions& options) override;
  LoadedTable stage_table(Context& context, const TableIdentifier& identifier, const spec::NewTable& table) override;
  void drop_table(const TableIdentifier& identifier) override;
  void rename_table(const TableIdentifier& from, const TableIdentifier& to) override;

 private:
  class State;
  class Store;
  class StagedStore;
  // Shared with the tables that it gave, which may outlive it.
  const std::shared_ptr<State> state_;
};

}  // namespace frazil::catalog
