#include "frazil/catalog/path_table.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/catalog/relocated_files.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/io/uri.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string metadata(std::string_view location, int64_t updated_ms = 1000, std::string_view properties = "{}") {
  return message(R"({{"format-version": 1, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "{}",
    "last-updated-ms": {}, "last-column-id": 1, "schema": {{"type": "struct", "fields": [
    {{"id": 1, "name": "x", "required": true, "type": "long"}}]}}, "partition-spec": [], "properties": {}}})",
                 location, updated_ms, properties);
}

struct Fixture {
  MemoryPool pool;
  std::shared_ptr<MemoryFileSystem> memory = std::make_shared<MemoryFileSystem>();
  FileSystems files;

  Fixture() { files.add("memory", memory); }
  // A file of the table memory://t/.
  void put(const std::string& name, int64_t updated_ms = 1000) {
    memory->put("memory://t/metadata/" + name, metadata("memory://t", updated_ms));
  }
  void put_text(const std::string& name, std::string text) {
    memory->put("memory://t/metadata/" + name, std::move(text));
  }

  LoadedTable open(std::string_view path = "memory://t") { return open_table_by_path(path, files, pool); }
  // The name of the metadata file that is taken, or the error.
  std::string current() {
    notices.clear();
    try {
      LoadedTable table = open();
      notices = table.notices;
      return std::string(location_name(table.metadata_location));
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
  }
  std::vector<std::string> notices;
};

TEST(PathTable, FollowsTheHint) {
  struct Case {
    const char* hint;
    const char* current;
  };
  for (Case c : std::initializer_list<Case>{{"2", "v2.metadata.json"},
                                            {" 2\r\n", "v2.metadata.json"},
                                            {"02", "v2.metadata.json"},
                                            {"1", "v1.gz.metadata.json"},
                                            {"v2", "v2.metadata.json"},
                                            {"v2.metadata.json", "v2.metadata.json"},
                                            {"00005-abc", "00005-abc.metadata.json"},
                                            {"00005-abc.metadata.json", "00005-abc.metadata.json"},
                                            {"odd", "odd.metadata.json"}}) {
    Fixture fixture;
    for (const char* name : {"v1.gz.metadata.json", "v2.metadata.json", "00005-abc.metadata.json",
                             "00002-x.metadata.json", "odd.metadata.json"}) {
      fixture.put(name);
    }
    fixture.put_text("version-hint.text", c.hint);
    EXPECT_EQ(fixture.current(), c.current) << c.hint;
  }
}

TEST(PathTable, TellsOfANewerVersionThanTheHint) {
  Fixture fixture;
  fixture.put("v2.metadata.json");
  fixture.put("v3.metadata.json");
  fixture.put_text("version-hint.text", "2");
  EXPECT_EQ(fixture.current(), "v2.metadata.json");
  EXPECT_THAT(fixture.notices,
              ElementsAre("reading v2.metadata.json, as version-hint.text says; v3.metadata.json is newer"));
}

TEST(PathTable, RefusesAHintThatNamesNothing) {
  for (const char* hint : {"3", "x", "../../etc/passwd", "", "99999999999999999999", "-1"}) {
    Fixture fixture;
    fixture.put("v2.metadata.json");
    fixture.put_text("version-hint.text", hint);
    std::string error = fixture.current();
    EXPECT_THAT(error, HasSubstr("not_found: memory://t/metadata/version-hint.text says")) << hint;
    EXPECT_THAT(error, HasSubstr("the newest is memory://t/metadata/v2.metadata.json"));
  }
  Fixture fixture;
  fixture.put("v2.metadata.json");
  fixture.put_text("version-hint.text", std::string(2000, '2'));
  EXPECT_THAT(fixture.current(), HasSubstr("corrupt"));
}

TEST(PathTable, TakesTheNewestVersionWithoutAHint) {
  struct Case {
    std::vector<const char*> names;
    const char* current;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"v1.metadata.json"}, "v1.metadata.json"},
           {{"v9.metadata.json", "v12.metadata.json", "v2.metadata.json"}, "v12.metadata.json"},
           {{"00009-f.metadata.json", "00010-a.metadata.json"}, "00010-a.metadata.json"},
           {{"00009-f.gz.metadata.json", "00008-a.metadata.json"}, "00009-f.gz.metadata.json"},
           {{"v3.metadata.json.gz", "v2.metadata.json"}, "v3.metadata.json.gz"},
           {{"v3.zstd.metadata.json", "v2.metadata.json"}, "v3.zstd.metadata.json"},
           {{"v3.metadata.json", "v3.metadata.json.crc", ".v9.metadata.json.crc", "v9.avro"}, "v3.metadata.json"},
           {{"v1749025517.metadata.json", "v0.metadata.json"}, "v1749025517.metadata.json"},
       }) {
    Fixture fixture;
    for (const char* name : c.names) fixture.put(name);
    EXPECT_EQ(fixture.current(), c.current);
    EXPECT_THAT(fixture.notices, IsEmpty());
  }
}

// Commits that lost leave files of the same number behind; the clock inside says which one came last.
TEST(PathTable, BreaksTiesByTheTimeInTheFiles) {
  Fixture fixture;
  fixture.put("00003-b.metadata.json", 3000);
  fixture.put("00003-a.metadata.json", 3001);
  fixture.put("00003-c.metadata.json", 2999);
  EXPECT_EQ(fixture.current(), "00003-a.metadata.json");
  fixture.put("v3.gz.metadata.json", 3002);  // the same version (interop.md 10)
  EXPECT_EQ(fixture.current(), "v3.gz.metadata.json");
  fixture.put("vfinal.metadata.json", 3003);  // no version: its time decides
  EXPECT_EQ(fixture.current(), "vfinal.metadata.json");
  fixture.put("vfinal.metadata.json", 3002);
  EXPECT_EQ(fixture.current(), "v3.gz.metadata.json");
  fixture.put("v3.1.metadata.json", 1);
  EXPECT_EQ(fixture.current(), "v3.gz.metadata.json");
}

TEST(PathTable, PassesOverDamageOnlyWhereAnotherFileIsLeft) {
  Fixture fixture;
  fixture.put("00003-a.metadata.json");
  fixture.put_text("00003-b.metadata.json", "{\"format-version\": 2,");
  EXPECT_EQ(fixture.current(), "00003-a.metadata.json");
  fixture.put_text("00004-b.metadata.json", "{\"format-version\": 2,");
  EXPECT_THAT(fixture.current(), HasSubstr("corrupt"));
}

TEST(PathTable, OpensAFileAFolderAndItsMetadataFolder) {
  Fixture fixture;
  fixture.put("v1.metadata.json");
  for (const char* path :
       {"memory://t", "memory://t/", "memory://t/metadata", "memory://t/metadata/v1.metadata.json"}) {
    LoadedTable table = fixture.open(path);
    EXPECT_EQ(table.name, path);
    EXPECT_EQ(table.metadata_location, "memory://t/metadata/v1.metadata.json") << path;
    EXPECT_THAT(table.notices, IsEmpty()) << path;
    EXPECT_FALSE(table.identifier.has_value());
  }
}

TEST(PathTable, SaysWhatIsNoTable) {
  Fixture fixture;
  auto error = [&](const char* path) {
    try {
      fixture.open(path);
    } catch (const Error& e) {
      return std::string(to_string(e.kind())) + ": " + e.what();
    }
    return std::string("no error");
  };
  fixture.memory->put("memory://d/data/a.parquet", "PAR1");
  fixture.memory->put("memory://e/metadata/version-hint.text", "1");
  fixture.memory->put("memory://j/metadata/v1.metadata.json", "[");
  EXPECT_THAT(error("memory://x"), HasSubstr("not_found: there is no file or folder memory://x"));
  EXPECT_THAT(error("memory://d"), HasSubstr("not_found: memory://d is not an Iceberg table"));
  EXPECT_THAT(error("memory://e"), HasSubstr("not_found: memory://e is not an Iceberg table"));
  EXPECT_THAT(error("memory://j"), HasSubstr("corrupt"));
  EXPECT_THAT(error("memory://j"), HasSubstr("reading metadata file memory://j/metadata/v1.metadata.json"));
  EXPECT_THAT(error("memory://d/data/a.parquet"), HasSubstr("corrupt"));
  EXPECT_THAT(error("quark://d"), HasSubstr("unsupported"));
}

TEST(PathTable, LooksBelowTheFolderWhereItWasFound) {
  Fixture fixture;
  fixture.memory->put("memory://new/t/metadata/v1.metadata.json", metadata("s3://bucket/lake/t"));
  fixture.memory->put("memory://new/t/data/a.parquet", "a");
  fixture.memory->put("memory://new/u/data/u.parquet", "u");
  LoadedTable table = fixture.open("memory://new/t");
  EXPECT_THAT(table.notices,
              ElementsAre("the table was recorded at s3://bucket/lake/t and found at memory://new/t: its "
                          "files are looked for there"));
  EXPECT_EQ(table.files->open_input("s3://bucket/lake/t/data/a.parquet")->path(), "memory://new/t/data/a.parquet");
  // Another table beside it, moved with it.
  EXPECT_EQ(table.files->open_input("s3://bucket/lake/u/data/u.parquet")->path(), "memory://new/u/data/u.parquet");
  // The tail of a path of another origin.
  EXPECT_EQ(table.files->open_input("hdfs://n/w/t/data/a.parquet")->path(), "memory://new/t/data/a.parquet");
}

TEST(PathTable, TrustsARuleOfTheUsers) {
  Fixture fixture;
  fixture.memory->put("memory://new/t/metadata/v1.metadata.json", metadata("s3://bucket/lake/t"));
  fixture.memory->put("memory://data/t/a.parquet", "a");
  LoadedTable table = open_table_by_path("memory://new/t", fixture.files, fixture.pool,
                                         {.location_rules = {"s3://bucket/lake=memory://data"}});
  EXPECT_THAT(table.notices, IsEmpty());
  EXPECT_EQ(table.files->open_input("s3://bucket/lake/t/a.parquet")->path(), "memory://data/t/a.parquet");
}

// write.metadata.path may lie anywhere: then the table is where it was recorded.
TEST(PathTable, KnowsMetadataThatLivesElsewhere) {
  Fixture fixture;
  fixture.memory->put("memory://meta/t/v1.metadata.json",
                      metadata("memory://data/t", 1, R"({"write.metadata.path": "memory://meta/t/"})"));
  EXPECT_THAT(fixture.open("memory://meta/t/v1.metadata.json").notices, IsEmpty());
}

TEST(RelocatedFiles, LooksInTheDocumentedOrder) {
  auto memory = std::make_shared<MemoryFileSystem>();
  RelocatedFiles files(memory, "memory://old/w/db/t", "memory://x/y/w/db/t");
  const std::string location = "memory://old/w/db/t/data/f";
  EXPECT_EQ(files.locate(location), "memory://x/y/w/db/t/data/f") << "nothing is there: errors name where it should be";
  memory->put("memory://x/y/w/db/t/f", "4");
  EXPECT_EQ(files.locate(location), "memory://x/y/w/db/t/f");
  memory->put(location, "2");
  EXPECT_EQ(files.locate(location), location);
  memory->put("memory://x/y/w/db/t/data/f", "1");
  EXPECT_EQ(files.locate(location), "memory://x/y/w/db/t/data/f");

  memory->put("memory://x/y/w/db2/f", "3");
  EXPECT_EQ(files.locate("memory://old/w/db2/f"), "memory://x/y/w/db2/f");
  EXPECT_EQ(files.locate("memory://elsewhere/g"), "memory://elsewhere/g");
  memory->put("memory://x/y/w/db/t/data/g", "4");
  EXPECT_EQ(files.locate("memory://elsewhere/data/g"), "memory://x/y/w/db/t/data/g");
  EXPECT_EQ(files.locate("memory://elsewhere/../t/data/g"), "memory://x/y/w/db/t/data/g");
}

TEST(RelocatedFiles, UnderstandsRelativeAndEmptyRoots) {
  auto memory = std::make_shared<MemoryFileSystem>();
  for (const char* recorded : {"./t", "t"}) {
    RelocatedFiles files(memory, recorded, "/abs/t");
    memory->put("/abs/t/data/a", "a");
    memory->put("/abs/u/b", "b");
    EXPECT_EQ(files.locate("t/data/a"), "/abs/t/data/a") << recorded;
    EXPECT_EQ(files.locate("./t/data/a"), "/abs/t/data/a") << recorded;
    EXPECT_EQ(files.locate("u/b"), "/abs/u/b") << recorded;
  }
}

TEST(RelocatedFiles, WritesAndRemovesOnlyWhereTheTableIs) {
  auto memory = std::make_shared<MemoryFileSystem>();
  RelocatedFiles files(memory, "s3://b/t", "/abs/t");
  files.open_output("s3://b/t/data/new")->publish();
  EXPECT_TRUE(memory->stat("/abs/t/data/new").has_value());
  EXPECT_FALSE(files.remove("s3://c/data/new")) << "a tail that fits by chance";
  EXPECT_TRUE(files.remove("s3://b/t/data/new"));
}

// ---- The tables of the corpora ----

struct CorpusTable {
  std::string folder;
  std::string metadata_name;
  std::string location;
};

std::vector<CorpusTable> corpus_tables() {
  std::string corpora = FRAZIL_TEST_CORPORA;
  std::ifstream in(corpora + "/expected/iceberg-tables-index.json", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<CorpusTable> tables;
  const json::Value index = json::parse(text);
  for (const json::Value& entry : index.as_array()) {
    tables.push_back({corpora + "/iceberg-tables/" + entry.at("dir").as_string(), entry.at("metadata").as_string(),
                      entry.at("location_in_metadata").as_string()});
  }
  return tables;
}

TEST(CorpusTables, OpenByTheirFolder) {
  std::vector<CorpusTable> tables = corpus_tables();
  ASSERT_GE(tables.size(), 80u);
  FileSystems files;
  MemoryPool pool;
  for (const CorpusTable& expected : tables) {
    SCOPED_TRACE(expected.folder);
    try {
      LoadedTable table = open_table_by_path(expected.folder, files, pool);
      EXPECT_EQ(location_name(table.metadata_location), expected.metadata_name);
      EXPECT_EQ(table.metadata->location, expected.location);
      for (const spec::Snapshot& snapshot : table.metadata->snapshots) {
        if (table.metadata->current_snapshot() != &snapshot || !snapshot.manifest_list) continue;
        EXPECT_TRUE(table.files->stat(*snapshot.manifest_list).has_value()) << *snapshot.manifest_list;
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// What lies outside of the table's folder, beside it (README of the corpora, column paths: name).
TEST(CorpusTables, FindFilesBesideTheTable) {
  FileSystems files;
  MemoryPool pool;
  std::string tables = FRAZIL_TEST_CORPORA "/iceberg-tables/";
  auto exists = [&](const char* folder, const char* location) {
    return open_table_by_path(tables + folder, files, pool).files->stat(location).has_value();
  };
  EXPECT_TRUE(exists("duckdb/column_mapping/warehouse/default.db/my_table",
                     "data/persistent/column_mapping/warehouse/example/mock_data.parquet"));
  EXPECT_TRUE(exists("duckdb/big_query_error",
                     "data/persistent/big_query_error/data/"
                     "bc12018c-b4ed-4ed8-adcb-a41cea51206d-3175699a3a6392ba-f-00000-of-00001.parquet"));
  EXPECT_TRUE(exists("duckdb/iceberg/lineitem_iceberg_gz",
                     "lineitem_iceberg_gz/data/00000-2-371a340c-ded5-4e85-aa49-9c788d6f21cd-00001.parquet"));
}

}  // namespace
}  // namespace frazil::catalog
