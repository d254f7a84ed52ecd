// Builds the split-block Bloom filter of a column chunk, whose form bloom_filter.h has.
//
// The filter's size depends on the number of distinct values, which only the end tells. So distinct hashes are kept, at
// 8 to 24 bytes each, until the largest filter that is allowed could not hold more of them at the rate asked for; from
// then on they go into a filter of that size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/value_dictionary.h"
#include "frazil/parquet/value_encoder.h"

namespace frazil::parquet {

// Bytes of the filter that answers wrongly with probability `fpp` after `ndv` values: a power of two, which parquet-cpp
// insists on, at least 32 and at most `bytes_max`. fpp is in (0, 1).
size_t bloom_filter_bytes(uint64_t ndv, double fpp, size_t bytes_max);

class BloomFilterBuilder {
 public:
  // `ndv` 0: those that come. `pool` outlives it. Throws Error(kInvalidArgument) for an fpp outside of (0, 1).
  BloomFilterBuilder(uint64_t ndv, double fpp, size_t bytes_max, MemoryPool& pool);

  void add(const FixedValues& values);
  void add(const BytesValues& values);
  // All entries.
  void add(const ValueDictionary& dictionary);

  size_t memory_bytes() const;
  // The blocks; empty after no value.
  Buffer finish();

 private:
  void add_hash(uint64_t hash);
  void begin_blocks(size_t bytes);
  void set(uint64_t hash);

  MemoryPool* pool_;
  double fpp_;
  size_t bytes_max_;
  uint64_t ndv_max_;                       // that the largest filter holds
  std::optional<ValueDictionary> hashes_;  // distinct ones, until there are blocks
  MutableBuffer blocks_;
  bool is_empty_ = true;
};

}  // namespace frazil::parquet
