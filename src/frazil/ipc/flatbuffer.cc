#include "frazil/ipc/flatbuffer.h"

namespace frazil::ipc {

void FlatTable::throw_outside() const {
  throw_corrupt(offset(), "a flatbuffer's table beyond its {} bytes", buffer_.size());
}

void FlatTable::throw_vtable(int64_t vtable) const {
  throw_corrupt(offset(), "a flatbuffer's vtable at {} of {} bytes", vtable, buffer_.size());
}

void FlatTable::throw_sizes() const {
  throw_corrupt(offset(), "a flatbuffer's table of {} bytes with a vtable of {}", table_bytes_, vtable_bytes_);
}

void FlatTable::throw_offset(std::span<const std::byte> buffer, uint64_t base_offset, size_t at) {
  throw_corrupt(base_offset + at, "a flatbuffer's offset of {} with {} bytes left", load<uint32_t>(buffer.data() + at),
                buffer.size() - at);
}

void FlatTable::throw_field(unsigned field, size_t at) const {
  throw_corrupt(offset(), "field {} at {} of a flatbuffer's table of {} bytes", field, at, table_bytes_);
}

void FlatTable::throw_cut(size_t begin) const {
  throw_corrupt(base_offset_ + begin, "a flatbuffer ends in a length");
}

void FlatTable::throw_length(size_t begin, size_t size, size_t element_bytes) const {
  throw_corrupt(base_offset_ + begin, "{} elements of {} bytes in the last {} of a flatbuffer", size, element_bytes,
                buffer_.size() - begin - sizeof(uint32_t));
}

}  // namespace frazil::ipc
