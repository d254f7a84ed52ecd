#include "frazil/base/byte_reader.h"

namespace frazil {

void ByteReader::throw_short(uint64_t count, std::string_view what) const {
  throw_corrupt(offset(), "{} needs {} bytes, {} are left", what, count, remaining());
}

uint64_t ByteReader::read_long_varint(std::string_view what) {
  uint64_t value = 0;
  const std::byte* cursor = cursor_;
  for (int shift = 0; shift < 64; shift += 7) {
    if (cursor == end_) throw_corrupt(offset(), "{} is cut off", what);
    auto byte = std::to_integer<uint64_t>(*cursor++);
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      cursor_ = cursor;
      return value;
    }
  }
  throw_corrupt(offset(), "{} is longer than 64 bits", what);
}

}  // namespace frazil
