// One run of the program: its global options and what verbs need, made when first asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output.h"

#include "frazil/catalog/catalog.h"
#include "frazil/catalog/configuration.h"
#include "frazil/catalog/identifier.h"
#include "frazil/catalog/path_table.h"

namespace frazil {
class Context;
class FileSystems;
}  // namespace frazil

namespace frazil::json {
class Value;
}

namespace frazil::cli {

class Command;

// As given on the command line; Session resolves them against the configuration.
struct GlobalOptions {
  std::optional<std::string> catalog;
  std::optional<std::string> uri;
  std::optional<std::string> warehouse;
  std::vector<std::string> properties;  // K=V
  std::optional<std::string> config;
  std::vector<std::string> map_location;  // OLD=NEW
  std::optional<std::string> memory;
  std::optional<std::string> threads;
  std::optional<std::string> output;
  std::optional<std::string> color;
  bool quiet = false;
  bool verbose = false;
};

void add_global_options(Command& root, GlobalOptions& options);

// "64MiB", "1.5 GB", "1000": bytes. Throws Error(kInvalidArgument) that names `what`.
uint64_t parse_size(std::string_view text, std::string_view what);

// K=V each, in their order. Throws Error(kInvalidArgument).
std::vector<std::pair<std::string, std::string>> split_properties(const std::vector<std::string>& properties);

class Session {
 public:
  // Borrows both, and standard output.
  Session(const GlobalOptions& options, std::stop_token stop);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const GlobalOptions& options() const { return options_; }
  const catalog::Configuration& configuration();
  // With the memory budget and threads asked for.
  Context& context();
  FileSystems& files();
  // Requested on SIGINT and SIGTERM.
  const std::stop_token& stop() const { return stop_; }

  OutputStream& out() { return out_; }
  OutputFormat output_format();
  bool is_json() { return output_format() == OutputFormat::kJson; }
  bool color_out();
  Listing listing(std::vector<ListingColumn> columns);
  void print_line(std::string_view text);
  // The value and a newline; indented if standard output is a terminal.
  void print_json(const json::Value& value);
  // A line on stderr, "frazil: ...", unless --quiet.
  void notice(std::string_view text);
  // Only with --verbose.
  void detail(std::string_view text);

  // The catalog of that name; empty: --catalog, else the default one.
  catalog::Catalog& open_catalog(std::string_view name = {});
  // TABLE as on the command line.
  catalog::TableName table_name(std::string_view text);
  catalog::PathTableOptions path_options() const;
  // TABLE as on the command line; the table's notices are printed.
  catalog::LoadedTable load_table(std::string_view text);

 private:
  std::optional<std::string> setting(const std::optional<std::string>& flag, std::string_view key);

  const GlobalOptions& options_;
  std::stop_token stop_;
  OutputStream out_;
  std::optional<catalog::Configuration> configuration_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<FileSystems> files_;
  std::vector<std::pair<std::string, std::unique_ptr<catalog::Catalog>>> catalogs_;
  std::optional<OutputFormat> format_;
};

}  // namespace frazil::cli
