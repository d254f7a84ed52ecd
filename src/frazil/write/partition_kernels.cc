#include "frazil/write/partition_kernels.h"

#include <bit>
#include <limits>

#include "frazil/base/floor_division.h"
#include "frazil/base/int128.h"

namespace frazil::write::kernel {

namespace {

// A divisor that is known while compiling becomes a multiplication: 4 times as fast.
template <int64_t kDivisor>
void floor_divide_by(std::span<const int64_t> values, int64_t* out) noexcept {
  for (size_t i = 0; i < values.size(); ++i) out[i] = frazil::floor_divide(values[i], kDivisor);
}

}  // namespace

void widen(std::span<const int32_t> values, int64_t* out) noexcept {
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
}

void float_bits(std::span<const float> values, int64_t* out) noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    out[i] = value == value ? std::bit_cast<int32_t>(value)
                            : std::bit_cast<int32_t>(std::numeric_limits<float>::quiet_NaN());
  }
}

void double_bits(std::span<const double> values, int64_t* out) noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    out[i] = value == value ? std::bit_cast<int64_t>(value)
                            : std::bit_cast<int64_t>(std::numeric_limits<double>::quiet_NaN());
  }
}

void floor_divide(std::span<const int64_t> values, int64_t divisor, int64_t* out) noexcept {
  switch (divisor) {
    case 1'000:
      return floor_divide_by<1'000>(values, out);
    case 3'600'000'000:
      return floor_divide_by<3'600'000'000>(values, out);
    case 86'400'000'000:
      return floor_divide_by<86'400'000'000>(values, out);
    case 3'600'000'000'000:
      return floor_divide_by<3'600'000'000'000>(values, out);
    case 86'400'000'000'000:
      return floor_divide_by<86'400'000'000'000>(values, out);
    default:
      for (size_t i = 0; i < values.size(); ++i) out[i] = frazil::floor_divide(values[i], divisor);
  }
}

void bucket(std::span<int64_t> values, int32_t count) noexcept {
  // hash % count by multiplication: the fraction hash / count in 64 bits, times count (Lemire, Kaser, Kurz, "Faster
  // remainder by direct computation", 2019). Exact for all 32-bit numbers; count 1 wraps to 0, which is right.
  const auto divisor = static_cast<uint32_t>(count);
  const uint64_t reciprocal = UINT64_MAX / divisor + 1;
  for (int64_t& value : values) {
    const uint64_t fraction = reciprocal * (hash_of_8_bytes(value) & INT32_MAX);
    value = static_cast<int64_t>(static_cast<UInt128>(fraction) * divisor >> 64);
  }
}

size_t truncate(std::span<int64_t> values, int32_t width) noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    if (__builtin_sub_overflow(values[i], floor_modulo(values[i], width), &values[i])) return i;
  }
  return values.size();
}

}  // namespace frazil::write::kernel
