// The program: parses the command line, runs one verb, reports how it ended.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <unistd.h>

#include "arguments.h"
#include "errors.h"
#include "interrupt.h"
#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

// Before the command line is understood, for the error that says that it is not.
std::string_view word_after(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == flag && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(flag) && word.size() > flag.size() && word[flag.size()] == '=') {
      return word.substr(flag.size() + 1);
    }
  }
  return {};
}

int run(int argc, char** argv) {
  const char* configured = std::getenv("FRAZIL_OUTPUT");
  std::string_view output = word_after(argc, argv, "--output");
  if (output.empty() && configured != nullptr) output = configured;
  OutputFormat error_format = output == "json" ? OutputFormat::kJson : OutputFormat::kText;
  std::string_view color = word_after(argc, argv, "--color");
  bool error_color = use_color(color == "always"  ? Color::kAlways
                               : color == "never" ? Color::kNever
                                                  : Color::kAuto,
                               STDERR_FILENO);

  try {
    InterruptGuard interrupt;
    GlobalOptions options;
    CommandLine command_line("Iceberg tables, Parquet and Arrow files, from one program", FRAZIL_VERSION);
    Command& root = command_line.root();
    add_global_options(root, options);
    add_bench(root);
    add_create(root);
    add_describe(root);
    add_drop(root);
    add_files(root);
    add_history(root);
    add_inspect(root);
    add_ipc(root);
    add_list(root);
    add_load(root);
    add_location(root);
    add_manifests(root);
    add_namespace(root);
    add_parquet(root);
    add_partitions(root);
    add_properties(root);
    add_refs(root);
    add_rename(root);
    add_scan(root);
    add_schema(root);
    add_snapshots(root);
    add_spec(root);
    add_uuid(root);
    add_version(root);
    add_completion(root, command_line);
    root.example("frazil describe tests/corpora/iceberg-tables/duckdb/partition_bool")
        .example("frazil --uri sqlite:///lake.db list web")
        .example("frazil scan web.hits --select host,bytes --limit 20");

    CommandLine::Parsed parsed = command_line.parse(argc, argv);
    Session session(options, interrupt.token());
    if (!parsed.text.empty()) session.out().write(parsed.text);
    if (parsed.action) {
      error_format = session.output_format();
      parsed.action(session);
    }
    session.out().flush();
    return kExitDone;
  } catch (...) {
    return report_current_exception(error_format, error_color);
  }
}

}  // namespace
}  // namespace frazil::cli

int main(int argc, char** argv) {
  return frazil::cli::run(argc, argv);
}
