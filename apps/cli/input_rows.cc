#include "input_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

#include "parquet_files.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/file_systems.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/runtime/context.h"
#include "frazil/text/decompressed_source.h"
#include "frazil/text/text_reader.h"

namespace frazil::cli {
namespace {

enum class InputFormat : uint8_t { kParquet, kCsv, kTsv, kJsonLines };

std::optional<InputFormat> format_of_name(std::string_view name) {
  static constexpr std::pair<std::string_view, InputFormat> kEndings[] = {
      {".parquet", InputFormat::kParquet},  {".pq", InputFormat::kParquet},     {".csv", InputFormat::kCsv},
      {".tsv", InputFormat::kTsv},          {".json", InputFormat::kJsonLines}, {".jsonl", InputFormat::kJsonLines},
      {".ndjson", InputFormat::kJsonLines},
  };
  for (const std::string_view packed : {".gz", ".zst", ".zstd"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  for (const auto& [ending, format] : kEndings) {
    if (name.ends_with(ending)) return format;
  }
  return std::nullopt;
}

InputFormat format_of(const std::string& path, const InputArguments& arguments) {
  if (arguments.format) {
    if (*arguments.format == "parquet") return InputFormat::kParquet;
    return *arguments.format == "csv" ? InputFormat::kCsv : InputFormat::kJsonLines;
  }
  if (const auto format = format_of_name(path)) return *format;
  Error error(ErrorKind::kInvalidArgument, message("the format of {} cannot be told by its name", path));
  throw error.set_hint("--format parquet, csv or json");
}

char one_character(const std::string& text, std::string_view option) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text == "none") return '\0';
  if (text.size() == 1) return text[0];
  throw_error(ErrorKind::kInvalidArgument, "{} must be one character, not '{}'", option, text);
}

text::TextOptions text_options(InputFormat format, const InputArguments& arguments, const SchemaPtr& schema) {
  text::TextOptions options{.schema = schema, .csv_header = !arguments.no_header, .csv_nulls = arguments.nulls};
  if (format == InputFormat::kTsv) options.csv.delimiter = '\t';
  if (arguments.delimiter) options.csv.delimiter = one_character(*arguments.delimiter, "--delimiter");
  if (arguments.quote) options.csv.quote = one_character(*arguments.quote, "--quote");
  return options;
}

class ParquetRows final : public BatchStream {
 public:
  ParquetRows(std::shared_ptr<const InputFile> file, MemoryPool& pool)
      : reader_(std::move(file), {.batch_bytes_max = kReaderBatchBytes}, pool) {}
  const SchemaPtr& schema() const override { return reader_.schema(); }
  std::optional<RecordBatch> next() override { return closed_ ? std::nullopt : reader_.next(); }
  void close() noexcept override { closed_ = true; }

 private:
  parquet::FileReader reader_;
  bool closed_ = false;
};

}  // namespace

void add_input_files(Command& command, InputArguments& arguments) {
  command.positionals("FILE", arguments.files,
                      "Parquet, CSV or JSON lines, .gz and .zst too; patterns; - is standard input");
}

void add_input_format(Command& command, InputArguments& arguments) {
  command.choice("--format", arguments.format, {"parquet", "csv", "json"}, "else by the names of the files")
      .option("--null", arguments.nulls, "TEXT", "CSV: a text that means null, beside the empty one; repeatable")
      .option("--delimiter", arguments.delimiter, "CHARACTER", "CSV: \",\"; tab for tabs")
      .option("--quote", arguments.quote, "CHARACTER", "CSV: '\"'; none")
      .flag("--no-header", arguments.no_header, "CSV: the first line is a row; columns come in the table's order");
}

Input open_input(Session& session, const std::string& path, const InputArguments& arguments, const SchemaPtr& schema) {
  MemoryPool& pool = session.context().memory_pool();
  const InputFormat format = format_of(path, arguments);
  if (path == "-") {
    if (format == InputFormat::kParquet) {
      throw_error(ErrorKind::kUnsupported,
                  "a Parquet file cannot be read from standard input: its footer is at the end");
    }
  } else if (format == InputFormat::kParquet) {
    auto file = session.files().open_input(path);
    auto read = [size = file->size()] { return size; };
    return {path, std::make_unique<ParquetRows>(std::move(file), pool), std::move(read)};
  }
  auto source =
      path == "-" ? descriptor_source(STDIN_FILENO, "standard input") : file_source(session.files().open_input(path));
  auto bytes = text::decompressed(std::move(source), pool);
  auto read = [counted = bytes.get()] { return counted->bytes_read(); };
  const text::TextOptions options = text_options(format, arguments, schema);
  auto rows = format == InputFormat::kJsonLines ? text::read_json_lines(std::move(bytes), options, pool)
                                                : text::read_csv(std::move(bytes), options, pool);
  return {path, std::move(rows), std::move(read)};
}

}  // namespace frazil::cli
