#include "frazil/parquet/bounds_order.h"

#include <cstddef>
#include <cstdint>

#include "frazil/base/byte_reader.h"
#include "frazil/base/half_float.h"

namespace frazil::parquet {

namespace {

template <typename T>
bool less(std::string_view left, std::string_view right) {
  return load<T>(reinterpret_cast<const std::byte*>(left.data())) <
         load<T>(reinterpret_cast<const std::byte*>(right.data()));
}

uint8_t sign_flipped(std::string_view number) {
  return static_cast<uint8_t>(static_cast<uint8_t>(number[0]) ^ 0x80U);
}

}  // namespace

bool is_before(const LeafType& leaf, std::string_view left, std::string_view right) {
  const bool is_unsigned = leaf.logical.kind == LogicalType::Kind::kInteger && !leaf.logical.is_signed;
  switch (leaf.physical) {
    case PhysicalType::kBoolean:
      return less<uint8_t>(left, right);
    case PhysicalType::kInt32:
      return is_unsigned ? less<uint32_t>(left, right) : less<int32_t>(left, right);
    case PhysicalType::kInt64:
      return is_unsigned ? less<uint64_t>(left, right) : less<int64_t>(left, right);
    case PhysicalType::kFloat:
      return less<float>(left, right);
    case PhysicalType::kDouble:
      return less<double>(left, right);
    default:
      break;
  }
  if (leaf.logical.kind == LogicalType::Kind::kFloat16) {
    return half_to_float(load<uint16_t>(reinterpret_cast<const std::byte*>(left.data()))) <
           half_to_float(load<uint16_t>(reinterpret_cast<const std::byte*>(right.data())));
  }
  if (leaf.logical.kind == LogicalType::Kind::kDecimal && left.size() == right.size() && !left.empty()) {
    if (left[0] != right[0]) return sign_flipped(left) < sign_flipped(right);
  }
  return left < right;  // std::string_view compares as unsigned bytes
}

void widen(const LeafType& leaf, ValueBounds& bounds, const ValueBounds& other) {
  if (is_before(leaf, other.min, bounds.min)) {
    bounds.min = other.min;
    bounds.is_min_exact = other.is_min_exact;
  } else if (!is_before(leaf, bounds.min, other.min)) {
    bounds.is_min_exact = bounds.is_min_exact || other.is_min_exact;
  }
  if (is_before(leaf, bounds.max, other.max)) {
    bounds.max = other.max;
    bounds.is_max_exact = other.is_max_exact;
  } else if (!is_before(leaf, other.max, bounds.max)) {
    bounds.is_max_exact = bounds.is_max_exact || other.is_max_exact;
  }
}

}  // namespace frazil::parquet
