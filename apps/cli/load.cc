#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "discarding_file_system.h"
#include "file_arguments.h"
#include "input_rows.h"
#include "progress.h"
#include "session.h"
#include "table_definition.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/commit/append.h"
#include "frazil/json/value.h"
#include "frazil/manifest/data_file.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/data_writer.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::string table;
  InputArguments input;
  bool create = false;
  TableDefinition definition;
  bool dry_run = false;
  bool sort = false;
  std::optional<std::string> branch;
  std::optional<std::string> durability;
};

catalog::Durability parse_durability(const Arguments& arguments) {
  return arguments.durability == "full" ? catalog::Durability::kFull : catalog::Durability::kProcess;
}

bool is_given(const TableDefinition& definition) {
  return definition.partition_by || definition.sort_by || definition.location || definition.format_version ||
         !definition.properties.empty();
}

// Nothing if it does not exist and is to be created.
std::optional<catalog::LoadedTable> find_table(Session& session, const Arguments& arguments) {
  if (!arguments.create && is_given(arguments.definition)) {
    throw Error(ErrorKind::kInvalidArgument,
                "--partition-by, --sort-by, --property, --location and --format-version describe a new table")
        .set_hint("with --create the table is made if it does not exist");
  }
  try {
    catalog::LoadedTable found = session.load_table(arguments.table);
    if (is_given(arguments.definition)) {
      session.notice(found.name + " exists: what the options say of a new table plays no part");
    }
    return found;
  } catch (Error& error) {
    // An error with a context is of a table that exists, whose files are missing.
    if (error.kind() != ErrorKind::kNotFound || !error.context().empty()) throw;
    if (arguments.create) return std::nullopt;
    error.set_hint(error.hint() + (error.hint().empty() ? "" : "; ") + "--create makes a table from the first FILE");
    throw;
  }
}

struct Loaded {
  std::string table;
  int64_t rows = 0;
  size_t input_files = 0;
  uint64_t bytes_read = 0;
  size_t files = 0;
  uint64_t bytes_written = 0;
  std::optional<int64_t> snapshot_id;
  double seconds = 0;
};

void print(Session& session, const Arguments& arguments, const Loaded& loaded) {
  if (session.is_json()) {
    session.print_json(json::Value(json::Object{
        {"table", json::Value(loaded.table)},
        {"dry_run", json::Value(arguments.dry_run)},
        {"snapshot_id", loaded.snapshot_id ? json::Value(*loaded.snapshot_id) : json::Value()},
        {"rows", json::Value(loaded.rows)},
        {"input_files", json::Value(static_cast<int64_t>(loaded.input_files))},
        {"bytes_read", json::Value(static_cast<int64_t>(loaded.bytes_read))},
        {"files", json::Value(static_cast<int64_t>(loaded.files))},
        {"bytes_written", json::Value(static_cast<int64_t>(loaded.bytes_written))},
        {"seconds", json::Value(loaded.seconds)},
    }));
    return;
  }
  const auto rows_a_second = static_cast<int64_t>(static_cast<double>(loaded.rows) / std::max(loaded.seconds, 1e-6));
  session.print_line(printable(message(
      "{} {} of {} into {}: {}, {}, {:.2f} s, {} rows/s{}", arguments.dry_run ? "would load" : "loaded",
      human_count(loaded.rows, "row"), human_bytes(loaded.bytes_read), loaded.table,
      human_count(static_cast<int64_t>(loaded.files), "file"), human_bytes(loaded.bytes_written), loaded.seconds,
      human_count(rows_a_second), loaded.snapshot_id ? message(", snapshot {}", *loaded.snapshot_id) : "")));
}

void load(Session& session, const Arguments& arguments) {
  const std::vector<std::string> paths = expand_patterns(arguments.input.files);
  // The first file says what columns a new table has, so it is opened before the table; an existing table says what types
  // columns of text have, so then it is the other way round.
  std::optional<catalog::LoadedTable> table = find_table(session, arguments);
  const spec::SchemaPtr schema = table ? table->metadata->current_schema() : nullptr;
  Input input = open_input(session, paths.front(), arguments.input, schema);
  // One commit makes the table and its rows, so that a file that turns out to be bad leaves no empty table behind.
  const bool is_new = !table;
  if (is_new) {
    table = stage_table(session, arguments.table,
                        make_new_table(arguments.definition, spec::schema_from_arrow(*input.rows->schema())));
  }

  Progress progress((arguments.dry_run ? "checking for " : "loading ") + table->name,
                    {.enabled = !session.options().quiet});
  const auto start = std::chrono::steady_clock::now();
  Loaded loaded;
  loaded.table = table->name;
  loaded.input_files = paths.size();
  write::DataWriter writer(session.context(), table->metadata,
                           arguments.dry_run ? std::make_shared<DiscardingFileSystem>() : table->files,
                           {.sort = arguments.sort, .sync = parse_durability(arguments) == catalog::Durability::kFull});
  for (size_t i = 0;; input = open_input(session, paths[i], arguments.input, schema)) {
    try {
      while (const auto batch = input.rows->next()) {
        if (session.stop().stop_requested()) throw CancelledError();
        writer.write(*batch);
        progress.add(batch->row_count(), 0);
        progress.set_bytes(static_cast<int64_t>(loaded.bytes_read + input.bytes_read()));
      }
    } catch (Error& error) {
      error.add_context("loading " + input.name);
      throw;
    }
    loaded.bytes_read += input.bytes_read();
    if (++i == paths.size()) break;
  }
  loaded.rows = writer.row_count();
  std::vector<manifest::DataFile> files = writer.finish();
  loaded.files = files.size();
  for (const manifest::DataFile& file : files) loaded.bytes_written += static_cast<uint64_t>(file.file_size_bytes);
  if (!arguments.dry_run) {
    const catalog::LoadedTable after =
        commit::append(session.context(), *table, std::move(files),
                       {.branch = arguments.branch.value_or(std::string(spec::kMainBranch)),
                        .summary = {{"engine-name", "frazil"}, {"engine-version", FRAZIL_VERSION}},
                        .durability = parse_durability(arguments),
                        .stop = session.stop()});
    const spec::SnapshotRef* ref = after.metadata->find_ref(arguments.branch.value_or(std::string(spec::kMainBranch)));
    if (ref != nullptr) loaded.snapshot_id = ref->snapshot_id;
  }
  if (is_new && !arguments.dry_run) session.notice("created " + table->name + " at " + table->metadata->location);
  loaded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.finish();
  print(session, arguments, loaded);
}

}  // namespace

void add_load(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  auto command = root.add("load", "Append rows of files to a table, in one commit");
  command.positional("TABLE", arguments->table, "namespace.table, or a path");
  add_input_files(command, arguments->input);
  command
      .flag("--create", arguments->create, "create the table if it does not exist, with the columns of the first FILE")
      .flag("--dry-run", arguments->dry_run, "read, check and encode everything, write nothing")
      .flag("--sort", arguments->sort, "sort the rows of each file by the table's order")
      .option("--branch", arguments->branch, "NAME", "of the table, instead of main")
      .choice("--durability", arguments->durability, {"process", "full"},
              "full: a power cut loses nothing either; else only a killed process loses nothing");
  add_input_format(command, arguments->input);
  add_table_definition(command, arguments->definition);
  command.example("frazil load web.hits 'hits-*.parquet'")
      .example("frazil load web.hits hits.csv.gz --create --null NA --partition-by \"day(ts)\"")
      .example("zcat hits.json.gz | frazil load web.hits - --format json")
      .action([arguments](Session& session) { load(session, *arguments); });
}

}  // namespace frazil::cli
