// A cursor over the tables of a flatbuffer (flatbuffers.dev, "Internals"), the metadata format of Arrow IPC. No heap, no
// pass over the whole beforehand: each offset, vtable and length is checked when it is followed.
//
//   buffer := offset:u32 -> root table                   offset: from where it stands, always forward
//   table  := vtable:i32 field*                          vtable: where the table stands minus this
//   vtable := size:u16 table_size:u16 (slot:u16)*        slot: of a field, from the table's start; 0: absent
//   field  := scalar | offset:u32 -> table, string, vector
//   string := length:u32 byte* 0
//   vector := length:u32 element*                        element: scalar | offset:u32 -> table, string
//
// Offsets to tables only lead forward, so that no walk is endless; two may lead to the same place, so whoever visits all that
// is below a table bounds the number of visits. Nothing relies on alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "frazil/base/byte_reader.h"

namespace frazil::ipc {

class FlatTable;

// Scalars, or offsets, one after the other.
class FlatVector {
 public:
  FlatVector() = default;
  size_t size() const { return size_; }
  // Requires index < size(), and that the schema has elements of this kind.
  template <typename T>
    requires std::is_arithmetic_v<T>
  T scalar(size_t index) const {
    return load<T>(buffer_.data() + begin_ + index * sizeof(T));
  }
  FlatTable table(size_t index) const;

 private:
  friend class FlatTable;
  FlatVector(std::span<const std::byte> buffer, uint64_t base_offset, size_t begin, size_t size)
      : buffer_(buffer), base_offset_(base_offset), begin_(begin), size_(size) {}

  std::span<const std::byte> buffer_;
  uint64_t base_offset_ = 0;
  size_t begin_ = 0;
  size_t size_ = 0;
};

// All throw CorruptError with the offset where a rule of the format is broken.
class FlatTable {
 public:
  // The root table of `buffer`, which is borrowed by all that comes of it. `base_offset` is the place of its first byte in
  // its file, for errors.
  static FlatTable root(std::span<const std::byte> buffer, uint64_t base_offset = 0);

  // Fields by their number in the schema, from 0; those of a union take two. Absent ones: `otherwise`, nothing, empty.
  template <typename T>
    requires std::is_arithmetic_v<T>
  T scalar(unsigned field, T otherwise) const {
    const size_t at = find(field, sizeof(T));
    return at == 0 ? otherwise : load<T>(buffer_.data() + at);
  }
  bool boolean(unsigned field, bool otherwise) const { return scalar<uint8_t>(field, otherwise ? 1 : 0) != 0; }
  std::optional<FlatTable> table(unsigned field) const;
  std::optional<std::string_view> text(unsigned field) const;
  // Of elements that take `element_bytes`: 4 for tables and strings.
  FlatVector vector(unsigned field, size_t element_bytes) const;

  // Where the table stands in the file.
  uint64_t offset() const { return base_offset_ + position_; }

 private:
  friend class FlatVector;
  FlatTable(std::span<const std::byte> buffer, uint64_t base_offset, size_t position);
  // Where the offset that stands at `at` leads.
  static size_t follow(std::span<const std::byte> buffer, uint64_t base_offset, size_t at);
  // Where the field stands in the buffer; 0 if it is absent.
  size_t find(unsigned field, size_t bytes) const;
  // The start and the length of a string's or a vector's elements.
  std::span<const std::byte> elements(size_t at, size_t element_bytes, size_t& size) const;

  std::span<const std::byte> buffer_;
  uint64_t base_offset_;
  size_t position_;
  size_t vtable_;
  uint16_t vtable_bytes_;
  uint16_t table_bytes_;
};

}  // namespace frazil::ipc
