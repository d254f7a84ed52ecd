// The units in which times, timestamps and durations count.
#pragma once

#include <cstdint>

namespace frazil {

enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

constexpr int64_t units_per_second(TimeUnit unit) noexcept {
  switch (unit) {
    case TimeUnit::kSecond:
      return 1;
    case TimeUnit::kMilli:
      return 1'000;
    case TimeUnit::kMicro:
      return 1'000'000;
    case TimeUnit::kNano:
      return 1'000'000'000;
  }
  return 1;
}

inline constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t units_per_day(TimeUnit unit) noexcept {
  return units_per_second(unit) * kSecondsPerDay;
}

// Digits of the fraction of a second: 0, 3, 6, 9.
constexpr int fraction_digits(TimeUnit unit) noexcept {
  return 3 * static_cast<int>(unit);
}

}  // namespace frazil
