#include "progress.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output.h"

namespace frazil::cli {
namespace {

constexpr size_t kBarCells = 20;
constexpr std::string_view kEraseLine = "\r\x1b[2K";

size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// The terminal may be gone: then nobody looks.
void write_ignoring_errors(int descriptor, std::string_view text) {
  ssize_t ignored = ::write(descriptor, text.data(), text.size());
  static_cast<void>(ignored);
}

}  // namespace

Progress::Progress(std::string what, Options options)
    : what_(std::move(what)), options_(options), start_(std::chrono::steady_clock::now()) {
  if (options_.enabled && isatty(options_.descriptor) == 1) {
    drawer_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
}

Progress::~Progress() {
  finish();
}

void Progress::finish() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
}

void Progress::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  auto wait = [&](std::chrono::milliseconds duration) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, duration, [] { return false; });
  };
  wait(options_.delay);
  bool drawn = false;
  while (!stop.stop_requested()) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    write_ignoring_errors(options_.descriptor,
                          std::string(kEraseLine) + line(what_, rows_.load(std::memory_order_relaxed),
                                                         total_rows_.load(std::memory_order_relaxed),
                                                         bytes_.load(std::memory_order_relaxed), seconds,
                                                         terminal_columns(options_.descriptor) - 1));
    drawn = true;
    wait(options_.interval);
  }
  if (drawn) write_ignoring_errors(options_.descriptor, kEraseLine);
}

std::string Progress::line(std::string_view what, int64_t rows, int64_t total_rows, int64_t bytes, double seconds,
                           size_t columns) {
  std::string text = printable(what);
  if (total_rows > 0) {
    double part = std::min(1.0, static_cast<double>(rows) / static_cast<double>(total_rows));
    auto cells = static_cast<size_t>(part * kBarCells);
    text += "  [" + std::string(cells, '#') + std::string(kBarCells - cells, '-') + "]";
    text += fmt::format(" {:3d} %", static_cast<int>(part * 100));
  }
  text += "  " + human_count(rows) + " rows";
  if (bytes > 0) {
    text += "  " + human_bytes(static_cast<uint64_t>(bytes));
    if (seconds > 0) text += "  " + human_bytes(static_cast<uint64_t>(static_cast<double>(bytes) / seconds)) + "/s";
  } else if (seconds > 0) {
    text += "  " + human_count(static_cast<int64_t>(static_cast<double>(rows) / seconds)) + " rows/s";
  }
  // Cut by characters; a line that is too long would wrap and could not be erased.
  while (display_width(text) > columns) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
  }
  return text;
}

}  // namespace frazil::cli
