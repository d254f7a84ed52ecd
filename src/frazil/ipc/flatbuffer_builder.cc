#include "frazil/ipc/flatbuffer_builder.h"

#include <algorithm>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"

namespace frazil::ipc {

void FlatBuilder::clear() {
  size_ = 0;
  vtable_count_ = 0;
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

FlatPlace FlatBuilder::table(const FlatShape& shape) {
  // Its own size, the table's size, and a slot a field up to the last one that is there.
  std::array<uint16_t, 2 + FlatShape::kFieldsMax> vtable{};
  size_t vtable_bytes = 2 * sizeof(uint16_t);
  FlatPlace place;
  size_t table_bytes = sizeof(int32_t);
  // The widest fields first, so that there are no gaps.
  for (size_t width = 8; width != 0; width /= 2) {
    for (unsigned field = 0; field < FlatShape::kFieldsMax; ++field) {
      if (shape.entries_[field].size != width) continue;
      place.slots[field] = static_cast<uint8_t>(table_bytes);
      vtable[2 + field] = static_cast<uint16_t>(table_bytes);
      vtable_bytes = std::max(vtable_bytes, (3 + field) * sizeof(uint16_t));
      table_bytes += width;
    }
  }
  vtable[0] = static_cast<uint16_t>(vtable_bytes);
  vtable[1] = static_cast<uint16_t>(table_bytes);
  Position vtable_at = 0;
  for (size_t i = 0; i < std::min(vtable_count_, kVtablesKept); ++i) {
    // One at the end of the buffer may have fewer bytes behind it than are compared.
    const Position known = vtables_[i];
    if (size_ - known >= vtable_bytes && std::memcmp(block_.data() + known, vtable.data(), vtable_bytes) == 0) {
      vtable_at = known;
    }
  }
  if (vtable_at == 0) {
    vtable_at = extend(vtable_bytes, sizeof(uint16_t));
    std::memcpy(block_.data() + vtable_at, vtable.data(), vtable_bytes);
    vtables_[vtable_count_++ % kVtablesKept] = vtable_at;
  }
  // Behind the offset to the vtable comes the first field: at a multiple of 8 if it is that wide.
  const bool is_wide = table_bytes >= sizeof(int32_t) + 8 &&
                       std::any_of(shape.entries_.begin(), shape.entries_.end(), [](auto& e) { return e.size == 8; });
  place.position = is_wide ? extend(table_bytes, 8, sizeof(int32_t)) : extend(table_bytes, sizeof(int32_t));
  std::byte* table = block_.data() + place.position;
  const auto distance = static_cast<int32_t>(place.position - vtable_at);
  std::memcpy(table, &distance, sizeof(distance));
  for (unsigned field = 0; field < FlatShape::kFieldsMax; ++field) {
    const FlatShape::Entry& entry = shape.entries_[field];
    if (entry.size != 0) std::memcpy(table + place.slots[field], &entry.value, entry.size);
  }
  return place;
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
