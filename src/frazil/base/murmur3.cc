#include "frazil/base/murmur3.h"

#include <bit>

#include "frazil/base/byte_reader.h"

namespace frazil {

namespace {

constexpr uint32_t scramble(uint32_t block) noexcept {
  return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

constexpr uint32_t mix(uint32_t hash, uint32_t block) noexcept {
  return std::rotl(hash ^ scramble(block), 13) * 5 + 0xe6546b64U;
}

constexpr int32_t finish(uint32_t hash, uint32_t byte_size) noexcept {
  hash ^= byte_size;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return static_cast<int32_t>(hash ^ (hash >> 16));
}

}  // namespace

int32_t murmur3_x86_32(std::span<const std::byte> bytes, uint32_t seed) noexcept {
  uint32_t hash = seed;
  const std::byte* cursor = bytes.data();
  size_t rest = bytes.size();
  for (; rest >= 4; rest -= 4, cursor += 4) hash = mix(hash, load<uint32_t>(cursor));
  uint32_t tail = 0;
  for (size_t i = rest; i > 0; --i) tail = (tail << 8) | std::to_integer<uint32_t>(cursor[i - 1]);
  if (rest != 0) hash ^= scramble(tail);
  return finish(hash, static_cast<uint32_t>(bytes.size()));
}

int32_t murmur3_x86_32(std::string_view text, uint32_t seed) noexcept {
  return murmur3_x86_32(std::as_bytes(std::span(text)), seed);
}

int32_t murmur3_x86_32_of_int64(int64_t value, uint32_t seed) noexcept {
  const auto bits = static_cast<uint64_t>(value);
  return finish(mix(mix(seed, static_cast<uint32_t>(bits)), static_cast<uint32_t>(bits >> 32)), 8);
}

}  // namespace frazil
