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
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/metadata.h"
#include "frazil/parquet/page_walk.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/schema.h"
#include "frazil/table/table.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::vector<std::string> inputs;
  ScanArguments scan;
  std::optional<int64_t> rounds;
  std::optional<int64_t> warm_up;
  bool hash = false;
  bool floor = false;
};

struct Round {
  Figures figures;
  std::optional<ContentHash> content;
};

class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What is done with each batch: hashed, or its buffers touched once, as a consumer would.
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
    parquet::ReadOptions options;
    for (uint32_t node : selected_columns(metadata->schema(), selection)) {
      options.columns.push_back(parquet::request_column(metadata->schema(), node));
    }
    if (arguments.scan.batch_rows) options.batch_rows = *arguments.scan.batch_rows;
    parquet::BatchReader reader(input, metadata, std::move(options), pool);
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

// ---- Rounds and how they are printed ----

void print_json_line(Session& session, const Round& round) {
  json::Object line = to_json(round.figures);
  if (round.content) line.emplace_back("content_hash", json::Value(round.content->to_string()));
  session.print_line(json::write(json::Value(std::move(line))));
  session.out().flush();
}

// Each round; of several the median and range of each column.
void print_table(Session& session, const std::vector<Round>& rounds) {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  struct Column {
    const char* name;
    std::function<double(const Figures&)> value;
    std::function<std::string(double)> text;
  };
  const auto tenths = [](double value) { return std::isnan(value) ? "-" : message("{:.1f}", value); };
  const auto bytes = [](double value) { return human_bytes(static_cast<uint64_t>(value)); };
  const std::vector<Column> columns = {
      {"seconds", [](const Figures& f) { return f.seconds; }, [](double value) { return message("{:.3f}", value); }},
      {"M rows/s", [](const Figures& f) { return static_cast<double>(f.rows) / f.seconds / 1e6; },
       [](double value) { return message("{:.3g}", value); }},
      {"MB/s", [](const Figures& f) { return static_cast<double>(f.bytes_read) / f.seconds / 1e6; }, tenths},
      {"first batch ms", [](const Figures& f) { return f.seconds_to_first_batch.value_or(kUnknown) * 1e3; }, tenths},
      {"pool peak", [](const Figures& f) { return static_cast<double>(f.pool_peak_bytes); }, bytes},
      {"RSS peak", [](const Figures& f) { return static_cast<double>(f.rss_peak_bytes); }, bytes},
  };
  std::vector<ListingColumn> heads = {{"round"}};
  for (const Column& column : columns) heads.push_back({column.name, true});
  Listing listing = session.listing(std::move(heads));
  for (size_t r = 0; r < rounds.size(); ++r) {
    std::vector<Cell> cells = {std::to_string(r + 1)};
    for (const Column& column : columns) cells.emplace_back(column.text(column.value(rounds[r].figures)));
    listing.row(std::move(cells));
  }
  if (rounds.size() > 1) {
    std::vector<Cell> lowest = {"lowest"};
    std::vector<Cell> median = {"median"};
    std::vector<Cell> highest = {"highest"};
    for (const Column& column : columns) {
      std::vector<double> values;
      for (const Round& round : rounds) values.push_back(column.value(round.figures));
      std::sort(values.begin(), values.end());
      const size_t half = values.size() / 2;
      lowest.emplace_back(column.text(values.front()));
      median.emplace_back(column.text(values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2));
      highest.emplace_back(column.text(values.back()));
    }
    for (auto* cells : {&lowest, &median, &highest}) listing.row(std::move(*cells));
  }
  listing.finish();

  const Figures& last = rounds.back().figures;
  session.print_line(message("{} rows, {} files, {}, {} threads, {} order", human_count(last.rows),
                             human_count(static_cast<int64_t>(last.files)), human_bytes(last.bytes_read),
                             static_cast<int64_t>(last.threads), order_name(last.order)));
  if (rounds.back().content) session.print_line("content hash " + rounds.back().content->to_string());
}

bool names_parquet_files(const std::vector<std::string>& inputs) {
  return inputs.size() > 1 || inputs[0].ends_with(".parquet") || inputs[0].find_first_of("*?[") != std::string::npos;
}

// The rounds are of the same rows.
void check_same_rows(const Round& first, const Round& other) {
  if (first.figures.rows != other.figures.rows || (first.content && first.content->sum() != other.content->sum())) {
    throw_error(ErrorKind::kInternal, "two rounds gave different rows: {} and {}, content hashes {} and {}",
                first.figures.rows, other.figures.rows, first.content ? first.content->to_string() : "none",
                other.content ? other.content->to_string() : "none");
  }
}

void bench_read(Session& session, const Arguments& arguments) {
  const int64_t rounds = arguments.rounds.value_or(3);
  const int64_t warm_up = arguments.warm_up.value_or(0);
  if (rounds < 1 || warm_up < 0) throw_error(ErrorKind::kInvalidArgument, "--rounds must be at least 1");
  const bool plain = names_parquet_files(arguments.inputs);
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
  const auto run = [&] {
    session.context().memory_pool().trim();
    reset_rss_peak();
    Round round = arguments.floor ? walk_pages(session, arguments, loaded ? &*loaded : nullptr, paths)
                  : plain         ? read_files(session, arguments, paths)
                                  : read_table(session, arguments, *loaded);
    if (session.stop().stop_requested()) throw CancelledError();
    round.figures.rss_peak_bytes = rss_peak_bytes();
    if (!arguments.floor && !round.figures.seconds_to_first_batch) {
      round.figures.seconds_to_first_batch = round.figures.seconds;
    }
    return round;
  };
  for (int64_t r = 0; r < warm_up; ++r) run();
  std::vector<Round> done;
  for (int64_t r = 0; r < rounds; ++r) {
    done.push_back(run());
    check_same_rows(done.front(), done.back());
    if (session.is_json()) print_json_line(session, done.back());
  }
  if (!session.is_json()) print_table(session, done);
}

}  // namespace

void add_bench_read(Command& bench) {
  auto arguments = std::make_shared<Arguments>();
  Command command = bench.add("read", "Time reading a table, or Parquet files, as Arrow batches");
  command.positionals("TABLE|FILES", arguments->inputs, "a table as everywhere, or .parquet files and patterns");
  add_scan_arguments(command, arguments->scan);
  command.option("--rounds", arguments->rounds, "N", "how often (3)")
      .option("--warm-up", arguments->warm_up, "N", "rounds before that, not reported (0)")
      .flag("--hash", arguments->hash, "hash the rows: equal for equal rows in any order; takes time")
      .flag("--floor", arguments->floor, "read and decompress the pages only: what no reader can be faster than")
      .exclude("--hash", "--floor")
      .example("frazil bench read web.hits --threads 1 --memory 16MiB")
      .example("frazil bench read 'data/*.parquet' --rounds 7 --output json")
      .action([arguments](Session& session) { bench_read(session, *arguments); });
}

}  // namespace frazil::cli
