#include "input_rows.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "parquet_files.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/file_systems.h"
#include "frazil/ipc/reader.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/write_defaults.h"
#include "frazil/text/decompressed_source.h"
#include "frazil/text/text_reader.h"

namespace frazil::cli {
namespace {

enum class InputFormat : uint8_t { kParquet, kArrow, kCsv, kTsv, kJsonLines };

std::optional<InputFormat> format_of_name(std::string_view name) {
  static constexpr std::pair<std::string_view, InputFormat> kEndings[] = {
      {".parquet", InputFormat::kParquet},  {".pq", InputFormat::kParquet},     {".csv", InputFormat::kCsv},
      {".tsv", InputFormat::kTsv},          {".json", InputFormat::kJsonLines}, {".jsonl", InputFormat::kJsonLines},
      {".ndjson", InputFormat::kJsonLines}, {".arrow", InputFormat::kArrow},    {".arrows", InputFormat::kArrow},
      {".feather", InputFormat::kArrow},    {".ipc", InputFormat::kArrow},
  };
  for (const std::string_view packed : {".gz", ".zst", ".zstd"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  for (const auto& [ending, format] : kEndings) {
    if (name.ends_with(ending)) return format;
  }
  return std::nullopt;
}

bool is_packed(std::string_view name) {
  return name.ends_with(".gz") || name.ends_with(".zst") || name.ends_with(".zstd");
}

// As --format or the name says.
std::optional<InputFormat> told_format(const std::string& path, const InputArguments& arguments) {
  if (!arguments.format) return format_of_name(path);
  if (*arguments.format == "parquet") return InputFormat::kParquet;
  if (*arguments.format == "arrow") return InputFormat::kArrow;
  return *arguments.format == "csv" ? InputFormat::kCsv : InputFormat::kJsonLines;
}

// What is no text says at its beginning what it is. Arrow streams before 0.15 do not: --format arrow.
constexpr size_t kBeginningBytes = 8;
InputFormat format_of_beginning(std::span<const std::byte> beginning, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (text.starts_with("PAR1")) return InputFormat::kParquet;
  if (text.starts_with("\xFF\xFF\xFF\xFF") || ipc::detect_format(beginning) != ipc::Format::kStream) {
    return InputFormat::kArrow;
  }
  Error error(ErrorKind::kInvalidArgument, message("the format of {} cannot be told by its name", name));
  throw error.set_hint("--format parquet, arrow, csv or json");
}

char one_character(const std::string& text, std::string_view option) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text == "none") return '\0';
  if (text.size() == 1) return text[0];
  throw_error(ErrorKind::kInvalidArgument, "{} must be one character, not '{}'", option, text);
}

text::TextOptions text_options(InputFormat format, const InputArguments& arguments, const spec::SchemaPtr& table) {
  text::TextOptions options{.csv_header = !arguments.no_header, .csv_nulls = arguments.nulls};
  if (table != nullptr) options.schema = spec::to_arrow_schema(*table);
  if (table != nullptr && spec::has_write_defaults(*table)) {
    options.complete_row = [table](json::Value& row) { spec::add_write_defaults(row, *table); };
  }
  if (format == InputFormat::kTsv) options.csv.delimiter = '\t';
  if (arguments.delimiter) options.csv.delimiter = one_character(*arguments.delimiter, "--delimiter");
  if (arguments.quote) options.csv.quote = one_character(*arguments.quote, "--quote");
  return options;
}

class ParquetRows final : public BatchStream {
 public:
  ParquetRows(std::shared_ptr<const InputFile> file, MemoryPool& pool)
      : reader_(std::move(file), {.batch_bytes_max = reader_batch_bytes(pool), .validate_utf8 = true}, pool) {}
  const SchemaPtr& schema() const override { return reader_.schema(); }
  std::optional<RecordBatch> next() override { return closed_ ? std::nullopt : reader_.next(); }
  void close() noexcept override { closed_ = true; }

 private:
  parquet::FileReader reader_;
  bool closed_ = false;
};

// Counts for longer than the source lives: a reader of files lets it go when it has read all of it.
class CountedSource final : public ByteSource {
 public:
  CountedSource(std::unique_ptr<ByteSource> source, std::shared_ptr<uint64_t> count)
      : source_(std::move(source)), count_(std::move(count)) {}
  const std::string& name() const override { return source_->name(); }
  size_t read(std::span<std::byte> out) override {
    const size_t size = source_->read(out);
    *count_ = source_->bytes_read();
    return size;
  }
  uint64_t bytes_read() const override { return source_->bytes_read(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<uint64_t> count_;
};

// Whoever takes the rows looks at all values.
const ipc::ReadOptions kCheckedValues = {.validation = ipc::Validation::kFull};

Input open_file(const std::string& path, InputFormat format, std::shared_ptr<InputFile> file, MemoryPool& pool) {
  auto read = [size = file->size()] { return size; };
  if (format == InputFormat::kParquet) return {path, std::make_unique<ParquetRows>(std::move(file), pool), read};
  return {path, ipc::open(std::move(file), pool, kCheckedValues), read};
}

}  // namespace

void add_input_files(Command& command, InputArguments& arguments) {
  command.positionals("FILE", arguments.files,
                      "Parquet, Arrow, CSV or JSON lines, .gz and .zst too; patterns; - is standard input");
}

void add_input_format(Command& command, InputArguments& arguments) {
  command
      .choice("--format", arguments.format, {"parquet", "arrow", "csv", "json"},
              "else by the names of the files, or what they begin with")
      .option("--null", arguments.nulls, "TEXT", "CSV: a text that means null, beside the empty one; repeatable")
      .option("--delimiter", arguments.delimiter, "CHARACTER", "CSV: \",\"; tab for tabs")
      .option("--quote", arguments.quote, "CHARACTER", "CSV: '\"'; none")
      .flag("--no-header", arguments.no_header, "CSV: the first line is a row; columns come in the table's order");
}

Input open_input(Session& session, const std::string& path, const InputArguments& arguments,
                 const spec::SchemaPtr& table) {
  MemoryPool& pool = session.context().memory_pool();
  std::optional<InputFormat> format = told_format(path, arguments);
  std::unique_ptr<ByteSource> source;
  if (path == "-") {
    source = descriptor_source(STDIN_FILENO, "standard input");
  } else {
    std::shared_ptr<InputFile> file = session.files().open_input(path);
    if (!format) {
      std::array<std::byte, kBeginningBytes> beginning;
      const std::span<std::byte> read = std::span(beginning).first(std::min<uint64_t>(beginning.size(), file->size()));
      file->read_at(0, read);
      format = format_of_beginning(read, path);
    }
    if (format == InputFormat::kParquet || (format == InputFormat::kArrow && !is_packed(path))) {
      return open_file(path, *format, std::move(file), pool);
    }
    source = file_source(std::move(file));
  }
  const auto count = std::make_shared<uint64_t>(0);
  source = std::make_unique<CountedSource>(text::decompressed(std::move(source), pool), count);
  if (!format) {
    std::array<std::byte, kBeginningBytes> beginning;
    const std::span<const std::byte> read = std::span(beginning).first(read_up_to(*source, beginning));
    format = format_of_beginning(read, source->name());
    source = resumed_source(pool.copy(read), std::move(source));
  }
  auto read = [count] { return *count; };
  if (format == InputFormat::kParquet) {
    throw_error(ErrorKind::kUnsupported, "a Parquet file cannot be read from standard input: its footer is at the end");
  }
  if (format == InputFormat::kArrow) return {path, ipc::open(std::move(source), pool, kCheckedValues), read};
  const text::TextOptions options = text_options(*format, arguments, table);
  auto rows = *format == InputFormat::kJsonLines ? text::read_json_lines(std::move(source), options, pool)
                                                 : text::read_csv(std::move(source), options, pool);
  return {path, std::move(rows), read};
}

}  // namespace frazil::cli
