#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "progress.h"
#include "row_writers.h"
#include "session.h"
#include "snapshot_arguments.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"
#include "frazil/table/table.h"

namespace frazil::cli {
namespace {

using Seconds = std::chrono::duration<double>;

struct ScanArguments {
  std::string table;
  std::vector<std::string> select;
  std::optional<int64_t> limit;
  SnapshotArguments state;
  std::optional<std::string> order;
  std::optional<int64_t> batch_rows;
  std::optional<std::string> format;
  bool stats = false;
};

// "a,b.c" -> {"a", "b.c"}
std::vector<std::string> split_columns(const std::vector<std::string>& lists) {
  std::vector<std::string> columns;
  for (std::string_view list : lists) {
    while (true) {
      const size_t comma = list.find(',');
      if (const auto name = list.substr(0, comma); !name.empty()) columns.emplace_back(name);
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  return columns;
}

ScanOrder parse_order(const std::optional<std::string>& text) {
  if (text == "arrival") return ScanOrder::kArrival;
  if (text == "sequential") return ScanOrder::kSequential;
  return ScanOrder::kTask;
}

std::string_view order_name(ScanOrder order) {
  switch (order) {
    case ScanOrder::kTask:
      return "task";
    case ScanOrder::kArrival:
      return "arrival";
    case ScanOrder::kSequential:
      return "sequential";
  }
  return "";
}

// The figures of --stats (cli.md), one line of JSON on stderr.
void print_stats(const scan::Stream& stream, const Table& table, const ScanOrder order, size_t threads, double seconds,
                 double seconds_to_first_batch, uint64_t bytes_written) {
  const auto stats = stream.stats();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  json::Object figures;
  const auto add = [&](std::string_view name, auto value) {
    figures.emplace_back(name, json::Value(std::move(value)));
  };
  add("rows", stats.rows);
  add("batches", stats.batches);
  add("bytes_read", static_cast<int64_t>(table.io_counters().bytes_read.load()));
  add("bytes_written", static_cast<int64_t>(bytes_written));
  add("files", static_cast<int64_t>(stats.files));
  add("seconds", seconds);
  add("seconds_to_first_batch", seconds_to_first_batch);
  add("pool_peak_bytes", static_cast<int64_t>(stats.pool.held_peak_bytes));
  add("rss_peak_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024);
  add("allocations", static_cast<int64_t>(stats.pool.allocations));
  add("threads", static_cast<int64_t>(threads));
  add("order", std::string(order_name(order)));
  const std::string line = json::write(json::Value(std::move(figures))) + "\n";
  OutputStream err(STDERR_FILENO);
  err.write(line);
  err.flush();
}

int64_t total_rows(const spec::TableMetadata& metadata, const scan::Options& options) {
  const auto* snapshot = spec::select_snapshot(metadata, options.snapshot).snapshot;
  const auto text = snapshot != nullptr ? snapshot->summary_value("total-records") : std::nullopt;
  int64_t rows = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), rows);
  return rows;
}

void scan_table(Session& session, const ScanArguments& arguments) {
  const RowFormat format = parse_row_format(arguments.format, session.out(), session.output_format());
  const Table table(session.context(), session.load_table(arguments.table));
  const ScanOrder order = parse_order(arguments.order);
  auto builder = table.scan();
  builder.select(split_columns(arguments.select)).order(order);
  if (arguments.limit) builder.limit(*arguments.limit);
  builder.snapshot(select_snapshot_of(arguments.state));
  if (arguments.batch_rows) builder.batch_rows(*arguments.batch_rows);

  const int64_t expected_rows = total_rows(table.metadata(), builder.options());
  Progress progress(
      "scanning " + table.name(),
      {.enabled = !session.options().quiet && (format == RowFormat::kNone || !session.out().is_terminal())});
  progress.set_total_rows(arguments.limit ? std::min(*arguments.limit, expected_rows) : expected_rows);

  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return Seconds(std::chrono::steady_clock::now() - start).count(); };
  auto stream = builder.execute();
  const std::stop_callback close_on_interrupt(session.stop(), [&] { stream->close(); });
  const auto writer = make_row_writer(stream->schema(), session.out(),
                                      {.format = format, .limit = arguments.limit, .color = session.color_out()});
  double seconds_to_first_batch = 0;
  while (auto batch = stream->next()) {
    if (seconds_to_first_batch == 0) seconds_to_first_batch = elapsed();
    writer->write(*batch);
    progress.add(batch->row_count(), 0);
    progress.set_bytes(static_cast<int64_t>(table.io_counters().bytes_read.load()));
    if (writer->rows_wanted() <= 0) break;
  }
  const double seconds = elapsed();
  stream->close();
  if (session.stop().stop_requested()) throw CancelledError();
  progress.finish();
  writer->finish(expected_rows > 0 ? std::optional(expected_rows) : std::nullopt);
  session.out().flush();
  if (arguments.stats) {
    print_stats(*stream, table, order, order == ScanOrder::kSequential ? 1 : session.context().thread_count(), seconds,
                seconds_to_first_batch == 0 ? seconds : seconds_to_first_batch, session.out().bytes_written());
  }
}

}  // namespace

void add_scan(Command& root) {
  auto arguments = std::make_shared<ScanArguments>();
  auto command = root.add("scan", "Print the rows of a table");
  command.positional("TABLE", arguments->table, "namespace.table, catalog.namespace.table, or a path")
      .option("--select", arguments->select, "COLUMNS", "columns and their order: a,b.c (repeatable)")
      .option("-n,--limit", arguments->limit, "N", "at most N rows");
  add_snapshot_arguments(command, arguments->state);
  command
      .choice("--order", arguments->order, {"task", "arrival", "sequential"},
              "order of the rows: as planned, as they come, one file at a time")
      .option("--batch-rows", arguments->batch_rows, "N", "rows of a batch, at most (65536)")
      .choice("--format", arguments->format, {"table", "csv", "json", "none", "arrow", "parquet"},
              "table on a terminal, else csv")
      .flag("--stats", arguments->stats, "print figures as a line of JSON on stderr")
      .example("frazil scan web.hits --select host,bytes --limit 20")
      .example("frazil scan web.hits --as-of 2026-11-01 --format json")
      .example("frazil scan ./lake/web/hits --memory 16MiB --format none --stats")
      .action([arguments](Session& session) { scan_table(session, *arguments); });
}

}  // namespace frazil::cli
