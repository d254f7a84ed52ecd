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

// The bytes that all refer to. Small, since cursors are made by the hundred: a flatbuffer is of less than 2 GiB.
struct FlatBytes {
  const std::byte* data = nullptr;
  uint64_t base_offset = 0;
  uint32_t size = 0;
};

// Scalars, or offsets, one after the other.
class FlatVector {
 public:
  FlatVector() = default;
  size_t size() const { return size_; }
  // Requires index < size(), and that the schema has elements of this kind.
  template <typename T>
    requires std::is_arithmetic_v<T>
  T scalar(size_t index) const {
    return load<T>(data() + index * sizeof(T));
  }
  FlatTable table(size_t index) const;
  // The first element; nothing relies on its alignment.
  const std::byte* data() const { return bytes_.data + begin_; }

 private:
  friend class FlatTable;
  FlatVector(const FlatBytes& bytes, uint32_t begin, uint32_t size) : bytes_(bytes), begin_(begin), size_(size) {}

  FlatBytes bytes_;
  uint32_t begin_ = 0;
  uint32_t size_ = 0;
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
    return at == 0 ? otherwise : load<T>(bytes_.data + at);
  }
  bool has(unsigned field) const { return find(field, 0) != 0; }
  bool boolean(unsigned field, bool otherwise) const { return scalar<uint8_t>(field, otherwise ? 1 : 0) != 0; }
  std::optional<FlatTable> table(unsigned field) const;
  std::optional<std::string_view> text(unsigned field) const;
  // Of elements that take `element_bytes`: 4 for tables and strings.
  FlatVector vector(unsigned field, size_t element_bytes) const;

  // The same table in no more of the buffer than from where it or its vtable begins, whichever is first. Writers put what
  // is below a table, and its vtables, behind it; a table of one that did not is found broken.
  FlatTable alone() const {
    const uint32_t begin = std::min(position_, vtable_);
    return {{bytes_.data + begin, bytes_.base_offset + begin, bytes_.size - begin}, position_ - begin};
  }
  // The buffer it stands in.
  std::span<const std::byte> bytes() const { return {bytes_.data, bytes_.size}; }

  // Where the table stands in the file.
  uint64_t offset() const { return bytes_.base_offset + position_; }

 private:
  friend class FlatVector;
  FlatTable(const FlatBytes& bytes, uint32_t position) : bytes_(bytes), position_(position) {
    if (position > bytes.size || bytes.size - position < sizeof(int32_t)) throw_outside();
    const int64_t vtable = int64_t{position} - load<int32_t>(bytes.data + position);
    if (vtable < 0 || vtable + kVtableHead > bytes.size) throw_vtable(vtable);
    vtable_ = static_cast<uint32_t>(vtable);
    vtable_bytes_ = load<uint16_t>(bytes.data + vtable_);
    table_bytes_ = load<uint16_t>(bytes.data + vtable_ + 2);
    if (vtable_bytes_ < kVtableHead || vtable_bytes_ > bytes.size - vtable_ || table_bytes_ < sizeof(int32_t) ||
        table_bytes_ > bytes.size - position) {
      throw_sizes();
    }
  }
  // Where the offset that stands at `at` leads.
  static uint32_t follow(const FlatBytes& bytes, uint32_t at) {
    const auto distance = load<uint32_t>(bytes.data + at);
    if (distance < sizeof(uint32_t) || distance > bytes.size - at) throw_offset(bytes, at);
    return at + distance;
  }
  // Where the field stands in the buffer; 0 if it is absent.
  uint32_t find(unsigned field, uint32_t size) const {
    const uint32_t slot = kVtableHead + 2 * field;
    if (slot + 2 > vtable_bytes_) return 0;
    const uint32_t at = load<uint16_t>(bytes_.data + vtable_ + slot);
    if (at == 0) return 0;
    if (at < sizeof(int32_t) || at + size > table_bytes_) throw_field(field, at);
    return position_ + at;
  }
  // The elements of the string or vector that the offset at `at` leads to: where they start, and how many.
  std::pair<uint32_t, uint32_t> elements(uint32_t at, size_t element_bytes) const {
    const uint32_t begin = follow(bytes_, at);
    if (bytes_.size - begin < sizeof(uint32_t)) throw_cut(begin);
    const auto size = load<uint32_t>(bytes_.data + begin);
    if (size * uint64_t{element_bytes} > bytes_.size - begin - sizeof(uint32_t))
      throw_length(begin, size, element_bytes);
    return {begin + static_cast<uint32_t>(sizeof(uint32_t)), size};
  }

  [[noreturn]] void throw_outside() const;
  [[noreturn]] void throw_vtable(int64_t vtable) const;
  [[noreturn]] void throw_sizes() const;
  [[noreturn]] static void throw_offset(const FlatBytes& bytes, uint32_t at);
  [[noreturn]] void throw_field(unsigned field, uint32_t at) const;
  [[noreturn]] void throw_cut(uint32_t begin) const;
  [[noreturn]] void throw_length(uint32_t begin, uint32_t size, size_t element_bytes) const;
  [[noreturn]] static void throw_size(size_t size, uint64_t base_offset);

  static constexpr uint32_t kVtableHead = 4;  // its own size, the table's

  FlatBytes bytes_;
  uint32_t position_;
  uint32_t vtable_ = 0;
  uint16_t vtable_bytes_ = 0;
  uint16_t table_bytes_ = 0;
};

inline FlatTable FlatTable::root(std::span<const std::byte> buffer, uint64_t base_offset) {
  if (buffer.size() < sizeof(uint32_t) || buffer.size() > INT32_MAX) throw_size(buffer.size(), base_offset);
  const FlatBytes bytes{buffer.data(), base_offset, static_cast<uint32_t>(buffer.size())};
  return {bytes, follow(bytes, 0)};
}

inline std::optional<FlatTable> FlatTable::table(unsigned field) const {
  const uint32_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  return FlatTable(bytes_, follow(bytes_, at));
}

inline std::optional<std::string_view> FlatTable::text(unsigned field) const {
  const uint32_t at = find(field, sizeof(uint32_t));
  if (at == 0) return std::nullopt;
  const auto [begin, size] = elements(at, 1);
  return std::string_view(reinterpret_cast<const char*>(bytes_.data) + begin, size);
}

inline FlatVector FlatTable::vector(unsigned field, size_t element_bytes) const {
  const uint32_t at = find(field, sizeof(uint32_t));
  if (at == 0) return {};
  const auto [begin, size] = elements(at, element_bytes);
  return {bytes_, begin, size};
}

inline FlatTable FlatVector::table(size_t index) const {
  const auto at = static_cast<uint32_t>(begin_ + index * sizeof(uint32_t));
  return {bytes_, FlatTable::follow(bytes_, at)};
}

}  // namespace frazil::ipc
