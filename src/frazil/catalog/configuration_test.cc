#include "frazil/catalog/configuration.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/catalog/yaml_settings.h"

namespace frazil::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

struct Given {
  std::map<std::string, std::string> environment = {};
  std::map<std::string, std::string> files = {};
  std::string file = {};

  ConfigurationSources sources() const {
    ConfigurationSources made;
    made.environment = environment;
    made.home_folder = "/home/a";
    made.current_folder = "/here";
    made.file = file;
    made.read_file = [all = files](const std::string& path) -> std::optional<std::string> {
      auto found = all.find(path);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    };
    return made;
  }
  Configuration load() const { return Configuration(sources()); }
};

std::string error_of(const Given& given, ErrorKind kind = ErrorKind::kInvalidArgument) {
  try {
    given.load();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::string catalog_value(const Configuration& configuration, std::string_view catalog, std::string_view key) {
  const auto* setting = configuration.find_catalog_setting(catalog, key);
  return setting == nullptr ? "(none)" : setting->value;
}

TEST(Configuration, IsEmptyWithoutSources) {
  Configuration configuration = Given{}.load();
  EXPECT_EQ(configuration.default_catalog(), "default");
  EXPECT_THAT(configuration.catalog_names(), IsEmpty());
  EXPECT_THAT(configuration.catalog_properties("default"), IsEmpty());
  EXPECT_EQ(configuration.find("max-workers"), nullptr);
}

TEST(Configuration, ReadsAFileOfPyIceberg) {
  Given given{.files = {{"/home/a/.pyiceberg.yaml",
                         "default-catalog: Lake\n"
                         "max-workers: 8\n"
                         "Catalog:\n"
                         "  Lake:\n"
                         "    URI: sqlite:////data/lake.db   # a comment\n"
                         "    s3.endpoint: http://localhost:9000\n"
                         "    py-io-impl: pyiceberg.io.fsspec.FsspecFileIO\n"
                         "    flag: no\n"
                         "    empty:\n"
                         "  other:\n"
                         "    uri: \"http://host/\"\n"}}};
  Configuration configuration = given.load();
  EXPECT_EQ(configuration.default_catalog(), "Lake");
  EXPECT_THAT(configuration.catalog_names(), ElementsAre("lake", "other"));
  EXPECT_THAT(configuration.catalog_properties("LAKE"),
              ElementsAre(Pair("empty", ""), Pair("flag", "no"), Pair("py-io-impl", "pyiceberg.io.fsspec.FsspecFileIO"),
                          Pair("s3.endpoint", "http://localhost:9000"), Pair("uri", "sqlite:////data/lake.db")));
  EXPECT_EQ(configuration.find("max-workers")->value, "8");
  EXPECT_EQ(configuration.find_catalog_setting("lake", "uri")->origin, "/home/a/.pyiceberg.yaml line 5");
}

TEST(Configuration, JoinsNestedKeysByDots) {
  Given given{.files = {{"/here/.frazil.yaml",
                         "catalog:\n"
                         "  lake:\n"
                         "    s3: {endpoint: e, Region: r}\n"
                         "    map-location: [a=b, 'c=d']\n"
                         "downcast: {ns: {to: us}}\n"}}};
  Configuration configuration = given.load();
  EXPECT_THAT(configuration.catalog_properties("lake"),
              ElementsAre(Pair("map-location.0", "a=b"), Pair("map-location.1", "c=d"), Pair("s3.endpoint", "e"),
                          Pair("s3.region", "r")));
  EXPECT_EQ(configuration.find("downcast.ns.to")->value, "us");
}

// interop.md 2: split on "__" at most twice, "_" becomes "-", what remains of "__" becomes ".".
TEST(Configuration, SplitsVariablesAsPyIcebergDoes) {
  struct Case {
    const char* name;
    const char* catalog;  // nullptr: a setting outside
    const char* key;
  };
  for (Case c : std::initializer_list<Case>{
           {"PYICEBERG_CATALOG__DEFAULT__S3__ACCESS_KEY_ID", "default", "s3.access-key-id"},
           {"PYICEBERG_CATALOG__DEFAULT__URI", "default", "uri"},
           {"pyiceberg_catalog__My_Lake__oauth2_server_uri", "my-lake", "oauth2-server-uri"},
           {"PYICEBERG_CATALOG__A__B__C__D", "a", "b.c.d"},
           {"PYICEBERG_CATALOG__A__B_____C", "a", "b..-c"},
           {"PYICEBERG_CATALOG__A__B____C", "a", "b..c"},  // split twice, not at every "__"
           {"PYICEBERG_MAX_WORKERS", nullptr, "max-workers"},
           {"FRAZIL_CATALOG__A__S3__REGION", "a", "s3.region"},
           {"FRAZIL_MEMORY", nullptr, "memory"},
           {"FRAZIL_A__B__C__D", nullptr, "a.b.c.d"},
       }) {
    Configuration configuration = Given{.environment = {{c.name, "value"}}}.load();
    if (c.catalog != nullptr) {
      ASSERT_EQ(catalog_value(configuration, c.catalog, c.key), "value") << c.name;
      EXPECT_EQ(configuration.find_catalog_setting(c.catalog, c.key)->origin, c.name);
    } else {
      ASSERT_NE(configuration.find(c.key), nullptr) << c.name;
      EXPECT_EQ(configuration.find(c.key)->value, "value");
    }
  }
}

TEST(Configuration, IgnoresVariablesWithAnEmptyPart) {
  Configuration configuration =
      Given{.environment = {{"FRAZIL_", "x"}, {"FRAZIL_CATALOG__", "x"}, {"FRAZIL_CATALOG____URI", "x"}, {"HOME", "y"}}}
          .load();
  EXPECT_THAT(configuration.catalog_names(), IsEmpty());
}

TEST(Configuration, TakesFrazilCatalogForTheDefaultCatalog) {
  Given given{.environment = {{"FRAZIL_CATALOG", "lake"}, {"PYICEBERG_DEFAULT_CATALOG", "other"}}};
  EXPECT_EQ(given.load().default_catalog(), "lake");
}

// Each source in turn overrides the weaker ones, one key at a time.
TEST(Configuration, KeepsTheOrderOfSources) {
  auto file = [](const char* value) { return message("catalog: {{c: {{uri: {}, {}: yes}}}}\n", value, value); };
  Given given;
  auto uri = [&] { return catalog_value(given.load(), "c", "uri"); };
  given.files["/home/a/.pyiceberg.yaml"] = file("pyiceberg-file");
  EXPECT_EQ(uri(), "pyiceberg-file");
  given.environment["PYICEBERG_CATALOG__C__URI"] = "pyiceberg-variable";
  EXPECT_EQ(uri(), "pyiceberg-variable");
  given.files["/home/a/.frazil.yaml"] = file("frazil-file");
  EXPECT_EQ(uri(), "frazil-file");
  given.environment["FRAZIL_CATALOG__C__URI"] = "frazil-variable";
  EXPECT_EQ(uri(), "frazil-variable");
  EXPECT_THAT(given.load().catalog_properties("c"),
              ElementsAre(Pair("frazil-file", "yes"), Pair("pyiceberg-file", "yes"), Pair("uri", "frazil-variable")));
}

TEST(Configuration, ReadsOnlyTheFirstFileFound) {
  Given given;
  auto name = [&] { return given.load().default_catalog(); };
  given.files["/here/.pyiceberg.yaml"] = "default-catalog: current\n";
  EXPECT_EQ(name(), "current");
  given.files["/home/a/.pyiceberg.yaml"] = "default-catalog: home\n";
  EXPECT_EQ(name(), "home");
  given.environment["PYICEBERG_HOME"] = "/etc/lake/";
  EXPECT_EQ(name(), "home");
  given.files["/etc/lake/.pyiceberg.yaml"] = "default-catalog: pyiceberg-home\n";
  EXPECT_EQ(name(), "pyiceberg-home");
  given.files["/f/.frazil.yaml"] = "default-catalog: frazil-home\n";
  EXPECT_EQ(name(), "pyiceberg-home");
  given.environment["FRAZIL_HOME"] = "/f";
  EXPECT_EQ(name(), "frazil-home");
}

TEST(Configuration, ReadsTheNamedFileInsteadOfTheOthers) {
  Given given{.environment = {{"PYICEBERG_MAX_WORKERS", "3"}},
              .files = {{"/home/a/.pyiceberg.yaml", "catalog: {a: {uri: x}}\n"},
                        {"/home/a/.frazil.yaml", "catalog: {b: {uri: x}}\n"},
                        {"lake.yaml", "catalog: {c: {uri: x}}\n"}},
              .file = "lake.yaml"};
  EXPECT_THAT(given.load().catalog_names(), ElementsAre("c"));
  EXPECT_EQ(given.load().find("max-workers")->value, "3");
  given.file = "missing.yaml";
  EXPECT_THAT(error_of(given, ErrorKind::kNotFound), HasSubstr("missing.yaml"));
}

TEST(Configuration, RefusesWhatIsNoConfiguration) {
  struct Case {
    std::string text;
    const char* problem;
  };
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(static_cast<size_t>(i), ' ') + "k:\n";
  for (const Case& c : std::initializer_list<Case>{
           {"a: 1\nb: [\n", "line 3: "},
           {"a: &x 1\nb: *x\n", "line 1: anchors"},
           {"a: 1\nb: *x\n", "line 2: aliases"},
           {"a: !!int 1\n", "line 1: tags"},
           {"a: 1\n---\nb: 1\n", "line 2: only one document"},
           {"- a\n- b\n", "found a list"},
           {"word\n", "found text"},
           {"a: 1\nA: 2\n", "line 2: key 'A' is given twice"},
           {"? [a, b]\n: c\n", "line 1: a key must be text"},
           {"catalog: lake\n", "must hold the settings of a catalog"},
           {"catalog: {lake: sqlite}\n", "must hold the settings of a catalog"},
           {"a: \"\\uD800", "line 1"},
           {std::string("a: \0b", 5), "line 1"},
           {"a: \xff\n", "line"},
           {"\ta: 1\n", "line 1"},
           {deep, "nested too deeply"},
           {std::string(100000, '['), "line 1: "},
           {std::string((size_t{1} << 20) + 1, '#'), "larger than"},
       }) {
    std::string text = error_of({.files = {{"/here/.frazil.yaml", c.text}}});
    EXPECT_THAT(text, HasSubstr(c.problem)) << c.text.substr(0, 80);
    EXPECT_THAT(text, HasSubstr("/here/.frazil.yaml"));
  }
}

TEST(Configuration, AcceptsAFileOfNothing) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "catalog:\n", "catalog: {}\n"}) {
    Given given{.files = {{"/here/.frazil.yaml", text}}};
    if (std::string_view(text) == "catalog:\n") {
      error_of(given);  // an empty text is no map
    } else {
      EXPECT_THAT(given.load().catalog_names(), IsEmpty()) << text;
    }
  }
}

// "{a: &a [..], b: &b [*a, *a], ...}" would grow without limit: refused at the first mark.
TEST(Configuration, RefusesTheBillionLaughs) {
  std::string text = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
  EXPECT_THAT(error_of({.files = {{"/here/.frazil.yaml", text}}}), HasSubstr("anchors"));
}

RC_GTEST_PROP(Configuration, NeverCrashesOnAnyText, (const std::string& text)) {
  try {
    parse_yaml_settings(text, "f");
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::kInvalidArgument);
  }
}

// Any bytes put into a valid file: an error or settings, nothing else.
RC_GTEST_PROP(Configuration, NeverCrashesOnADamagedFile, (uint8_t byte)) {
  const std::string text = "catalog:\n  a: {uri: 'x', s3: [1, 2]}\n  b:\n    c: |\n      d\n    e: >\n      f\n";
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(byte);
    for (std::string_view part : {std::string_view(damaged), std::string_view(damaged).substr(0, at + 1)}) {
      try {
        parse_yaml_settings(part, "f");
      } catch (const Error& error) {
        RC_ASSERT(error.kind() == ErrorKind::kInvalidArgument);
      }
    }
  }
}

RC_GTEST_PROP(Configuration, QuotedTextComesBack, (const std::vector<uint16_t>& codes)) {
  std::string text;  // printable ASCII
  for (uint16_t code : codes) text += static_cast<char>(' ' + code % 95);
  std::string quoted;
  for (char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  auto settings = parse_yaml_settings("k: '" + quoted + "'\n", "f");
  RC_ASSERT(settings.size() == 1);
  RC_ASSERT(settings[0].value == text);
}

// The one test of the process's own sources.
TEST(Configuration, ReadsTheProcessEnvironmentAndRealFiles) {
  auto folder = std::filesystem::temp_directory_path() / message("frazil_configuration_{}", getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / ".frazil.yaml") << "catalog: {filed: {uri: u}}\n";
  std::filesystem::create_directory(folder / "x");
  std::filesystem::create_directory(folder / "x" / ".frazil.yaml");  // a folder of that name does not count
  setenv("FRAZIL_HOME", (folder / "x").c_str(), 1);
  setenv("FRAZIL_CATALOG__VARIED__URI", "v", 1);
  setenv("HOME", folder.c_str(), 1);
  Configuration configuration{process_configuration_sources()};
  EXPECT_TRUE(configuration.has_catalog("filed"));
  EXPECT_TRUE(configuration.has_catalog("varied"));
  unsetenv("FRAZIL_HOME");
  unsetenv("FRAZIL_CATALOG__VARIED__URI");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace frazil::catalog
