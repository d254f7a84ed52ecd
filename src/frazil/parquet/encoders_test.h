// Encodes values for tests: plainly, value by value, so that it is easy to see that it is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "frazil/base/bits.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet::testing {

inline void append_zigzag(std::string& out, int64_t value) {
  append_varint(out, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

// Appends the low `width` bits of each value, lowest first; the last byte is filled with zeros.
inline void append_packed(std::string& out, const std::vector<uint64_t>& values, int width) {
  std::string packed((values.size() * static_cast<size_t>(width) + 7) / 8, '\0');
  size_t at = 0;
  for (uint64_t value : values) {
    for (int bit = 0; bit < width; ++bit, ++at) {
      if (value >> bit & 1) packed[at / 8] = static_cast<char>(packed[at / 8] | 1 << (at % 8));
    }
  }
  out += packed;
}

struct DeltaShape {
  size_t block_values = 128;
  size_t miniblocks = 4;
  int extra_width = 0;       // bits more than the deltas need
  char absent_width = '\0';  // of miniblocks that have no values
  bool cut_last = false;     // the last miniblock ends with its values
};

// DELTA_BINARY_PACKED of int32_t or int64_t, modulo their size.
template <typename T>
std::string delta_packed(const std::vector<T>& values, const DeltaShape& shape = {}) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  std::string out;
  append_varint(out, shape.block_values);
  append_varint(out, shape.miniblocks);
  append_varint(out, values.size());
  append_zigzag(out, values.empty() ? 0 : values[0]);
  const size_t in_miniblock = shape.block_values / shape.miniblocks;
  for (size_t start = 1; start < values.size(); start += shape.block_values) {
    const size_t end = std::min(values.size(), start + shape.block_values);
    std::vector<T> deltas;
    for (size_t i = start; i < end; ++i) {
      deltas.push_back(static_cast<T>(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(values[i - 1])));
    }
    const T least = *std::min_element(deltas.begin(), deltas.end());
    append_zigzag(out, least);
    std::string widths;
    std::string bodies;
    for (size_t m = 0; m < shape.miniblocks; ++m) {
      std::vector<uint64_t> rests;
      int width = 0;
      for (size_t i = m * in_miniblock; i < std::min(deltas.size(), (m + 1) * in_miniblock); ++i) {
        const auto rest = static_cast<Unsigned>(static_cast<Unsigned>(deltas[i]) - static_cast<Unsigned>(least));
        rests.push_back(rest);
        width = std::max(width, bit_width_of(rest));
      }
      if (rests.empty()) {
        widths += shape.absent_width;
        continue;
      }
      width = std::min(width + shape.extra_width, kBits);
      widths += static_cast<char>(width);
      if (!shape.cut_last || end < values.size() || (m + 1) * in_miniblock < deltas.size()) rests.resize(in_miniblock);
      append_packed(bodies, rests, width);
    }
    out += widths + bodies;
  }
  return out;
}

inline std::string delta_length(const std::vector<std::string>& values, const DeltaShape& shape = {}) {
  std::vector<int32_t> lengths;
  std::string bytes;
  for (const std::string& value : values) {
    lengths.push_back(static_cast<int32_t>(value.size()));
    bytes += value;
  }
  return delta_packed(lengths, shape) + bytes;
}

// `before`: the last value of the page before, from which old writers went on.
inline std::string delta_prefix(const std::vector<std::string>& values, const DeltaShape& shape = {},
                                const std::string& before = "") {
  std::vector<int32_t> prefixes;
  std::vector<std::string> rests;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& last = i == 0 ? before : values[i - 1];
    size_t prefix = 0;
    while (prefix < std::min(last.size(), values[i].size()) && last[prefix] == values[i][prefix]) ++prefix;
    prefixes.push_back(static_cast<int32_t>(prefix));
    rests.push_back(values[i].substr(prefix));
  }
  return delta_packed(prefixes, shape) + delta_length(rests, shape);
}

// BYTE_STREAM_SPLIT of plain values of `width` bytes.
inline std::string split_bytes(const std::string& plain_values, size_t width) {
  std::string out;
  for (size_t byte = 0; byte < width; ++byte) {
    for (size_t at = byte; at < plain_values.size(); at += width) out += plain_values[at];
  }
  return out;
}

}  // namespace frazil::parquet::testing
