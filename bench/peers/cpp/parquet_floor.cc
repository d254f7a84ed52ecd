// How fast can the pages of a table be read and decompressed at all? The floor of job R with Arrow C++'s page reader and
// the codecs bundled in its wheel: every page of every wanted column, nothing decoded. Prints one JSON object.
//
// usage: parquet_floor read --engine floor_arrow --metadata METADATA_JSON --threads N [--columns a,b]
//
// Knows no tables: it takes the Parquet files below the table's folder, N threads each one file at a time. What a floor
// cannot do (--filter, --count, --hash, --batch-rows, --concurrency) prints {"not_offered": reason}.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/memory_pool.h>
#include <parquet/api/reader.h>
#include <parquet/column_page.h>
#include <sys/resource.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Request {
  std::string metadata;
  int threads = 0;
  std::optional<std::set<std::string>> columns;  // top-level names; absent means all
  std::string not_offered;
};

struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int positive(const std::string& text) {
  const int number = std::atoi(text.c_str());
  if (number < 1) throw Usage(text + " is not a positive number");
  return number;
}

Request parse(const std::vector<std::string>& words) {
  Request request;
  if (words.empty() || words[0] != "read") throw Usage("the first word must be read");
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--count" || option == "--hash") {
      request.not_offered = "the floor decodes nothing";
      continue;
    }
    if (++i == words.size()) throw Usage(option + " needs a value");
    if (option == "--metadata") {
      request.metadata = words[i].substr(words[i].rfind("file:", 0) == 0 ? words[i].find('/') : 0);
    } else if (option == "--threads") {
      request.threads = positive(words[i]);
    } else if (option == "--columns") {
      request.columns.emplace();
      std::istringstream names(words[i]);
      for (std::string name; std::getline(names, name, ',');) request.columns->insert(name);
    } else if (option == "--filter" || option == "--batch-rows") {
      request.not_offered = "the floor decodes nothing";
    } else if (option == "--concurrency") {
      request.not_offered = "the floor reads one file a thread";
    } else if (option != "--engine" || words[i] != "floor_arrow") {
      throw Usage("unknown: " + option + " " + words[i]);
    }
  }
  if (request.metadata.empty() || request.threads == 0) throw Usage("--metadata and --threads are needed");
  return request;
}

std::vector<std::string> data_files(const std::string& metadata) {
  std::vector<std::string> files;
  const auto folder = std::filesystem::absolute(metadata).parent_path().parent_path() / "data";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".parquet") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Bytes that came through read(2) and its kin, from the page cache too.
long long bytes_read() {
  std::ifstream file("/proc/self/io");
  for (std::string key; file >> key;)
    if (long long count = 0; key == "rchar:" && file >> count) return count;
  return 0;
}

// Reads all pages of the wanted columns; returns the number of rows that they hold.
int64_t read_file(const std::string& path, const Request& request) {
  const auto reader = parquet::ParquetFileReader::Open(arrow::io::ReadableFile::Open(path).ValueOrDie());
  const auto& metadata = *reader->metadata();
  for (int group = 0; group < metadata.num_row_groups(); ++group) {
    const auto row_group = reader->RowGroup(group);
    for (int column = 0; column < metadata.num_columns(); ++column) {
      const std::string name = metadata.schema()->GetColumnRoot(column)->name();
      if (request.columns && !request.columns->contains(name)) continue;
      const auto pages = row_group->GetColumnPageReader(column);
      while (pages->NextPage()) {
      }
    }
  }
  return metadata.num_rows();
}

void run(const Request& request) {
  const long long read_before = bytes_read();
  const auto started = Clock::now();
  const auto files = data_files(request.metadata);
  std::atomic<int64_t> rows{0};
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::atomic_flag failed;
  const auto work = [&] {
    try {
      for (size_t index; (index = next++) < files.size();) rows += read_file(files[index], request);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
      next = files.size();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < request.threads; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"engine\": \"floor_arrow\", \"rows\": %lld, \"batches\": null, \"bytes_read\": %lld, \"bytes_written\": 0, "
      "\"files\": %zu, \"seconds\": %.6f, \"seconds_to_first_batch\": null, \"pool_peak_bytes\": %lld, "
      "\"rss_peak_bytes\": %ld, \"allocations\": null, \"threads\": %d, \"order\": \"arrival\"}\n",
      static_cast<long long>(rows), bytes_read() - read_before, files.size(), seconds,
      static_cast<long long>(arrow::default_memory_pool()->max_memory()), usage.ru_maxrss * 1024, request.threads);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Request request = parse({argv + 1, argv + argc});
    if (request.not_offered.empty()) {
      run(request);
    } else {
      std::printf("{\"not_offered\": \"%s\"}\n", request.not_offered.c_str());
    }
    return 0;
  } catch (const Usage& error) {
    std::fprintf(stderr, "parquet_floor: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parquet_floor: %s\n", error.what());
    return 1;
  }
}
