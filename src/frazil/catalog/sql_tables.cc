#include "frazil/catalog/sql_tables.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::catalog {
namespace {

// A listing longer than this is not one of a catalog.
constexpr size_t kMaxRows = 10'000'000;
constexpr size_t kMaxNameBytes = 255;  // VARCHAR(255), which other databases enforce
constexpr std::string_view kExistsMarker = "exists";
// Writers queue up, and SQLite's lock is not fair.
constexpr std::chrono::milliseconds kWriteTimeout{30000};
constexpr std::string_view kIsTable = " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";

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

std::string value_of(const Properties& properties, std::string_view key) {
  auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

template <typename Layout>
Layout layout_of(const Properties& properties) {
  for (const char* key : {"schema_version", "jdbc.schema-version"}) {
    const std::string version = value_of(properties, key);
    if (version.empty()) continue;
    if (version == "v0" || version == "V0") return Layout::kV0;
    if (version == "v1" || version == "V1") return Layout::kV1;
    throw_error(ErrorKind::kInvalidArgument, "{} must be V0 or V1, not '{}'", key, excerpt(version));
  }
  return Layout::kAsItIs;
}

// Everything below "a.b" starts with "a.b." and sorts before "a.b/", '/' being the character after '.'. Other than
// LIKE, a range needs no escapes, knows no upper and lower case, and uses the index of the primary key.
std::string first_below(const std::string& joined) {
  return joined + ".";
}
std::string end_below(const std::string& joined) {
  return joined + "/";
}

// What a row can hold so that everybody finds it again.
void require_storable(const Namespace& levels) {
  if (levels.empty()) {
    throw_error(ErrorKind::kInvalidArgument, "a SQL catalog has tables in namespaces only: name it namespace.table");
  }
  for (const std::string& level : levels) {
    if (level.empty() || level.find('.') != std::string::npos) {
      throw_error(ErrorKind::kInvalidArgument, "'{}' cannot be a level of a namespace: levels are joined by dots",
                  excerpt(level));
    }
  }
  if (to_string(levels).size() > kMaxNameBytes) {
    throw_error(ErrorKind::kInvalidArgument, "namespace '{}' is longer than {} bytes", excerpt(to_string(levels)),
                kMaxNameBytes);
  }
}

void require_storable(const TableIdentifier& identifier) {
  require_storable(identifier.levels);
  if (identifier.name.empty() || identifier.name.size() > kMaxNameBytes) {
    throw_error(ErrorKind::kInvalidArgument, "the name of a table has 1 to {} bytes, not {}", kMaxNameBytes,
                identifier.name.size());
  }
}

}  // namespace

SqlTables::SqlTables(std::string catalog_name, const Properties& properties)
    : name_(std::move(catalog_name)),
      path_(path_of(properties)),
      timeout_(sqlite_timeout_of_uri(value_of(properties, "uri"))),
      layout_(layout_of<Layout>(properties)),
      creates_layout_(value_of(properties, "init_catalog_tables") != "false") {}

SqlTables::Database& SqlTables::database() {
  if (database_) return *database_;
  SqliteOptions options;
  options.busy_timeout = timeout_.value_or(options.busy_timeout);
  auto opened = std::make_unique<Database>(Database{SqliteDatabase(path_, options)});
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

SqlTables::Database& SqlTables::writable(SqliteAccess access) {
  if (database_ && database_->sqlite.is_writable()) return *database_;
  SqliteOptions options;
  options.access = access;
  options.busy_timeout = timeout_.value_or(kWriteTimeout);
  auto opened = std::make_unique<Database>(Database{SqliteDatabase(path_, options)});
  create_layout(opened->sqlite);
  opened->sqlite.set_extra_durable(false);
  opened->has_types = opened->sqlite.has_column("iceberg_tables", "iceberg_type");
  opened->has_namespace_properties = true;
  database_ = std::move(opened);
  return *database_;
}

// Several processes may do this at once: each looks again once it holds the lock.
void SqlTables::create_layout(SqliteDatabase& sqlite) const {
  const auto needs_types = [&] {
    return layout_ == Layout::kV1 && !sqlite.has_column("iceberg_tables", "iceberg_type");
  };
  const auto needs_properties = [&] { return !sqlite.has_column("iceberg_namespace_properties", "property_key"); };
  const auto needs_tables = [&] { return !sqlite.has_column("iceberg_tables", "metadata_location"); };
  if (!needs_tables() && !needs_properties() && !needs_types()) return;
  if (!creates_layout_) {
    throw_error(ErrorKind::kNotFound, "SQLite database {} holds no Iceberg catalog, and init_catalog_tables is false",
                path_);
  }
  if (!sqlite.has_any_table()) sqlite.prefer_write_ahead();
  SqliteDatabase::Transaction transaction(sqlite);
  if (needs_tables()) {
    sqlite.execute(message(
        "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, "
        "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
        "{}PRIMARY KEY (catalog_name, table_namespace, table_name))",
        layout_ == Layout::kV0 ? "" : "iceberg_type VARCHAR(5), "));
  } else if (needs_types()) {
    sqlite.execute("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)");
  }
  if (needs_properties()) {
    sqlite.execute(
        "CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT "
        "NULL, property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, "
        "namespace, property_key))");
  }
  transaction.commit();
}

bool SqlTables::namespace_exists(Database& database, const std::string& joined) {
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

std::string SqlTables::hint_of_other_catalogs(Database& database) {
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

void SqlTables::require_namespace(Database& database, const Namespace& levels) {
  std::string joined = to_string(levels);
  if (levels.empty() || namespace_exists(database, joined)) return;
  Error error(ErrorKind::kNotFound, message("namespace '{}' does not exist in catalog '{}'", joined, name_));
  const std::string others = hint_of_other_catalogs(database);
  error.set_hint(others.empty() ? "frazil namespace list shows what is there, namespace create makes one" : others);
  throw error;
}

std::vector<Namespace> SqlTables::list_namespaces(const Namespace& parent) {
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

Properties SqlTables::namespace_properties(const Namespace& levels) {
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

std::vector<TableIdentifier> SqlTables::list_tables(const Namespace& levels) {
  MutexLock lock(mutex_);
  Database& open = database();
  require_namespace(open, levels);
  std::string sql = "SELECT table_name FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2";
  if (open.has_types) sql += kIsTable;
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

void SqlTables::throw_no_table(Database& database, const TableIdentifier& identifier) {
  require_namespace(database, identifier.levels);
  Error error(ErrorKind::kNotFound, message("table '{}' does not exist in catalog '{}'", to_string(identifier), name_));
  std::string hint = hint_of_other_catalogs(database);
  if (hint.empty()) {
    hint = identifier.levels.empty() ? "a table is named namespace.table; ./x is a path"
                                     : message("frazil list {} shows what is there", to_string(identifier.levels));
  }
  throw error.set_hint(std::move(hint));
}

std::string SqlTables::find_table(const TableIdentifier& identifier) {
  MutexLock lock(mutex_);
  Database& open = database();
  std::string sql = open.has_types ? "SELECT metadata_location, iceberg_type" : "SELECT metadata_location, NULL";
  sql += " FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";
  const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name};
  bool found = false;
  std::string location;
  std::string type = "TABLE";
  open.sqlite.query(sql, parameters, [&](const SqliteDatabase::Row& row) {
    found = true;
    location = row.text(0).value_or("");
    type = row.text(1).value_or("TABLE");
    return false;
  });
  if (!found) throw_no_table(open, identifier);
  const std::string name = to_string(identifier);
  if (type != "TABLE") {
    throw_error(ErrorKind::kUnsupported, "'{}' in catalog '{}' is not a table but a {}", name, name_,
                type == "VIEW" ? "view" : "'" + type + "'");
  }
  if (location.empty()) {
    throw_error(ErrorKind::kCorrupt, "table '{}' in catalog '{}' has no metadata location", name, name_);
  }
  return location;
}

void SqlTables::put_property(Database& database, const std::string& joined, const std::string& key,
                             const std::string& value) {
  const std::string parameters[] = {name_, joined, key, value};
  database.sqlite.execute(
      "INSERT OR REPLACE INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
      "VALUES (?1, ?2, ?3, ?4)",
      parameters);
}

// A namespace may exist through its tables alone: with the last one it would vanish.
void SqlTables::keep_namespace(Database& database, const Namespace& levels) {
  const std::string joined = to_string(levels);
  if (!levels.empty() && !namespace_exists(database, joined)) {
    put_property(database, joined, std::string(kExistsMarker), "true");
  }
}

void SqlTables::create_namespace(const Namespace& levels, const Properties& properties) {
  require_storable(levels);
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kCreate);
  const std::string joined = to_string(levels);
  SqliteDatabase::Transaction transaction(open.sqlite);
  if (namespace_exists(open, joined)) {
    throw_error(ErrorKind::kAlreadyExists, "namespace '{}' exists already in catalog '{}'", joined, name_);
  }
  for (const auto& [key, value] : properties) put_property(open, joined, key, value);
  put_property(open, joined, std::string(kExistsMarker), "true");
  transaction.commit();
}

void SqlTables::drop_namespace(const Namespace& levels) {
  if (levels.empty()) throw_error(ErrorKind::kInvalidArgument, "the root of a catalog cannot be dropped");
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  const std::string joined = to_string(levels);
  SqliteDatabase::Transaction transaction(open.sqlite);
  require_namespace(open, levels);
  std::string inside;
  const std::string in_it[] = {name_, joined, first_below(joined), end_below(joined)};
  open.sqlite.query(
      "SELECT table_namespace || '.' || table_name FROM iceberg_tables WHERE catalog_name = ?1 AND "
      "(table_namespace = ?2 OR (table_namespace >= ?3 AND table_namespace < ?4)) LIMIT 1",
      in_it, [&](const SqliteDatabase::Row& row) {
        inside = row.text(0).value_or("?");
        return false;
      });
  const std::string below_it[] = {name_, first_below(joined), end_below(joined)};
  open.sqlite.query(
      "SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace >= ?2 AND namespace < "
      "?3 LIMIT 1",
      below_it, [&](const SqliteDatabase::Row& row) {
        if (inside.empty()) inside = row.text(0).value_or("?");
        return false;
      });
  if (!inside.empty()) {
    throw_error(ErrorKind::kInvalidArgument, "namespace '{}' is not empty: it holds '{}'", joined, inside);
  }
  const std::string parameters[] = {name_, joined};
  open.sqlite.execute("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2",
                      parameters);
  transaction.commit();
}

void SqlTables::update_namespace_properties(const Namespace& levels, const Properties& updates,
                                            std::span<const std::string> removals) {
  if (levels.empty()) throw_error(ErrorKind::kInvalidArgument, "the root of a catalog has no properties");
  for (const std::string& key : removals) {
    if (updates.contains(key)) throw_error(ErrorKind::kInvalidArgument, "property '{}' is both set and removed", key);
  }
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  const std::string joined = to_string(levels);
  SqliteDatabase::Transaction transaction(open.sqlite);
  require_namespace(open, levels);
  for (const auto& [key, value] : updates) put_property(open, joined, key, value);
  for (const std::string& key : removals) {
    const std::string parameters[] = {name_, joined, key};
    open.sqlite.execute(
        "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2 AND property_key = ?3",
        parameters);
  }
  // A namespace without tables that loses its last property must not vanish with it.
  put_property(open, joined, std::string(kExistsMarker), "true");
  transaction.commit();
}

void SqlTables::require_absent(Database& database, const TableIdentifier& identifier) {
  require_namespace(database, identifier.levels);
  const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name};
  std::string sql = database.has_types ? "SELECT iceberg_type" : "SELECT NULL";
  sql += " FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";
  database.sqlite.query(sql, parameters, [&](const SqliteDatabase::Row& row) -> bool {
    throw_error(ErrorKind::kAlreadyExists, "a {} '{}' exists already in catalog '{}'",
                row.text(0) == "VIEW" ? "view" : "table", to_string(identifier), name_);
  });
}

void SqlTables::require_absent(const TableIdentifier& identifier) {
  require_storable(identifier);
  MutexLock lock(mutex_);
  require_absent(database(), identifier);
}

void SqlTables::insert_table(const TableIdentifier& identifier, const std::string& location, bool extra_durable) {
  require_storable(identifier);
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  open.sqlite.set_extra_durable(extra_durable);
  SqliteDatabase::Transaction transaction(open.sqlite);
  require_absent(open, identifier);
  const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name, location};
  std::string sql = "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, ";
  sql += open.has_types ? "previous_metadata_location, iceberg_type) VALUES (?1, ?2, ?3, ?4, NULL, 'TABLE')"
                        : "previous_metadata_location) VALUES (?1, ?2, ?3, ?4, NULL)";
  open.sqlite.execute(sql, parameters);
  transaction.commit();
}

void SqlTables::delete_table(const TableIdentifier& identifier) {
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  std::string sql = "DELETE FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3";
  if (open.has_types) sql += kIsTable;
  SqliteDatabase::Transaction transaction(open.sqlite);
  const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name};
  if (open.sqlite.execute(sql, parameters) == 0) throw_no_table(open, identifier);
  keep_namespace(open, identifier.levels);
  transaction.commit();
}

void SqlTables::rename_table(const TableIdentifier& from, const TableIdentifier& to) {
  require_storable(to);
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  std::string sql =
      "UPDATE iceberg_tables SET table_namespace = ?4, table_name = ?5 WHERE catalog_name = ?1 AND table_namespace = "
      "?2 AND table_name = ?3";
  if (open.has_types) sql += kIsTable;
  SqliteDatabase::Transaction transaction(open.sqlite);
  require_absent(open, to);
  const std::string parameters[] = {name_, to_string(from.levels), from.name, to_string(to.levels), to.name};
  if (open.sqlite.execute(sql, parameters) == 0) throw_no_table(open, from);
  keep_namespace(open, from.levels);
  transaction.commit();
}

bool SqlTables::replace_location(const TableIdentifier& identifier, const std::string& expected,
                                 const std::string& location, bool extra_durable) {
  MutexLock lock(mutex_);
  Database& open = writable(SqliteAccess::kWrite);
  open.sqlite.set_extra_durable(extra_durable);
  std::string sql =
      "UPDATE iceberg_tables SET metadata_location = ?5, previous_metadata_location = ?4 WHERE catalog_name = ?1 AND "
      "table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?4";
  if (open.has_types) sql += kIsTable;
  const std::string parameters[] = {name_, to_string(identifier.levels), identifier.name, expected, location};
  return open.sqlite.execute(sql, parameters) == 1;
}

void SqlTables::reconnect() {
  MutexLock lock(mutex_);
  database_.reset();
}

}  // namespace frazil::catalog
