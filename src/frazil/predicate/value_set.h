// How the values of an IN list are looked up row by row.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "frazil/base/int128.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/int256.h"

namespace frazil::predicate {

// 64-bit keys: integers, and doubles by their bits. A bitmap where the keys lie close together, else a hash table with
// open addressing.
class KeySet {
 public:
  explicit KeySet(std::vector<uint64_t> keys);
  bool contains(uint64_t key) const noexcept {
    if (!bitmap_.empty()) {
      const uint64_t place = key - least_;
      return place < bit_count_ && ((bitmap_[place >> 6] >> (place & 63)) & 1) != 0;
    }
    if (key == vacant_) return false;
    for (size_t slot = (key * kMultiplier) >> shift_;; slot = (slot + 1) & mask_) {
      if (slots_[slot] == key) return true;
      if (slots_[slot] == vacant_) return false;
    }
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  std::vector<uint64_t> bitmap_;
  uint64_t least_ = 0;
  uint64_t bit_count_ = 0;
  std::vector<uint64_t> slots_;
  uint64_t vacant_ = 0;  // no key: marks empty slots
  size_t mask_ = 0;
  int shift_ = 63;
};

// Byte strings, which outlive the set. Lengths that no value has are refused first.
class BytesSet {
 public:
  explicit BytesSet(const std::vector<std::string_view>& values);
  bool contains(std::string_view value) const noexcept {
    if (((lengths_ >> length_class(value.size())) & 1) == 0) return false;
    const uint64_t hash = hash_of(value);
    for (size_t slot = hash >> shift_;; slot = (slot + 1) & mask_) {
      if (slots_[slot].data() == nullptr) return false;
      if (slots_[slot].size() == value.size() && std::memcmp(slots_[slot].data(), value.data(), value.size()) == 0) {
        return true;
      }
    }
  }

 private:
  static size_t length_class(size_t size) noexcept { return size < 63 ? size : 63; }
  static uint64_t hash_of(std::string_view value) noexcept;
  std::vector<std::string_view> slots_;
  uint64_t lengths_ = 0;
  size_t mask_ = 0;
  int shift_ = 63;
};

// The key of a double: the zeros are one.
inline uint64_t double_key(double value) noexcept {
  uint64_t bits;
  value += 0.0;  // -0.0 becomes 0.0
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// One member is filled, by the set's kind.
struct ValueSet::Index {
  KeySet keys{{}};
  BytesSet bytes{{}};
  std::vector<Int128> decimals;       // ascending
  std::vector<Int256> wide_decimals;  // ascending
  bool has_true = false;
  bool has_false = false;
};

}  // namespace frazil::predicate
