#include "frazil/ipc/flatbuffer_builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::ipc {

void FlatBuilder::clear() {
  size_ = 0;
  layout_count_ = 0;
  extend(sizeof(uint32_t), sizeof(uint32_t));  // the offset to the root
}

FlatBuilder::Position FlatBuilder::extend(size_t count, size_t alignment, size_t aligned_at) {
  const size_t begin = round_up(size_ + aligned_at, alignment) - aligned_at;
  if (count > kBytesMax || begin > kBytesMax - count) {
    throw_error(ErrorKind::kUnsupported, "metadata of more than {} bytes are not written", kBytesMax);
  }
  const size_t end = begin + count;
  if (end > block_.capacity()) {
    constexpr size_t kFirstBytes = 4 << 10;
    MutableBuffer larger = pool_.allocate(std::max({end, 2 * block_.capacity(), kFirstBytes}));
    if (size_ != 0) std::memcpy(larger.data(), block_.data(), size_);
    block_ = std::move(larger);
  }
  block_.set_size(end);
  std::memset(block_.data() + size_, 0, end - size_);
  size_ = end;
  return static_cast<Position>(begin);
}

const FlatBuilder::Layout& FlatBuilder::layout_of(uint32_t fields, Position from) {
  for (size_t i = 0; i < std::min(layout_count_, kLayoutsKept); ++i) {
    Layout& known = layouts_[i];
    if (known.fields != fields) continue;
    if (known.vtable < from) {
      const auto vtable_bytes = load<uint16_t>(block_.data() + known.vtable);
      const Position again = extend(vtable_bytes, sizeof(uint16_t));
      std::memcpy(block_.data() + again, block_.data() + known.vtable, vtable_bytes);
      known.vtable = again;
    }
    return known;
  }
  Layout& layout = layouts_[layout_count_++ % kLayoutsKept];
  layout = {.fields = fields, .table_bytes = sizeof(int32_t)};
  // Its own size, the table's size, and a slot a field up to the last one that is there.
  std::array<uint16_t, 2 + FlatShape::kFieldsMax> vtable{};
  size_t vtable_bytes = 2 * sizeof(uint16_t);
  // The widest fields first, so that there are no gaps.
  for (unsigned width = 4; width-- > 0;) {
    for (unsigned field = 0; field < FlatShape::kFieldsMax; ++field) {
      if ((fields >> (8 * width + field) & 1) == 0) continue;
      layout.slots[field] = static_cast<uint8_t>(layout.table_bytes);
      vtable[2 + field] = static_cast<uint16_t>(layout.table_bytes);
      vtable_bytes = std::max(vtable_bytes, (3 + field) * sizeof(uint16_t));
      layout.table_bytes += 1U << width;
    }
  }
  vtable[0] = static_cast<uint16_t>(vtable_bytes);
  vtable[1] = static_cast<uint16_t>(layout.table_bytes);
  layout.vtable = extend(vtable_bytes, sizeof(uint16_t));
  std::memcpy(block_.data() + layout.vtable, vtable.data(), vtable_bytes);
  return layout;
}

FlatPlace FlatBuilder::table(const FlatShape& shape) {
  return place(shape, static_cast<Position>(size_));
}

FlatPlace FlatBuilder::element(Position offsets, size_t index, const FlatShape& shape) {
  const FlatPlace table = place(shape, offsets);
  put_offset(static_cast<Position>(offsets + sizeof(uint32_t) * (index + 1)), table.position);
  return table;
}

FlatPlace FlatBuilder::place(const FlatShape& shape, Position from) {
  const Layout& layout = layout_of(shape.fields_, from);
  // Behind the offset to the vtable comes the first field: at a multiple of 8 if it is that wide.
  const bool is_wide = shape.fields_ >> 24 != 0;
  const Position position =
      is_wide ? extend(layout.table_bytes, 8, sizeof(int32_t)) : extend(layout.table_bytes, sizeof(int32_t));
  std::byte* table = block_.data() + position;
  const auto distance = static_cast<int32_t>(position - layout.vtable);
  std::memcpy(table, &distance, sizeof(distance));
  const auto put = [&](unsigned width, auto value) {
    for (uint32_t left = shape.fields_ >> (8 * width) & 0xFF; left != 0; left &= left - 1) {
      const auto field = static_cast<unsigned>(std::countr_zero(left));
      value = static_cast<decltype(value)>(shape.values_[field]);
      std::memcpy(table + layout.slots[field], &value, sizeof(value));
    }
  };
  put(0, uint8_t{});
  put(1, uint16_t{});
  put(2, uint32_t{});
  put(3, uint64_t{});
  return {.position = position, .slots = layout.slots};
}

FlatBuilder::Position FlatBuilder::begin_part() {
  layout_count_ = 0;
  return extend(0, 8);
}

FlatBuilder::Position FlatBuilder::copy(std::span<const std::byte> part) {
  const Position at = extend(part.size(), 8);
  if (!part.empty()) std::memcpy(block_.data() + at, part.data(), part.size());
  return at;
}

FlatBuilder::Position FlatBuilder::text(std::string_view text) {
  // A byte more, for the zero behind it.
  const Position at = extend(sizeof(uint32_t) + text.size() + 1, sizeof(uint32_t));
  const auto size = static_cast<uint32_t>(text.size());
  std::memcpy(block_.data() + at, &size, sizeof(size));
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(block_.data() + at + sizeof(size)));
  return at;
}

FlatBuilder::Position FlatBuilder::offsets(size_t count) {
  if (count > INT32_MAX / sizeof(uint32_t)) throw_error(ErrorKind::kUnsupported, "{} offsets in metadata", count);
  const Position at = extend(sizeof(uint32_t) * (count + 1), sizeof(uint32_t));
  const auto size = static_cast<uint32_t>(count);
  std::memcpy(block_.data() + at, &size, sizeof(size));
  return at;
}

FlatBuilder::Position FlatBuilder::vector(std::span<const std::byte> elements, size_t count, size_t alignment) {
  const Position at =
      extend(sizeof(uint32_t) + elements.size(), std::max(alignment, sizeof(uint32_t)), sizeof(uint32_t));
  const auto size = static_cast<uint32_t>(count);
  std::memcpy(block_.data() + at, &size, sizeof(size));
  if (!elements.empty()) std::memcpy(block_.data() + at + sizeof(size), elements.data(), elements.size());
  return at;
}

}  // namespace frazil::ipc
