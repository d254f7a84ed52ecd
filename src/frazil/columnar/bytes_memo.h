// BytesMemo: numbers distinct byte strings in the order in which they first come: 0, 1, 2, ... The dictionary of a
// column while it is built, and the keys of text partitions.
//
// A value of at most 16 bytes is two words and its size, compared in the slot itself; a longer one is found by its
// 128-bit hash and compared byte by byte. About 3 ns a value while the table fits the first cache levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

class BytesMemo {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `pool` outlives it. `seed`: the hash's; numbers do not depend on it, but whoever takes values from strangers gives
  // a random one, so that nobody can choose values that collide.
  explicit BytesMemo(MemoryPool& pool, uint64_t seed = 0);

  // The number of `value`. Throws MemoryLimitError; Error(kUnsupported) past 2^31 values or 2^31 bytes.
  uint32_t number_of(std::string_view value) {
    const Key key = key_of(value);
    for (size_t slot = home(key);; slot = (slot + 1) & mask_) {
      const Slot& found = slots()[slot];
      if (found.number == kNone) return add(value, key, slot);
      if (found.key == key && (key.size <= kWordsMax || same_bytes(found.number, value))) return found.number;
    }
  }

  // The number of `value`, kNone if it has none.
  uint32_t find(std::string_view value) const {
    const Key key = key_of(value);
    for (size_t slot = home(key);; slot = (slot + 1) & mask_) {
      const Slot& found = slots()[slot];
      if (found.number == kNone) return kNone;
      if (found.key == key && (key.size <= kWordsMax || same_bytes(found.number, value))) return found.number;
    }
  }

  uint32_t size() const { return size_; }
  size_t data_bytes() const { return data_size_; }
  // What it holds of the pool.
  size_t memory_bytes() const { return slots_.size() + offsets_.size() + data_.size(); }
  // Of a number below size(). Valid until the next number_of().
  std::string_view value(uint32_t number) const {
    const auto* offsets = reinterpret_cast<const int32_t*>(offsets_.data()) + number;
    return {reinterpret_cast<const char*>(data_.data()) + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
  }
  // All values in the order of their numbers, copied to the pool, as an array of utf8 or binary.
  ArrayPtr values(const DataTypePtr& type) const;
  // Forgets all values and keeps the memory.
  void clear();

 private:
  static constexpr uint32_t kWordsMax = 16;

  struct Key {
    uint64_t first;
    uint64_t last;
    uint32_t size;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    uint32_t number;
  };

  static Key key_of(std::string_view value) {
    const char* bytes = value.data();
    const size_t size = value.size();
    Key key{0, 0, static_cast<uint32_t>(size)};
    if (size > kWordsMax) {
      hash_long(value, key);
    } else if (size >= 8) {
      std::memcpy(&key.first, bytes, 8);
      std::memcpy(&key.last, bytes + size - 8, 8);
    } else if (size >= 4) {
      uint32_t first = 0;
      uint32_t last = 0;
      std::memcpy(&first, bytes, 4);
      std::memcpy(&last, bytes + size - 4, 4);
      key.first = first | uint64_t{last} << 32;
    } else if (size > 0) {  // first, middle and last byte are all bytes of up to three
      key.first = static_cast<uint8_t>(bytes[0]) | uint64_t{static_cast<uint8_t>(bytes[size / 2])} << 8 |
                  uint64_t{static_cast<uint8_t>(bytes[size - 1])} << 16;
    }
    return key;
  }
  static void hash_long(std::string_view value, Key& key);

  size_t home(const Key& key) const {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(key.first ^ seed_ ^ 0x9E3779B97F4A7C15U) *
                            ((key.last + key.size) ^ (seed_ << 32 | seed_ >> 32) ^ 0xD6E8FEB86659FD93U);
    return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) & mask_;
  }
  const Slot* slots() const { return reinterpret_cast<const Slot*>(slots_.data()); }
  bool same_bytes(uint32_t number, std::string_view value) const { return this->value(number) == value; }
  uint32_t add(std::string_view value, const Key& key, size_t slot);
  void grow_slots();

  MemoryPool* pool_;
  uint64_t seed_;
  size_t mask_ = 0;
  uint32_t size_ = 0;
  size_t data_size_ = 0;
  MutableBuffer slots_;    // Slot, a power of two of them, at most half in use
  MutableBuffer offsets_;  // int32_t, size_ + 1
  MutableBuffer data_;
};

}  // namespace frazil
