// Integers to small numbers, for keys that repeat: a table over a window of values where they lie close together, a hash
// where they do not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "frazil/memory/memory_pool.h"

namespace frazil::write {

inline constexpr uint32_t kNoNumber = UINT32_MAX;

// 64-bit keys to numbers below kNoNumber: open addressing, at most half full.
class NumberHash {
 public:
  NumberHash(MemoryPool& pool, uint64_t seed) : pool_(&pool), seed_(seed) {}

  // kNoNumber if it is not there.
  uint32_t find(uint64_t key) const {
    if (count_ == 0) return kNoNumber;
    for (size_t slot = home(key);; slot = (slot + 1) & mask_) {
      const Slot& found = slots()[slot];
      if (found.number == kNoNumber || found.key == key) return found.number;
    }
  }
  // Requires a key that is not there.
  void insert(uint64_t key, uint32_t number) {
    if (2 * (count_ + 1) > slot_count_) grow();
    place(key, number);
    ++count_;
  }
  // visit(key, number), in no order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < slot_count_; ++i) {
      if (slots()[i].number != kNoNumber) visit(slots()[i].key, slots()[i].number);
    }
  }

 private:
  struct Slot {
    uint64_t key;
    uint32_t number;
  };
  const Slot* slots() const { return reinterpret_cast<const Slot*>(slots_.data()); }
  size_t home(uint64_t key) const {
    uint64_t mixed = (key ^ seed_) * 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93U;
    return (mixed ^ mixed >> 32) & mask_;
  }
  void place(uint64_t key, uint32_t number) {
    size_t slot = home(key);
    while (slots()[slot].number != kNoNumber) slot = (slot + 1) & mask_;
    slots_.as<Slot>()[slot] = {key, number};
  }
  void grow() {
    MutableBuffer old = std::move(slots_);
    const size_t old_count = slot_count_;
    slot_count_ = old_count == 0 ? 64 : 2 * old_count;
    mask_ = slot_count_ - 1;
    slots_ = pool_->allocate(slot_count_ * sizeof(Slot));
    slots_.set_size(slot_count_ * sizeof(Slot));
    std::memset(slots_.data(), 0xFF, slots_.size());
    for (size_t i = 0; i < old_count; ++i) {
      const Slot& slot = old.as<Slot>()[i];
      if (slot.number != kNoNumber) place(slot.key, slot.number);
    }
  }

  MemoryPool* pool_;
  uint64_t seed_;
  MutableBuffer slots_;
  size_t slot_count_ = 0;
  size_t mask_ = 0;
  size_t count_ = 0;
};

// Any 64-bit integers to numbers that the caller gives.
class IntegerNumbers {
 public:
  static constexpr uint64_t kWindowMax = 65'536;

  IntegerNumbers(MemoryPool& pool, uint64_t seed) : pool_(&pool), hash_(pool, seed) {}

  uint32_t find(int64_t value) const {
    const uint64_t place = static_cast<uint64_t>(value) - base_;
    if (place < window_size_) return window()[place];
    return window_size_ != 0 && !is_wide_ ? kNoNumber : hash_.find(static_cast<uint64_t>(value));
  }
  // Requires a value that is not there.
  void insert(int64_t value, uint32_t number) {
    hash_.insert(static_cast<uint64_t>(value), number);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    if (is_wide_) return;
    const uint64_t place = static_cast<uint64_t>(value) - base_;
    if (place < window_size_) {
      window_.as<uint32_t>()[place] = number;
    } else {
      make_window();
    }
  }

 private:
  const uint32_t* window() const { return reinterpret_cast<const uint32_t*>(window_.data()); }
  // Covers all values, with room on both sides so that rising values do not make a new one each.
  void make_window() {
    const uint64_t span = static_cast<uint64_t>(max_) - static_cast<uint64_t>(min_);
    window_size_ = 0;
    is_wide_ = span >= kWindowMax;
    if (is_wide_) {
      window_ = MutableBuffer();
      return;
    }
    const uint64_t size = std::min(kWindowMax, 4 * span + 64);
    base_ = static_cast<uint64_t>(min_) - (size - span - 1) / 2;
    window_ = pool_->allocate(size * sizeof(uint32_t));
    window_.set_size(size * sizeof(uint32_t));
    std::memset(window_.data(), 0xFF, window_.size());
    window_size_ = size;
    hash_.for_each([&](uint64_t value, uint32_t number) { window_.as<uint32_t>()[value - base_] = number; });
  }

  MemoryPool* pool_;
  NumberHash hash_;
  MutableBuffer window_;
  uint64_t base_ = 0;
  uint64_t window_size_ = 0;
  bool is_wide_ = false;
  int64_t min_ = INT64_MAX;
  int64_t max_ = INT64_MIN;
};

// Pairs of small numbers to numbers of their own, given in the order in which pairs first come.
class PairNumbers {
 public:
  static constexpr size_t kTableMax = 65'536;

  PairNumbers(MemoryPool& pool, uint64_t seed) : pool_(&pool), hash_(pool, seed) {}

  uint32_t count() const { return static_cast<uint32_t>(pairs_.size()); }
  struct Pair {
    uint32_t left;
    uint32_t right;
  };
  Pair pair(uint32_t number) const { return pairs_[number]; }

  // As number(), for pairs that are known: false, with kNoNumber for them, if some are not.
  bool find(uint32_t* left, const uint32_t* right, size_t count) const {
    const auto* table = reinterpret_cast<const uint32_t*>(table_.data());
    bool is_known = true;
    for (size_t i = 0; i < count; ++i) {
      if (is_hashed_) {
        left[i] = hash_.find(key(left[i], right[i]));
      } else if (left[i] < left_size_ && right[i] < right_size_) {
        left[i] = table[size_t{left[i]} * right_size_ + right[i]];
      } else {
        left[i] = kNoNumber;
      }
      is_known &= left[i] != kNoNumber;
    }
    return is_known;
  }

  // left[i] becomes the number of (left[i], right[i]). All left are below left_count, all right below right_count.
  void number(uint32_t* left, const uint32_t* right, size_t count, uint32_t left_count, uint32_t right_count) {
    if (!is_hashed_ && (left_count > left_size_ || right_count > right_size_)) make_table(left_count, right_count);
    if (is_hashed_) {
      for (size_t i = 0; i < count; ++i) {
        uint32_t found = hash_.find(key(left[i], right[i]));
        left[i] = found != kNoNumber ? found : add(left[i], right[i]);
      }
      return;
    }
    auto* table = table_.as<uint32_t>();
    for (size_t i = 0; i < count; ++i) {
      const size_t place = size_t{left[i]} * right_size_ + right[i];
      uint32_t found = table[place];
      if (found == kNoNumber) found = table[place] = add(left[i], right[i]);
      left[i] = found;
    }
  }

 private:
  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  uint32_t add(uint32_t left, uint32_t right) {
    pairs_.push_back({left, right});
    if (is_hashed_) hash_.insert(key(left, right), count() - 1);
    return count() - 1;
  }
  void make_table(uint32_t left_count, uint32_t right_count) {
    left_size_ = std::max<size_t>(2 * size_t{left_count}, 4);
    right_size_ = std::max<size_t>(2 * size_t{right_count}, 4);
    if (left_size_ * right_size_ > kTableMax) {
      left_size_ = left_count;
      right_size_ = right_count;
    }
    if (left_size_ * right_size_ > kTableMax) {
      is_hashed_ = true;
      table_ = MutableBuffer();
      for (uint32_t i = 0; i < count(); ++i) hash_.insert(key(pairs_[i].left, pairs_[i].right), i);
      return;
    }
    table_ = pool_->allocate(left_size_ * right_size_ * sizeof(uint32_t));
    table_.set_size(left_size_ * right_size_ * sizeof(uint32_t));
    std::memset(table_.data(), 0xFF, table_.size());
    for (uint32_t i = 0; i < count(); ++i) {
      table_.as<uint32_t>()[pairs_[i].left * right_size_ + pairs_[i].right] = i;
    }
  }

  MemoryPool* pool_;
  NumberHash hash_;
  bool is_hashed_ = false;
  MutableBuffer table_;
  size_t left_size_ = 0;
  size_t right_size_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace frazil::write
