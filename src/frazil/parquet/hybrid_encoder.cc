#include "frazil/parquet/hybrid_encoder.h"

#include <algorithm>

#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

constexpr size_t kRepeatedMin = 16;
// Packed runs are emitted in pieces of at most so many values; a longer run has more headers, of two bytes each.
constexpr size_t kPackedMax = 4096;

size_t run_of(const EncodeKernels& kernels, std::span<const uint32_t> values) {
  return kernels.run4(values.data(), values.size());
}
size_t run_of(const EncodeKernels& kernels, std::span<const uint8_t> values) {
  return kernels.run1(values.data(), values.size());
}

void pack(const EncodeKernels& kernels, std::span<const uint32_t> values, int width, std::byte* target) {
  const size_t whole = values.size() & ~size_t{7};
  kernels.pack(values.data(), whole, width, target);
  if (whole == values.size()) return;
  uint32_t rest[8] = {};
  std::copy(values.begin() + static_cast<ptrdiff_t>(whole), values.end(), rest);
  kernels.pack(rest, 8, width, target + whole / 8 * static_cast<size_t>(width));
}

void pack(const EncodeKernels& kernels, std::span<const uint8_t> values, int width, std::byte* target) {
  uint32_t wide[512];
  for (size_t at = 0; at < values.size(); at += std::size(wide)) {
    const size_t count = std::min(std::size(wide), values.size() - at);
    std::copy_n(values.data() + at, count, wide);
    pack(kernels, std::span<const uint32_t>(wide, count), width, target + at / 8 * static_cast<size_t>(width));
  }
}

template <typename T>
void append_packed(const EncodeKernels& kernels, std::span<const T> values, int width, EncodeBuffer& out) {
  if (values.empty()) return;
  const size_t groups = (values.size() + 7) / 8;
  out.append_varint(groups << 1 | 1);
  const size_t bytes = groups * static_cast<size_t>(width);
  pack(kernels, values, width, out.reserve(bytes));
  out.advance(bytes);
}

template <typename T>
void append_any(std::span<const T> values, int width, EncodeBuffer& out) {
  const EncodeKernels& kernels = encode_kernels();
  size_t start = 0;  // of the packed run that is open
  size_t at = 0;
  while (at < values.size()) {
    const size_t run = run_of(kernels, values.subspan(at));
    if (run >= kRepeatedMin || (run == values.size() && run > 0)) {
      append_packed(kernels, values.subspan(start, at - start), width, out);
      append_hybrid_run(run, static_cast<uint32_t>(values[at]), width, out);
      at += run;
      start = at;
      continue;
    }
    at = std::min(at + 8, values.size());
    if (at - start == kPackedMax) {
      append_packed(kernels, values.subspan(start, at - start), width, out);
      start = at;
    }
  }
  append_packed(kernels, values.subspan(start), width, out);
}

}  // namespace

void append_hybrid_run(uint64_t count, uint32_t value, int width, EncodeBuffer& out) {
  if (count == 0) return;
  out.append_varint(count << 1);
  std::byte* const target = out.reserve(4);
  store(target, value);
  out.advance(static_cast<size_t>(width + 7) / 8);
}

void append_hybrid(std::span<const uint32_t> values, int width, EncodeBuffer& out) {
  if (width == 0) return append_hybrid_run(values.size(), 0, 0, out);
  append_any(values, width, out);
}

void append_hybrid(std::span<const uint8_t> values, int width, EncodeBuffer& out) {
  if (width == 0) return append_hybrid_run(values.size(), 0, 0, out);
  append_any(values, width, out);
}

}  // namespace frazil::parquet
