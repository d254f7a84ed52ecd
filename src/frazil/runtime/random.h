// Random: chance, as something that a test can seed. Snapshot ids, file names, jitter.
#pragma once

#include <chrono>
#include <cstdint>

#include "frazil/base/mutex.h"
#include "frazil/base/uuid.h"

namespace frazil {

// Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  // Uniform in [0, bound). Requires bound > 0.
  uint64_t below(uint64_t bound);
  // Version 4: all random.
  Uuid uuid_v4();
  // Version 7: sorts by `system_now` (Clock::system_now()) in milliseconds.
  Uuid uuid_v7(std::chrono::nanoseconds system_now);
};

// The operating system's generator, asked at each call (about 0.3 us): nothing is kept that a forked child would
// repeat.
class SystemRandom final : public Random {
 public:
  uint64_t next() override;
};

// splitmix64: the same seed gives the same numbers on every machine. For tests and generated data, never for names that
// must be unique.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override;

 private:
  Mutex mutex_;
  uint64_t state_ GUARDED_BY(mutex_);
};

}  // namespace frazil
