#include "frazil/parquet/thrift_writer.h"

#include "frazil/base/error.h"

namespace frazil::parquet {

void ThriftWriter::header(int id, ThriftType type) {
  const int delta = id - last_ids_[depth_];
  if (delta <= 0) throw_error(ErrorKind::kInternal, "thrift: field {} after field {}", id, last_ids_[depth_]);
  last_ids_[depth_] = static_cast<int16_t>(id);
  if (delta < 16) return byte(delta << 4 | static_cast<int>(type));
  byte(static_cast<int>(type));
  zigzag(id);
}

void ThriftWriter::varint(uint64_t value) {
  uint8_t bytes[10];
  size_t count = 0;
  for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<uint8_t>(value | 0x80);
  bytes[count++] = static_cast<uint8_t>(value);
  out_.append(bytes, count);
}

void ThriftWriter::i8(int id, int8_t value) {
  header(id, ThriftType::kByte);
  byte(value);
}

void ThriftWriter::i16(int id, int16_t value) {
  header(id, ThriftType::kI16);
  zigzag(value);
}

void ThriftWriter::i32(int id, int32_t value) {
  header(id, ThriftType::kI32);
  zigzag(value);
}

void ThriftWriter::i64(int id, int64_t value) {
  header(id, ThriftType::kI64);
  zigzag(value);
}

void ThriftWriter::boolean(int id, bool value) {
  header(id, value ? ThriftType::kTrue : ThriftType::kFalse);
}

void ThriftWriter::real(int id, double value) {
  header(id, ThriftType::kDouble);
  out_.append(value);  // little-endian, as this machine is
}

void ThriftWriter::binary(int id, std::span<const std::byte> value) {
  header(id, ThriftType::kBinary);
  element(value);
}

void ThriftWriter::element(std::span<const std::byte> value) {
  varint(value.size());
  out_.append(value.data(), value.size());
}

void ThriftWriter::i32_list(int id, std::span<const int32_t> values) {
  begin_list(id, ThriftType::kI32, values.size());
  for (int32_t value : values) element(value);
}

void ThriftWriter::i64_list(int id, std::span<const int64_t> values) {
  begin_list(id, ThriftType::kI64, values.size());
  for (int64_t value : values) element(value);
}

void ThriftWriter::begin_list(int id, ThriftType element, size_t count) {
  header(id, ThriftType::kList);
  if (count < 15) return byte(static_cast<int>(count << 4) | static_cast<int>(element));
  byte(0xF0 | static_cast<int>(element));
  varint(count);
}

void ThriftWriter::begin_struct(int id) {
  header(id, ThriftType::kStruct);
  begin_element();
}

void ThriftWriter::struct_bytes(int id, std::span<const std::byte> bytes) {
  header(id, ThriftType::kStruct);
  out_.append(bytes.data(), bytes.size());
}

void ThriftWriter::begin_element() {
  if (depth_ + 1 >= last_ids_.size()) throw_error(ErrorKind::kInternal, "thrift: structs nest too deep");
  last_ids_[++depth_] = 0;
}

void ThriftWriter::end_struct() {
  byte(0);
  --depth_;
}

void ThriftWriter::finish() {
  byte(0);
}

}  // namespace frazil::parquet
