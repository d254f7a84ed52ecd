// The facade: catalogs, tables and scans as users write them.
//
//   frazil::Context context({.memory_budget_bytes = 64 << 20});
//   auto catalog = frazil::open_catalog(context, {.uri = "sqlite:///lake.db", .warehouse = "file:///data/lake"});
//   auto table = catalog.load_table("web.hits");
//   auto stream = table.scan().select({"host", "bytes"}).order(frazil::ScanOrder::kTask).execute();
//   while (auto batch = stream->next()) consume(*batch);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/catalog/catalog.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/io/file_systems.h"
#include "frazil/predicate/predicate.h"
#include "frazil/scan/scan.h"
#include "frazil/table/append.h"

namespace frazil {

class Context;

using ScanOrder = scan::Order;

// Collects what to read; execute() plans and starts. Borrows the table's parts, which it keeps alive itself; the
// context outlives it and its streams. Each setter returns the builder.
class ScanBuilder {
 public:
  ScanBuilder& select(std::vector<std::string> columns);
  // Rows for which it is true (docs/predicates.md); of several, all. Throws Error(kInvalidArgument) for text that is none.
  ScanBuilder& where(std::string_view predicate);
  ScanBuilder& where(predicate::Predicate predicate);
  ScanBuilder& limit(int64_t rows);
  // Time travel: at most one of these.
  ScanBuilder& snapshot(int64_t snapshot_id);
  ScanBuilder& as_of_ms(int64_t milliseconds_since_epoch);
  ScanBuilder& ref(std::string name);
  ScanBuilder& snapshot(spec::SnapshotSelection selection);
  ScanBuilder& order(ScanOrder order);
  ScanBuilder& batch_rows(int64_t rows);
  ScanBuilder& memory_budget_bytes(size_t bytes);
  ScanBuilder& threads(size_t count);
  ScanBuilder& verify_checksums(bool verify = true);
  ScanBuilder& validate_utf8(bool validate = true);

  const scan::Options& options() const { return options_; }
  // Throws what planning throws (scan/scan.h).
  std::unique_ptr<scan::Stream> execute() const;
  // How many rows there would be. Without where() no data file is opened.
  int64_t count() const;

 private:
  friend class Table;
  ScanBuilder(Context& context, spec::TableMetadataPtr metadata, std::shared_ptr<FileSystem> files)
      : context_(&context), metadata_(std::move(metadata)), files_(std::move(files)) {}

  Context* context_;
  spec::TableMetadataPtr metadata_;
  std::shared_ptr<FileSystem> files_;
  scan::Options options_;
};

// A table as it was when it was loaded. Copies are cheap and share what was read.
class Table {
 public:
  Table(Context& context, catalog::LoadedTable loaded);

  const std::string& name() const { return loaded_.name; }
  const std::string& metadata_location() const { return loaded_.metadata_location; }
  const spec::TableMetadata& metadata() const { return *loaded_.metadata; }
  const spec::TableMetadataPtr& metadata_ptr() const { return loaded_.metadata; }
  // What the user should know about how it was found, a line each.
  const std::vector<std::string>& notices() const { return loaded_.notices; }
  // Opens the locations in its metadata.
  FileSystem& files() const { return *files_; }
  // Bytes and files read through files() by this table and its copies so far.
  const IoCounters& io_counters() const { return files_->counters(); }

  ScanBuilder scan() const;
  // Throws what write::DataWriter's constructor throws; Error(kUnsupported) for a table that nothing can be committed to.
  Append append(AppendOptions options = {}) const;

 private:
  Context* context_;
  catalog::LoadedTable loaded_;
  std::shared_ptr<CountingFileSystem> files_;  // over loaded_.files
};

struct CatalogProperties {
  std::string uri = {};
  std::string warehouse = {};
  std::string name = "default";  // as SQL catalogs store it: must be the one that the writers use
  std::map<std::string, std::string> properties = {};
};

// Movable. The context outlives it.
class CatalogHandle {
 public:
  CatalogHandle(Context& context, std::unique_ptr<catalog::Catalog> catalog);

  catalog::Catalog& operator*() const { return *catalog_; }
  catalog::Catalog* operator->() const { return catalog_.get(); }
  // "namespace.table". Throws Error(kNotFound).
  Table load_table(std::string_view identifier) const;

 private:
  Context* context_;
  std::unique_ptr<catalog::Catalog> catalog_;
};

// A catalog by its properties alone; nothing is read from the environment or from configuration files.
CatalogHandle open_catalog(Context& context, const CatalogProperties& properties);

// A table by its folder or metadata file. `location_rules`: "OLD=NEW".
Table open_table(Context& context, std::string_view path, std::vector<std::string> location_rules = {});

}  // namespace frazil
