#include "session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "arguments.h"

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/catalog/path_table.h"
#include "frazil/io/file_systems.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {

void add_global_options(Command& root, GlobalOptions& options) {
  root.option("--catalog", options.catalog, "NAME", "the catalog; else the configured default-catalog")
      .option("--uri", options.uri, "URI", "the catalog's uri: sqlite:///relative.db, sqlite:////absolute.db")
      .option("--warehouse", options.warehouse, "URI", "where the catalog's tables are")
      .option("--property", options.properties, "K=V", "a property of the catalog; may be repeated")
      .option("--config", options.config, "FILE", "read this file instead of .frazil.yaml and .pyiceberg.yaml")
      .option("--map-location", options.map_location, "OLD=NEW",
              "look below NEW for what is recorded below OLD; may be repeated")
      .option("--memory", options.memory, "SIZE",
              "the budget: bytes or KiB, MiB, GiB, KB, MB, GB, 'unlimited' (256MiB)")
      .option("--threads", options.threads, "N", "worker threads (as many as there are cores)")
      .choice("--output", options.output, {"text", "json"}, "text for people, or stable JSON; errors too")
      .flag("--quiet", options.quiet, "print no notices and no progress")
      .flag("--verbose", options.verbose, "say what is done")
      .choice("--color", options.color, {"auto", "always", "never"}, "colours: auto on terminals");
}

uint64_t parse_size(std::string_view text, std::string_view what) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit kUnits[] = {{"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}, {"tib", 1099511627776.0},
                             {"kb", 1000.0},  {"mb", 1e6},        {"gb", 1e9},           {"tb", 1e12},
                             {"b", 1.0}};
  if (auto bytes = parse_uint64(text)) return *bytes;
  std::string lower;
  for (char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Unit& unit : kUnits) {
    if (!lower.ends_with(unit.name)) continue;
    std::string_view digits = std::string_view(lower).substr(0, lower.size() - unit.name.size());
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    bool plain = !digits.empty() && digits.find_first_not_of("0123456789.") == std::string_view::npos;
    auto number = plain ? parse_double(digits) : std::nullopt;
    if (number && *number * unit.bytes < 9e18) return static_cast<uint64_t>(std::llround(*number * unit.bytes));
    break;
  }
  Error error(ErrorKind::kInvalidArgument, message("{} must be a size, not '{}'", what, text));
  throw error.set_hint("a number of bytes, or one with KiB, MiB, GiB, KB, MB, GB");
}

std::vector<std::pair<std::string, std::string>> split_properties(const std::vector<std::string>& properties) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& property : properties) {
    const size_t equals = property.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw_error(ErrorKind::kInvalidArgument, "--property must be K=V, not '{}'", property);
    }
    out.emplace_back(property.substr(0, equals), property.substr(equals + 1));
  }
  return out;
}

Session::Session(const GlobalOptions& options, std::stop_token stop)
    : options_(options), stop_(std::move(stop)), out_(STDOUT_FILENO) {}

Session::~Session() = default;

const catalog::Configuration& Session::configuration() {
  if (!configuration_) {
    configuration_.emplace(catalog::process_configuration_sources(options_.config.value_or("")));
  }
  return *configuration_;
}

std::optional<std::string> Session::setting(const std::optional<std::string>& flag, std::string_view key) {
  if (flag) return flag;
  const auto* configured = configuration().find(key);
  return configured == nullptr ? std::nullopt : std::optional(configured->value);
}

Context& Session::context() {
  if (context_) return *context_;
  ContextOptions made;
  if (auto memory = setting(options_.memory, "memory")) {
    made.memory_budget_bytes =
        *memory == "unlimited" ? MemoryPool::kUnlimited : static_cast<size_t>(parse_size(*memory, "--memory"));
  }
  if (auto threads = setting(options_.threads, "threads")) {
    auto number = parse_uint64(*threads);
    if (!number || *number == 0 || *number > 1024) {
      throw_error(ErrorKind::kInvalidArgument, "--threads must be a number from 1 to 1024, not '{}'", *threads);
    }
    made.threads = static_cast<size_t>(*number);
  }
  context_ = std::make_unique<Context>(made);
  return *context_;
}

FileSystems& Session::files() {
  if (!files_) files_ = std::make_unique<FileSystems>();
  return *files_;
}

OutputFormat Session::output_format() {
  if (!format_) {
    std::string text = setting(options_.output, "output").value_or("text");
    if (text != "text" && text != "json") {
      throw_error(ErrorKind::kInvalidArgument, "--output must be text or json, not '{}'", text);
    }
    format_ = text == "json" ? OutputFormat::kJson : OutputFormat::kText;
  }
  return *format_;
}

bool Session::color_out() {
  std::string text = setting(options_.color, "color").value_or("auto");
  Color color = text == "always" ? Color::kAlways : text == "never" ? Color::kNever : Color::kAuto;
  return use_color(color, STDOUT_FILENO);
}

Listing Session::listing(std::vector<ListingColumn> columns) {
  return {out_, output_format(), color_out(), std::move(columns)};
}

void Session::print_line(std::string_view text) {
  out_.write(text);
  out_.write("\n");
}

void Session::print_json(const json::Value& value) {
  print_line(json::write(value, out_.is_terminal() ? 2 : 0));
}

void Session::notice(std::string_view text) {
  if (options_.quiet) return;
  std::string line = "frazil: " + printable(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Session::detail(std::string_view text) {
  if (options_.verbose) notice(text);
}

catalog::Catalog& Session::open_catalog(std::string_view name) {
  std::string wanted(name.empty() ? std::string_view(options_.catalog ? *options_.catalog : std::string()) : name);
  for (const auto& [open_name, open] : catalogs_) {
    if (open_name == wanted) return *open;
  }
  catalog::CatalogOptions made;
  made.location_rules = options_.map_location;
  for (auto& [key, value] : split_properties(options_.properties)) made.overrides[key] = std::move(value);
  // FRAZIL_URI and the like stand for the flags, but a catalog that is named by its own name keeps its own uri.
  auto override_with = [&](const char* key, const std::optional<std::string>& flag) {
    auto value = wanted.empty() ? setting(flag, key) : flag;
    if (value) made.overrides[key] = *value;
  };
  override_with("uri", options_.uri);
  override_with("warehouse", options_.warehouse);
  auto opened = catalog::open_catalog(configuration(), wanted, files(), context().memory_pool(), made);
  detail("catalog '" + opened->name() + "' at " + opened->properties().at("uri"));
  catalogs_.emplace_back(wanted, std::move(opened));
  return *catalogs_.back().second;
}

catalog::TableName Session::table_name(std::string_view text) {
  const bool catalog_given = options_.catalog.has_value() || options_.uri.has_value();
  return catalog::parse_table_name(text, configuration(), catalog_given);
}

catalog::PathTableOptions Session::path_options() const {
  catalog::PathTableOptions made;
  made.location_rules = options_.map_location;
  for (const std::string& property : options_.properties) {
    constexpr std::string_view kBound = "metadata.max-bytes=";
    if (property.starts_with(kBound)) made.metadata_max_bytes = parse_size(property.substr(kBound.size()), kBound);
  }
  return made;
}

catalog::LoadedTable Session::load_table(std::string_view text) {
  const catalog::TableName name = table_name(text);
  catalog::LoadedTable table;
  if (const auto* path = std::get_if<catalog::TablePath>(&name)) {
    table = catalog::open_table_by_path(path->path, files(), context().memory_pool(), path_options());
  } else {
    const auto& in_catalog = std::get<catalog::TableInCatalog>(name);
    table = open_catalog(in_catalog.catalog).load_table(in_catalog.identifier);
  }
  for (const std::string& line : table.notices) notice(line);
  detail("metadata " + table.metadata_location);
  return table;
}

}  // namespace frazil::cli
