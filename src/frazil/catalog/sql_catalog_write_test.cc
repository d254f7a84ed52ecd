// Writing to SQL catalogs: rows, files, and what is left when something fails.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "frazil/base/error.h"
#include "frazil/catalog/sql_catalog.h"
#include "frazil/catalog/sqlite_database.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/fake_clock.h"

namespace frazil::catalog {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

spec::NewTable new_table(spec::Properties properties = {}) {
  std::vector<spec::NestedField> fields(1);
  fields[0].id = 1;
  fields[0].name = "x";
  fields[0].type = spec::primitive(spec::TypeKind::kLong);
  spec::NewTable table;
  table.schema = std::make_shared<const spec::Schema>(std::move(fields));
  table.properties = std::move(properties);
  return table;
}

struct Fixture {
  TemporaryFolder folder;
  FakeClock clock;
  Context context{{.threads = 1, .clock = &clock}};
  std::shared_ptr<MemoryFileSystem> memory = std::make_shared<MemoryFileSystem>();
  FileSystems files;

  Fixture() { files.add("memory", memory); }
  std::string path() const { return folder.path() + "/lake.db"; }
  std::unique_ptr<Catalog> open(Properties more = {}) {
    more.emplace("uri", "sqlite:///" + path());
    more.emplace("warehouse", "memory://wh");
    return open_catalog(Configuration(), "lake", files, context.memory_pool(),
                        {.overrides = std::move(more), .location_rules = {}});
  }
  // Of the first column and row; "" if there is none.
  std::string ask(const std::string& sql) {
    SqliteDatabase database(path());
    std::string answer;
    database.query(sql, {}, [&](const SqliteDatabase::Row& row) {
      answer = row.text(0).value_or("NULL");
      return false;
    });
    return answer;
  }
  void tell(const std::string& sql) {
    SqliteDatabase database(path(), {.access = SqliteAccess::kCreate});
    database.execute(sql);
  }
  LoadedTable set_property(const LoadedTable& table, const std::string& key, const std::string& value) {
    const spec::TableUpdate updates[] = {spec::SetProperties{{{key, value}}}};
    return table.store->commit(context, table, {}, updates);
  }
  // The names of the metadata files of a table.
  size_t metadata_files(const std::string& location) { return memory->list(location + "/metadata").size(); }
};

// Time passes while one sleeps, and a hook is called.
class HookedClock final : public Clock {
 public:
  FakeClock time;
  int sleeps = 0;
  std::function<void()> at_sleep;

  std::chrono::nanoseconds steady_now() const override { return time.steady_now(); }
  std::chrono::nanoseconds system_now() const override { return time.system_now(); }
  bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {}) override {
    ++sleeps;
    if (at_sleep) at_sleep();
    return time.sleep(duration, stop);
  }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

// The texts that Java and PyIceberg create, up to their NOT NULL of properties, where PyIceberg's is stricter.
TEST(SqlCatalogWriting, MakesADatabaseOfTheLayoutThatIsAskedFor) {
  for (const char* key : {"", "schema_version", "jdbc.schema-version"}) {
    for (const char* version : {"v0", "V1"}) {
      Fixture fixture;
      const bool v1 = *key == '\0' || version[1] == '1';
      const auto catalog = fixture.open(*key == '\0' ? Properties() : Properties{{key, version}});
      catalog->create_namespace({"web"});
      catalog->create_table(fixture.context, {{"web"}, "t"}, new_table());
      EXPECT_EQ(fixture.ask("SELECT group_concat(name) FROM pragma_table_info('iceberg_tables')"),
                std::string("catalog_name,table_namespace,table_name,metadata_location,previous_metadata_location") +
                    (v1 ? ",iceberg_type" : ""));
      if (v1) {
        EXPECT_EQ(fixture.ask("SELECT iceberg_type FROM iceberg_tables"), "TABLE");
      }
      EXPECT_EQ(fixture.ask("SELECT previous_metadata_location FROM iceberg_tables"), "NULL");
      EXPECT_EQ(fixture.ask("SELECT namespace || property_key || property_value FROM iceberg_namespace_properties"),
                "webexiststrue");
      EXPECT_EQ(fixture.ask("PRAGMA journal_mode"), "wal");
      // A database of the one layout stays what it is, unless it is asked to become the other.
      fixture.open()->create_namespace({"b"});
      EXPECT_EQ(fixture.ask("SELECT count(*) FROM pragma_table_info('iceberg_tables')"), v1 ? "6" : "5");
      fixture.open({{"schema_version", "v1"}})->create_namespace({"c"});
      EXPECT_EQ(fixture.ask("SELECT count(*) FROM pragma_table_info('iceberg_tables')"), "6");
      EXPECT_EQ(fixture.open()->load_table({{"web"}, "t"}).name, "web.t");
    }
  }
  Fixture fixture;
  EXPECT_THAT(error_of([&] { fixture.open({{"schema_version", "v2"}}); }), HasSubstr("must be V0 or V1"));
  EXPECT_THAT(error_of([&] { fixture.open({{"init_catalog_tables", "false"}})->create_namespace({"a"}); }),
              HasSubstr("init_catalog_tables is false"));
}

TEST(SqlCatalogWriting, CreatesNothingByTheWay) {
  Fixture fixture;
  const auto catalog = fixture.open();
  EXPECT_THAT(error_of([&] { catalog->drop_table({{"a"}, "t"}); }), HasSubstr("not_found"));
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"a"}, "t"}, new_table()); }),
              HasSubstr("not_found"));
  EXPECT_FALSE(std::filesystem::exists(fixture.path()));
  EXPECT_THAT(error_of([&] { fixture.open({{"uri", "sqlite:////no/such/folder/x.db"}})->create_namespace({"a"}); }),
              HasSubstr("cannot create SQLite database"));
}

TEST(SqlCatalogWriting, KeepsNamespaces) {
  Fixture fixture;
  const auto catalog = fixture.open();
  catalog->create_namespace({"a"}, {{"owner", "me"}, {"k", "v"}});
  catalog->create_namespace({"a", "b"});
  EXPECT_THAT(error_of([&] { catalog->create_namespace({"a"}); }), HasSubstr("already_exists"));
  EXPECT_THAT(error_of([&] { catalog->create_namespace({}); }), HasSubstr("invalid_argument"));
  EXPECT_THAT(error_of([&] { catalog->create_namespace({"x.y"}); }), HasSubstr("joined by dots"));
  EXPECT_THAT(error_of([&] { catalog->create_namespace({std::string(300, 'x')}); }), HasSubstr("longer than 255"));
  const std::vector<std::string> removals = {"k", "none"};
  catalog->update_namespace_properties({"a"}, {{"owner", "you"}, {"new", "1"}}, removals);
  EXPECT_EQ(catalog->namespace_properties({"a"}), (Properties{{"new", "1"}, {"owner", "you"}}));
  EXPECT_THAT(error_of([&] { catalog->update_namespace_properties({"a"}, {{"k", "1"}}, removals); }),
              HasSubstr("both set and removed"));
  EXPECT_THAT(error_of([&] { catalog->update_namespace_properties({"z"}, {}, {}); }), HasSubstr("not_found"));
  EXPECT_THAT(error_of([&] { catalog->drop_namespace({"a"}); }), HasSubstr("not empty: it holds 'a.b'"));
  catalog->create_table(fixture.context, {{"a", "b"}, "t"}, new_table());
  EXPECT_THAT(error_of([&] { catalog->drop_namespace({"a", "b"}); }), HasSubstr("not empty: it holds 'a.b.t'"));
  catalog->drop_table({{"a", "b"}, "t"});
  catalog->drop_namespace({"a", "b"});
  catalog->drop_namespace({"a"});
  EXPECT_THAT(error_of([&] { catalog->drop_namespace({"a"}); }), HasSubstr("not_found"));
  EXPECT_TRUE(catalog->list_namespaces({}).empty());
}

// Java makes such databases: a table is all that its namespace is known by.
TEST(SqlCatalogWriting, KeepsTheNamespaceOfItsLastTable) {
  Fixture fixture;
  const auto catalog = fixture.open();
  catalog->create_namespace({"a"});
  catalog->create_namespace({"b"});
  catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
  fixture.tell("DELETE FROM iceberg_namespace_properties WHERE namespace = 'a'");
  catalog->rename_table({{"a"}, "t"}, {{"b"}, "t"});
  EXPECT_TRUE(catalog->list_tables({"a"}).empty());
}

TEST(SqlCatalogWriting, CreatesRenamesAndDropsTables) {
  Fixture fixture;
  const auto catalog = fixture.open();
  catalog->create_namespace({"a"});
  catalog->create_namespace({"b"}, {{"location", "memory://elsewhere/b/"}});
  const LoadedTable t = catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
  EXPECT_EQ(t.metadata->location, "memory://wh/a/t");
  EXPECT_THAT(t.metadata_location, MatchesRegex("memory://wh/a/t/metadata/00000-[0-9a-f-]{36}.metadata.json"));
  EXPECT_EQ(catalog->create_table(fixture.context, {{"b"}, "t"}, new_table()).metadata->location,
            "memory://elsewhere/b/t");
  spec::NewTable placed = new_table();
  placed.location = "memory://own/place/";
  EXPECT_EQ(catalog->create_table(fixture.context, {{"b"}, "u"}, placed).metadata->location, "memory://own/place");

  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"a"}, "t"}, new_table()); }),
              HasSubstr("already_exists: a table 'a.t' exists already"));
  EXPECT_EQ(fixture.metadata_files("memory://wh/a/t"), 1u);
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"z"}, "t"}, new_table()); }),
              HasSubstr("not_found: namespace 'z'"));
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{}, "t"}, new_table()); }),
              HasSubstr("namespace.table"));
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"a"}, "../x"}, new_table()); }),
              HasSubstr("cannot be the name of a folder"));
  EXPECT_THAT(
      error_of([&] { fixture.open({{"warehouse", ""}})->create_table(fixture.context, {{"a"}, "n"}, new_table()); }),
      HasSubstr("has no warehouse"));

  fixture.tell("INSERT INTO iceberg_tables VALUES ('lake', 'a', 'view', 'x', NULL, 'VIEW')");
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"a"}, "view"}, new_table()); }),
              HasSubstr("a view 'a.view' exists"));
  EXPECT_THAT(error_of([&] { catalog->drop_table({{"a"}, "view"}); }), HasSubstr("not_found"));
  EXPECT_THAT(error_of([&] { catalog->rename_table({{"a"}, "view"}, {{"a"}, "w"}); }), HasSubstr("not_found"));
  EXPECT_THAT(error_of([&] { catalog->rename_table({{"a"}, "t"}, {{"a"}, "view"}); }), HasSubstr("already_exists"));
  EXPECT_THAT(error_of([&] { catalog->rename_table({{"a"}, "t"}, {{"b"}, "t"}); }), HasSubstr("already_exists"));
  EXPECT_THAT(error_of([&] { catalog->rename_table({{"a"}, "none"}, {{"b"}, "x"}); }), HasSubstr("not_found"));
  EXPECT_THAT(error_of([&] { catalog->rename_table({{"a"}, "t"}, {{"z"}, "t"}); }), HasSubstr("namespace 'z'"));

  catalog->rename_table({{"a"}, "t"}, {{"b"}, "renamed"});
  EXPECT_EQ(catalog->load_table({{"b"}, "renamed"}).metadata_location, t.metadata_location);
  EXPECT_THAT(error_of([&] { catalog->load_table({{"a"}, "t"}); }), HasSubstr("not_found"));
  // The folder is the renamed table's: a new table of the old name gets another.
  const LoadedTable again = catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
  EXPECT_THAT(again.metadata->location, MatchesRegex("memory://wh/a/t-[0-9a-f]{8}"));
  catalog->drop_table({{"b"}, "renamed"});
  EXPECT_TRUE(fixture.memory->stat(t.metadata_location).has_value());
}

TEST(SqlCatalogWriting, CommitsByCompareAndSet) {
  Fixture fixture;
  auto catalog = fixture.open();
  catalog->create_namespace({"a"});
  const LoadedTable first = catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
  catalog.reset();  // the table lives on
  const LoadedTable second = fixture.set_property(first, "k", "1");
  EXPECT_THAT(second.metadata_location, MatchesRegex(".*/metadata/00001-[0-9a-f-]{36}.metadata.json"));
  EXPECT_EQ(fixture.ask("SELECT metadata_location FROM iceberg_tables"), second.metadata_location);
  EXPECT_EQ(fixture.ask("SELECT previous_metadata_location FROM iceberg_tables"), first.metadata_location);
  ASSERT_EQ(second.metadata->metadata_log.size(), 1u);
  EXPECT_EQ(second.metadata->metadata_log[0].metadata_file, first.metadata_location);
  EXPECT_EQ(first.store->load().metadata->property("k"), "1");

  EXPECT_THAT(error_of([&] { fixture.set_property(first, "k", "2"); }), HasSubstr("conflict: table 'a.t' of catalog"));
  EXPECT_EQ(fixture.metadata_files("memory://wh/a/t"), 2u);
  const spec::TableRequirement requirements[] = {spec::AssertCurrentSchemaId{3}};
  const spec::TableUpdate updates[] = {spec::SetLocation{"memory://x"}};
  EXPECT_THAT(error_of([&] { second.store->commit(fixture.context, second, requirements, updates); }),
              HasSubstr("conflict: the current schema id should be 3, but is 0"));
  EXPECT_EQ(second.store->commit(fixture.context, second, {}, {}).metadata_location, second.metadata_location);
  fixture.open()->drop_table({{"a"}, "t"});
  EXPECT_THAT(error_of([&] { fixture.set_property(second, "k", "2"); }), HasSubstr("conflict"));
}

TEST(SqlCatalogWriting, CompressesAndClearsMetadataFiles) {
  Fixture fixture;
  const auto catalog = fixture.open();
  catalog->create_namespace({"a"});
  LoadedTable table = catalog->create_table(fixture.context, {{"a"}, "t"},
                                            new_table({{"write.metadata.compression-codec", "GZIP"},
                                                       {"write.metadata.previous-versions-max", "2"},
                                                       {"write.metadata.delete-after-commit.enabled", "true"},
                                                       {"write.metadata.path", "memory://meta/"}}));
  EXPECT_THAT(table.metadata_location, MatchesRegex("memory://meta/00000-[0-9a-f-]{36}.gz.metadata.json"));
  EXPECT_EQ(fixture.memory->get(table.metadata_location).text().substr(0, 2), "\x1f\x8b");
  for (int i = 0; i < 6; ++i) table = fixture.set_property(table, "i", std::to_string(i));
  EXPECT_EQ(catalog->load_table({{"a"}, "t"}).metadata->property("i"), "5");
  EXPECT_EQ(table.metadata->metadata_log.size(), 2u);
  EXPECT_EQ(fixture.memory->list("memory://meta").size(), 3u);  // those of the log and the current one
  EXPECT_THAT(error_of([&] { fixture.set_property(table, "write.metadata.previous-versions-max", "few"); }),
              HasSubstr("must be a whole number"));
}

TEST(SqlCatalogWriting, SaysThatItIsLockedAndLeavesNothing) {
  Fixture fixture;
  const auto catalog = fixture.open({{"uri", "sqlite:///" + fixture.path() + "?timeout=0.02"}});
  catalog->create_namespace({"a"});
  const LoadedTable table = catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
  SqliteDatabase other(fixture.path(), {.access = SqliteAccess::kWrite});
  SqliteDatabase::Transaction transaction(other);
  EXPECT_THAT(error_of([&] { fixture.set_property(table, "k", "1"); }),
              AllOf(HasSubstr("io: SQLite database"), HasSubstr("stayed locked for 20 ms")));
  EXPECT_EQ(fixture.metadata_files("memory://wh/a/t"), 1u);
  EXPECT_THAT(error_of([&] { catalog->create_table(fixture.context, {{"a"}, "u"}, new_table()); }),
              HasSubstr("stayed locked"));
  EXPECT_FALSE(fixture.memory->stat("memory://wh/a/u").has_value());
}

// Triggers stand for a statement whose answer is lost: RAISE(FAIL) keeps what was changed and reports an error.
TEST(SqlCatalogWriting, FindsOutWhatBecameOfACommit) {
  struct Case {
    const char* trigger;
    const char* outcome;  // "" if the commit succeeds
    size_t metadata_files;
  };
  for (const Case& c : std::initializer_list<Case>{
           // It was done.
           {"CREATE TRIGGER t AFTER UPDATE ON iceberg_tables BEGIN SELECT RAISE(FAIL, 'lost'); END", "", 2},
           // It was not.
           {"CREATE TRIGGER t BEFORE UPDATE ON iceberg_tables BEGIN SELECT RAISE(ABORT, 'lost'); END", "lost", 1},
           // Nobody can tell: somebody put something there that cannot be read.
           {"CREATE TRIGGER t AFTER UPDATE ON iceberg_tables BEGIN UPDATE iceberg_tables SET metadata_location = "
            "'memory://nowhere'; SELECT RAISE(FAIL, 'lost'); END",
            "commit_state_unknown", 2},
           {"CREATE TRIGGER t AFTER UPDATE ON iceberg_tables BEGIN DELETE FROM iceberg_tables; SELECT RAISE(FAIL, "
            "'lost'); END",
            "commit_state_unknown", 2},
           // Another commit followed, on the version before: ours was not.
           {"CREATE TRIGGER t AFTER UPDATE ON iceberg_tables BEGIN UPDATE iceberg_tables SET metadata_location = "
            "'memory://other'; SELECT RAISE(FAIL, 'lost'); END",
            "conflict", 1},
       }) {
    SCOPED_TRACE(c.trigger);
    Fixture fixture;
    const auto catalog = fixture.open();
    catalog->create_namespace({"a"});
    const LoadedTable table = catalog->create_table(fixture.context, {{"a"}, "t"}, new_table());
    const spec::TableUpdate update[] = {spec::SetProperties{{{"other", "1"}}}};
    const spec::TableMetadata others =
        spec::apply_updates(*table.metadata, update, {.now_ms = 0, .base_location = table.metadata_location});
    fixture.memory->put("memory://other",
                        std::string(spec::metadata_file_bytes(others, false, fixture.context.memory_pool()).text()));
    fixture.tell(c.trigger);
    const std::string error = error_of([&] { fixture.set_property(table, "k", "1"); });
    if (*c.outcome == '\0') {
      EXPECT_EQ(error, "no error");
      EXPECT_EQ(catalog->load_table({{"a"}, "t"}).metadata->property("k"), "1");
    } else {
      EXPECT_THAT(error, HasSubstr(c.outcome));
    }
    EXPECT_EQ(fixture.metadata_files("memory://wh/a/t"), c.metadata_files);
  }
}

// What became of a commit is looked for again while it cannot be read (commit.status-check.*).
TEST(SqlCatalogWriting, LooksAgainForWhatBecameOfACommit) {
  struct Case {
    Properties properties;
    int readable_after;  // looks
    const char* outcome;
    int waits;
    int64_t least_ms;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{}, 2, "conflict", 2, 1'500},
           {{}, 9, "commit_state_unknown", 3, 3'500},
           {{{"commit.status-check.num-retries", "0"}}, 2, "commit_state_unknown", 0, 0},
           {{{"commit.status-check.num-retries", "5"}, {"commit.status-check.min-wait-ms", "10"}},
            5,
            "conflict",
            5,
            155},
           {{{"commit.status-check.total-timeout-ms", "400"}}, 2, "commit_state_unknown", 0, 0},
       }) {
    Fixture fixture;
    HookedClock clock;
    Context context({.threads = 1, .clock = &clock});
    const auto catalog = fixture.open();
    catalog->create_namespace({"a"});
    spec::Properties of_table(c.properties.begin(), c.properties.end());
    const LoadedTable table = catalog->create_table(context, {{"a"}, "t"}, new_table(of_table));
    const spec::TableUpdate other[] = {spec::SetProperties{{{"other", "1"}}}};
    const spec::TableMetadata others =
        spec::apply_updates(*table.metadata, other, {.now_ms = 0, .base_location = table.metadata_location});
    clock.at_sleep = [&] {
      if (clock.sleeps != c.readable_after) return;
      fixture.memory->put("memory://nowhere",
                          std::string(spec::metadata_file_bytes(others, false, context.memory_pool()).text()));
    };
    fixture.tell(
        "CREATE TRIGGER t AFTER UPDATE ON iceberg_tables BEGIN UPDATE iceberg_tables SET metadata_location = "
        "'memory://nowhere'; SELECT RAISE(FAIL, 'lost'); END");
    const spec::TableUpdate update[] = {spec::SetProperties{{{"k", "1"}}}};
    EXPECT_THAT(error_of([&] { table.store->commit(context, table, {}, update); }), HasSubstr(c.outcome));
    EXPECT_EQ(clock.sleeps, c.waits);
    EXPECT_GE(clock.time.steady_now(), std::chrono::milliseconds(c.least_ms));
  }
  Fixture fixture;
  const auto catalog = fixture.open();
  catalog->create_namespace({"a"});
  const LoadedTable table =
      catalog->create_table(fixture.context, {{"a"}, "t"}, new_table({{"commit.status-check.num-retries", "often"}}));
  EXPECT_THAT(error_of([&] { fixture.set_property(table, "k", "1"); }), HasSubstr("commit.status-check.num-retries"));
}

TEST(SqlCatalogWriting, TakesTheTimeoutOfTheUri) {
  using std::chrono::milliseconds;
  EXPECT_EQ(sqlite_timeout_of_uri("sqlite:///x.db"), std::nullopt);
  EXPECT_EQ(sqlite_timeout_of_uri("sqlite:///x.db?timeout=2.5"), milliseconds(2500));
  EXPECT_EQ(sqlite_timeout_of_uri("sqlite:///x.db?a=b&timeout=0&c"), milliseconds(0));
  for (const char* bad : {"x?timeout=", "x?timeout=-1", "x?timeout=nan", "x?timeout=1e9", "x?timeout=soon"}) {
    EXPECT_THAT(error_of([&] { sqlite_timeout_of_uri(bad); }), HasSubstr("invalid_argument")) << bad;
  }
}

}  // namespace
}  // namespace frazil::catalog
