#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel.h"
#include "parquet.h"
#include "parquet_files.h"
#include "progress.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

int64_t matching_rows(Session& session, const ParquetFile& file, const predicate::Predicate& where, size_t group) {
  parquet::FileReaderOptions options;
  options.projection.emplace();  // no column: row counts alone
  options.predicate = where;
  options.first_row_group = static_cast<int>(group);
  options.row_group_count = 1;
  options.batch_bytes_max = reader_batch_bytes(session.context().memory_pool());
  options.metadata = file.metadata;
  parquet::FileReader reader(file.input, std::move(options), session.context().memory_pool());
  int64_t rows = 0;
  while (const auto batch = reader.next()) {
    if (session.stop().stop_requested()) throw CancelledError();
    rows += batch->row_count();
  }
  return rows;
}

int64_t count_file(Session& session, const ParquetFile& file, const ParquetArguments& arguments, Progress& progress) {
  int64_t declared = 0;
  for (const parquet::RowGroup& group : file.metadata->row_groups()) {
    if (__builtin_add_overflow(declared, group.row_count, &declared)) {
      throw_corrupt(CorruptError::kNoOffset, "row groups have more rows than can be counted, in {}", file.path);
    }
  }
  if (!arguments.where) return declared;
  const predicate::Predicate where = parse_where(arguments);
  std::atomic<int64_t> rows = 0;
  for_each_index(session, reader_threads(session), file.metadata->row_groups().size(), [&](size_t group) {
    rows += matching_rows(session, file, where, group);
    progress.add(file.metadata->row_groups()[group].row_count, 0);
  });
  // A column that does not exist is an error in a file without rows too.
  if (file.metadata->row_groups().empty()) {
    parquet::FileReader(file.input, {.predicate = where, .metadata = file.metadata}, session.context().memory_pool());
  }
  if (session.stop().stop_requested()) throw CancelledError();
  return rows;
}

void print_count(Session& session, const ParquetArguments& arguments) {
  parse_where(arguments);  // its errors come before those of files
  Progress progress("counting", {.enabled = !session.options().quiet});
  int64_t rows = 0;
  for_each_parquet(session, arguments.files, [&](const ParquetFile& file, size_t, size_t) {
    if (__builtin_add_overflow(rows, count_file(session, file, arguments, progress), &rows)) {
      throw_corrupt(CorruptError::kNoOffset, "the files have more rows than can be counted, {} is the last", file.path);
    }
  });
  progress.finish();
  if (session.is_json()) {
    session.print_json(json::Value(rows));
  } else {
    session.print_line(std::to_string(rows));
  }
}

}  // namespace

void add_parquet_count(Command& parquet) {
  auto arguments = std::make_shared<ParquetArguments>();
  Command command = parquet.add("count", "Print the number of rows: all, from footers alone, or those that match");
  add_parquet_files(command, *arguments);
  add_where(command, *arguments);
  command.example("frazil parquet count 'lake/*.parquet' --where \"day >= '2026-11-01'\"")
      .action([arguments](Session& session) { print_count(session, *arguments); });
}

}  // namespace frazil::cli
