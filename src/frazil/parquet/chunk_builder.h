// Builds a chunk of full pages: encodes their levels and values, counts and bounds what they hold, and puts the dictionary
// page in front. What a page holds, EncodingSelector has decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/bloom_filter_builder.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/encoder_scratch.h"
#include "frazil/parquet/encoding_selector.h"
#include "frazil/parquet/geospatial_statistics.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/open_page.h"
#include "frazil/parquet/page_writer.h"
#include "frazil/parquet/value_dictionary.h"
#include "frazil/parquet/value_order.h"

namespace frazil::parquet {

// Owns the written pages, in memory of the pool, which outlives it. One thread at a time.
class ChunkBuilder {
 public:
  // Borrows both. Throws Error(kInvalidArgument) for a rate of the Bloom filter that cannot be.
  ChunkBuilder(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool);

  // Writes `page`, whose values or numbers are as `selected` tells; returns the bytes that they take before compression.
  // `is_last`: finish() comes next. Throws Error(kInvalidArgument) for a page of 2 GiB; MemoryLimitError.
  size_t add_page(const OpenPage& page, const SelectedEncoding& selected, bool is_last, ScratchBuffers& scratch);
  // Once. `dictionary`: of the pages that have numbers; nullptr if none do.
  EncodedChunk finish(const ValueDictionary* dictionary, ScratchBuffers& scratch);

  int64_t row_count() const { return chunk_.row_count; }
  size_t memory_bytes() const { return writer_.memory_bytes() + (bloom_ ? bloom_->memory_bytes() : 0); }
  // Of its pages, the dictionary page left out, and of `open_bytes` more that are yet to be encoded.
  size_t encoded_bytes_estimate(size_t open_bytes) const;

 private:
  void bound(const OpenPage& page, const SelectedEncoding& selected, BoundsBuilder& bounds, ScratchBuffers& scratch);
  void bound_numbers(const OpenPage& page, const ValueDictionary& dictionary, BoundsBuilder& bounds,
                     ScratchBuffers& scratch);
  void count_encoding(PageType type, Encoding encoding);
  void count_levels(const OpenPage& page, EncodedPage& encoded);
  void finish_dictionary(const ValueDictionary& dictionary, ScratchBuffers& scratch);
  bool wants_column_index() const { return options_->statistics && options_->column_index_length != 0; }

  const LeafDescription* leaf_;
  const ChunkOptions* options_;
  MemoryPool* pool_;
  ValueOrder order_;
  bool is_legacy_;
  bool is_v2_;

  PageWriter writer_;
  EncodedChunk chunk_;  // what is told of the pages so far; their bytes are the writer's
  BoundsBuilder chunk_bounds_;
  std::optional<BloomFilterBuilder> bloom_;
  std::optional<GeospatialStatisticsBuilder> geospatial_;
  bool has_page_with_numbers_ = false;
  bool has_page_of_nans_ = false;
  std::vector<uint32_t> nan_numbers_;  // entries of the dictionary that are NaN
  uint32_t nans_sought_ = 0;           // entries that were looked at
};

}  // namespace frazil::parquet
