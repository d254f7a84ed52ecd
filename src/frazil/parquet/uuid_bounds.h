// Bounds of UUIDs that hold in both orders by which readers compare them.
//
//   unsigned   16 bytes as they are: the order of the format
//   signed     two halves of 8 bytes as signed numbers, the upper one first: java.util.UUID. Iceberg Java passes over files
//              and row groups by it, also where it looks for equal values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace frazil::parquet {

struct UuidBounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

// `min` and `max` are the extremes in the unsigned order. A bound that is right in that order alone is moved to the next one
// that is right in both, or is absent. Requires 16 bytes each.
UuidBounds uuid_bounds(std::string_view min, std::string_view max);

}  // namespace frazil::parquet
