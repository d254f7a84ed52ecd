#include "frazil/runtime/clock.h"

#include <algorithm>

#include "frazil/base/mutex.h"

namespace frazil {

std::chrono::nanoseconds SystemClock::steady_now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::chrono::nanoseconds SystemClock::system_now() const {
  return std::chrono::system_clock::now().time_since_epoch();
}

bool SystemClock::sleep(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  // Far from where adding it to now overflows.
  auto deadline =
      std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(duration, std::chrono::years(10));
  Mutex mutex;
  CondVar stopped;
  // Made before the lock and destroyed after it, because the callback takes the mutex.
  std::stop_callback wake(stop, [&] {
    MutexLock lock(mutex);
    stopped.notify_all();
  });
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    if (!stopped.wait_until(mutex, deadline)) return !stop.stop_requested();
  }
  return false;
}

}  // namespace frazil
