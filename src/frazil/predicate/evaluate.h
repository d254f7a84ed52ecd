// Which rows of a batch a predicate wants.
//
//   bound -> per test: validity of the column and of the structs around it, by words
//                      then the values, 64 rows at a time, only where rows are still undecided
//
// AND hands each operand the rows that all before it left, OR those that none before it took; words of 64 rows without
// any are skipped. A dictionary is tested once a value, and only those values that rows refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frazil/base/bits.h"
#include "frazil/columnar/array.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/bind.h"

namespace frazil::predicate {

// The rows that a predicate wants, as a bitmap in whole 64-bit words: bits behind row_count are 0.
class Selection {
 public:
  Selection(Buffer words, int64_t row_count);
  static Selection all(int64_t row_count, MemoryPool& pool);
  static Selection none(int64_t row_count, MemoryPool& pool);

  int64_t row_count() const { return row_count_; }
  int64_t selected_count() const { return selected_count_; }
  bool is_selected(int64_t row) const { return get_bit(bits(), static_cast<size_t>(row)); }
  const uint8_t* bits() const { return words_.as<uint8_t>(); }
  const Buffer& buffer() const { return words_; }

 private:
  Buffer words_;
  int64_t row_count_;
  int64_t selected_count_;
};

// Requires a batch of the schema that the predicate was bound to, whose columns passed validate(), those from outside
// validate_full(). Memory: one bitmap (1 bit a row), one more for each OR within an AND that nests, and for a
// dictionary test two bits a dictionary value; all from `pool`, which may throw MemoryLimitError. Thread-safe.
Selection evaluate(const BoundPredicate& predicate, const RecordBatch& batch, MemoryPool& pool);

// The same among the rows that `candidates` has: late materialisation and row selections of the caller.
Selection evaluate(const BoundPredicate& predicate, const RecordBatch& batch, const Selection& candidates,
                   MemoryPool& pool);

}  // namespace frazil::predicate
