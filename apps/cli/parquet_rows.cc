#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parquet.h"
#include "parquet_files.h"
#include "progress.h"
#include "row_writers.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  ParquetArguments files;
  std::optional<int64_t> limit;
  std::optional<std::string> format;
  bool unchecked_text = false;
};

parquet::FileReader open_rows(Session& session, const ParquetFile& file, const Arguments& arguments,
                              std::optional<int64_t> limit) {
  parquet::FileReaderOptions options;
  if (!arguments.files.select.empty()) options.projection = column_names(arguments.files.select);
  options.predicate = parse_where(arguments.files);
  options.metadata = file.metadata;
  options.validate_utf8 = !arguments.unchecked_text;  // nobody knows who wrote it
  options.batch_bytes_max = reader_batch_bytes(session.context().memory_pool());
  // No more is decoded than is printed.
  if (limit && !arguments.files.where) options.batch_rows = std::clamp<int64_t>(*limit, 1, options.batch_rows);
  return {file.input, std::move(options), session.context().memory_pool()};
}

void print_rows(Session& session, const Arguments& arguments, std::optional<int64_t> limit) {
  if (limit && *limit < 0) throw_error(ErrorKind::kInvalidArgument, "--limit must be at least 0, not {}", *limit);
  const RowFormat format = parse_row_format(arguments.format, session.out(), session.output_format());
  parse_where(arguments.files);  // its errors come before those of files
  Progress progress(
      "reading", {.enabled = !session.options().quiet && (format == RowFormat::kNone || !session.out().is_terminal())});
  std::unique_ptr<RowWriter> writer;
  SchemaPtr schema;
  std::string first_path;
  std::optional<int64_t> total;
  for_each_parquet(session, arguments.files.files, [&](const ParquetFile& file, size_t, size_t count) {
    if (writer && writer->rows_wanted() <= 0) return;
    parquet::FileReader reader = open_rows(session, file, arguments, limit);
    if (!writer) {
      schema = reader.schema();
      first_path = file.path;
      // A table without a limit would end early; all rows were asked for.
      writer = make_row_writer(schema, session.out(),
                               {.format = format,
                                .limit = limit.value_or(INT64_MAX),
                                .color = session.color_out(),
                                .pool = &session.context().memory_pool()});
      if (count == 1 && !arguments.files.where) {
        total = file.metadata->row_count();
        progress.set_total_rows(limit ? std::min(*limit, *total) : *total);
      }
    } else {
      check_same_columns(*schema, first_path, *reader.schema(), file.path);
    }
    while (writer->rows_wanted() > 0) {
      const auto batch = reader.next();
      if (!batch) break;
      if (session.stop().stop_requested()) throw CancelledError();
      writer->write(*batch);
      progress.add(batch->row_count(), static_cast<int64_t>(batch->buffer_bytes()));
    }
  });
  progress.finish();
  if (writer) writer->finish(total);
}

void add_rows(Command& parquet, const std::string& name, const std::string& summary, std::optional<int64_t> limit,
              const std::string& limit_help, const std::string& example) {
  auto arguments = std::make_shared<Arguments>();
  Command command = parquet.add(name, summary);
  add_parquet_files(command, arguments->files, "only these columns, in this order");
  add_where(command, arguments->files);
  command.option("-n,--limit", arguments->limit, "N", limit_help)
      .choice("--format", arguments->format, {"table", "csv", "json", "none", "arrow", "parquet"},
              "table on a terminal, else csv")
      .flag("--unchecked-text", arguments->unchecked_text, "strings that are not UTF-8 are no error")
      .example(example)
      .action([arguments, limit](Session& session) {
        print_rows(session, *arguments, arguments->limit ? arguments->limit : limit);
      });
}

}  // namespace

void add_parquet_rows(Command& parquet) {
  add_rows(parquet, "head", "Print the first rows", 10, "at most N rows (10)", "frazil parquet head hits.parquet -n 3");
  add_rows(parquet, "cat", "Print all rows", std::nullopt, "at most N rows",
           "frazil parquet cat 'lake/*.parquet' --select host,bytes --where 'status >= 500' --format json");
}

}  // namespace frazil::cli
