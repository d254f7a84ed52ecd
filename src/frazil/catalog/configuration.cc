#include "frazil/catalog/configuration.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/catalog/yaml_settings.h"

extern char** environ;

namespace frazil::catalog {
namespace {

// A configuration is written by hand. What is larger is some other file.
constexpr size_t kMaxFileBytes = size_t{1} << 20;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The parts of FRAZIL_A__B__C__D after the prefix: "a", "b", "c.d".
std::vector<std::string> split_variable(std::string_view key) {
  std::vector<std::string> parts;
  while (true) {
    size_t end = parts.size() < 2 ? key.find("__") : std::string_view::npos;
    std::string part(key.substr(0, end));
    parts.push_back(replace_all(replace_all(std::move(part), "__", "."), "_", "-"));
    if (end == std::string_view::npos) return parts;
    key.remove_prefix(end + 2);
  }
}

std::string join(const std::vector<std::string>& path, size_t from) {
  std::string text;
  for (size_t i = from; i < path.size(); ++i) {
    if (i > from) text += '.';
    text += path[i];
  }
  return text;
}

std::string in_folder(const std::string& folder, const char* name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

std::optional<std::string> read_bounded_file(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw IoError(errno, message("cannot read configuration {}", path));
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;  // as PyIceberg: only files count
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) throw IoError(errno, message("cannot read configuration {}", path));
  std::string text(kMaxFileBytes + 1, '\0');
  size_t size = std::fread(text.data(), 1, text.size(), file.get());
  if (std::ferror(file.get())) throw IoError(errno, message("cannot read configuration {}", path));
  text.resize(size);
  return text;
}

}  // namespace

ConfigurationSources process_configuration_sources(std::string file) {
  ConfigurationSources sources;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    size_t equals = text.find('=');
    if (equals != std::string_view::npos) sources.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  if (auto home = sources.environment.find("HOME"); home != sources.environment.end()) {
    sources.home_folder = home->second;
  } else if (const passwd* user = getpwuid(getuid()); user != nullptr && user->pw_dir != nullptr) {
    sources.home_folder = user->pw_dir;
  }
  if (char* folder = getcwd(nullptr, 0); folder != nullptr) {
    sources.current_folder = folder;
    std::free(folder);
  }
  sources.file = std::move(file);
  sources.read_file = read_bounded_file;
  return sources;
}

namespace {

class Merger {
 public:
  Merger(Configuration::Settings& settings, std::map<std::string, Configuration::Settings, std::less<>>& catalogs)
      : settings_(settings), catalogs_(catalogs) {}

  // Replaces what a weaker source said.
  void put(const std::vector<std::string>& path, std::string value, std::string origin) {
    Configuration::Setting setting{std::move(value), std::move(origin)};
    if (path.front() != "catalog") {
      settings_[join(path, 0)] = std::move(setting);
    } else if (path.size() >= 3) {
      catalogs_[path[1]][join(path, 2)] = std::move(setting);
    } else {
      throw_error(ErrorKind::kInvalidArgument, "'{}' must hold the settings of a catalog, not a value ({})",
                  join(path, 0), setting.origin);
    }
  }

  void put_environment(const std::map<std::string, std::string>& environment, std::string_view prefix) {
    for (const auto& [name, value] : environment) {
      std::string lower = lower_case(name);
      if (!lower.starts_with(prefix)) continue;
      std::vector<std::string> path = split_variable(std::string_view(lower).substr(prefix.size()));
      bool usable = true;
      for (const std::string& part : path) usable = usable && !part.empty();
      if (!usable) continue;
      // FRAZIL_CATALOG stands for --catalog, as FRAZIL_URI does for --uri.
      if (path.size() == 1 && path.front() == "catalog" && prefix == "frazil_") path.front() = "default-catalog";
      put(path, value, name);
    }
  }

  void put_file(const std::string& path, std::string_view text) {
    if (text.size() > kMaxFileBytes) {
      throw_error(ErrorKind::kInvalidArgument, "configuration {} is larger than {} bytes", path, kMaxFileBytes);
    }
    for (YamlSetting& setting : parse_yaml_settings(text, path)) {
      for (std::string& part : setting.path) part = lower_case(part);
      put(setting.path, std::move(setting.value), message("{} line {}", path, setting.line));
    }
  }

 private:
  Configuration::Settings& settings_;
  std::map<std::string, Configuration::Settings, std::less<>>& catalogs_;
};

}  // namespace

Configuration::Configuration(const ConfigurationSources& sources) {
  Merger merger(settings_, catalogs_);
  auto put_first_found = [&](const char* home_variable, const char* name) {
    std::vector<std::string> folders;
    if (auto home = sources.environment.find(home_variable); home != sources.environment.end()) {
      folders.push_back(home->second);
    }
    folders.push_back(sources.home_folder);
    folders.push_back(sources.current_folder);
    for (const std::string& folder : folders) {
      if (folder.empty()) continue;
      std::string path = in_folder(folder, name);
      if (auto text = sources.read_file(path)) {
        merger.put_file(path, *text);
        return;
      }
    }
  };

  // From the weakest to the strongest.
  if (sources.file.empty()) put_first_found("PYICEBERG_HOME", ".pyiceberg.yaml");
  merger.put_environment(sources.environment, "pyiceberg_");
  if (sources.file.empty()) {
    put_first_found("FRAZIL_HOME", ".frazil.yaml");
  } else if (auto text = sources.read_file(sources.file)) {
    merger.put_file(sources.file, *text);
  } else {
    throw_error(ErrorKind::kNotFound, "configuration file {} does not exist", sources.file);
  }
  merger.put_environment(sources.environment, "frazil_");
}

const Configuration::Setting* Configuration::find(std::string_view key) const {
  auto found = settings_.find(key);
  return found == settings_.end() ? nullptr : &found->second;
}

std::string Configuration::default_catalog() const {
  const Setting* setting = find("default-catalog");
  return setting == nullptr || setting->value.empty() ? "default" : setting->value;
}

std::vector<std::string> Configuration::catalog_names() const {
  std::vector<std::string> names;
  names.reserve(catalogs_.size());
  for (const auto& [name, settings] : catalogs_) names.push_back(name);
  return names;
}

bool Configuration::has_catalog(std::string_view name) const {
  return catalogs_.contains(lower_case(name));
}

Properties Configuration::catalog_properties(std::string_view name) const {
  Properties properties;
  auto found = catalogs_.find(lower_case(name));
  if (found == catalogs_.end()) return properties;
  for (const auto& [key, setting] : found->second) properties.emplace(key, setting.value);
  return properties;
}

const Configuration::Setting* Configuration::find_catalog_setting(std::string_view name, std::string_view key) const {
  auto catalog = catalogs_.find(lower_case(name));
  if (catalog == catalogs_.end()) return nullptr;
  auto found = catalog->second.find(key);
  return found == catalog->second.end() ? nullptr : &found->second;
}

}  // namespace frazil::catalog
