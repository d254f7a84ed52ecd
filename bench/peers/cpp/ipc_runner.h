// What the C++ peers of job ipc share: the words of a measurement, the timing of operations, what they print.
//
// usage: PROGRAM read|write --engine NAME --path FILE|FOLDER --format file|stream --input memory|mmap|pipe|file --threads N
//                --operations N [--touch] [--validation full] [--column N] [--first-batch] [--hash] [--to memory|FILE] [--codec lz4|zstd]
//
// read: an operation opens a reader and takes all batches (of each file of a folder), every array made and its buffers
// reachable, until the last is dropped. write: an operation opens a writer, writes the batches that were read before, and
// finishes; PATH is a stream, whatever is written. `seconds` is the median of the operations, which end after kSecondsMax too; `allocations` those of one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct ArrowArrayStream;

namespace ipc_bench {

inline constexpr double kSecondsMax = 2.0;
inline constexpr int kWarmUp = 3;

struct NotOffered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Request {
  std::string operation, engine, path, format, input, to = "memory", codec;
  int threads = 0;
  int operations = 0;
  int column = -1;
  bool touch = false, validate_full = false, first_batch = false, hash = false;
};

// What an operation delivered. `check` depends on where buffers lie, so that nothing is optimised away; `byte_sum` on what
// they hold, if values are touched.
struct Totals {
  int64_t rows = 0, batches = 0, files = 0, bytes_written = 0;
  uint64_t check = 0, byte_sum = 0;
};

// One buffer of an array: reached, and read if the request says so.
inline void take(const void* data, int64_t size, bool touch, Totals& totals) {
  totals.check += reinterpret_cast<uintptr_t>(data) + static_cast<uint64_t>(size);
  if (!touch || data == nullptr) return;
  const auto* bytes = static_cast<const uint8_t*>(data);
  // As `frazil bench ipc` does it, so that the same loop runs: four sums, or one addition waits for the other.
  uint64_t sum = 0, second = 0, third = 0, fourth = 0;
  int64_t at = 0;
  const auto word_at = [bytes](int64_t place) {
    uint64_t word;
    std::memcpy(&word, bytes + place, sizeof word);
    return word;
  };
  for (; at + 32 <= size; at += 32) {
    sum += word_at(at);
    second += word_at(at + 8);
    third += word_at(at + 16);
    fourth += word_at(at + 24);
  }
  sum += second + third + fourth;
  for (; at + 8 <= size; at += 8) sum += word_at(at);
  if (at < size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, static_cast<size_t>(size - at));
    sum += word;
  }
  totals.byte_sum += sum;
}

// Writes bytes into a pipe, in a thread of its own, while an operation reads the other end.
class PipeProducer {
 public:
  explicit PipeProducer(const std::string& bytes) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    read_end_ = ends[0];
    thread_ = std::thread([&bytes, end = ends[1]] {
      for (size_t at = 0; at < bytes.size();) {
        const ssize_t count = ::write(end, bytes.data() + at, std::min<size_t>(bytes.size() - at, 1 << 20));
        if (count <= 0) break;
        at += static_cast<size_t>(count);
      }
      ::close(end);
    });
  }
  // Who reads closes it.
  int read_end() const { return read_end_; }
  ~PipeProducer() { thread_.join(); }

 private:
  int read_end_;
  std::thread thread_;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Bytes that an operation wrote: `in_memory`, or those of its file.
inline int64_t written(const Request& request, int64_t in_memory) {
  return request.to == "memory" ? in_memory : static_cast<int64_t>(std::filesystem::file_size(request.to));
}

// The calls of operator new, which the program replaces (below).
inline std::atomic<uint64_t> new_calls{0};

inline int number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (*end != 0 || value < 0) throw std::invalid_argument(text + " is not a number");
  return static_cast<int>(value);
}

inline Request parse(const std::vector<std::string>& words) {
  Request request;
  if (words.empty() || (words[0] != "read" && words[0] != "write"))
    throw std::invalid_argument("the first word must be read or write");
  request.operation = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--touch") {
      request.touch = true;
    } else if (option == "--first-batch") {
      request.first_batch = true;
    } else if (option == "--hash") {
      request.hash = true;
    } else {
      if (++i == words.size()) throw std::invalid_argument(option + " needs a value");
      const std::string& value = words[i];
      if (option == "--engine")
        request.engine = value;
      else if (option == "--path")
        request.path = value;
      else if (option == "--format")
        request.format = value;
      else if (option == "--input")
        request.input = value;
      else if (option == "--to")
        request.to = value;
      else if (option == "--codec")
        request.codec = value;
      else if (option == "--threads")
        request.threads = number(value);
      else if (option == "--operations")
        request.operations = number(value);
      else if (option == "--column")
        request.column = number(value);
      else if (option == "--validation")
        request.validate_full = value == "full";
      else
        throw std::invalid_argument("unknown: " + option);
    }
  }
  if (request.path.empty() || request.threads < 1 || request.operations < 1)
    throw std::invalid_argument("--path, --threads and --operations are needed");
  return request;
}

inline std::vector<std::string> files_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".arrow") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// What came through read(2) and its kin, from the page cache and pipes too.
inline long long bytes_read() {
  std::ifstream file("/proc/self/io");
  for (std::string key; file >> key;)
    if (long long count = 0; key == "rchar:" && file >> count) return count;
  return 0;
}

// Prints the hash of what `stream` gives (bench/content_hash), and its rows. Takes the stream.
inline void print_content_hash(const Request& request, ArrowArrayStream* stream) {
  const char* path = std::getenv("FRAZIL_CONTENT_HASH");
  if (path == nullptr) throw std::runtime_error("FRAZIL_CONTENT_HASH names no library");
  void* library = ::dlopen(path, RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  auto* function = reinterpret_cast<int (*)(ArrowArrayStream*, uint64_t*, int64_t*, char*, size_t)>(
      ::dlsym(library, "frazil_content_hash_stream"));
  uint64_t sum = 0;
  int64_t rows = 0;
  char error[1024];
  if (function(stream, &sum, &rows, error, sizeof error) != 0)
    throw std::runtime_error(std::string("content hash: ") + error);
  std::printf("{\"engine\": \"%s\", \"content_hash\": \"%016llx\", \"rows\": %lld}\n", request.engine.c_str(),
              static_cast<unsigned long long>(sum), static_cast<long long>(rows));
}

// Runs `operation` (Request -> Totals) as often as asked and prints the figures. `allocations`: those so far.
template <typename Operation, typename Allocations>
void measure(const Request& request, Operation&& operation, Allocations&& allocations) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < kWarmUp; ++i) operation();
  const long long before_that = bytes_read();
  const long long read_before = bytes_read();
  const long long read_to_tell = read_before - before_that;
  const uint64_t allocations_before = allocations();
  Totals totals = operation();
  const uint64_t allocations_of_one = allocations() - allocations_before;
  const long long read_by_one = bytes_read() - read_before - read_to_tell;
  const auto started = Clock::now();
  for (int i = 0; i < request.operations; ++i) {
    const auto before = Clock::now();
    totals = operation();
    const auto after = Clock::now();
    seconds.push_back(std::chrono::duration<double>(after - before).count());
    if (std::chrono::duration<double>(after - started).count() > kSecondsMax) break;
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"engine\": \"%s\", \"rows\": %lld, \"batches\": %lld, \"files\": %lld, \"bytes_read\": %lld, "
      "\"bytes_written\": %lld, "
      "\"seconds\": %.9f, \"microseconds_median\": %.3f, \"microseconds_min\": %.3f, \"operations\": %zu, "
      "\"seconds_to_first_batch\": null, \"pool_peak_bytes\": null, \"rss_peak_bytes\": %ld, \"allocations\": %llu, "
      "\"threads\": %d, \"order\": null, \"byte_sum\": \"%016llx\", \"check\": %llu}\n",
      request.engine.c_str(), static_cast<long long>(totals.rows), static_cast<long long>(totals.batches),
      static_cast<long long>(totals.files), read_by_one, static_cast<long long>(totals.bytes_written), median,
      median * 1e6, seconds[0] * 1e6, seconds.size(), usage.ru_maxrss * 1024,
      static_cast<unsigned long long>(allocations_of_one), request.threads,
      static_cast<unsigned long long>(totals.byte_sum), static_cast<unsigned long long>(totals.check & 7));
}

// main() of a peer: `run` gets the request.
template <typename Run>
int main_of(int argc, char** argv, Run&& run) {
  try {
    run(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const NotOffered& refusal) {
    std::printf("{\"not_offered\": \"%s\"}\n", refusal.what());
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace ipc_bench

// Counts; once a program, since it has one source.
void* operator new(size_t size) {
  ipc_bench::new_calls.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
