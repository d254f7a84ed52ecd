#include "frazil/catalog/sql_catalog.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/catalog/sqlite_database.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// As Iceberg Java and older PyIceberg create them.
constexpr const char* kV0 = R"(
  CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
    PRIMARY KEY (catalog_name, table_namespace, table_name));
  CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key));
)";
constexpr const char* kV1 = "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5);";

constexpr const char* kMetadata = R"({"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
  "location": "memory://t", "last-sequence-number": 0, "last-updated-ms": 1602638573590, "last-column-id": 1,
  "current-schema-id": 0, "schemas": [{"type": "struct", "schema-id": 0, "fields": [
    {"id": 1, "name": "x", "required": true, "type": "long"}]}],
  "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
  "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}]})";

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "frazil_sql_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void execute(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << (error ? error : "");
  sqlite3_free(error);
  sqlite3_close(handle);
}

struct Fixture {
  TemporaryFolder folder;
  MemoryPool pool;
  std::shared_ptr<MemoryFileSystem> memory = std::make_shared<MemoryFileSystem>();
  FileSystems files;

  explicit Fixture(const std::string& sql = kV0) {
    files.add("memory", memory);
    memory->put("memory://t/metadata/v1.metadata.json", kMetadata);
    if (!sql.empty()) execute(path(), sql);
  }
  std::string path() const { return folder.file("lake.db"); }
  std::unique_ptr<Catalog> open(const std::string& name = "lake", Properties more = {}) {
    more["uri"] = "sqlite:///" + path();
    return open_catalog(Configuration(), name, files, pool, {.overrides = std::move(more), .location_rules = {}});
  }
};

std::string names(const std::vector<Namespace>& namespaces) {
  std::string text;
  for (const Namespace& levels : namespaces) text += (text.empty() ? "" : " ") + to_string(levels);
  return text;
}

std::string names(const std::vector<TableIdentifier>& tables) {
  std::string text;
  for (const TableIdentifier& table : tables) text += (text.empty() ? "" : " ") + to_string(table);
  return text;
}

// The error of `call`, as "kind: what".
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

TEST(SqliteUri, NamesAFile) {
  struct Case {
    const char* uri;
    const char* path;
  };
  for (Case c : std::initializer_list<Case>{
           {"sqlite:///rel.db", "rel.db"},
           {"sqlite:////abs/x.db", "/abs/x.db"},
           {"sqlite+pysqlite:////abs/x.db", "/abs/x.db"},
           {"SQLite:///rel.db?timeout=10", "rel.db"},
           {"sqlite:///a%20b.db", "a%20b.db"},  // SQLAlchemy decodes nothing in a database's name
           {"sqlite:///file:a%20b.db?mode=ro&uri=true", "a b.db"},
           {"sqlite:rel.db", "rel.db"},
           {"jdbc:sqlite:rel.db", "rel.db"},
           {"jdbc:sqlite:/abs/x.db?journal_mode=wal", "/abs/x.db"},
           {"jdbc:sqlite:file:x.db?cache=shared", "x.db"},
           {"file:rel.db", "rel.db"},
           {"file:/abs/x.db", "/abs/x.db"},
           {"file:///abs/a%20b.db", "/abs/a b.db"},
           {"file://localhost/x.db", "/x.db"},
       }) {
    EXPECT_EQ(sqlite_path_of_uri(c.uri), c.path) << c.uri;
  }
  for (const char* uri : {"postgresql://h/d", "http://h", "thrift://h", "rel.db", "", "jdbc:postgresql:x"}) {
    EXPECT_EQ(sqlite_path_of_uri(uri), std::nullopt) << uri;
  }
  for (const char* uri : {"sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://rel.db",
                          "jdbc:sqlite:", "jdbc:sqlite::memory:", "file:", "file://host/x", "file:a%2", "file:a%00b"}) {
    EXPECT_THAT(error_of([&] { sqlite_path_of_uri(uri); }), HasSubstr("invalid_argument")) << uri;
  }
}

TEST(SqlCatalog, ListsBothLayouts) {
  for (bool v1 : {false, true}) {
    Fixture fixture(std::string(kV0) + (v1 ? kV1 : ""));
    execute(fixture.path(), R"(
      INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) VALUES
        ('lake', 'web', 'hits', 'memory://t/metadata/v1.metadata.json'), ('lake', 'web', 'a', 'x'),
        ('lake', 'web.eu', 'deep', 'x'), ('other', 'web', 'theirs', 'x'), ('lake', 'weba', 'z', 'x');
      INSERT INTO iceberg_namespace_properties VALUES ('lake', 'empty', 'exists', 'true'),
        ('lake', 'web', 'owner', 'me'), ('lake', 'web', 'exists', 'true'), ('lake', 'x.y.z', 'exists', 'true'),
        ('other', 'theirs', 'exists', 'true');)");
    auto catalog = fixture.open();
    EXPECT_EQ(names(catalog->list_namespaces({})), "empty web weba x");
    EXPECT_EQ(names(catalog->list_namespaces({"web"})), "web.eu");
    EXPECT_EQ(names(catalog->list_namespaces({"x"})), "x.y");
    EXPECT_EQ(names(catalog->list_namespaces({"x", "y"})), "x.y.z");
    EXPECT_EQ(names(catalog->list_namespaces({"empty"})), "");
    EXPECT_EQ(names(catalog->list_tables({"web"})), "web.a web.hits");
    EXPECT_EQ(names(catalog->list_tables({"x", "y"})), "");  // exists, for there is something below it
    EXPECT_EQ(names(catalog->list_tables({})), "");
    EXPECT_THAT(catalog->namespace_properties({"web"}), ElementsAre(Pair("owner", "me")));
    EXPECT_THAT(catalog->namespace_properties({"x"}), IsEmpty());

    LoadedTable table = catalog->load_table({{"web"}, "hits"});
    EXPECT_EQ(table.name, "web.hits");
    EXPECT_EQ(table.metadata_location, "memory://t/metadata/v1.metadata.json");
    EXPECT_EQ(table.metadata->table_uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
    EXPECT_TRUE(table.files->stat("memory://t/metadata/v1.metadata.json").has_value());
    EXPECT_EQ(table.properties.at("uri"), "sqlite:///" + fixture.path());
  }
}

// interop.md 1: NULL counts as TABLE, for rows older than the column.
TEST(SqlCatalog, LeavesOutViews) {
  Fixture fixture(std::string(kV0) + kV1);
  execute(fixture.path(), R"(
    INSERT INTO iceberg_tables VALUES ('lake', 'n', 'old', 'memory://t/metadata/v1.metadata.json', NULL, NULL),
      ('lake', 'n', 'new', 'memory://t/metadata/v1.metadata.json', NULL, 'TABLE'), ('lake', 'n', 'view', 'x', NULL, 'VIEW'),
      ('lake', 'views', 'v', 'x', NULL, 'VIEW');)");
  auto catalog = fixture.open();
  EXPECT_EQ(names(catalog->list_tables({"n"})), "n.new n.old");
  EXPECT_EQ(names(catalog->list_tables({"views"})), "");
  catalog->load_table({{"n"}, "old"});
  catalog->load_table({{"n"}, "new"});
  EXPECT_THAT(error_of([&] { catalog->load_table({{"n"}, "view"}); }),
              HasSubstr("unsupported: 'n.view' in catalog 'lake' is not a table but a view"));
}

// '_' and '%' are letters, upper and lower case differ, and "a." is not below "a_".
TEST(SqlCatalog, TakesNamesLiterally) {
  Fixture fixture;
  execute(fixture.path(), R"(
    INSERT INTO iceberg_namespace_properties VALUES ('lake', 'a_b.c', 'exists', 'true'), ('lake', 'axb', 'exists', 'true'),
      ('lake', 'p%q.r', 'exists', 'true'), ('lake', 'A.up', 'exists', 'true'), ('lake', 'it''s', 'k', 'v'),
      ('lake', 'dé.ü', 'exists', 'true');)");
  auto catalog = fixture.open();
  EXPECT_EQ(names(catalog->list_namespaces({"a_b"})), "a_b.c");
  EXPECT_EQ(names(catalog->list_namespaces({"p%q"})), "p%q.r");
  EXPECT_EQ(names(catalog->list_namespaces({"dé"})), "dé.ü");
  EXPECT_THAT(catalog->namespace_properties({"it's"}), ElementsAre(Pair("k", "v")));
  for (const char* missing : {"a", "a%", "a__", "p_q", "%", "_", "x' OR '1'='1", "A_"}) {
    EXPECT_THAT(error_of([&] { catalog->list_namespaces({missing}); }), HasSubstr("not_found")) << missing;
  }
  EXPECT_THAT(error_of([&] { catalog->list_tables({"axb", "c"}); }), HasSubstr("namespace 'axb.c' does not exist"));
}

TEST(SqlCatalog, SaysWhatIsMissing) {
  Fixture fixture;
  execute(fixture.path(), R"(
    INSERT INTO iceberg_tables VALUES ('lake', 'web', 'hits', 'memory://gone/v1.metadata.json', NULL),
      ('lake', 'web', 'none', NULL, NULL), ('lake', '', 'root', 'memory://t/metadata/v1.metadata.json', NULL);)");
  auto catalog = fixture.open();
  EXPECT_THAT(error_of([&] { catalog->load_table({{"web"}, "hit"}); }),
              HasSubstr("not_found: table 'web.hit' does not exist in catalog 'lake' (frazil list web shows"));
  EXPECT_THAT(error_of([&] { catalog->load_table({{"wob"}, "hits"}); }),
              HasSubstr("not_found: namespace 'wob' does not exist"));
  EXPECT_THAT(error_of([&] { catalog->load_table({{}, "x"}); }), HasSubstr("a table is named namespace.table"));
  EXPECT_THAT(error_of([&] { catalog->load_table({{"web"}, "none"}); }), HasSubstr("corrupt: table 'web.none'"));
  std::string gone = error_of([&] { catalog->load_table({{"web"}, "hits"}); });
  EXPECT_THAT(gone, HasSubstr("not_found"));
  EXPECT_THAT(gone, HasSubstr("reading metadata file memory://gone/v1.metadata.json"));
  EXPECT_THAT(gone, HasSubstr("--map-location"));
  EXPECT_EQ(catalog->load_table({{}, "root"}).name, "root");

  EXPECT_THAT(error_of([&] { fixture.open("default")->load_table({{"web"}, "hits"}); }),
              HasSubstr("but of 'lake': a catalog is found by the name that wrote it"));
}

// Ten names come before this one in the database.
TEST(SqlCatalog, KnowsItsOwnNameAmongMany) {
  Fixture fixture;
  for (int i = 0; i < 12; ++i) {
    execute(fixture.path(),
            message("INSERT INTO iceberg_namespace_properties VALUES ('a{}', 'n', 'exists', 'true');", i));
  }
  execute(fixture.path(), "INSERT INTO iceberg_namespace_properties VALUES ('lake', 'n', 'exists', 'true');");
  EXPECT_EQ(
      error_of([&] { fixture.open()->list_tables({"x"}); }),
      "not_found: namespace 'x' does not exist in catalog 'lake' (frazil namespace list shows what is there, namespace "
      "create makes one)");
}

TEST(SqlCatalog, AppliesLocationRules) {
  Fixture fixture;
  execute(fixture.path(),
          "INSERT INTO iceberg_tables VALUES ('lake', 'w', 't', 's3://b/w/t/metadata/v1.metadata.json', NULL);");
  auto catalog = fixture.open(
      "lake", {{"map-location", "s3://b/w=memory://nowhere"}, {"map-location.0", "s3://b/w/t=memory://t"}});
  LoadedTable table = catalog->load_table({{"w"}, "t"});
  EXPECT_EQ(table.metadata_location, "s3://b/w/t/metadata/v1.metadata.json");
  EXPECT_TRUE(table.files->stat("s3://b/w/t/metadata/v1.metadata.json").has_value());

  auto by_flag =
      open_catalog(Configuration(), "lake", fixture.files, fixture.pool,
                   {.overrides = {{"uri", "sqlite:///" + fixture.path()}, {"map-location", "s3://b=memory://x"}},
                    .location_rules = {"s3://b/w/t=memory://t"}});
  by_flag->load_table({{"w"}, "t"});
  EXPECT_THAT(error_of([&] { fixture.open("lake", {{"map-location.eu", "nothing"}}); }), HasSubstr("map-location.eu"));
}

TEST(SqlCatalog, BoundsMetadata) {
  Fixture fixture;
  execute(fixture.path(),
          "INSERT INTO iceberg_tables VALUES ('lake', 'w', 't', 'memory://t/metadata/v1.metadata.json', NULL);");
  EXPECT_THAT(error_of([&] { fixture.open("lake", {{"metadata.max-bytes", "100"}})->load_table({{"w"}, "t"}); }),
              HasSubstr("memory_limit: metadata file has"));
  EXPECT_THAT(error_of([&] { fixture.open("lake", {{"metadata.max-bytes", "many"}})->load_table({{"w"}, "t"}); }),
              HasSubstr("invalid_argument"));
  size_t held = fixture.pool.stats().held_bytes - fixture.pool.stats().idle_bytes;
  EXPECT_EQ(held, 0u);
}

TEST(SqlCatalog, RefusesWhatIsNoCatalog) {
  Fixture fixture("CREATE TABLE t (a);");
  EXPECT_THAT(error_of([&] { fixture.open()->list_namespaces({}); }),
              HasSubstr("not_found: SQLite database " + fixture.path() + " holds no Iceberg catalog"));

  Fixture none("");
  EXPECT_THAT(error_of([&] { none.open()->list_namespaces({}); }), HasSubstr("not_found: cannot open SQLite database"));
  EXPECT_FALSE(std::filesystem::exists(none.path())) << "reading must create nothing";

  std::ofstream(none.path()) << std::string(10000, 'x');
  EXPECT_THAT(error_of([&] { none.open()->list_namespaces({}); }), HasSubstr("is not a SQLite database"));

  // An empty file is an empty database to SQLite.
  std::ofstream(none.path(), std::ios::trunc) << "";
  EXPECT_THAT(error_of([&] { none.open()->list_namespaces({}); }), HasSubstr("holds no Iceberg catalog"));
  EXPECT_EQ(std::filesystem::file_size(none.path()), 0u);

  std::filesystem::remove(none.path());
  std::filesystem::create_directory(none.path());
  EXPECT_THAT(error_of([&] { none.open()->list_namespaces({}); }), HasSubstr("not a file"));
}

TEST(SqlCatalog, NeedsOnlyTheTableOfTables) {
  Fixture fixture(std::string(kV0) +
                  "DROP TABLE iceberg_namespace_properties; INSERT INTO iceberg_tables VALUES "
                  "('lake', 'w', 't', 'memory://t/metadata/v1.metadata.json', NULL);");
  auto catalog = fixture.open();
  EXPECT_EQ(names(catalog->list_namespaces({})), "w");
  EXPECT_THAT(catalog->namespace_properties({"w"}), IsEmpty());
  catalog->load_table({{"w"}, "t"});
  EXPECT_THAT(error_of([&] { catalog->list_tables({"x"}); }), HasSubstr("not_found"));
}

TEST(SqlCatalog, HintsAtAForgottenSlash) {
  Fixture fixture;
  std::string relative = fixture.path().substr(1);
  auto catalog = open_catalog(Configuration(), "lake", fixture.files, fixture.pool,
                              {.overrides = {{"uri", "sqlite:///" + relative}}, .location_rules = {}});
  EXPECT_THAT(error_of([&] { catalog->list_namespaces({}); }), HasSubstr("write four slashes"));
}

TEST(SqlCatalog, SaysThatItIsLocked) {
  Fixture fixture;
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(fixture.path().c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  SqliteDatabase database(fixture.path(), {.busy_timeout = std::chrono::milliseconds(10)});
  EXPECT_THAT(error_of([&] { database.has_column("iceberg_tables", "x"); }), HasSubstr("io: SQLite database"));
  sqlite3_close(writer);
}

TEST(SqlCatalog, WaitsForAWriter) {
  Fixture fixture;
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(fixture.path().c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sqlite3_close(writer);
  });
  EXPECT_EQ(names(fixture.open()->list_namespaces({})), "");
  release.join();
}

// A database in write-ahead mode is read beside its writer, and in a folder where nothing can be created.
TEST(SqlCatalog, ReadsWriteAheadDatabases) {
  Fixture fixture("PRAGMA journal_mode = WAL;" + std::string(kV0));
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(fixture.path().c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "INSERT INTO iceberg_namespace_properties VALUES ('lake', 'n', 'exists', 'true')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(names(fixture.open()->list_namespaces({})), "n");
  sqlite3_close(writer);
  EXPECT_EQ(names(fixture.open()->list_namespaces({})), "n");
  // What is left: the database alone, in a folder that cannot be written. Root can write everywhere.
  if (geteuid() == 0) return;
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(fixture.path() + suffix);
  std::filesystem::permissions(fixture.folder.path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(names(fixture.open()->list_namespaces({})), "n");
}

TEST(SqlCatalog, SaysThatItMayNotRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  Fixture fixture;
  std::filesystem::permissions(fixture.path(), std::filesystem::perms::none);
  EXPECT_THAT(error_of([&] { fixture.open()->list_namespaces({}); }), HasSubstr("permission: cannot open"));
}

// A view in place of the table could give rows for ever, or ask for work without end.
TEST(SqlCatalog, EndsOnForgedDatabases) {
  const char* endless =
      "CREATE VIEW iceberg_tables AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
      "SELECT 'lake' AS catalog_name, 'x' AS table_namespace, CAST(n AS TEXT) AS table_name, 'x' AS metadata_location "
      "FROM r WHERE n < 0;";
  Fixture fixture(endless);
  SqliteDatabase database(fixture.path(), {.max_steps = 100'000});
  EXPECT_THAT(error_of([&] { database.query("SELECT * FROM iceberg_tables", {}, [](const auto&) { return true; }); }),
              HasSubstr("corrupt: SQLite database"));
  // The bound is one of each query.
  EXPECT_TRUE(database.has_column("iceberg_tables", "metadata_location"));
}

TEST(SqlCatalog, ReadsOddValues) {
  Fixture fixture(
      "CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type);"
      "INSERT INTO iceberg_tables VALUES ('lake', NULL, 'a', 'x', NULL), ('lake', 'n', NULL, 'x', NULL), "
      "('lake', 'n', 7, 8, NULL), ('lake', 'n', x'ff00', x'00', NULL), ('lake', '...', 'd', 'x', NULL), "
      "('lake', 'n', 'odd', 'x', 'ODD');");
  auto catalog = fixture.open();
  EXPECT_EQ(names(catalog->list_namespaces({})), "n");
  EXPECT_EQ(catalog->list_tables({"n"}).size(), 2u);
  EXPECT_THAT(error_of([&] { catalog->load_table({{"n"}, "odd"}); }), HasSubstr("is not a table but a 'ODD'"));
}

// Every page of a real database damaged in turn, and the file cut: an error or a listing, never a crash or a hang.
TEST(SqlCatalog, SurvivesDamage) {
  Fixture fixture;
  execute(fixture.path(),
          "INSERT INTO iceberg_tables VALUES ('lake', 'web', 'hits', 'memory://t/metadata/v1.metadata.json', NULL);");
  std::string whole;
  {
    std::ifstream in(fixture.path(), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto attempt = [&](const std::string& bytes) {
    std::filesystem::remove(fixture.path());  // some file systems sync a file that is cut and written anew
    std::ofstream(fixture.path(), std::ios::binary) << bytes;
    try {
      auto catalog = fixture.open();
      catalog->list_namespaces({});
      catalog->list_tables({"web"});
      catalog->load_table({{"web"}, "hits"});
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    }
  };
  for (size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 61) {
    for (char byte : {'\x00', '\xff', static_cast<char>(whole[at] ^ 1)}) {
      std::string damaged = whole;
      damaged[at] = byte;
      attempt(damaged);
    }
  }
  for (size_t size = 0; size < whole.size(); size += 509) attempt(whole.substr(0, size));
}

TEST(OpenCatalog, SaysWhatItCannotOpen) {
  FileSystems files;
  MemoryPool pool;
  ConfigurationSources sources;
  sources.environment = {{"FRAZIL_CATALOG__A__WAREHOUSE", "x"},
                         {"FRAZIL_CATALOG__R__URI", "https://rest.example.com"},
                         {"FRAZIL_CATALOG__P__URI", "postgresql+psycopg2://h/d"},
                         {"FRAZIL_CATALOG__H__URI", "thrift://h:9083"},
                         {"FRAZIL_CATALOG__G__TYPE", "glue"},
                         {"FRAZIL_CATALOG__G__URI", "x"},
                         {"FRAZIL_CATALOG__Q__URI", "quark://h"}};
  sources.read_file = [](const std::string&) { return std::nullopt; };
  Configuration configuration(sources);
  auto open = [&](const char* name) { return error_of([&] { open_catalog(configuration, name, files, pool); }); };
  EXPECT_THAT(open("b"),
              HasSubstr("invalid_argument: catalog 'b' is not configured (configured are: a, g, h, p, q, r"));
  EXPECT_THAT(open(""), HasSubstr("catalog 'default' is not configured"));
  EXPECT_THAT(open("A"), HasSubstr("catalog 'A' is configured without a uri"));
  EXPECT_THAT(open("r"), HasSubstr("unsupported: catalog 'r' is of type 'rest'"));
  EXPECT_THAT(open("p"), HasSubstr("unsupported: SQL catalogs are read from SQLite only"));
  EXPECT_THAT(open("h"), HasSubstr("of type 'hive'"));
  EXPECT_THAT(open("g"), HasSubstr("of type 'glue'"));
  EXPECT_THAT(open("q"), HasSubstr("no known type"));
}

}  // namespace
}  // namespace frazil::catalog
