// Are the values of a column what its file says about them? Statistics of the chunk, bounds of its pages, its Bloom filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parquet_files.h"

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/page_index.h"
#include "frazil/parquet/statistics.h"
#include "frazil/predicate/bind.h"

namespace frazil::cli {

// Of one leaf at the top of the schema, in one row group. Only claims that a reader would believe are held against the
// values: writers that are known to be wrong about a type are let pass.
class ColumnClaims {
 public:
  // Borrows all. `field`: as the values are read. Throws CorruptError for bounds that no value can have, and for pages that
  // are not in the order that the page index says.
  ColumnClaims(const ParquetFile& file, size_t row_group, size_t leaf, const Field& field,
               const parquet::PageIndex& index, MemoryPool& pool);

  // The next values, in order. Throws CorruptError for one that is outside of the bounds or not in the Bloom filter.
  void check(const ArrayPtr& values);
  // After the last ones: counts.
  void finish() const;

 private:
  struct Claim {
    std::string what;
    uint64_t offset = 0;
    uint64_t end = 0;                                     // row in the row group
    std::optional<predicate::BoundPredicate> outside;     // true for values that break the bounds
    std::optional<predicate::BoundPredicate> not_number;  // NaN; only if they are counted
    std::optional<int64_t> null_count;
    std::optional<int64_t> nan_count;
    int64_t nulls = 0;
    int64_t nans = 0;
  };

  Claim make_claim(std::string what, uint64_t offset, uint64_t end,
                   const predicate::ColumnStatistics& statistics) const;
  Claim page_claim(size_t page) const;
  void check_order() const;
  void check_bloom_filter(const Array& values) const;
  void check_claim(Claim& claim, const ArrayPtr& values) const;
  static void check_counts(const Claim& claim);

  SchemaPtr schema_;
  MemoryPool& pool_;
  parquet::StatisticsDecoder decoder_;
  const parquet::PageIndex::Column& index_;
  std::optional<parquet::BloomFilter> bloom_filter_;
  uint64_t row_ = 0;
  Claim chunk_;
  size_t page_ = 0;
  std::optional<Claim> current_;  // of page_
};

}  // namespace frazil::cli
