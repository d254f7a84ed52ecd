#include "frazil/catalog/identifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/catalog/configuration.h"

namespace frazil::catalog {
namespace {

Configuration with_catalog_lake() {
  ConfigurationSources sources;
  sources.environment = {{"FRAZIL_CATALOG__LAKE__URI", "sqlite:///x.db"}};
  sources.read_file = [](const std::string&) { return std::nullopt; };
  return Configuration(sources);
}

// "path x", "catalog|namespace|name"
std::string describe(const TableName& name) {
  if (const auto* path = std::get_if<TablePath>(&name)) return "path " + path->path;
  const auto& table = std::get<TableInCatalog>(name);
  return table.catalog + "|" + to_string(table.identifier.levels) + "|" + table.identifier.name;
}

TEST(TableName, IsAPathOrAnIdentifier) {
  Configuration configuration = with_catalog_lake();
  for (auto [text, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"web.hits", "|web|hits"},
           {"a.b.c", "|a.b|c"},
           {"hits", "||hits"},
           {"lake.web.hits", "lake|web|hits"},
           {"Lake.web.a.hits", "Lake|web.a|hits"},
           {"lake.hits", "|lake|hits"},
           {"./hits", "path ./hits"},
           {"a/b", "path a/b"},
           {"/t", "path /t"},
           {"file:t", "path file:t"},
           {"s3://b/t", "path s3://b/t"},
           {"s3a:t", "path s3a:t"},
           {"v1.metadata.json", "path v1.metadata.json"},
           {"v1.gz.metadata.json", "path v1.gz.metadata.json"},
           {"v1.metadata.json.gz", "path v1.metadata.json.gz"},
           {"metadata.json", "|metadata|json"},
           {"ns.a:b", "|ns|a:b"},
           {"C:x", "||C:x"},
           {"\xc3\xa9.\xe2\x82\xac", "|\xc3\xa9|\xe2\x82\xac"},
       }) {
    EXPECT_EQ(describe(parse_table_name(text, configuration, false)), expected) << text;
  }
}

TEST(TableName, HasNoCatalogWhenOneWasGiven) {
  Configuration configuration = with_catalog_lake();
  EXPECT_EQ(describe(parse_table_name("lake.web.hits", configuration, true)), "|lake.web|hits");
}

TEST(TableName, HasNoEmptyPart) {
  Configuration configuration;
  for (const char* text : {"", ".", "a.", ".a", "a..b"}) {
    EXPECT_THROW(parse_table_name(text, configuration, false), Error) << text;
  }
}

TEST(NamespaceName, MayBeEmptyAndMayNameACatalog) {
  Configuration configuration = with_catalog_lake();
  auto parse = [&](const char* text, bool given = false) {
    NamespaceInCatalog result = parse_namespace_name(text, configuration, given);
    return result.catalog + "|" + to_string(result.levels);
  };
  EXPECT_EQ(parse(""), "|");
  EXPECT_EQ(parse("a.b"), "|a.b");
  EXPECT_EQ(parse("lake"), "|lake");
  EXPECT_EQ(parse("lake.a"), "lake|a");
  EXPECT_EQ(parse("lake.a", true), "|lake.a");
  EXPECT_THROW(parse("a."), Error);
}

}  // namespace
}  // namespace frazil::catalog
