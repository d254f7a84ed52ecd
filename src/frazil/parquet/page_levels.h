// The levels of the open page (format/README.md, "Nested Encoding"). Definition levels are kept only from the first entry
// on that has less than the maximum: most pages have none, and their levels are one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/leaf_source.h"

namespace frazil::parquet {

class PageLevels {
 public:
  PageLevels(uint8_t max_definition, uint8_t max_repetition, MemoryPool& pool)
      : max_definition_(max_definition), max_repetition_(max_repetition), definition_(pool), repetition_(pool) {}

  size_t size() const { return size_; }  // entries
  size_t null_count() const { return null_count_; }
  size_t memory_bytes() const { return definition_.capacity() + repetition_.capacity(); }

  // Entries of a column that does not repeat: the maximum where valid, else one less. Throws Error(kInvalidArgument) for
  // nulls where the maximum is 0.
  void append_valid(size_t count, ValidBits valid, size_t null_count);
  void append_nulls(size_t count);
  // Levels as they are; `value_count` of them are the maximum. No repetition levels where the column does not repeat.
  // Throws Error(kInvalidArgument) for a repetition level above its maximum; definition levels are checked.
  void append(std::span<const uint8_t> definition, std::span<const uint8_t> repetition, size_t value_count);

  // Appends the page's levels of either kind, which come in this order, to its body: with their length in front
  // (version 1) or without. Returns the bytes of the levels alone.
  uint32_t append_repetition(bool with_length, EncodeBuffer& body) const;
  uint32_t append_definition(bool with_length, EncodeBuffer& body) const;
  // Adds how often each level occurs; empty histograms stay so.
  void count(std::vector<int64_t>& repetition_histogram, std::vector<int64_t>& definition_histogram) const;

  // Of the next page.
  void clear();
  void shrink() {
    definition_.shrink();
    repetition_.shrink();
  }

 private:
  // For entries that are about to be appended.
  void fill_definition();
  uint32_t append_levels(const EncodeBuffer& levels, uint8_t max_level, bool with_length, EncodeBuffer& body) const;

  uint8_t max_definition_;
  uint8_t max_repetition_;
  EncodeBuffer definition_;  // a byte an entry; empty: all entries have the maximum
  EncodeBuffer repetition_;
  size_t size_ = 0;
  size_t null_count_ = 0;
};

}  // namespace frazil::parquet
