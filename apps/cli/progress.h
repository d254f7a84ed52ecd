// A line on stderr that shows how far a long piece of work is: after a second, on a terminal, unless --quiet.
//
//   scanning web.hits  [######----------]  41 %  12,345,678 rows  1.2 GiB  310 MiB/s
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace frazil::cli {

class Progress {
 public:
  struct Options {
    bool enabled = true;  // also needs a terminal
    std::chrono::milliseconds delay{1000};
    std::chrono::milliseconds interval{100};
    int descriptor = 2;
  };
  explicit Progress(std::string what) : Progress(std::move(what), Options{}) {}
  Progress(std::string what, Options options);
  // Removes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Any thread. Unknown totals stay 0: there is no bar then.
  void set_total_rows(int64_t rows) { total_rows_.store(rows, std::memory_order_relaxed); }
  void add(int64_t rows, int64_t bytes) {
    rows_.fetch_add(rows, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // For a figure that others count.
  void set_bytes(int64_t bytes) { bytes_.store(bytes, std::memory_order_relaxed); }
  // Removes the line at once and for good: before other output to the terminal.
  void finish();

  // The line as it would be printed, at most `columns` wide; for tests.
  static std::string line(std::string_view what, int64_t rows, int64_t total_rows, int64_t bytes, double seconds,
                          size_t columns);

 private:
  void run(const std::stop_token& stop);

  const std::string what_;
  const Options options_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<int64_t> rows_{0};
  std::atomic<int64_t> total_rows_{0};
  std::atomic<int64_t> bytes_{0};
  std::jthread drawer_;  // last: it uses the rest
};

}  // namespace frazil::cli
