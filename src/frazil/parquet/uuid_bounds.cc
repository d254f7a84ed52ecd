#include "frazil/parquet/uuid_bounds.h"

#include <cstdint>

#include "frazil/base/byte_reader.h"

namespace frazil::parquet {

namespace {

uint64_t load_big_endian(std::string_view bytes) {
  return __builtin_bswap64(load<uint64_t>(bytes.data()));
}

std::string store_big_endian(uint64_t high, uint64_t low) {
  std::string bytes(16, '\0');
  store(bytes.data(), __builtin_bswap64(high));
  store(bytes.data() + 8, __builtin_bswap64(low));
  return bytes;
}

constexpr uint64_t kSignBit = uint64_t{1} << 63;

}  // namespace

// With upper halves of one sign both orders agree on these. Values whose upper half is that of the bound can still be on its
// wrong side if their lower half has the other sign: then the bound moves to the next upper half. (Random and time-based
// UUIDs have the top bit of their lower half set: only their upper bounds move.)
UuidBounds uuid_bounds(std::string_view min, std::string_view max) {
  const uint64_t min_high = load_big_endian(min);
  const uint64_t max_high = load_big_endian(max);
  if (((min_high ^ max_high) & kSignBit) != 0) return {};
  const uint64_t min_low = load_big_endian(min.substr(8));
  const uint64_t max_low = load_big_endian(max.substr(8));
  UuidBounds bounds = {std::string(min), std::string(max)};
  if (min_high == max_high && ((min_low ^ max_low) & kSignBit) == 0) return bounds;
  if ((min_low & kSignBit) == 0) {
    bounds.lower.reset();
    if ((min_high & ~kSignBit) != 0) bounds.lower = store_big_endian(min_high - 1, 0);
  }
  if ((max_low & kSignBit) != 0) {
    bounds.upper.reset();
    if ((max_high & ~kSignBit) != ~kSignBit) bounds.upper = store_big_endian(max_high + 1, 0);
  }
  return bounds;
}

}  // namespace frazil::parquet
