// What a read or write took: the figures of --stats and of `frazil bench`, by the same names everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/scan/scan.h"

namespace frazil::cli {

// Nothing: it does not apply.
struct Figures {
  int64_t rows = 0;
  std::optional<int64_t> batches;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t files = 0;
  double seconds = 0;
  std::optional<double> seconds_to_first_batch;
  size_t pool_peak_bytes = 0;
  uint64_t rss_peak_bytes = 0;
  uint64_t allocations = 0;
  size_t threads = 0;
  std::optional<scan::Order> order;  // of reading

  void set_pool(const MemoryPoolStats& stats) {
    pool_peak_bytes = stats.held_peak_bytes;
    allocations = stats.allocations;
  }
  // What the stream itself counted; it ran on at most `threads_max` threads.
  void set_stream(const scan::Stream& stream, scan::Order stream_order, size_t threads_max);
};

// Members by the names above.
json::Object to_json(const Figures& figures);

std::string_view order_name(scan::Order order);

// The most of the process that was in memory, mapped file pages included, since it began or since reset_rss_peak(). 0
// if the system does not tell.
uint64_t rss_peak_bytes();
// Lets the mark begin anew at what is in memory now. False if the system does not allow it.
bool reset_rss_peak();

}  // namespace frazil::cli
