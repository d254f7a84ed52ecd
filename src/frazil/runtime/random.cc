#include "frazil/runtime/random.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include <sys/random.h>

#include "frazil/base/error.h"

namespace frazil {

namespace {

template <size_t kSize>
std::array<std::byte, kSize> random_bytes(Random& random) {
  std::array<std::byte, kSize> bytes;
  for (size_t offset = 0; offset < kSize; offset += 8) {
    uint64_t value = random.next();
    std::memcpy(bytes.data() + offset, &value, std::min<size_t>(8, kSize - offset));
  }
  return bytes;
}

}  // namespace

uint64_t Random::below(uint64_t bound) {
  uint64_t excess = (~bound + 1) % bound;  // 2^64 mod bound: values below it would favour small results
  while (true) {
    uint64_t value = next();
    if (value >= excess) return value % bound;
  }
}

Uuid Random::uuid_v4() {
  return make_uuid_v4(random_bytes<16>(*this));
}

Uuid Random::uuid_v7(std::chrono::nanoseconds system_now) {
  auto unix_ms = std::chrono::floor<std::chrono::milliseconds>(system_now).count();
  return make_uuid_v7(static_cast<uint64_t>(unix_ms), random_bytes<10>(*this));
}

uint64_t SystemRandom::next() {
  uint64_t value = 0;
  // Up to 256 bytes come whole, but a signal may interrupt the wait for the first entropy after boot.
  while (::getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) {
    if (errno != EINTR) throw IoError(errno, "getrandom failed");
  }
  return value;
}

uint64_t SeededRandom::next() {
  uint64_t mixed = 0;
  {
    MutexLock lock(mutex_);
    state_ += 0x9e3779b97f4a7c15;
    mixed = state_;
  }
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace frazil
