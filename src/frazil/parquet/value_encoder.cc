#include "frazil/parquet/value_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/delta_encoder.h"
#include "frazil/parquet/encode_kernels.h"
#include "frazil/parquet/hybrid_encoder.h"

namespace frazil::parquet {

namespace {

[[noreturn]] void throw_no_encoding(Encoding encoding) {
  throw_error(ErrorKind::kInternal, "values of a type that {} does not have", to_string(encoding));
}

void append_booleans(const FixedValues& values, EncodeBuffer& out) {
  const size_t bytes = bytes_for_bits(values.count);
  std::byte* const target = out.reserve(bytes);
  if (bytes > 0) target[bytes - 1] = std::byte{0};  // the bits behind the last value
  pack_bools(values.as<uint8_t>(), values.count, reinterpret_cast<uint8_t*>(target), 0);
  out.advance(bytes);
}

void append_rle_booleans(const FixedValues& values, EncodeBuffer& out) {
  const size_t at = out.size();
  out.append(uint32_t{0});
  append_hybrid(std::span(values.as<uint8_t>(), values.count), 1, out);
  store(out.data() + at, static_cast<uint32_t>(out.size() - at - 4));
}

void append_split(const FixedValues& values, EncodeBuffer& out) {
  const size_t bytes = values.width * values.count;
  encode_kernels().split(values.data, values.width, values.count, out.reserve(bytes));
  out.advance(bytes);
}

// The length and the bytes of a short value are two stores: what they write too far the next value overwrites.
void append_plain_bytes(const BytesValues& values, EncodeBuffer& out) {
  const size_t bytes = values.byte_size() + 4 * values.count;
  std::byte* cursor = out.reserve(bytes);
  // Sources are read exactly: 16 bytes may be read at once only before this.
  const int32_t last = values.count == 0 ? 0 : values.offsets[values.count] - 16;
  for (size_t i = 0; i < values.count; ++i) {
    const int32_t start = values.offsets[i];
    const auto size = static_cast<uint32_t>(values.offsets[i + 1] - start);
    store(cursor, size);
    if (size <= 16 && start <= last) {
      std::memcpy(cursor + 4, values.data + start, 16);
    } else if (size != 0) {
      std::memcpy(cursor + 4, values.data + start, size);
    }
    cursor += 4 + size;
  }
  out.advance(bytes);
}

size_t common_prefix(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    uint64_t left = 0;
    uint64_t right = 0;
    std::memcpy(&left, a.data() + at, 8);
    std::memcpy(&right, b.data() + at, 8);
    if (left != right) return at + static_cast<size_t>(std::countr_zero(left ^ right)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

void append_lengths(const BytesValues& values, EncodeBuffer& scratch, EncodeBuffer& out) {
  scratch.clear();
  auto* const lengths = reinterpret_cast<uint32_t*>(scratch.extend(values.count * sizeof(uint32_t)));
  for (size_t i = 0; i < values.count; ++i) {
    lengths[i] = static_cast<uint32_t>(values.offsets[i + 1] - values.offsets[i]);
  }
  append_delta(std::span<const uint32_t>(lengths, values.count), out);
  if (values.count != 0) out.append(values.data + values.offsets[0], values.byte_size());
}

// `value(i)`: the bytes of value i.
template <typename Value>
void append_delta_bytes(size_t count, size_t byte_size, Value&& value, EncodeBuffer& scratch, EncodeBuffer& out) {
  scratch.clear();
  auto* const prefixes = reinterpret_cast<uint32_t*>(scratch.extend(2 * count * sizeof(uint32_t)));
  uint32_t* const suffixes = prefixes + count;
  std::string_view last;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view bytes = value(i);
    const size_t prefix = common_prefix(last, bytes);
    prefixes[i] = static_cast<uint32_t>(prefix);
    suffixes[i] = static_cast<uint32_t>(bytes.size() - prefix);
    last = bytes;
  }
  append_delta(std::span<const uint32_t>(prefixes, count), out);
  append_delta(std::span<const uint32_t>(suffixes, count), out);
  std::byte* cursor = out.reserve(byte_size);
  std::byte* const start = cursor;
  for (size_t i = 0; i < count; ++i) {
    if (suffixes[i] != 0) std::memcpy(cursor, value(i).data() + prefixes[i], suffixes[i]);
    cursor += suffixes[i];
  }
  out.advance(static_cast<size_t>(cursor - start));
}

}  // namespace

bool has_encoding(PhysicalType type, Encoding encoding) {
  switch (encoding) {
    case Encoding::kPlain:
      return true;
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
      return type != PhysicalType::kBoolean;
    case Encoding::kRle:
      return type == PhysicalType::kBoolean;
    case Encoding::kDeltaBinaryPacked:
      return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
    case Encoding::kDeltaLengthByteArray:
      return type == PhysicalType::kByteArray;
    case Encoding::kDeltaByteArray:
      return type == PhysicalType::kByteArray || type == PhysicalType::kFixedLenByteArray;
    case Encoding::kByteStreamSplit:
      return type != PhysicalType::kBoolean && type != PhysicalType::kByteArray && type != PhysicalType::kInt96;
    default:
      return false;
  }
}

void append_values(PhysicalType type, Encoding encoding, const FixedValues& values, EncodeBuffer& scratch,
                   EncodeBuffer& out) {
  switch (encoding) {
    case Encoding::kPlain:
      if (type == PhysicalType::kBoolean) return append_booleans(values, out);
      return out.append(values.data, values.width * values.count);
    case Encoding::kRle:
      return append_rle_booleans(values, out);
    case Encoding::kDeltaBinaryPacked:
      if (values.width == 4) return append_delta(std::span(values.as<uint32_t>(), values.count), out);
      return append_delta(std::span(values.as<uint64_t>(), values.count), out);
    case Encoding::kByteStreamSplit:
      return append_split(values, out);
    case Encoding::kDeltaByteArray: {
      const auto value = [&](size_t i) { return std::string_view(values.as<char>() + i * values.width, values.width); };
      return append_delta_bytes(values.count, values.width * values.count, value, scratch, out);
    }
    default:
      throw_no_encoding(encoding);
  }
}

void append_values(Encoding encoding, const BytesValues& values, EncodeBuffer& scratch, EncodeBuffer& out) {
  switch (encoding) {
    case Encoding::kPlain:
      return append_plain_bytes(values, out);
    case Encoding::kDeltaLengthByteArray:
      return append_lengths(values, scratch, out);
    case Encoding::kDeltaByteArray:
      return append_delta_bytes(
          values.count, values.byte_size(), [&](size_t i) { return values.value(i); }, scratch, out);
    default:
      throw_no_encoding(encoding);
  }
}

void append_plain(std::string_view value, EncodeBuffer& out) {
  out.append(static_cast<uint32_t>(value.size()));
  out.append(value.data(), value.size());
}

}  // namespace frazil::parquet
