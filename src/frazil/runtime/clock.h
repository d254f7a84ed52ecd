// Clock: the time, as something that a test can set. Code that needs the time or waits takes a Clock&.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace frazil {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Since an arbitrary start; never goes back. For durations and deadlines.
  virtual std::chrono::nanoseconds steady_now() const = 0;
  // Since 1970-01-01 00:00 UTC, without leap seconds. Can jump.
  virtual std::chrono::nanoseconds system_now() const = 0;
  // Waits for `duration`, or until a stop is requested: false then.
  virtual bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {}) = 0;

  // What Iceberg metadata counts in.
  int64_t system_ms() const { return std::chrono::floor<std::chrono::milliseconds>(system_now()).count(); }
  int64_t system_us() const { return std::chrono::floor<std::chrono::microseconds>(system_now()).count(); }
};

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds steady_now() const override;
  std::chrono::nanoseconds system_now() const override;
  bool sleep(std::chrono::nanoseconds duration, const std::stop_token& stop = {}) override;
};

}  // namespace frazil
