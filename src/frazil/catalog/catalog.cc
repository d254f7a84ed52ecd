#include "frazil/catalog/catalog.h"

#include <charconv>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/sql_catalog.h"
#include "frazil/io/file_systems.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::catalog {
namespace {

std::string value_of(const Properties& properties, std::string_view key) {
  auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

// As PyIceberg infers it from the uri.
std::string type_of_uri(std::string_view uri) {
  std::string_view scheme = uri.substr(0, uri.find(':'));
  if (scheme.starts_with("http")) return "rest";
  if (scheme == "thrift") return "hive";
  if (scheme.starts_with("sqlite") || scheme.starts_with("postgresql") || scheme == "jdbc" || scheme == "file" ||
      scheme == uri) {
    return "sql";
  }
  return {};
}

[[noreturn]] void throw_not_configured(const Configuration& configuration, const std::string& name) {
  Error error(ErrorKind::kInvalidArgument, configuration.has_catalog(name)
                                               ? message("catalog '{}' is configured without a uri", name)
                                               : message("catalog '{}' is not configured", name));
  std::string names;
  for (const std::string& other : configuration.catalog_names()) names += (names.empty() ? "" : ", ") + other;
  error.set_hint((names.empty() ? std::string() : message("configured are: {}; ", names)) +
                 "give --uri sqlite:///lake.db, or write catalog: {" + name +
                 ": {uri: ...}} into ~/.frazil.yaml, or name a table by its path");
  throw error;
}

}  // namespace

std::unique_ptr<Catalog> open_catalog(const Configuration& configuration, std::string_view name,
                                      const FileSystems& files, MemoryPool& pool, const CatalogOptions& options) {
  std::string catalog_name = name.empty() ? configuration.default_catalog() : std::string(name);
  Properties properties = configuration.catalog_properties(catalog_name);
  for (const auto& [key, value] : options.overrides) properties[key] = value;
  std::string uri = value_of(properties, "uri");
  std::string type = value_of(properties, "type");
  if (uri.empty()) throw_not_configured(configuration, catalog_name);
  if (type.empty() || type == "jdbc") type = type_of_uri(uri);
  if (type != "sql") {
    Error error(ErrorKind::kUnsupported,
                type.empty() ? message("catalog '{}' has a uri of no known type: '{}'", catalog_name, uri)
                             : message("catalog '{}' is of type '{}', which is not read yet", catalog_name, type));
    throw error.set_hint("SQL catalogs on SQLite and tables named by their path can be read");
  }

  auto own_files = std::make_shared<FileSystems>(files);
  auto add_rule = [&](const std::string& rule, std::string_view origin) {
    try {
      own_files->location_map().add_rule(rule);
    } catch (Error& error) {
      error.add_context(message("reading {} of catalog '{}'", origin, catalog_name));
      throw;
    }
  };
  constexpr std::string_view kRuleKey = "map-location";
  for (const auto& [key, value] : properties) {
    if (key == kRuleKey || (key.starts_with(kRuleKey) && key[kRuleKey.size()] == '.')) add_rule(value, key);
  }
  for (const std::string& rule : options.location_rules) own_files->location_map().add_rule(rule);
  return std::make_unique<SqlCatalog>(std::move(catalog_name), std::move(properties), std::move(own_files), pool);
}

size_t metadata_max_bytes(const Properties& properties) {
  std::string text = value_of(properties, kMetadataMaxBytes);
  if (text.empty()) return kDefaultMetadataMaxBytes;
  size_t bytes = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw_error(ErrorKind::kInvalidArgument, "{} must be a number of bytes, not '{}'", kMetadataMaxBytes, text);
  }
  return bytes;
}

spec::TableMetadataPtr read_table_metadata(FileSystem& files, std::string_view location, MemoryPool& pool,
                                           size_t max_bytes) {
  try {
    auto file = files.open_input(location);
    if (file->size() > max_bytes) {
      MemoryLimitError error(file->size(), message("metadata file has {} bytes, more than {} = {}", file->size(),
                                                   kMetadataMaxBytes, max_bytes));
      error.set_hint(message("if it is one, raise the catalog's property {}", kMetadataMaxBytes));
      throw error;
    }
    MutableBuffer bytes = pool.allocate(static_cast<size_t>(file->size()));
    file->read_at(0, bytes.span());
    return spec::parse_metadata_file(bytes.span(), pool, {.max_bytes = max_bytes});
  } catch (Error& error) {
    error.add_context(message("reading metadata file {}", location));
    throw;
  }
}

}  // namespace frazil::catalog
