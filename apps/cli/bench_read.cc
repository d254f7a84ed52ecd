// How fast, and in how much memory, is a table or a set of Parquet files read as Arrow batches?
//
// Each round plans anew, with an empty cache of blocks; what the operating system caches stays.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bench.h"
#include "bench_rounds.h"
#include "figures.h"
#include "file_arguments.h"
#include "parallel.h"
#include "row_writers.h"
#include "scan_arguments.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/columnar/content_hash.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/io/file_systems.h"
#include "frazil/json/value.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_walk.h"
#include "frazil/predicate/parse.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/schema.h"
#include "frazil/table/table.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::vector<std::string> inputs;
  ScanArguments scan;
  BenchRounds rounds;
  bool hash = false;
  bool floor = false;
  bool count = false;
};

using Round = BenchRound;

class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What is done with each batch: hashed, or each page of its buffers touched once.
class Consumer {
 public:
  Consumer(Session& session, bool hash)
      : toucher_(make_row_writer(nullptr, session.out(), {.format = RowFormat::kNone})) {
    if (hash) content_.emplace();
  }
  void take(const RecordBatch& batch) {
    if (content_) {
      content_->add(batch);
    } else {
      toucher_->write(batch);
    }
  }
  const std::optional<ContentHash>& content() const { return content_; }

 private:
  std::unique_ptr<RowWriter> toucher_;
  std::optional<ContentHash> content_;
};

Round read_table(Session& session, const Arguments& arguments, const catalog::LoadedTable& loaded) {
  const Table table(session.context(), loaded);
  const ScanBuilder builder = build_scan(table, arguments.scan);
  Consumer consumer(session, arguments.hash);
  Round round;
  const Timer timer;
  const auto stream = builder.execute();
  {
    const std::stop_callback close_on_interrupt(session.stop(), [&] { stream->close(); });
    while (auto batch = stream->next()) {
      if (!round.figures.seconds_to_first_batch) round.figures.seconds_to_first_batch = timer.seconds();
      consumer.take(*batch);
    }
  }
  round.figures.seconds = timer.seconds();
  round.figures.set_stream(*stream, builder.options().order, session.context().thread_count());
  round.figures.bytes_read = table.io_counters().bytes_read.load();
  round.content = consumer.content();
  return round;
}

Round count_table(Session& session, const Arguments& arguments, const catalog::LoadedTable& loaded) {
  const Table table(session.context(), loaded);
  const ScanBuilder builder = build_scan(table, arguments.scan);
  Round round;
  const Timer timer;
  round.figures.rows = builder.count();
  round.figures.seconds = timer.seconds();
  round.figures.bytes_read = table.io_counters().bytes_read.load();
  round.figures.files = table.io_counters().files_opened.load();
  round.figures.set_pool(session.context().memory_pool().stats());
  round.figures.threads = session.context().thread_count();
  round.figures.order = builder.options().order;
  return round;
}

// ---- Parquet files without a table ----

size_t file_threads(Session& session, const Arguments& arguments) {
  return scan_order_of(arguments.scan) == ScanOrder::kSequential ? 1 : session.context().thread_count();
}

// Which top-level columns of a file are asked for: those of the table, or of these names; without either, all.
struct Selection {
  std::vector<std::string> names;
  spec::SchemaPtr table_columns;

  bool has(const parquet::SchemaNode& node) const {
    if (table_columns && node.field_id) return table_columns->find(*node.field_id) != nullptr;
    if (table_columns) return table_columns->find(node.name) != nullptr;
    return names.empty() || std::find(names.begin(), names.end(), node.name) != names.end();
  }
};

// The indices of the nodes.
std::vector<uint32_t> selected_columns(const parquet::FileSchema& schema, const Selection& selection) {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 1; node < schema.nodes().size(); node += schema.node(node).subtree_size) {
    if (selection.has(schema.node(node))) nodes.push_back(node);
  }
  for (const std::string& name : selection.names) {
    const auto has_name = [&](uint32_t node) { return schema.node(node).name == name; };
    if (std::none_of(nodes.begin(), nodes.end(), has_name)) {
      throw_error(ErrorKind::kNotFound, "column '{}' does not exist", name);
    }
  }
  return nodes;
}

// The figures of one file, filled by the thread that reads it.
struct FilePart {
  int64_t rows = 0;
  int64_t batches = 0;
  std::optional<double> seconds_to_first_batch;
  std::optional<ContentHash> content;
};

Round sum(const std::vector<FilePart>& parts) {
  Round round;
  Figures& figures = round.figures;
  figures.files = parts.size();
  for (const FilePart& part : parts) {
    figures.rows += part.rows;
    figures.batches = figures.batches.value_or(0) + part.batches;
    if (part.seconds_to_first_batch) {
      figures.seconds_to_first_batch =
          std::min(figures.seconds_to_first_batch.value_or(1e9), *part.seconds_to_first_batch);
    }
    if (part.content) {
      if (!round.content) round.content.emplace();
      round.content->add(*part.content);
    }
  }
  return round;
}

Round read_files(Session& session, const Arguments& arguments, const std::vector<std::string>& paths) {
  CountingFileSystem files(session.files());
  MemoryPool pool({.parent = &session.context().memory_pool()});
  const size_t threads = file_threads(session, arguments);
  const Selection selection{.names = split_columns(arguments.scan.select), .table_columns = nullptr};
  std::vector<FilePart> parts(paths.size());
  const Timer timer;
  for_each_index(session, threads, paths.size(), [&](size_t file) {
    FilePart& part = parts[file];
    const auto input = files.open_input(paths[file]);
    const auto metadata = parquet::read_metadata(*input, pool);
    parquet::FileReaderOptions options;
    for (uint32_t node : selected_columns(metadata->schema(), selection)) {
      options.columns.push_back(parquet::request_column(metadata->schema(), node));
    }
    if (arguments.scan.where) options.predicate = predicate::parse(*arguments.scan.where);
    if (arguments.scan.batch_rows) options.batch_rows = *arguments.scan.batch_rows;
    options.metadata = metadata;
    parquet::FileReader reader(input, std::move(options), pool);
    Consumer consumer(session, arguments.hash);
    while (!session.stop().stop_requested()) {
      const auto batch = reader.next();
      if (!batch) break;
      if (!part.seconds_to_first_batch) part.seconds_to_first_batch = timer.seconds();
      consumer.take(*batch);
      part.rows += batch->row_count();
      ++part.batches;
    }
    part.content = consumer.content();
  });
  Round round = sum(parts);
  round.figures.seconds = timer.seconds();
  round.figures.bytes_read = files.counters().bytes_read.load();
  round.figures.set_pool(pool.stats());
  round.figures.threads = threads;
  round.figures.order = threads == 1 ? ScanOrder::kSequential : ScanOrder::kArrival;
  return round;
}

// ---- The floor: pages read and decompressed, nothing decoded ----

struct FloorFiles {
  FileSystem* files = nullptr;
  std::vector<std::string> paths;
  Selection selection;
};

FloorFiles plan_floor(Session& session, const Table& table, const Arguments& arguments, MemoryPool& pool) {
  const scan::Plan plan =
      scan::plan_scan(session.context(), {.metadata = table.metadata_ptr(), .files = &table.files()},
                      build_scan(table, arguments.scan).options(), pool);
  FloorFiles floor{.files = &table.files(), .paths = {}, .selection = {.names = {}, .table_columns = plan.schema}};
  for (const scan::Task& task : plan.tasks) {
    if (task.format != "parquet") {
      throw_error(ErrorKind::kUnsupported, "--floor is for Parquet, and {} is {}", task.path, task.format);
    }
    floor.paths.push_back(task.path);
  }
  return floor;
}

void walk_file(Session& session, const FloorFiles& floor, size_t file, MemoryPool& pool, FilePart& part) {
  const auto input = floor.files->open_input(floor.paths[file]);
  const auto metadata = parquet::read_metadata(*input, pool);
  const parquet::FileSchema& schema = metadata->schema();
  const std::vector<uint32_t> columns = selected_columns(schema, floor.selection);
  parquet::PageWalk walk(*input, *metadata, pool);
  for (size_t group = 0; group < metadata->row_groups().size(); ++group) {
    part.rows += metadata->row_groups()[group].row_count;
    for (uint32_t node : columns) {
      const uint32_t first = schema.node(node).first_leaf;
      for (uint32_t leaf = first; leaf < first + schema.node(node).leaf_count; ++leaf) {
        if (session.stop().stop_requested()) return;
        walk.walk(group, leaf);
      }
    }
  }
}

// Of the table if there is one, else of the files.
Round walk_pages(Session& session, const Arguments& arguments, const catalog::LoadedTable* loaded,
                 const std::vector<std::string>& paths) {
  std::optional<Table> table;
  if (loaded != nullptr) table.emplace(session.context(), *loaded);
  CountingFileSystem plain_files(session.files());
  MemoryPool pool({.parent = &session.context().memory_pool()});
  const size_t threads = file_threads(session, arguments);
  const Timer timer;
  const FloorFiles floor =
      table ? plan_floor(session, *table, arguments, pool)
            : FloorFiles{.files = &plain_files,
                         .paths = paths,
                         .selection = {.names = split_columns(arguments.scan.select), .table_columns = nullptr}};
  std::vector<FilePart> parts(floor.paths.size());
  for_each_index(session, threads, parts.size(),
                 [&](size_t file) { walk_file(session, floor, file, pool, parts[file]); });
  Round round = sum(parts);
  round.figures.seconds = timer.seconds();
  round.figures.batches.reset();
  round.figures.bytes_read = (table ? table->io_counters() : plain_files.counters()).bytes_read.load();
  round.figures.set_pool(pool.stats());
  round.figures.threads = threads;
  round.figures.order = threads == 1 ? ScanOrder::kSequential : ScanOrder::kArrival;
  return round;
}

bool names_parquet_files(const std::vector<std::string>& inputs) {
  return inputs.size() > 1 || inputs[0].ends_with(".parquet") || inputs[0].find_first_of("*?[") != std::string::npos;
}

void bench_read(Session& session, const Arguments& arguments) {
  const bool plain = names_parquet_files(arguments.inputs);
  if (plain && arguments.count) throw_error(ErrorKind::kInvalidArgument, "--count is for tables");
  if (arguments.floor && arguments.scan.where) {
    throw_error(ErrorKind::kInvalidArgument, "--floor reads every page: it takes no --where");
  }
  if (plain && scan_order_of(arguments.scan) == ScanOrder::kTask && arguments.scan.order) {
    Error error(ErrorKind::kInvalidArgument, "files without a table are not read in task order");
    throw error.set_hint("--order arrival, or --order sequential for one thread");
  }
  std::vector<std::string> paths;
  std::optional<catalog::LoadedTable> loaded;
  if (plain) {
    paths = expand_patterns(arguments.inputs);
  } else {
    loaded = session.load_table(arguments.inputs[0]);
  }
  run_rounds(session, arguments.rounds, [&] {
    Round round = arguments.floor   ? walk_pages(session, arguments, loaded ? &*loaded : nullptr, paths)
                  : plain           ? read_files(session, arguments, paths)
                  : arguments.count ? count_table(session, arguments, *loaded)
                                    : read_table(session, arguments, *loaded);
    if (!arguments.floor && !round.figures.seconds_to_first_batch) {
      round.figures.seconds_to_first_batch = round.figures.seconds;
    }
    return round;
  });
}

}  // namespace

void add_bench_read(Command& bench) {
  auto arguments = std::make_shared<Arguments>();
  Command command = bench.add("read", "Time reading a table, or Parquet files, as Arrow batches");
  command.positionals("TABLE|FILES", arguments->inputs, "a table as everywhere, or .parquet files and patterns");
  add_scan_arguments(command, arguments->scan);
  add_rounds(command, arguments->rounds);
  command.flag("--hash", arguments->hash, "hash the rows: equal for equal rows in any order; takes time")
      .flag("--floor", arguments->floor, "read and decompress the pages only: what no reader can be faster than")
      .flag("--count", arguments->count, "count the rows instead of reading them")
      .exclude("--hash", "--floor")
      .exclude("--hash", "--count")
      .exclude("--floor", "--count")
      .example("frazil bench read web.hits --threads 1 --memory 16MiB")
      .example("frazil bench read 'data/*.parquet' --rounds 7 --output json")
      .action([arguments](Session& session) { bench_read(session, *arguments); });
}

}  // namespace frazil::cli
