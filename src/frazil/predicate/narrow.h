// One test on one array: what evaluate() does to batches and may_match() to dictionaries.
#pragma once

#include <cstdint>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/bind.h"

namespace frazil::predicate {

// Bits in 64-bit words, bits behind the last row 0.
inline size_t words_for(int64_t row_count) noexcept {
  return (static_cast<size_t>(row_count) + 63) / 64;
}

// The values first .. first + row_count of an array.
struct ArrayRange {
  const Array* array = nullptr;
  int64_t first = 0;
  int64_t row_count = 0;
};

// Clears the bits of rows where the value is null, by what it stands for (dictionary and run values count).
void narrow_to_valid(const ArrayRange& range, uint64_t* words, MemoryPool& pool);

// Clears the bits of rows where the test is not true. Requires a test of values (not kNull, kNotNull, kNotNan) bound to
// the array's type, and bits of valid rows only.
void narrow_to_true(const ArrayRange& range, const BoundTest& test, uint64_t* words, MemoryPool& pool);

}  // namespace frazil::predicate
