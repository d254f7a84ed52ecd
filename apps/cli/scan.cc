#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <unistd.h>

#include "figures.h"
#include "progress.h"
#include "row_writers.h"
#include "scan_arguments.h"
#include "session.h"
#include "verbs.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"
#include "frazil/table/table.h"

namespace frazil::cli {
namespace {

using Seconds = std::chrono::duration<double>;

struct Arguments {
  std::string table;
  ScanArguments scan;
  std::optional<int64_t> limit;
  std::optional<std::string> format;
  bool stats = false;
  bool count = false;
};

int64_t total_rows(const spec::TableMetadata& metadata, const scan::Options& options) {
  const auto* snapshot = spec::select_snapshot(metadata, options.snapshot).snapshot;
  const auto text = snapshot != nullptr ? snapshot->summary_value("total-records") : std::nullopt;
  int64_t rows = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), rows);
  return rows;
}

void count_rows(Session& session, const Arguments& arguments) {
  const Table table(session.context(), session.load_table(arguments.table));
  auto builder = build_scan(table, arguments.scan);
  if (arguments.limit) builder.limit(*arguments.limit);
  session.print_line(std::to_string(builder.count()));
}

void scan_table(Session& session, const Arguments& arguments) {
  if (arguments.count) return count_rows(session, arguments);
  const RowFormat format = parse_row_format(arguments.format, session.out(), session.output_format());
  const Table table(session.context(), session.load_table(arguments.table));
  auto builder = build_scan(table, arguments.scan);
  if (arguments.limit) builder.limit(*arguments.limit);

  // With a filter how many rows there will be is not known.
  const int64_t expected_rows = arguments.scan.where ? 0 : total_rows(table.metadata(), builder.options());
  Progress progress(
      "scanning " + table.name(),
      {.enabled = !session.options().quiet && (format == RowFormat::kNone || !session.out().is_terminal())});
  if (!arguments.scan.where) {
    progress.set_total_rows(arguments.limit ? std::min(*arguments.limit, expected_rows) : expected_rows);
  }

  Figures figures;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return Seconds(std::chrono::steady_clock::now() - start).count(); };
  auto stream = builder.execute();
  const std::stop_callback close_on_interrupt(session.stop(), [&] { stream->close(); });
  const auto writer = make_row_writer(stream->schema(), session.out(),
                                      {.format = format,
                                       .limit = arguments.limit,
                                       .color = session.color_out(),
                                       .pool = &session.context().memory_pool()});
  while (auto batch = stream->next()) {
    if (!figures.seconds_to_first_batch) figures.seconds_to_first_batch = elapsed();
    writer->write(*batch);
    progress.add(batch->row_count(), 0);
    progress.set_bytes(static_cast<int64_t>(table.io_counters().bytes_read.load()));
    if (writer->rows_wanted() <= 0) break;
  }
  figures.seconds = elapsed();
  stream->close();
  if (session.stop().stop_requested()) throw CancelledError();
  progress.finish();
  writer->finish(expected_rows > 0 ? std::optional(expected_rows) : std::nullopt);
  session.out().flush();
  if (arguments.stats) {
    if (!figures.seconds_to_first_batch) figures.seconds_to_first_batch = figures.seconds;
    figures.set_stream(*stream, builder.options().order, session.context().thread_count());
    figures.bytes_read = table.io_counters().bytes_read.load();
    figures.bytes_written = session.out().bytes_written();
    figures.rss_peak_bytes = rss_peak_bytes();
    OutputStream err(STDERR_FILENO);
    err.write(json::write(json::Value(to_json(figures))) + "\n");
    err.flush();
  }
}

}  // namespace

void add_scan(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  auto command = root.add("scan", "Print the rows of a table");
  command.positional("TABLE", arguments->table, "namespace.table, catalog.namespace.table, or a path");
  add_scan_arguments(command, arguments->scan);
  command.option("-n,--limit", arguments->limit, "N", "at most N rows")
      .choice("--format", arguments->format, {"table", "csv", "json", "none", "arrow", "parquet"},
              "table on a terminal, else csv")
      .flag("--count", arguments->count, "print the number of rows alone")
      .flag("--stats", arguments->stats, "print figures as a line of JSON on stderr")
      .example("frazil scan web.hits --select host,bytes --limit 20")
      .example("frazil scan web.hits --where \"status >= 500 AND host LIKE 'api.%'\"")
      .example("frazil scan web.hits --count --where 'status = 500'")
      .example("frazil scan web.hits --as-of 2026-11-01 --format json")
      .example("frazil scan ./lake/web/hits --memory 16MiB --format none --stats")
      .action([arguments](Session& session) { scan_table(session, *arguments); });
}

}  // namespace frazil::cli
