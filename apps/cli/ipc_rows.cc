#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ipc.h"
#include "ipc_files.h"
#include "progress.h"
#include "row_writers.h"
#include "scan_arguments.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> select;
  std::optional<int64_t> limit;
  std::optional<std::string> format;
};

void print_rows(Session& session, const Arguments& arguments) {
  if (arguments.limit && *arguments.limit < 0) {
    throw_error(ErrorKind::kInvalidArgument, "--limit must be at least 0, not {}", *arguments.limit);
  }
  const RowFormat format = parse_row_format(arguments.format, session.out(), session.output_format());
  Progress progress(
      "reading", {.enabled = !session.options().quiet && (format == RowFormat::kNone || !session.out().is_terminal())});
  std::unique_ptr<RowWriter> writer;
  SchemaPtr schema;
  std::string first_path;
  for_each_ipc(session, arguments.files, [&](const std::string& path, size_t, size_t) {
    if (writer && writer->rows_wanted() <= 0) return;
    const std::unique_ptr<BatchStream> rows = open_ipc_columns(session, path, split_columns(arguments.select));
    if (!writer) {
      schema = rows->schema();
      first_path = path;
      // A table without a limit would end early; all rows were asked for.
      writer = make_row_writer(schema, session.out(),
                               {.format = format,
                                .limit = arguments.limit.value_or(INT64_MAX),
                                .color = session.color_out(),
                                .pool = &session.context().memory_pool()});
    } else {
      check_same_columns(*schema, first_path, *rows->schema(), path);
    }
    while (writer->rows_wanted() > 0) {
      const auto batch = rows->next();
      if (!batch) break;
      if (session.stop().stop_requested()) throw CancelledError();
      writer->write(*batch);
      progress.add(batch->row_count(), static_cast<int64_t>(batch->buffer_bytes()));
    }
  });
  progress.finish();
  if (writer) writer->finish();
}

}  // namespace

void add_ipc_rows(Command& ipc) {
  auto arguments = std::make_shared<Arguments>();
  Command command = ipc.add("cat", "Print the rows of Arrow files and streams");
  add_ipc_files(command, arguments->files);
  command.option("--select", arguments->select, "COLUMNS", "only these columns, in this order")
      .option("-n,--limit", arguments->limit, "N", "at most N rows")
      .choice("--format", arguments->format, {"table", "csv", "json", "none", "arrow", "parquet"},
              "table on a terminal, else csv")
      .example("frazil ipc cat hits.arrow --select host,bytes -n 20")
      .example("curl -s https://example.org/hits.arrows | frazil ipc cat - --format json")
      .action([arguments](Session& session) { print_rows(session, *arguments); });
}

}  // namespace frazil::cli
