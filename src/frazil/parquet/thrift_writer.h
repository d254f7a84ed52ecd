// Thrift's compact protocol, writing: the mirror of thrift.h, whose grammar it follows.
//
//   ThriftWriter footer(bytes);
//   footer.i32(1, 2);
//   footer.begin_list(2, ThriftType::kStruct, schema.size());
//   for (const Node& node : schema) {
//     footer.begin_element();
//     footer.binary(4, node.name);
//     footer.end_struct();
//   }
//   footer.finish();
//
// Fields of a struct come in rising order of ids. i8, i16, i32 and i64 differ in their type number alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "frazil/columnar/builders.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

class ThriftWriter {
 public:
  // Begins a struct at the end of `out`, which it borrows. Every call may throw MemoryLimitError.
  explicit ThriftWriter(GrowingBuffer& out) : out_(out) {}

  // ---- Fields ----
  void i8(int id, int8_t value);
  void i16(int id, int16_t value);
  void i32(int id, int32_t value);
  void i64(int id, int64_t value);
  void boolean(int id, bool value);
  void real(int id, double value);
  void binary(int id, std::span<const std::byte> value);
  void binary(int id, std::string_view value) { binary(id, std::as_bytes(std::span(value))); }
  void i32_list(int id, std::span<const int32_t> values);
  void i64_list(int id, std::span<const int64_t> values);
  // A struct without fields: how unions name a member that has no parameters.
  void empty_struct(int id) {
    begin_struct(id);
    end_struct();
  }
  void begin_struct(int id);
  // A struct that was written before: all that its writer gave, finish() included.
  void struct_bytes(int id, std::span<const std::byte> bytes);
  // `count` elements follow, by the functions below.
  void begin_list(int id, ThriftType element, size_t count);

  // ---- Elements of a list ----
  void begin_element();  // a struct, which end_struct() ends
  void element(int32_t value) { zigzag(value); }
  void element(int64_t value) { zigzag(value); }
  void element(bool value) { byte(value ? 1 : 2); }
  void element(std::span<const std::byte> value);
  void element(std::string_view value) { element(std::as_bytes(std::span(value))); }

  // Ends what begin_struct() or begin_element() began.
  void end_struct();
  // Ends the struct that the constructor began; nothing may follow.
  void finish();

 private:
  void header(int id, ThriftType type);
  void byte(int value) { out_.append(static_cast<uint8_t>(value)); }
  void varint(uint64_t value);
  void zigzag(int64_t value) { varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }

  GrowingBuffer& out_;
  std::array<int16_t, kMaxThriftDepth> last_ids_{};  // of the open structs
  size_t depth_ = 0;
};

}  // namespace frazil::parquet
