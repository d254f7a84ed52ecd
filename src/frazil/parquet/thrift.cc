#include "frazil/parquet/thrift.h"

#include <limits>

namespace frazil::parquet {

namespace {

constexpr uint8_t kLastType = static_cast<uint8_t>(ThriftType::kUuid);

ThriftType checked_type(ByteReader& bytes, uint8_t nibble) {
  if (nibble == 0 || nibble > kLastType) throw_corrupt(bytes.offset(), "thrift: unknown type {}", unsigned{nibble});
  return static_cast<ThriftType>(nibble);
}

// Passes over what most fields and elements are, without a call. False, and nothing passed, for other types.
inline bool skip_plain(ByteReader& bytes, ThriftType type) {
  if (type >= ThriftType::kI16 && type <= ThriftType::kI64) {
    bytes.read_varint("integer");
    return true;
  }
  if (type == ThriftType::kBinary) {
    bytes.skip(bytes.read_varint("length"), "string");
    return true;
  }
  return false;
}

bool is_bool(ThriftType type) {
  return type == ThriftType::kTrue || type == ThriftType::kFalse;
}

}  // namespace

ThriftReader::List ThriftReader::read_list(ThriftType expected) {
  const auto header = bytes_.read<uint8_t>("list header");
  List list;
  uint64_t size = header >> 4;
  if (size == 15) size = bytes_.read_varint("list size");
  if (size == 0) return list;
  list.element = checked_type(bytes_, header & 15);
  if (size > bytes_.remaining()) {
    throw_corrupt(bytes_.offset(), "thrift: list of {} elements in {} bytes", size, bytes_.remaining());
  }
  if (list.element != expected && !(is_bool(expected) && is_bool(list.element))) {
    throw_corrupt(bytes_.offset(), "thrift: list of type {}, expected {}", static_cast<unsigned>(list.element),
                  static_cast<unsigned>(expected));
  }
  list.size = static_cast<uint32_t>(size);
  return list;
}

int32_t ThriftReader::read_i32() {
  const int64_t value = read_integer();
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    throw_corrupt(bytes_.offset(), "thrift: {} is out of range for 32 bits", value);
  }
  return static_cast<int32_t>(value);
}

bool ThriftReader::read_list_bool() {
  return bytes_.read<uint8_t>("boolean") == 1;
}

void ThriftReader::skip(ThriftType type, int depth) {
  if (depth > kMaxThriftDepth) throw_corrupt(bytes_.offset(), "thrift: nested more than {} levels", kMaxThriftDepth);
  if (skip_plain(bytes_, type)) return;
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;  // the value is in the field's type; elements of lists do not come here
    case ThriftType::kByte:
      bytes_.skip(1, "byte");
      return;
    case ThriftType::kDouble:
      bytes_.skip(8, "double");
      return;
    case ThriftType::kUuid:
      bytes_.skip(16, "uuid");
      return;
    case ThriftType::kStruct: {
      for (;;) {
        const auto header = bytes_.read<uint8_t>("field header");
        if (header == 0) return;
        if (header >> 4 == 0) bytes_.read_varint("field id");
        const ThriftType field = checked_type(bytes_, header & 15);
        if (!skip_plain(bytes_, field)) skip(field, depth + 1);
      }
    }
    case ThriftType::kList:
    case ThriftType::kSet: {
      const auto header = bytes_.read<uint8_t>("list header");
      uint64_t size = header >> 4;
      if (size == 15) size = bytes_.read_varint("list size");
      if (size == 0) return;
      if (size > bytes_.remaining()) {
        throw_corrupt(bytes_.offset(), "thrift: list of {} elements in {} bytes", size, bytes_.remaining());
      }
      const ThriftType element = checked_type(bytes_, header & 15);
      if (is_bool(element)) {
        bytes_.skip(size, "booleans");
        return;
      }
      for (uint64_t i = 0; i < size; ++i) {
        if (!skip_plain(bytes_, element)) skip(element, depth + 1);
      }
      return;
    }
    case ThriftType::kMap: {
      const uint64_t size = bytes_.read_varint("map size");
      if (size == 0) return;
      if (size > bytes_.remaining()) {
        throw_corrupt(bytes_.offset(), "thrift: map of {} entries in {} bytes", size, bytes_.remaining());
      }
      const auto types = bytes_.read<uint8_t>("map types");
      const ThriftType key = checked_type(bytes_, types >> 4);
      const ThriftType value = checked_type(bytes_, types & 15);
      for (uint64_t i = 0; i < size; ++i) {
        for (ThriftType part : {key, value}) {
          if (is_bool(part)) {
            bytes_.skip(1, "boolean");
          } else {
            skip(part, depth + 1);
          }
        }
      }
      return;
    }
    default:
      break;
  }
  throw_corrupt(bytes_.offset(), "thrift: unknown type {}", static_cast<unsigned>(type));
}

ThriftFields::ThriftFields(ThriftReader& reader) : reader_(reader) {
  if (reader.depth_ >= kMaxThriftDepth) {
    throw_corrupt(reader.bytes_.offset(), "thrift: nested more than {} levels", kMaxThriftDepth);
  }
  ++reader.depth_;
}

bool ThriftFields::read_rare_header(uint8_t header) {
  ByteReader& bytes = reader_.bytes_;
  type_ = checked_type(bytes, header & 15);
  if (const int delta = header >> 4; delta != 0) {
    id_ += delta;
  } else {
    const int64_t id = bytes.read_zigzag("field id");
    if (id < std::numeric_limits<int16_t>::min() || id > std::numeric_limits<int16_t>::max()) {
      throw_corrupt(bytes.offset(), "thrift: field id {} is out of range", id);
    }
    id_ = static_cast<int32_t>(id);
  }
  // Deltas alone could pass the range of an id; beyond 16 bits no field is known, so that nothing can be mistaken.
  if (id_ > std::numeric_limits<int16_t>::max())
    throw_corrupt(bytes.offset(), "thrift: field id {} is out of range", id_);
  return true;
}

int8_t ThriftFields::i8() {
  if (type_ == ThriftType::kByte) return reader_.bytes_.read<int8_t>("byte");
  const int32_t value = i32();
  if (value < -128 || value > 127)
    throw_corrupt(reader_.bytes_.offset(), "thrift: {} is out of range for 8 bits", value);
  return static_cast<int8_t>(value);
}

bool ThriftFields::boolean() {
  if (!is_bool(type_)) throw_type(ThriftType::kTrue);
  return type_ == ThriftType::kTrue;
}

ThriftReader::List ThriftFields::list(ThriftType element) {
  if (type_ != ThriftType::kList && type_ != ThriftType::kSet) throw_type(ThriftType::kList);
  return reader_.read_list(element);
}

std::span<const std::byte> ThriftFields::slice() {
  const std::byte* begin = reader_.bytes_.cursor();
  skip();
  return {begin, reader_.bytes_.cursor()};
}

void ThriftFields::expect_small_integer() const {
  if (type_ != ThriftType::kI16) throw_type(ThriftType::kI32);
}

void ThriftFields::throw_type(ThriftType expected) const {
  throw_corrupt(reader_.bytes_.offset(), "thrift: field {} has type {}, expected {}", id_, static_cast<unsigned>(type_),
                static_cast<unsigned>(expected));
}

}  // namespace frazil::parquet
