// SIGINT, SIGTERM and SIGHUP: the first asks the work to stop; work that has not stopped soon after, or a second
// signal, ends the process. Nothing is left behind: files in the making have temporary names that the next run of a
// writer recognises, and reading leaves no files.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

namespace frazil::cli {

// Made once, in main, before any other thread. While it lives these signals are blocked in all threads and taken by
// one of its own; it also ignores SIGPIPE. A signal that the parent process had ignored stays ignored.
class InterruptGuard {
 public:
  // How long the work may take to stop: the promise is a second.
  explicit InterruptGuard(std::chrono::milliseconds patience = std::chrono::milliseconds(700));
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool interrupted() const { return source_.stop_requested(); }

 private:
  void run();

  const std::chrono::milliseconds patience_;
  std::stop_source source_;
  int signals_ = -1;  // a signalfd
  int quit_ = -1;     // an eventfd: the guard is being destroyed
  std::thread watcher_;
};

}  // namespace frazil::cli
