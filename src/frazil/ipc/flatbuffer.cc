#include "frazil/ipc/flatbuffer.h"

#include "frazil/base/error.h"

namespace frazil::ipc {

FlatTable::FlatTable(std::span<const std::byte> buffer, uint64_t base_offset, size_t position)
    : buffer_(buffer), base_offset_(base_offset), position_(position) {
  if (position > buffer.size() || buffer.size() - position < sizeof(int32_t)) {
    throw_corrupt(base_offset + position, "a flatbuffer's table beyond its {} bytes", buffer.size());
  }
  const int64_t vtable = static_cast<int64_t>(position) - load<int32_t>(buffer.data() + position);
  if (vtable < 0 || static_cast<uint64_t>(vtable) > buffer.size() || buffer.size() - static_cast<size_t>(vtable) < 4) {
    throw_corrupt(offset(), "a flatbuffer's vtable at {} of {} bytes", vtable, buffer.size());
  }
  vtable_ = static_cast<size_t>(vtable);
  vtable_bytes_ = load<uint16_t>(buffer.data() + vtable_);
  table_bytes_ = load<uint16_t>(buffer.data() + vtable_ + 2);
  if (vtable_bytes_ < 4 || vtable_bytes_ > buffer.size() - vtable_ || table_bytes_ < 4 ||
      table_bytes_ > buffer.size() - position_) {
    throw_corrupt(offset(), "a flatbuffer's table of {} bytes with a vtable of {}", table_bytes_, vtable_bytes_);
  }
}

size_t FlatTable::follow(std::span<const std::byte> buffer, uint64_t base_offset, size_t at) {
  const auto distance = load<uint32_t>(buffer.data() + at);
  if (distance < sizeof(uint32_t) || distance > buffer.size() - at) {
    throw_corrupt(base_offset + at, "a flatbuffer's offset of {} with {} bytes left", distance, buffer.size() - at);
  }
  return at + distance;
}

FlatTable FlatTable::root(std::span<const std::byte> buffer, uint64_t base_offset) {
  if (buffer.size() < sizeof(uint32_t)) throw_corrupt(base_offset, "a flatbuffer of {} bytes", buffer.size());
  return {buffer, base_offset, follow(buffer, base_offset, 0)};
}

size_t FlatTable::find(unsigned field, size_t bytes) const {
  const size_t slot = 4 + 2 * size_t{field};
  if (slot + 2 > vtable_bytes_) return 0;
  const auto at = load<uint16_t>(buffer_.data() + vtable_ + slot);
  if (at == 0) return 0;
  if (at < 4 || at + bytes > table_bytes_) {
    throw_corrupt(offset(), "field {} at {} of a flatbuffer's table of {} bytes", field, at, table_bytes_);
  }
  return position_ + at;
}

std::span<const std::byte> FlatTable::elements(size_t at, size_t element_bytes, size_t& size) const {
  const size_t begin = follow(buffer_, base_offset_, at);
  if (buffer_.size() - begin < sizeof(uint32_t)) {
    throw_corrupt(base_offset_ + begin, "a flatbuffer ends in a length");
  }
  size = load<uint32_t>(buffer_.data() + begin);
  const size_t left = buffer_.size() - begin - sizeof(uint32_t);
  if (size > left / element_bytes) {
    throw_corrupt(base_offset_ + begin, "{} elements of {} bytes in the last {} of a flatbuffer", size, element_bytes,
                  left);
  }
  return buffer_.subspan(begin + sizeof(uint32_t), size * element_bytes);
}

std::optional<FlatTable> FlatTable::table(unsigned field) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  return FlatTable(buffer_, base_offset_, follow(buffer_, base_offset_, at));
}

std::optional<std::string_view> FlatTable::text(unsigned field) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  size_t size = 0;
  const std::span<const std::byte> bytes = elements(at, 1, size);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), size);
}

FlatVector FlatTable::vector(unsigned field, size_t element_bytes) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return {};
  size_t size = 0;
  const std::span<const std::byte> bytes = elements(at, element_bytes, size);
  return {buffer_, base_offset_, static_cast<size_t>(bytes.data() - buffer_.data()), size};
}

FlatTable FlatVector::table(size_t index) const {
  const size_t at = begin_ + index * sizeof(uint32_t);
  return {buffer_, base_offset_, FlatTable::follow(buffer_, base_offset_, at)};
}

}  // namespace frazil::ipc
