// Builds a flatbuffer (flatbuffer.h has the grammar) from the front to the back: a table's fields are placed at once, and the
// offsets among them are pointed at what is appended later. So a walk over what is described writes it in one pass, nothing
// is kept beside the bytes, and each place is known when it is made.
//
//   FlatBuilder builder(pool);
//   builder.clear();                                             // room for the offset to the root
//   FlatShape shape;
//   shape.scalar<int16_t>(kVersion, 4).offset(kHeader);
//   const FlatPlace message = builder.table(shape);
//   builder.point_root(message);
//   builder.point(message, kHeader, add_schema(builder, schema));  // children, then the offset to them
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// The fields of a table that is about to be placed; those that are not named are absent.
class FlatShape {
 public:
  static constexpr unsigned kFieldsMax = 8;

  // Each field once.
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  FlatShape& scalar(unsigned field, T value) {
    constexpr unsigned kWidth = sizeof(T) == 8 ? 3 : sizeof(T) == 4 ? 2 : sizeof(T) == 2 ? 1 : 0;
    fields_ |= uint32_t{1} << (8 * kWidth + field);
    values_[field] = static_cast<std::make_unsigned_t<T>>(value);
    return *this;
  }
  FlatShape& boolean(unsigned field, bool value) { return scalar<uint8_t>(field, value ? 1 : 0); }
  // To be pointed at its value later.
  FlatShape& offset(unsigned field) { return scalar<uint32_t>(field, 0); }

 private:
  friend class FlatBuilder;
  uint32_t fields_ = 0;  // bit 8 * w + f: field f has 2^w bytes
  std::array<uint64_t, kFieldsMax> values_;
};

// A table that was placed: where it and its fields stand.
struct FlatPlace {
  uint32_t position = 0;
  std::array<uint8_t, FlatShape::kFieldsMax> slots{};  // from the table's start
};

// The bytes are in a block of the pool that is kept from one message to the next. Scalars and vectors stand at multiples of
// their size from the start of the buffer.
class FlatBuilder {
 public:
  using Position = uint32_t;

  // A message's length is 31 bits, padding to 64 bytes included.
  static constexpr size_t kBytesMax = (size_t{1} << 31) - 64;

  // `pool` outlives it.
  explicit FlatBuilder(MemoryPool& pool) : pool_(pool) {}

  // Forgets all and keeps the block.
  void clear();
  std::span<const std::byte> bytes() const { return {block_.data(), size_}; }

  // All throw Error(kUnsupported) past kBytesMax, and MemoryLimitError. What leads to a table must be there already.
  FlatPlace table(const FlatShape& shape);
  // Element `index` of a vector of offsets, which is pointed at it. Elements of one shape share a vtable. It stands behind the
  // vector, as a table's does behind its parent: planus, and with it Polars, looks for no vtable before what leads to its table.
  FlatPlace element(Position offsets, size_t index, const FlatShape& shape);
  Position text(std::string_view text);
  // Zeroed offsets, to be pointed at by element().
  Position offsets(size_t count);
  // What was written in another buffer from a multiple of 8 on, and leads nowhere outside of itself: since offsets are relative, it
  // is the same here. Returns where it begins.
  Position copy(std::span<const std::byte> part);
  // Whatever is placed from here on leads to nothing before, and begins at a multiple of 8: what copy() takes.
  Position begin_part();
  // Elements that are copied as they lie, each of a size that is a multiple of its `alignment`.
  Position vector(std::span<const std::byte> elements, size_t count, size_t alignment);
  template <typename T>
  Position vector(std::span<const T> elements) {
    return vector(std::as_bytes(elements), elements.size(), alignof(T));
  }

  void point_root(const FlatPlace& table) { put_offset(0, table.position); }
  // Requires that the table has the field as an offset, and that what it leads to stands behind it.
  void point(const FlatPlace& table, unsigned field, Position to) {
    put_offset(table.position + table.slots[field], to);
  }
  void point(const FlatPlace& table, unsigned field, const FlatPlace& to) { point(table, field, to.position); }

  // Of a table's scalar that is known only now.
  template <typename T>
    requires std::is_integral_v<T>
  void set(const FlatPlace& table, unsigned field, T value) {
    std::memcpy(block_.data() + table.position + table.slots[field], &value, sizeof(T));
  }

 private:
  // The tables of one shape are laid out alike. Most tables are like one of those that came last.
  struct Layout {
    uint32_t fields = 0;
    uint32_t table_bytes = 0;
    Position vtable = 0;  // the last one
    std::array<uint8_t, FlatShape::kFieldsMax> slots{};
  };
  static constexpr size_t kLayoutsKept = 16;

  // Its vtable stands at `from` or behind it.
  const Layout& layout_of(uint32_t fields, Position from);
  FlatPlace place(const FlatShape& shape, Position from);
  // `count` more bytes, zeroed, whose `aligned_at`-th byte stands at a multiple of `alignment`. Returns where they begin.
  Position extend(size_t count, size_t alignment, size_t aligned_at = 0);
  void put_offset(Position at, Position to) {
    const uint32_t distance = to - at;
    std::memcpy(block_.data() + at, &distance, sizeof(distance));
  }

  MemoryPool& pool_;
  MutableBuffer block_;
  size_t size_ = 0;
  std::array<Layout, kLayoutsKept> layouts_{};
  size_t layout_count_ = 0;
};

}  // namespace frazil::ipc
