// Some values of an array, in their order, as an array of the same type: by a bitmap (1: wanted) or by ranges.
//
//   layout                      result
//   fixed width, bool, bytes    new buffers
//   list, map, fixed-size list  new offsets, elements filtered
//   struct, sparse union        children filtered
//   run-end encoded             runs cut, values filtered
//   dictionary                  indices filtered, the dictionary kept
//   view                        views filtered, their data buffers shared
//   list view, dense union      offsets filtered, children shared
//
// What is shared keeps its memory alive. If everything is wanted the array itself comes back; if one range of at least
// half the values is, a slice of it: O(1), and without memory. A smaller one is copied, so that a few rows do not hold
// on to the memory of many.
//
// Cost: long runs are copied as runs (up to memory speed), short ones value by value through a list of positions that
// is made once for all columns of a batch (4 bytes a value from the pool).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const IndexRange&) const = default;
};

// Bit `bit_offset + i` stands for value i. Arrays are validated. Throw MemoryLimitError.
ArrayPtr filter(const ArrayPtr& array, const uint8_t* bits, size_t bit_offset, MemoryPool& pool);
RecordBatch filter(const RecordBatch& batch, const uint8_t* bits, size_t bit_offset, MemoryPool& pool);

// The values of `ranges`, which ascend and do not overlap. Throws Error(kInvalidArgument) if they do or pass the end.
ArrayPtr take_ranges(const ArrayPtr& array, std::span<const IndexRange> ranges, MemoryPool& pool);
RecordBatch take_ranges(const RecordBatch& batch, std::span<const IndexRange> ranges, MemoryPool& pool);

}  // namespace frazil
