#include "frazil/catalog/sql_catalog.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::catalog {
namespace {

// A listing longer than this is not one of a catalog.
constexpr size_t kMaxRows = 10'000'000;
constexpr std::string_view kExistsMarker = "exists";

std::string path_of(const Properties& properties) {
  auto uri = properties.find("uri");
  if (uri == properties.end() || uri->second.empty()) {
    Error error(ErrorKind::kInvalidArgument, "a SQL catalog needs a uri");
    throw error.set_hint("--uri sqlite:///lake.db (relative) or sqlite:////data/lake.db (absolute)");
  }
  if (auto path = sqlite_path_of_uri(uri->second)) return *path;
  if (uri->second.find(':') == std::string::npos) return uri->second;  // type: sql, uri: lake.db
  throw_error(ErrorKind::kUnsupported, "SQL catalogs are read from SQLite only, not from '{}'", uri->second);
}

void count_row(size_t& count, const SqliteDatabase& database) {
  if (++count > kMaxRows) throw_error(ErrorKind::kCorrupt, "SQLite database {} gives endless rows", database.path());
}

// Everything below "a.b" starts with "a.b." and sorts before "a.b/", '/' being the character after '.'. Other than
// LIKE, a range needs no escapes, knows no upper and lower case, and uses the index of the primary key.
std::string first_below(const std::string& joined) {
  return joined + ".";
}
std::string end_below(const std::string& joined) {
  return joined + "/";
}

}  // namespace

SqlCatalog::SqlCatalog(std::string name, Properties properties, std::shared_ptr<FileSystem> files, MemoryPool& pool)
    : name_(std::move(name)),
      properties_(std::move(properties)),
      path_(path_of(properties_)),
      files_(std::move(files)),
      pool_(pool) {}

SqlCatalog::Database& SqlCatalog::database() {
  if (database_) return *database_;
  auto opened = std::make_unique<Database>(Database{SqliteDatabase(path_)});
  if (!opened->sqlite.has_column("iceberg_tables", "metadata_location")) {
    Error error(ErrorKind::kNotFound,
                message("SQLite database {} holds no Iceberg catalog: it has no table iceberg_tables", path_));
    throw error.set_hint("check the catalog's uri; nothing is created by reading");
  }
  opened->has_types = opened->sqlite.has_column("iceberg_tables", "iceberg_type");
  opened->has_namespace_properties = opened->sqlite.has_column("iceberg_namespace_properties", "property_key");
  database_ = std::move(opened);
  return *database_;
}

bool SqlCatalog::namespace_exists(Database& database, const std::string& joined) {
  bool exists = false;
  const std::string parameters[] = {name_, joined, first_below(joined), end_below(joined)};
  auto visit = [&](const SqliteDatabase::Row&) {
    exists = true;
    return false;
  };
  database.sqlite.query(
      "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND "
      "(table_namespace = ?2 OR (table_namespace >= ?3 AND table_namespace < ?4)) LIMIT 1",
      parameters, visit);
  if (!exists && database.has_namespace_properties) {
    database.sqlite.query(
        "SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND "
        "(namespace = ?2 OR (namespace >= ?3 AND namespace < ?4)) LIMIT 1",
        parameters, visit);
  }
  return exists;
}

std::string SqlCatalog::hint_of_other_catalogs(Database& database) {
  std::string sql = "SELECT DISTINCT catalog_name FROM iceberg_tables";
  if (database.has_namespace_properties) sql += " UNION SELECT catalog_name FROM iceberg_namespace_properties";
  const std::string parameters[] = {name_};
  bool has_own = false;
  database.sqlite.query("SELECT 1 FROM (" + sql + ") WHERE catalog_name = ?1 LIMIT 1", parameters,
                        [&](const SqliteDatabase::Row&) {
                          has_own = true;
                          return false;
                        });
  if (has_own) return {};
  std::vector<std::string> names;
  database.sqlite.query(sql + " LIMIT 10", {}, [&](const SqliteDatabase::Row& row) {
    if (auto found = row.text(0)) names.emplace_back(*found);
    return true;
  });
  if (names.empty()) return {};
  std::string list;
  for (const std::string& other : names) list += (list.empty() ? "'" : ", '") + other + "'";
  return message(
      "the database holds nothing of catalog '{}', but of {}: a catalog is found by the name that wrote it "
      "(--catalog)",
      name_, list);
}

void SqlCatalog::require_namespace(Database& database, const Namespace& levels) {
  std::string joined = to_string(levels);
  if (levels.empty() || namespace_exists(database, joined)) return;
  Error error(ErrorKind::kNotFound, message("namespace '{}' does not exist in catalog '{}'", joined, name_));
  error.set_hint(hint_of_other_catalogs(database));
  throw error;
}

std::vector<Namespace> SqlCatalog::list_namespaces(const Namespace& parent) {
  MutexLock lock(mutex_);
  Database& open = database();
  require_namespace(open, parent);
  std::string joined = to_string(parent);
  std::string sql = "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = ?1";
  if (!parent.empty()) sql += " AND table_namespace >= ?2 AND table_namespace < ?3";
  if (open.has_namespace_properties) {
    sql += " UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1";
    if (!parent.empty()) sql += " AND namespace >= ?2 AND namespace < ?3";
  }
  std::vector<std::string> parameters = {name_};
  if (!parent.empty()) {
    parameters.push_back(first_below(joined));
    parameters.push_back(end_below(joined));
  }

  std::set<std::string> children;  // the next level's name
  size_t rows = 0;
  open.sqlite.query(sql, parameters, [&](const SqliteDatabase::Row& row) {
    count_row(rows, open.sqlite);
    auto text = row.text(0);
    if (!text) return true;
    if (!parent.empty()) text->remove_prefix(std::min(text->size(), joined.size() + 1));
    std::string_view child = text->substr(0, text->find('.'));
    if (!child.empty()) children.emplace(child);
    return true;
  });
  std::vector<Namespace> namespaces;
  namespaces.reserve(children.size());
  for (const std::string& child : children) {
    Namespace levels = parent;
    levels.push_back(child);
    namespaces.push_back(std::move(levels));
  }
  return namespaces;
}

Properties SqlCatalog::namespace_properties(const Namespace& levels) {
  MutexLock lock(mutex_);
  Database& open = database();
  require_namespace(open, levels);
  Properties properties;
  if (!open.has_namespace_properties) return properties;
  const std::string parameters[] = {name_, to_string(levels)};
  size_t rows = 0;
  open.sqlite.query(
      "SELECT property_key, property_value FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = "
      "?2",
      parameters, [&](const SqliteDatabase::Row& row) {
        count_row(rows, open.sqlite);
        auto key = row.text(0);
        if (key && *key != kExistsMarker) properties.emplace(*key, row.text(1).value_or(""));
        return true;
      });
  return properties;
}

std::vector<TableIdentifier> SqlCatalog::list_tables(const Namespace& levels) {
  MutexLock lock(mutex_);
  Database& open = database();
  require_namespace(open, levels);
  std::string sql = "SELECT table_name FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2";
  if (open.has_types) sql += " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
  const std::string parameters[] = {name_, to_string(levels)};
  std::vector<TableIdentifier> tables;
  size_t rows = 0;
  open.sqlite.query(sql, parameters, [&](const SqliteDatabase::Row& row) {
    count_row(rows, open.sqlite);
    if (auto table = row.text(0)) tables.push_back({levels, std::string(*table)});
    return true;
  });
  std::sort(tables.begin(), tables.end(),
            [](const TableIdentifier& a, const TableIdentifier& b) { return a.name < b.name; });
  return tables;
}

void SqlCatalog::throw_no_table(Database& database, const TableIdentifier& identifier) {
  require_namespace(database, identifier.levels);
  Error error(ErrorKind::kNotFound, message("table '{}' does not exist in catalog '{}'", to_string(identifier), name_));
  std::string hint = hint_of_other_catalogs(database);
  if (hint.empty()) {
    hint = identifier.levels.empty() ? "a table is named namespace.table; ./x is a path"
                                     : message("frazil list {} shows what is there", to_string(identifier.levels));
  }
  throw error.set_hint(std::move(hint));
}

LoadedTable SqlCatalog::load_table(const TableIdentifier& identifier) {
  LoadedTable table;
  table.name = to_string(identifier);
  table.identifier = identifier;
  table.properties = properties_;
  table.files = files_;
  {
    MutexLock lock(mutex_);
    Database& open = database();
    std::string sql = open.has_types ? "SELECT metadata_location, iceberg_type" : "SELECT metadata_location, NULL";
    sql += " FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";
    const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name};
    bool found = false;
    std::string type = "TABLE";
    open.sqlite.query(sql, parameters, [&](const SqliteDatabase::Row& row) {
      found = true;
      table.metadata_location = row.text(0).value_or("");
      type = row.text(1).value_or("TABLE");
      return false;
    });
    if (!found) throw_no_table(open, identifier);
    if (type != "TABLE") {
      throw_error(ErrorKind::kUnsupported, "'{}' in catalog '{}' is not a table but a {}", table.name, name_,
                  type == "VIEW" ? "view" : "'" + type + "'");
    }
    if (table.metadata_location.empty()) {
      throw_error(ErrorKind::kCorrupt, "table '{}' in catalog '{}' has no metadata location", table.name, name_);
    }
  }
  try {
    table.metadata = read_table_metadata(*files_, table.metadata_location, pool_, metadata_max_bytes(properties_));
  } catch (Error& error) {
    error.add_context(message("loading table '{}' of catalog '{}'", table.name, name_));
    if (error.kind() == ErrorKind::kNotFound && error.hint().empty()) {
      error.set_hint("if the files were moved, say where: --map-location OLD=NEW");
    }
    throw;
  }
  return table;
}

namespace {

[[noreturn]] void throw_read_only() {
  throw_error(ErrorKind::kUnsupported, "SQL catalogs are not written to yet");
}

}  // namespace

void SqlCatalog::create_namespace(const Namespace&, const Properties&) {
  throw_read_only();
}
void SqlCatalog::drop_namespace(const Namespace&) {
  throw_read_only();
}
void SqlCatalog::update_namespace_properties(const Namespace&, const Properties&, std::span<const std::string>) {
  throw_read_only();
}
LoadedTable SqlCatalog::create_table(Context&, const TableIdentifier&, const spec::NewTable&, const CommitOptions&) {
  throw_read_only();
}
void SqlCatalog::drop_table(const TableIdentifier&) {
  throw_read_only();
}
void SqlCatalog::rename_table(const TableIdentifier&, const TableIdentifier&) {
  throw_read_only();
}

}  // namespace frazil::catalog
