#include "frazil/ipc/flatbuffer.h"

namespace frazil::ipc {

void FlatTable::throw_size(size_t size, uint64_t base_offset) {
  throw_corrupt(base_offset, "a flatbuffer of {} bytes", size);
}

void FlatTable::throw_outside() const {
  throw_corrupt(offset(), "a flatbuffer's table beyond its {} bytes", bytes_.size);
}

void FlatTable::throw_vtable(int64_t vtable) const {
  throw_corrupt(offset(), "a flatbuffer's vtable at {} of {} bytes", vtable, bytes_.size);
}

void FlatTable::throw_sizes() const {
  throw_corrupt(offset(), "a flatbuffer's table of {} bytes with a vtable of {}", table_bytes_, vtable_bytes_);
}

void FlatTable::throw_offset(const FlatBytes& bytes, uint32_t at) {
  throw_corrupt(bytes.base_offset + at, "a flatbuffer's offset of {} with {} bytes left",
                load<uint32_t>(bytes.data + at), bytes.size - at);
}

void FlatTable::throw_field(unsigned field, uint32_t at) const {
  throw_corrupt(offset(), "field {} at {} of a flatbuffer's table of {} bytes", field, at, table_bytes_);
}

void FlatTable::throw_cut(uint32_t begin) const {
  throw_corrupt(bytes_.base_offset + begin, "a flatbuffer ends in a length");
}

void FlatTable::throw_length(uint32_t begin, uint32_t size, size_t element_bytes) const {
  throw_corrupt(bytes_.base_offset + begin, "{} elements of {} bytes in the last {} of a flatbuffer", size,
                element_bytes, bytes_.size - begin - sizeof(uint32_t));
}

}  // namespace frazil::ipc
