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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

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
  // The first element; nothing relies on its alignment.
  const std::byte* data() const { return buffer_.data() + begin_; }

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

  // The same table in no more of the buffer than from where it or its vtable begins, whichever is first. Writers put what
  // is below a table, and its vtables, behind it; a table of one that did not is found broken.
  FlatTable alone() const {
    const size_t begin = std::min(position_, vtable_);
    return {buffer_.subspan(begin), base_offset_ + begin, position_ - begin};
  }
  // The buffer it stands in.
  std::span<const std::byte> bytes() const { return buffer_; }

  // Where the table stands in the file.
  uint64_t offset() const { return base_offset_ + position_; }

 private:
  friend class FlatVector;
  FlatTable(std::span<const std::byte> buffer, uint64_t base_offset, size_t position)
      : buffer_(buffer), base_offset_(base_offset), position_(position) {
    if (position > buffer.size() || buffer.size() - position < sizeof(int32_t)) throw_outside();
    const int64_t vtable = static_cast<int64_t>(position) - load<int32_t>(buffer.data() + position);
    if (vtable < 0 || static_cast<uint64_t>(vtable) > buffer.size() ||
        buffer.size() - static_cast<size_t>(vtable) < kVtableHead) {
      throw_vtable(vtable);
    }
    vtable_ = static_cast<size_t>(vtable);
    vtable_bytes_ = load<uint16_t>(buffer.data() + vtable_);
    table_bytes_ = load<uint16_t>(buffer.data() + vtable_ + 2);
    if (vtable_bytes_ < kVtableHead || vtable_bytes_ > buffer.size() - vtable_ || table_bytes_ < sizeof(int32_t) ||
        table_bytes_ > buffer.size() - position_) {
      throw_sizes();
    }
  }
  // Where the offset that stands at `at` leads.
  static size_t follow(std::span<const std::byte> buffer, uint64_t base_offset, size_t at) {
    const auto distance = load<uint32_t>(buffer.data() + at);
    if (distance < sizeof(uint32_t) || distance > buffer.size() - at) throw_offset(buffer, base_offset, at);
    return at + distance;
  }
  // Where the field stands in the buffer; 0 if it is absent.
  size_t find(unsigned field, size_t bytes) const {
    const size_t slot = kVtableHead + 2 * size_t{field};
    if (slot + 2 > vtable_bytes_) return 0;
    const auto at = load<uint16_t>(buffer_.data() + vtable_ + slot);
    if (at == 0) return 0;
    if (at < sizeof(int32_t) || at + bytes > table_bytes_) throw_field(field, at);
    return position_ + at;
  }
  // The elements of the string or vector that the offset at `at` leads to: where they start, and how many.
  std::pair<size_t, size_t> elements(size_t at, size_t element_bytes) const {
    const size_t begin = follow(buffer_, base_offset_, at);
    if (buffer_.size() - begin < sizeof(uint32_t)) throw_cut(begin);
    const size_t size = load<uint32_t>(buffer_.data() + begin);
    if (size > (buffer_.size() - begin - sizeof(uint32_t)) / element_bytes) throw_length(begin, size, element_bytes);
    return {begin + sizeof(uint32_t), size};
  }

  [[noreturn]] void throw_outside() const;
  [[noreturn]] void throw_vtable(int64_t vtable) const;
  [[noreturn]] void throw_sizes() const;
  [[noreturn]] static void throw_offset(std::span<const std::byte> buffer, uint64_t base_offset, size_t at);
  [[noreturn]] void throw_field(unsigned field, size_t at) const;
  [[noreturn]] void throw_cut(size_t begin) const;
  [[noreturn]] void throw_length(size_t begin, size_t size, size_t element_bytes) const;

  static constexpr size_t kVtableHead = 4;  // its own size, the table's

  std::span<const std::byte> buffer_;
  uint64_t base_offset_;
  size_t position_;
  size_t vtable_ = 0;
  uint16_t vtable_bytes_ = 0;
  uint16_t table_bytes_ = 0;
};

inline FlatTable FlatTable::root(std::span<const std::byte> buffer, uint64_t base_offset) {
  if (buffer.size() < sizeof(uint32_t)) throw_corrupt(base_offset, "a flatbuffer of {} bytes", buffer.size());
  return {buffer, base_offset, follow(buffer, base_offset, 0)};
}

inline std::optional<FlatTable> FlatTable::table(unsigned field) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  return FlatTable(buffer_, base_offset_, follow(buffer_, base_offset_, at));
}

inline std::optional<std::string_view> FlatTable::text(unsigned field) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  const auto [begin, size] = elements(at, 1);
  return std::string_view(reinterpret_cast<const char*>(buffer_.data()) + begin, size);
}

inline FlatVector FlatTable::vector(unsigned field, size_t element_bytes) const {
  const size_t at = find(field, sizeof(uint32_t));
  if (at == 0) return {};
  const auto [begin, size] = elements(at, element_bytes);
  return {buffer_, base_offset_, begin, size};
}

inline FlatTable FlatVector::table(size_t index) const {
  const size_t at = begin_ + index * sizeof(uint32_t);
  return {buffer_, base_offset_, FlatTable::follow(buffer_, base_offset_, at)};
}

}  // namespace frazil::ipc
