#include "frazil/parquet/delta_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

constexpr size_t kBlockValues = 128;
constexpr size_t kMiniblocks = 4;
constexpr size_t kMiniblockValues = kBlockValues / kMiniblocks;

int64_t rests_of(const EncodeKernels& kernels, const uint32_t* values, size_t count, uint32_t* rests) {
  return kernels.deltas4(values, count, rests);
}
int64_t rests_of(const EncodeKernels& kernels, const uint64_t* values, size_t count, uint64_t* rests) {
  return kernels.deltas8(values, count, rests);
}
uint32_t bits_of(const EncodeKernels& kernels, const uint32_t* values, size_t count) {
  return kernels.or4(values, count);
}
uint64_t bits_of(const EncodeKernels& kernels, const uint64_t* values, size_t count) {
  return kernels.or8(values, count);
}
void pack(const EncodeKernels& kernels, const uint32_t* values, int width, std::byte* target) {
  kernels.pack(values, kMiniblockValues, width, target);
}
void pack(const EncodeKernels& kernels, const uint64_t* values, int width, std::byte* target) {
  kernels.pack_wide(values, kMiniblockValues, width, target);
}

template <typename T>
void append_any(std::span<const T> values, EncodeBuffer& out) {
  out.append_varint(kBlockValues);
  out.append_varint(kMiniblocks);
  out.append_varint(values.size());
  out.append_zigzag(values.empty() ? 0 : static_cast<std::make_signed_t<T>>(values[0]));
  const EncodeKernels& kernels = encode_kernels();
  T rests[kBlockValues];
  for (size_t at = 1; at < values.size(); at += kBlockValues) {
    const size_t count = std::min(kBlockValues, values.size() - at);
    out.append_zigzag(rests_of(kernels, values.data() + at, count, rests));
    std::fill(rests + count, rests + kBlockValues, T{0});
    std::byte* const widths = out.reserve(kMiniblocks + kBlockValues * sizeof(T));
    std::byte* cursor = widths + kMiniblocks;
    std::memset(widths, 0, kMiniblocks);
    for (size_t mini = 0; mini < kMiniblocks && mini * kMiniblockValues < count; ++mini) {
      const T* const part = rests + mini * kMiniblockValues;
      const int width = std::bit_width(bits_of(kernels, part, kMiniblockValues));
      if (width == 0) continue;
      widths[mini] = static_cast<std::byte>(width);
      pack(kernels, part, width, cursor);
      cursor += static_cast<size_t>(width) * kMiniblockValues / 8;
    }
    out.advance(static_cast<size_t>(cursor - widths));
  }
}

}  // namespace

void append_delta(std::span<const uint32_t> values, EncodeBuffer& out) {
  append_any(values, out);
}
void append_delta(std::span<const uint64_t> values, EncodeBuffer& out) {
  append_any(values, out);
}

}  // namespace frazil::parquet
