#include "frazil/memory/slab.h"

#include <algorithm>
#include <bit>

namespace frazil {

void Slab::reset(std::byte* data, size_t size) noexcept {
  data_ = data;
  granules_ = size / kGranuleBytes;
  free_ = granules_;
  longest_run_ = granules_;
  first_free_ = 0;
  used_.fill(0);
}

std::byte* Slab::take(size_t size) noexcept {
  size_t count = (size + kGranuleBytes - 1) / kGranuleBytes;
  size_t longest = 0;
  first_free_ = find(first_free_, granules_, false);
  for (size_t begin = first_free_; begin < granules_;) {
    size_t end = find(begin, std::min(granules_, begin + count), true);
    if (end - begin == count) {
      mark(begin, count, true);
      free_ -= count;
      longest_run_ = std::min(longest_run_, free_);
      return data_ + begin * kGranuleBytes;
    }
    longest = std::max(longest, end - begin);
    begin = find(end, granules_, false);
  }
  longest_run_ = longest;
  return nullptr;
}

void Slab::give(const std::byte* data, size_t size) noexcept {
  size_t count = (size + kGranuleBytes - 1) / kGranuleBytes;
  size_t first = static_cast<size_t>(data - data_) / kGranuleBytes;
  mark(first, count, false);
  first_free_ = std::min(first_free_, first);
  free_ += count;
  // The run may have joined a free one on each side.
  longest_run_ = std::min(free_, 2 * longest_run_ + count);
}

size_t Slab::find(size_t from, size_t limit, bool used) const noexcept {
  for (size_t word = from / 64; word * 64 < limit; ++word) {
    uint64_t bits = used ? used_[word] : ~used_[word];
    if (word == from / 64) bits &= ~uint64_t{0} << (from % 64);
    if (bits != 0) return std::min(limit, word * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }
  return limit;
}

void Slab::mark(size_t first, size_t count, bool used) noexcept {
  while (count > 0) {
    size_t bit = first % 64;
    size_t here = std::min(count, 64 - bit);
    uint64_t mask = (here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1) << bit;
    if (used) {
      used_[first / 64] |= mask;
    } else {
      used_[first / 64] &= ~mask;
    }
    first += here;
    count -= here;
  }
}

}  // namespace frazil
