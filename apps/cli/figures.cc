#include "figures.h"

#include <cstdio>
#include <string>
#include <utility>

#include <sys/resource.h>

namespace frazil::cli {

std::string_view order_name(scan::Order order) {
  switch (order) {
    case scan::Order::kTask:
      return "task";
    case scan::Order::kArrival:
      return "arrival";
    case scan::Order::kSequential:
      return "sequential";
  }
  return "";
}

void Figures::set_stream(const scan::Stream& stream, scan::Order stream_order, size_t threads_max) {
  const scan::StreamStats stats = stream.stats();
  rows = stats.rows;
  batches = stats.batches;
  files = stats.files;
  set_pool(stats.pool);
  order = stream_order;
  threads = stream_order == scan::Order::kSequential ? 1 : threads_max;
}

json::Object to_json(const Figures& figures) {
  json::Object object;
  const auto add = [&](std::string_view name, auto value) { object.emplace_back(name, json::Value(std::move(value))); };
  const auto add_count = [&](std::string_view name, uint64_t count) { add(name, static_cast<int64_t>(count)); };
  const auto add_known = [&](std::string_view name, const auto& value) {
    object.emplace_back(name, value ? json::Value(*value) : json::Value());
  };
  add("rows", figures.rows);
  add_known("batches", figures.batches);
  add_count("bytes_read", figures.bytes_read);
  add_count("bytes_written", figures.bytes_written);
  add_count("files", figures.files);
  add("seconds", figures.seconds);
  add_known("seconds_to_first_batch", figures.seconds_to_first_batch);
  add_count("pool_peak_bytes", figures.pool_peak_bytes);
  add_count("rss_peak_bytes", figures.rss_peak_bytes);
  add_count("allocations", figures.allocations);
  add_count("threads", figures.threads);
  object.emplace_back("order", figures.order ? json::Value(order_name(*figures.order)) : json::Value());
  return object;
}

uint64_t rss_peak_bytes() {
  // Not getrusage: exec keeps the mark of the process that forked us. VmHWM belongs to this program's memory alone.
  unsigned long long kib = 0;
  if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), status) != nullptr) {
      if (std::sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
    }
    std::fclose(status);
  }
  if (kib != 0) return uint64_t{kib} * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

bool reset_rss_peak() {
  std::FILE* clear = std::fopen("/proc/self/clear_refs", "w");
  if (clear == nullptr) return false;
  const bool written = std::fputs("5", clear) >= 0;
  return std::fclose(clear) == 0 && written;
}

}  // namespace frazil::cli
