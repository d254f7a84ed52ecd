// Writes the values of a page (format/Encodings.md) from two forms that hold any column's values without gaps:
// FixedValues, one after the other as PLAIN has them, and BytesValues, Arrow's offsets and bytes.
//
//   encoding                 BOOLEAN  INT32, INT64  FLOAT, DOUBLE  BYTE_ARRAY  FIXED_LEN_BYTE_ARRAY
//   PLAIN                       x          x              x             x               x
//   RLE                         x
//   DELTA_BINARY_PACKED                    x
//   DELTA_LENGTH_BYTE_ARRAY                                             x
//   DELTA_BYTE_ARRAY                                                    x               x
//   BYTE_STREAM_SPLIT                      x              x                             x
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/format.h"

namespace frazil::parquet {

// `count` values of `width` bytes, little-endian; BOOLEAN: a byte each, 0 or 1. Read exactly. Aligned to 8 bytes where
// width is 4 or 8.
struct FixedValues {
  const std::byte* data = nullptr;
  size_t width = 0;
  size_t count = 0;

  FixedValues slice(size_t from, size_t size) const { return {data + from * width, width, size}; }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data);
  }
};

// Value i is data[offsets[i], offsets[i + 1]). Offsets below 2^31, `count` + 1 of them.
struct BytesValues {
  const int32_t* offsets = nullptr;
  const std::byte* data = nullptr;
  size_t count = 0;

  BytesValues slice(size_t from, size_t size) const { return {offsets + from, data, size}; }
  size_t byte_size() const { return count == 0 ? 0 : static_cast<size_t>(offsets[count] - offsets[0]); }
  std::string_view value(size_t index) const {
    return {reinterpret_cast<const char*>(data) + offsets[index],
            static_cast<size_t>(offsets[index + 1] - offsets[index])};
  }
};

// Whether the table above has an x.
bool has_encoding(PhysicalType type, Encoding encoding);

// Requires an encoding that the type has, other than a dictionary. What is in `scratch` is lost: it takes up to 8 bytes a
// value. Throws MemoryLimitError.
void append_values(PhysicalType type, Encoding encoding, const FixedValues& values, EncodeBuffer& scratch,
                   EncodeBuffer& out);
void append_values(Encoding encoding, const BytesValues& values, EncodeBuffer& scratch, EncodeBuffer& out);

// A BYTE_ARRAY value as PLAIN has it.
void append_plain(std::string_view value, EncodeBuffer& out);

}  // namespace frazil::parquet
