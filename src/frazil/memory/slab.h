// Slab: one mapped block from which small blocks of all sizes are carved, so that a block of 200 bytes does not cost a
// page. Space is counted in granules of 64 bytes, one bit each; a search takes the first run that is long enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace frazil {

class Slab {
 public:
  static constexpr size_t kGranuleBytes = 64;
  static constexpr size_t kBytesMax = (size_t{256} << 10) + 4096;
  static constexpr size_t kGranulesMax = kBytesMax / kGranuleBytes;

  // Borrows the memory. Requires size <= kBytesMax.
  void reset(std::byte* data, size_t size) noexcept;

  // nullptr if no free run is long enough. Rounds up to whole granules; give() wants the same size.
  std::byte* take(size_t size) noexcept;
  void give(const std::byte* data, size_t size) noexcept;

  bool empty() const noexcept { return free_ == granules_; }
  // No free run is longer. An upper bound: take() makes it exact when it fails.
  size_t longest_run() const noexcept { return longest_run_; }

 private:
  // First granule in [from, limit) that is used (or free), limit if there is none.
  size_t find(size_t from, size_t limit, bool used) const noexcept;
  void mark(size_t first, size_t count, bool used) noexcept;

  std::byte* data_ = nullptr;
  size_t granules_ = 0;
  size_t free_ = 0;
  size_t longest_run_ = 0;
  size_t first_free_ = 0;  // no granule before it is free
  std::array<uint64_t, (kGranulesMax + 63) / 64> used_{};
};

}  // namespace frazil
