// What a file has in one leaf, over all its row groups: what manifests and summaries want of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/value_order.h"

namespace frazil::parquet {

struct LeafSummary {
  std::string path;
  std::optional<int32_t> field_id;
  uint64_t compressed_bytes = 0;
  int64_t value_count = 0;           // entries: nulls, and lists that are null or empty, included
  int64_t null_count = 0;            // entries without a value
  std::optional<int64_t> nan_count;  // of floats
  // Nothing: no value that is ordered, a type without order, or statistics are off. As ChunkStatistics has them:
  // cut off at ChunkOptions::statistics_length where not exact.
  std::optional<ValueBounds> bounds;
  std::optional<GeospatialBounds> geospatial;  // the box around all values; nothing if one of them has none
};

// Adds up what the chunks of a leaf say.
class LeafSummaryBuilder {
 public:
  explicit LeafSummaryBuilder(const LeafDescription& leaf);

  void add(const EncodedChunk& chunk);
  // Once.
  LeafSummary finish();

 private:
  void add_bounds(const ValueBounds& bounds);
  void add_box(const std::optional<ChunkGeospatialStatistics>& statistics);

  ValueOrder order_;
  LeafSummary summary_;
  bool is_unbounded_ = false;  // there are values that no bound is known of
  bool has_no_box_ = false;
};

}  // namespace frazil::parquet
