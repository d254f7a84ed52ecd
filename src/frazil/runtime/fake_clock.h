// FakeClock: a clock for tests. Time passes when the test, or code that sleeps, says so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "frazil/runtime/clock.h"

namespace frazil {

class FakeClock final : public Clock {
 public:
  // Starts at `system_now` since 1970-01-01 UTC, by default 2026-01-01 00:00.
  explicit FakeClock(std::chrono::nanoseconds system_now = std::chrono::seconds(1'767'225'600)) : start_(system_now) {}

  std::chrono::nanoseconds steady_now() const override { return std::chrono::nanoseconds(elapsed_ns_.load()); }
  std::chrono::nanoseconds system_now() const override { return start_ + steady_now(); }
  // Returns at once; the time has passed, unless a stop was requested.
  bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {}) override {
    if (stop.stop_requested()) return false;
    advance(duration);
    return true;
  }

  void advance(std::chrono::nanoseconds duration) { elapsed_ns_ += duration.count(); }

 private:
  const std::chrono::nanoseconds start_;
  std::atomic<int64_t> elapsed_ns_{0};
};

}  // namespace frazil
