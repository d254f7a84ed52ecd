// How many microseconds does it take to open Arrow IPC and have all its batches, and to write them?
//
// An operation opens a reader and takes all batches, every array made and its buffers reachable, until the last is dropped; a
// round is many of them, and tells their median. The bytes are in memory, in a mapped file, in a file that is read, or come
// through a pipe that a thread fills.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "allocation_count.h"
#include "bench.h"
#include "bench_ipc_data.h"
#include "bench_rounds.h"
#include "figures.h"
#include "file_arguments.h"
#include "scan_arguments.h"
#include "session.h"

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/columnar/content_hash.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/file_systems.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/stream_writer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/runtime/context.h"

namespace frazil::cli {
namespace {

// A round ends then, too, however few operations it had.
constexpr double kRoundSecondsMax = 2.0;
constexpr int kWarmUpOperations = 3;

enum class Input : uint8_t { kMemory, kMapped, kPipe, kFile };

struct Arguments {
  std::vector<std::string> files;
  std::optional<std::string> input;
  std::optional<std::string> format;
  std::optional<std::string> validation;
  std::optional<std::string> compression;
  std::vector<std::string> select;
  std::optional<std::string> to;
  std::optional<int64_t> operations;
  std::optional<int64_t> columns;
  std::optional<int64_t> rows;
  std::optional<int64_t> batches;
  bool touch = false;
  bool first_batch = false;
  bool write = false;
  bool no_schema_cache = false;
  bool hash = false;
  BenchRounds rounds;
};

Input input_of(const Arguments& arguments) {
  if (arguments.input == "mmap") return Input::kMapped;
  if (arguments.input == "pipe") return Input::kPipe;
  return arguments.input == "file" ? Input::kFile : Input::kMemory;
}

Codec codec_of(const Arguments& arguments) {
  if (arguments.compression == "lz4") return Codec::kLz4Frame;
  return arguments.compression == "zstd" ? Codec::kZstd : Codec::kNone;
}

// What one operation delivered. `reached` depends on where buffers lie and, if they are touched, on what they hold, so that
// nothing of it is left out.
struct Delivered {
  int64_t rows = 0;
  int64_t batches = 0;
  uint64_t bytes_written = 0;
  uint64_t reached = 0;
};

// The sum of 8-byte words: every byte is looked at, at the speed of memory. Four sums, or one addition waits for the other.
uint64_t sum_of_words(std::span<const std::byte> bytes) {
  const std::byte* const data = bytes.data();
  uint64_t sum = 0;
  uint64_t second = 0;
  uint64_t third = 0;
  uint64_t fourth = 0;
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    sum += load<uint64_t>(data + at);
    second += load<uint64_t>(data + at + 8);
    third += load<uint64_t>(data + at + 16);
    fourth += load<uint64_t>(data + at + 24);
  }
  sum += second + third + fourth;
  for (; at + 8 <= bytes.size(); at += 8) sum += load<uint64_t>(data + at);
  for (; at < bytes.size(); ++at) sum += std::to_integer<uint64_t>(data[at]);
  return sum;
}

uint64_t reach(const Buffer& buffer, bool touch) {
  const uint64_t where = reinterpret_cast<uintptr_t>(buffer.data()) + buffer.size();
  return touch ? where + sum_of_words(buffer.span()) : where;
}

uint64_t reach(const Array& array, bool touch) {
  uint64_t reached = reach(array.buffers[0], touch) + reach(array.buffers[1], touch) + reach(array.buffers[2], touch);
  for (const Buffer& buffer : array.variadic_buffers) reached += reach(buffer, touch);
  for (const ArrayPtr& child : array.children) reached += reach(*child, touch);
  if (array.dictionary != nullptr) reached += reach(*array.dictionary, touch);
  return reached;
}

// Fills a pipe in a thread of its own while an operation reads the other end.
class PipeProducer {
 public:
  explicit PipeProducer(const Buffer& bytes) {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw IoError(errno, "no pipe can be made");
    thread_ = std::thread([this, bytes] {
      std::span<const std::byte> left = bytes.span();
      while (!left.empty()) {
        const ssize_t count = ::write(ends_[1], left.data(), std::min(left.size(), size_t{1} << 20));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;  // the reader has left
        left = left.subspan(static_cast<size_t>(count));
      }
      ::close(ends_[1]);
    });
  }
  PipeProducer(const PipeProducer&) = delete;
  PipeProducer& operator=(const PipeProducer&) = delete;
  ~PipeProducer() {
    ::close(ends_[0]);
    thread_.join();
  }
  int read_end() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
  std::thread thread_;
};

// Made-up bytes that must lie in a file, removed at the end.
class MadeFile {
 public:
  explicit MadeFile(const Buffer& bytes) : path_(std::filesystem::temp_directory_path() / "frazil-bench-XXXXXX") {
    const int file = ::mkstemp(path_.data());
    if (file < 0) throw IoError(errno, message("cannot make {}", path_));
    ::close(file);
    std::FILE* stream = std::fopen(path_.c_str(), "wb");
    const bool whole = stream != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
    if (stream == nullptr || std::fclose(stream) != 0 || !whole)
      throw IoError(errno, message("cannot write {}", path_));
  }
  MadeFile(const MadeFile&) = delete;
  MadeFile& operator=(const MadeFile&) = delete;
  ~MadeFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What is opened by each operation, and how.
class Inputs {
 public:
  Inputs(Session& session, const Arguments& arguments)
      : files_(session.files()), pool_(session.context().memory_pool()), input_(input_of(arguments)) {
    options_.map_files = input_ == Input::kMapped;
    if (arguments.validation == "full" || arguments.hash) options_.validation = ipc::Validation::kFull;
    if (arguments.files.empty()) {
      make(arguments);
    } else {
      paths_ = expand_patterns(arguments.files);
      if (input_ == Input::kMemory || input_ == Input::kPipe) {
        for (const std::string& path : paths_) bytes_.push_back(read_whole(path));
      }
    }
    if (arguments.no_schema_cache) options_.schema_cache = nullptr;
    if (!arguments.select.empty()) select(arguments.select);
  }

  size_t count() const { return std::max(bytes_.size(), paths_.size()); }

  // Calls take(batch) for the batches of one input, the first alone if `first_batch`.
  template <typename Take>
  void read(size_t index, bool first_batch, const Take& take) const {
    std::optional<PipeProducer> producer;
    const std::unique_ptr<BatchStream> reader = open(index, producer);
    while (const auto batch = reader->next()) {
      take(*batch);
      if (first_batch) return;
    }
  }

 private:
  std::unique_ptr<BatchStream> open(size_t index, std::optional<PipeProducer>& producer) const {
    switch (input_) {
      case Input::kMemory:
        return ipc::open(bytes_[index], pool_, options_);
      case Input::kPipe:
        producer.emplace(bytes_[index]);
        return ipc::open(descriptor_source(producer->read_end(), "pipe"), pool_, options_);
      case Input::kMapped:
      case Input::kFile:
        break;
    }
    return ipc::open(std::shared_ptr<const InputFile>(files_.open_input(paths_[index])), pool_, options_);
  }

  // The input counts in no budget: it is the caller's.
  Buffer read_whole(const std::string& path) {
    const auto file = files_.open_input(path);
    MutableBuffer bytes = input_pool_.allocate(file->size());
    file->read_at(0, bytes.span());
    return std::move(bytes).freeze();
  }

  void make(const Arguments& arguments) {
    IpcShape shape{.file = arguments.format != "stream", .codec = codec_of(arguments)};
    shape.columns = arguments.columns.value_or(shape.columns);
    shape.rows = arguments.rows.value_or(shape.rows);
    shape.batches = arguments.batches.value_or(shape.batches);
    Buffer bytes = make_ipc(shape, input_pool_);
    if (input_ == Input::kMemory || input_ == Input::kPipe) {
      bytes_.push_back(std::move(bytes));
    } else {
      paths_.push_back(made_.emplace(bytes).path());
    }
  }

  void select(const std::vector<std::string>& names) {
    std::optional<PipeProducer> producer;
    const std::unique_ptr<BatchStream> reader = open(0, producer);
    std::vector<size_t> columns;
    for (const std::string& name : split_columns(names)) {
      const std::vector<Field>& fields = reader->schema()->fields();
      const auto found =
          std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
      if (found == fields.end()) throw_error(ErrorKind::kNotFound, "column '{}' does not exist", name);
      columns.push_back(static_cast<size_t>(found - fields.begin()));
    }
    options_.columns = std::move(columns);
  }

  FileSystem& files_;
  MemoryPool& pool_;
  MemoryPool input_pool_;
  const Input input_;
  ipc::ReadOptions options_;
  std::optional<MadeFile> made_;
  std::vector<std::string> paths_;
  std::vector<Buffer> bytes_;
};

Delivered read_all(const Inputs& inputs, const Arguments& arguments) {
  Delivered delivered;
  for (size_t index = 0; index < inputs.count(); ++index) {
    inputs.read(index, arguments.first_batch, [&](const RecordBatch& batch) {
      ++delivered.batches;
      delivered.rows += batch.row_count();
      for (const ArrayPtr& column : batch.columns()) delivered.reached += reach(*column, arguments.touch);
    });
  }
  return delivered;
}

Delivered write_all(Session& session, const std::vector<RecordBatch>& batches, const Arguments& arguments) {
  MemoryPool& pool = session.context().memory_pool();
  std::unique_ptr<ByteSink> sink;
  if (arguments.to) {
    sink = output_file_sink(session.files().open_output(*arguments.to), {.if_exists = OutputFile::IfExists::kReplace});
  } else {
    sink = std::make_unique<MemorySink>(pool);
  }
  std::unique_ptr<ipc::BatchWriter> writer;
  const ipc::WriteOptions options{.codec = codec_of(arguments)};
  const SchemaPtr& schema = batches.front().schema();
  if (arguments.format == "stream") {
    writer = std::make_unique<ipc::StreamWriter>(*sink, schema, pool, options);
  } else {
    writer = std::make_unique<ipc::FileWriter>(*sink, schema, pool, options);
  }
  Delivered delivered;
  for (const RecordBatch& batch : batches) {
    writer->write(batch);
    ++delivered.batches;
    delivered.rows += batch.row_count();
  }
  writer->finish();
  delivered.bytes_written =
      arguments.to ? std::filesystem::file_size(*arguments.to) : static_cast<const MemorySink&>(*sink).size();
  return delivered;
}

// What came through read(2) and its kin, pipes and the page cache too; nothing of a mapping.
uint64_t bytes_read_by_process() {
  unsigned long long bytes = 0;
  if (std::FILE* io = std::fopen("/proc/self/io", "r")) {
    if (std::fscanf(io, "rchar: %llu", &bytes) != 1) bytes = 0;
    std::fclose(io);
  }
  return bytes;
}

uint64_t allocations_so_far(const MemoryPool& pool) {
  return heap_allocations().value_or(0) + pool.stats().allocations;
}

BenchRound time_operations(Session& session, const Arguments& arguments, const std::function<Delivered()>& operation) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const MemoryPool& pool = session.context().memory_pool();
  count_heap_allocations();
  for (int i = 0; i < kWarmUpOperations; ++i) operation();

  // One operation that is counted, not timed. Asking for the bytes reads some, too.
  const uint64_t before_asking = bytes_read_by_process();
  const uint64_t read_before = bytes_read_by_process();
  const uint64_t allocations_before = allocations_so_far(pool);
  const Delivered delivered = operation();
  const uint64_t allocations = allocations_so_far(pool) - allocations_before;
  const uint64_t read = bytes_read_by_process() - read_before;

  std::vector<double> seconds;
  const auto count = static_cast<size_t>(arguments.operations.value_or(3000));
  seconds.reserve(count);
  const Clock::time_point start = Clock::now();
  while (seconds.size() < count && seconds_since(start) < kRoundSecondsMax && !session.stop().stop_requested()) {
    const Clock::time_point begin = Clock::now();
    const Delivered again = operation();
    seconds.push_back(seconds_since(begin));
    if (again.rows != delivered.rows) {
      throw_error(ErrorKind::kInternal, "two operations gave {} and {} rows", delivered.rows, again.rows);
    }
  }
  if (seconds.empty()) throw CancelledError();
  const auto middle = seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());

  BenchRound round;
  round.figures.rows = delivered.rows;
  round.figures.batches = delivered.batches;
  round.figures.bytes_read = read - (read_before - before_asking);
  round.figures.bytes_written = delivered.bytes_written;
  round.figures.seconds = *middle;
  round.figures.set_pool(pool.stats());
  round.figures.allocations = allocations;
  round.figures.threads = 1;
  round.operations = seconds.size();
  return round;
}

// All rows once, hashed.
BenchRound hash_once(const Inputs& inputs, const Arguments& arguments) {
  BenchRound round;
  round.content.emplace();
  const auto start = std::chrono::steady_clock::now();
  for (size_t index = 0; index < inputs.count(); ++index) {
    inputs.read(index, arguments.first_batch, [&](const RecordBatch& batch) { round.content->add(batch); });
  }
  round.figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  round.figures.rows = round.content->rows();
  round.figures.threads = 1;
  return round;
}

void bench_ipc(Session& session, const Arguments& arguments) {
  if (arguments.operations.value_or(1) < 1) {
    throw_error(ErrorKind::kInvalidArgument, "--operations must be at least 1");
  }
  const bool shaped = arguments.columns || arguments.rows || arguments.batches;
  if (!arguments.files.empty() && (shaped || (!arguments.write && (arguments.format || arguments.compression)))) {
    throw_error(ErrorKind::kInvalidArgument,
                "--columns, --rows, --batches, --format and --compression are of made-up data, not of FILE");
  }
  const Inputs inputs(session, arguments);
  std::vector<RecordBatch> batches;
  if (arguments.write) {
    for (size_t index = 0; index < inputs.count(); ++index) {
      inputs.read(index, false, [&](const RecordBatch& batch) { batches.push_back(batch); });
    }
    if (batches.empty()) throw_error(ErrorKind::kInvalidArgument, "there is no batch to write");
  }
  run_rounds(session, arguments.rounds, [&] {
    BenchRound round = arguments.hash ? hash_once(inputs, arguments)
                       : arguments.write
                           ? time_operations(session, arguments, [&] { return write_all(session, batches, arguments); })
                           : time_operations(session, arguments, [&] { return read_all(inputs, arguments); });
    round.figures.files = inputs.count();
    return round;
  });
}

}  // namespace

void add_bench_ipc(Command& bench) {
  auto arguments = std::make_shared<Arguments>();
  Command command = bench.add("ipc", "Time opening Arrow IPC and taking all its batches, or writing them");
  command
      .positionals("FILE", arguments->files, "Arrow files and streams, patterns; without: made-up data",
                   Presence::kOptional)
      .choice("--input", arguments->input, {"memory", "mmap", "pipe", "file"}, "where the bytes are (memory)")
      .choice("--format", arguments->format, {"file", "stream"}, "of what is made or written (file)")
      .option("--operations", arguments->operations, "N", "in a round, or as many as 2 seconds have (3000)")
      .flag("--touch", arguments->touch, "read every value")
      .choice("--validation", arguments->validation, {"basic", "full"}, "full: offsets, UTF-8 and indices too (basic)")
      .option("--select", arguments->select, "COLUMNS", "these columns alone")
      .flag("--first-batch", arguments->first_batch, "open and take one batch")
      .flag("--no-schema-cache", arguments->no_schema_cache, "decode the schema in each operation")
      .flag("--write", arguments->write, "write the batches, which are read before")
      .option("--to", arguments->to, "PATH", "where they are written (memory)")
      .choice("--compression", arguments->compression, {"none", "lz4", "zstd"}, "of what is made or written (none)")
      .option("--columns", arguments->columns, "N", "of made-up data (100)")
      .option("--rows", arguments->rows, "N", "of made-up data, in all batches (10000)")
      .option("--batches", arguments->batches, "N", "of made-up data (1)")
      .flag("--hash", arguments->hash, "hash the rows once instead: equal for equal rows in any order");
  add_rounds(command, arguments->rounds);
  command.exclude("--hash", "--write")
      .exclude("--first-batch", "--write")
      .exclude("--select", "--write")
      .example("frazil bench ipc")
      .example("frazil bench ipc --input mmap --columns 1000 --rows 1000 --rounds 7")
      .example("frazil bench ipc data.arrow --touch --output json")
      .action([arguments](Session& session) { bench_ipc(session, *arguments); });
}

}  // namespace frazil::cli
