// Values of an array by their positions, in any order, any number of times each: a gather. For values that stay in
// order, filter.h is the better tool.
//
//   layout                      result
//   fixed width, bool, bytes    new buffers
//   list, map, fixed-size list  new offsets, elements taken
//   struct, sparse union        children taken
//   run-end encoded             a run a value, values taken
//   dictionary                  indices taken, the dictionary kept
//   view                        views taken, their data buffers shared
//   list view, dense union      offsets taken, children shared
//
// O(values taken), elements of lists included. Positions of elements are a list from the pool, 4 bytes each, while a
// list is taken.
#pragma once

#include <cstdint>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

// Requires a validated array and positions below its length. Throws Error(kUnsupported) past 2^31 - 1 bytes or elements
// of what has 32-bit offsets and past 2^32 elements of lists; MemoryLimitError.
ArrayPtr take(const Array& array, std::span<const uint32_t> positions, MemoryPool& pool);

}  // namespace frazil
