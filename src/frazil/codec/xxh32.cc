#include "frazil/codec/xxh32.h"

#include <array>
#include <bit>

#include "frazil/base/byte_reader.h"

namespace frazil {

namespace {

constexpr uint32_t kPrime1 = 2654435761u;
constexpr uint32_t kPrime2 = 2246822519u;
constexpr uint32_t kPrime3 = 3266489917u;
constexpr uint32_t kPrime4 = 668265263u;
constexpr uint32_t kPrime5 = 374761393u;

uint32_t mix_lane(uint32_t lane, uint32_t input) noexcept {
  return std::rotl(lane + input * kPrime2, 13) * kPrime1;
}

}  // namespace

uint32_t xxh32(std::span<const std::byte> data, uint32_t seed) noexcept {
  const std::byte* cursor = data.data();
  size_t remaining = data.size();
  uint32_t hash = seed + kPrime5;
  if (remaining >= 16) {
    std::array<uint32_t, 4> lanes = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
    for (; remaining >= 16; remaining -= 16) {
      for (uint32_t& lane : lanes) {
        lane = mix_lane(lane, load<uint32_t>(cursor));
        cursor += 4;
      }
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  }
  hash += static_cast<uint32_t>(data.size());
  for (; remaining >= 4; remaining -= 4, cursor += 4) {
    hash = std::rotl(hash + load<uint32_t>(cursor) * kPrime3, 17) * kPrime4;
  }
  for (; remaining > 0; --remaining, ++cursor) {
    hash = std::rotl(hash + std::to_integer<uint32_t>(*cursor) * kPrime5, 11) * kPrime1;
  }
  hash = (hash ^ hash >> 15) * kPrime2;
  hash = (hash ^ hash >> 13) * kPrime3;
  return hash ^ hash >> 16;
}

}  // namespace frazil
