// Merging small ranges that lie near each other into fewer, larger reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/io/file_system.h"

namespace frazil {

struct CoalesceOptions {
  // Unwanted bytes between two ranges that are cheaper to read than a second call.
  uint64_t max_gap_bytes = 32 << 10;
  // Reads do not grow beyond it by merging. A wanted range that is longer is a read of its own.
  uint64_t max_read_bytes = 8 << 20;
};

struct ReadPlan {
  static constexpr size_t kNoRead = SIZE_MAX;
  // Where a wanted range is found: `offset` bytes into reads[read_index]. Empty ranges have kNoRead.
  struct Slice {
    size_t read_index = kNoRead;
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  std::vector<ByteRange> reads;  // by offset
  std::vector<Slice> slices;     // slices[i] belongs to the i-th wanted range

  uint64_t read_bytes() const;
};

// Ranges may come in any order, overlap and repeat. Throws CorruptError if a range passes `file_size`.
// O(n log n).
ReadPlan plan_ranges(std::span<const ByteRange> ranges, uint64_t file_size, const CoalesceOptions& options = {});

}  // namespace frazil
