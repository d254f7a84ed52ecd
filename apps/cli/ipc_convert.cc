#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file_arguments.h"
#include "ipc.h"
#include "ipc_files.h"
#include "output_sink.h"
#include "progress.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/io/file_systems.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/stream_writer.h"
#include "frazil/json/value.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

struct Arguments {
  std::string from;
  std::string to;
  std::optional<std::string> format;
  std::optional<std::string> codec;
  std::optional<int64_t> level;
  std::optional<std::string> alignment;
  std::optional<std::string> dictionaries;
  bool overwrite = false;
};

ipc::Format format_of(const Arguments& arguments) {
  if (arguments.format) return *arguments.format == "file" ? ipc::Format::kFile : ipc::Format::kStream;
  const bool is_stream = arguments.to == "-" || arguments.to.ends_with(".arrows") || arguments.to.ends_with(".stream");
  return is_stream ? ipc::Format::kStream : ipc::Format::kFile;
}

ipc::WriteOptions options_of(const Arguments& arguments) {
  ipc::WriteOptions options;
  if (arguments.codec == "lz4") options.codec = Codec::kLz4Frame;
  if (arguments.codec == "zstd") options.codec = Codec::kZstd;
  if (arguments.level) {
    if (*arguments.level < INT32_MIN || *arguments.level > INT32_MAX || options.codec == Codec::kNone) {
      throw_error(ErrorKind::kInvalidArgument, "--level {} needs --codec, and a level that it has", *arguments.level);
    }
    options.level = static_cast<int>(*arguments.level);
  }
  if (arguments.alignment == "64") options.alignment = 64;
  if (arguments.dictionaries == "replace") options.dictionaries = ipc::DictionaryChanges::kReplace;
  if (arguments.dictionaries == "delta") options.dictionaries = ipc::DictionaryChanges::kDelta;
  if (arguments.dictionaries == "unify") options.dictionaries = ipc::DictionaryChanges::kUnify;
  return options;
}

// Before all the work, not after it.
void check_output(Session& session, const Arguments& arguments) {
  if (arguments.to == "-" || arguments.overwrite || !session.files().stat(arguments.to)) return;
  Error error(ErrorKind::kAlreadyExists, message("{} exists", arguments.to));
  throw error.set_hint("--overwrite");
}

std::unique_ptr<ByteSink> open_output(Session& session, const Arguments& arguments) {
  if (arguments.to != "-") {
    const auto if_exists = arguments.overwrite ? OutputFile::IfExists::kReplace : OutputFile::IfExists::kFail;
    return output_file_sink(session.files().open_output(arguments.to), {.if_exists = if_exists});
  }
  if (session.out().is_terminal()) {
    throw_error(ErrorKind::kInvalidArgument, "Arrow's formats are nothing for a terminal");
  }
  return std::make_unique<OutputSink>(session.out());
}

struct Converted {
  int64_t rows = 0;
  int64_t batches = 0;
};

void print(Session& session, const Arguments& arguments, ipc::Format format, const Converted& converted) {
  if (arguments.to == "-") return;
  const std::optional<FileInfo> written = session.files().stat(arguments.to);
  const uint64_t bytes = written ? written->size : 0;
  if (session.is_json()) {
    json::Object object;
    object.emplace_back("file", json::Value(arguments.to));
    object.emplace_back("format", json::Value(ipc_format_name(format)));
    object.emplace_back("rows", json::Value(converted.rows));
    object.emplace_back("batches", json::Value(converted.batches));
    object.emplace_back("bytes_written", json::Value(static_cast<int64_t>(bytes)));
    session.print_json(json::Value(std::move(object)));
    return;
  }
  session.print_line(message("{}: {} rows, {} batches, {}", printable(arguments.to), converted.rows, converted.batches,
                             human_bytes(bytes)));
}

void convert(Session& session, const Arguments& arguments) {
  const ipc::Format format = format_of(arguments);
  const ipc::WriteOptions options = options_of(arguments);
  MemoryPool& pool = session.context().memory_pool();
  Progress progress("converting", {.enabled = !session.options().quiet});
  check_output(session, arguments);
  const std::vector<std::string> paths = expand_patterns({arguments.from});
  if (paths.size() != 1) {
    throw_error(ErrorKind::kInvalidArgument, "one file is converted at a time, and there are {}", paths.size());
  }
  const std::unique_ptr<ipc::Reader> reader = open_ipc(session, paths.front());
  std::unique_ptr<ByteSink> sink = open_output(session, arguments);
  std::unique_ptr<ipc::BatchWriter> writer;
  if (format == ipc::Format::kFile) {
    auto file = std::make_unique<ipc::FileWriter>(std::move(sink), reader->schema(), pool, options);
    file->set_metadata(reader->file_metadata());
    writer = std::move(file);
  } else {
    writer = std::make_unique<ipc::StreamWriter>(std::move(sink), reader->schema(), pool, options);
  }
  Converted converted;
  while (const auto batch = reader->next()) {
    if (session.stop().stop_requested()) throw CancelledError();
    writer->write(*batch, reader->custom_metadata());
    converted.rows += batch->row_count();
    ++converted.batches;
    progress.add(batch->row_count(), static_cast<int64_t>(batch->buffer_bytes()));
  }
  writer->finish();
  progress.finish();
  print(session, arguments, format, converted);
}

}  // namespace

void add_ipc_convert(Command& ipc) {
  auto arguments = std::make_shared<Arguments>();
  Command command = ipc.add("convert", "Write an Arrow file or stream anew, as the other one or with other options");
  command.positional("FILE", arguments->from, "a file or a stream; - is standard input")
      .positional("OUT", arguments->to, "what to write; - is standard output")
      .choice("--to", arguments->format, {"file", "stream"},
              "else by the name of OUT: .arrows, .stream and - are streams")
      .choice("--codec", arguments->codec, {"none", "lz4", "zstd"}, "of buffers, where it pays (none)")
      .option("--level", arguments->level, "N", "of the codec (1)")
      .choice("--alignment", arguments->alignment, {"8", "64"}, "of buffers, in bytes (8)")
      .choice("--dictionaries", arguments->dictionaries, {"replace", "delta", "unify"},
              "what becomes of those that change: replace (streams), unify (files)")
      .flag("--overwrite", arguments->overwrite, "replace OUT if it exists")
      .example("frazil ipc convert hits.arrow hits.arrows")
      .example("frazil scan web.hits --format arrow | frazil ipc convert - hits.arrow --codec zstd")
      .action([arguments](Session& session) { convert(session, *arguments); });
}

}  // namespace frazil::cli
