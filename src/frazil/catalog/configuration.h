// Settings, as PyIceberg has them: two families of sources, of which Frazil's own wins.
//
//   strongest   FRAZIL_* of the environment
//               .frazil.yaml      first found of $FRAZIL_HOME, ~, the current folder
//               PYICEBERG_* of the environment
//   weakest     .pyiceberg.yaml   first found of $PYICEBERG_HOME, ~, the current folder
//
// (Command line flags stand above all; whoever parses them asks here only for what was not given.) Sources are merged
// key by key, also inside one catalog. A file looks like this; its keys are lower-cased, its scalars are all strings:
//
//   default-catalog: lake
//   catalog:
//     lake:
//       uri: sqlite:////data/lake.db
//       s3:
//         endpoint: http://localhost:9000        # the same as s3.endpoint
//       map-location: [old=new, old2=new2]       # the same as map-location.0, map-location.1
//
//   variable    := prefix part ( "__" part ){0,2}       // further "__" become ".", "_" becomes "-", all lower-case
//   FRAZIL_CATALOG__LAKE__S3__ENDPOINT -> catalog "lake", key "s3.endpoint"
//   FRAZIL_MAX_WORKERS                 -> key "max-workers"
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::catalog {

using Properties = std::map<std::string, std::string, std::less<>>;

// What a configuration is made from, so that tests need neither a process environment nor a home folder.
struct ConfigurationSources {
  std::map<std::string, std::string> environment;
  std::string home_folder;
  std::string current_folder;
  // --config FILE: read instead of .frazil.yaml and .pyiceberg.yaml, wherever those are. Empty: search.
  std::string file;
  // The text of a file, or nothing if there is none. Throws IoError if it cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
};

// The sources of this process.
ConfigurationSources process_configuration_sources(std::string file = {});

class Configuration {
 public:
  struct Setting {
    std::string value;
    std::string origin;  // "FRAZIL_THREADS", "/home/a/.frazil.yaml line 3": for messages
  };
  using Settings = std::map<std::string, Setting, std::less<>>;

  Configuration() = default;
  // Throws Error(kInvalidArgument) naming file and line for YAML that is no configuration (not YAML, an alias or tag, a
  // key twice, too deep, too large), Error(kNotFound) if `file` was asked for and does not exist.
  explicit Configuration(const ConfigurationSources& sources);

  // Settings outside of catalogs: "max-workers", "threads".
  const Setting* find(std::string_view key) const;

  // The name of `default-catalog`, else "default".
  std::string default_catalog() const;
  // In lower case, sorted.
  std::vector<std::string> catalog_names() const;
  // Looked up in lower case, as PyIceberg does.
  bool has_catalog(std::string_view name) const;
  // Empty if there is no such catalog.
  Properties catalog_properties(std::string_view name) const;
  // Where a catalog's setting was made, or nothing.
  const Setting* find_catalog_setting(std::string_view name, std::string_view key) const;

 private:
  Settings settings_;
  std::map<std::string, Settings, std::less<>> catalogs_;
};

}  // namespace frazil::catalog
