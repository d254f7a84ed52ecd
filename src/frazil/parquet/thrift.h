// Thrift's compact protocol, reading only (thrift-compact-protocol.md): a cursor over bytes from outside.
//
//   struct  := field* 0x00
//   field   := (id delta:4 | type:4) | (0:4 | type:4) zigzag id        // then the value; booleans are in the type
//   list    := (size:4 | type:4) element* | (15:4 | type:4) varint size element*
//   map     := 0x00 | varint size (key type:4 | value type:4) (key value)*
//   binary  := varint size byte*
//   integer := zigzag varint;   double := 8 bytes, little-endian
//
// Strings are slices of the input. Nothing is allocated. Every size is checked against what remains (an element takes
// at least a byte), and nesting has a cap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "frazil/base/byte_reader.h"

namespace frazil::parquet {

// Structs in structs, lists and maps. The format itself needs 6.
inline constexpr int kMaxThriftDepth = 32;

enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

class ThriftReader {
 public:
  // Borrows `data`. `base_offset` is its place in the file, for errors.
  explicit ThriftReader(std::span<const std::byte> data, uint64_t base_offset = 0) noexcept
      : bytes_(data, base_offset) {}

  ByteReader& bytes() noexcept { return bytes_; }
  size_t position() const noexcept { return bytes_.position(); }

  struct List {
    ThriftType element = ThriftType::kStop;
    uint32_t size = 0;
  };
  // The size is at most the bytes that remain. An empty list may have any element type.
  List read_list(ThriftType expected);
  int64_t read_integer() { return bytes_.read_zigzag("integer"); }
  int32_t read_i32();
  std::string_view read_binary() { return bytes_.read_text(bytes_.read_varint("length"), "string"); }
  bool read_list_bool();
  // Passes over a value of `type`. `depth` counts what is around it.
  void skip(ThriftType type, int depth = 0);

 private:
  friend class ThriftFields;
  ByteReader bytes_;
  int depth_ = 0;
};

// The fields of one struct, one after the other:
//   for (ThriftFields fields(reader); fields.next();)
//     switch (fields.id()) {
//       case 1: version = fields.i32(); break;
//       default: fields.skip();
//     }
// Exactly one of the readers must be called for each field. Throws CorruptError if its type is not the expected one.
class ThriftFields {
 public:
  explicit ThriftFields(ThriftReader& reader);
  ~ThriftFields() { --reader_.depth_; }
  ThriftFields(const ThriftFields&) = delete;
  ThriftFields& operator=(const ThriftFields&) = delete;

  bool next() {
    const auto header = reader_.bytes_.read<uint8_t>("field header");
    const int delta = header >> 4;
    const int type = header & 15;
    // Nearly all fields: a step from the id before, a known type, an id of 16 bits.
    if (delta != 0 && type != 0 && type <= static_cast<int>(ThriftType::kUuid) && id_ < kPlainIdMax) {
      id_ += delta;
      type_ = static_cast<ThriftType>(type);
      return true;
    }
    return header != 0 && read_rare_header(header);
  }
  int32_t id() const noexcept { return id_; }
  ThriftType type() const noexcept { return type_; }

  // i8, i16, i32 and i64 are alike on the wire; readers take any of them and check the range.
  int32_t i32() {
    expect_integer();
    return reader_.read_i32();
  }
  int64_t i64() {
    expect_integer();
    return reader_.read_integer();
  }
  int8_t i8();
  bool boolean();
  std::string_view binary() {
    expect(ThriftType::kBinary);
    return reader_.read_binary();
  }
  ThriftReader::List list(ThriftType element);
  // The caller goes on with ThriftFields on the same reader.
  void expect_struct() const { expect(ThriftType::kStruct); }
  void skip() { reader_.skip(type_, reader_.depth_); }
  // The bytes of the value, unparsed: what parse_statistics and its like take.
  std::span<const std::byte> slice();

 private:
  static constexpr int32_t kPlainIdMax = INT16_MAX - 15;

  bool read_rare_header(uint8_t header);
  void expect(ThriftType type) const {
    if (type_ != type) throw_type(type);
  }
  void expect_integer() const {
    if (type_ != ThriftType::kI32 && type_ != ThriftType::kI64) expect_small_integer();
  }
  void expect_small_integer() const;
  [[noreturn]] void throw_type(ThriftType expected) const;

  ThriftReader& reader_;
  int32_t id_ = 0;
  ThriftType type_ = ThriftType::kStop;
};

}  // namespace frazil::parquet
