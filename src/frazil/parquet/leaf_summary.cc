#include "frazil/parquet/leaf_summary.h"

#include <algorithm>
#include <utility>

namespace frazil::parquet {

namespace {

void widen(std::optional<std::pair<double, double>>& range, const std::optional<std::pair<double, double>>& other) {
  if (!other) return;
  range = range ? std::pair(std::min(range->first, other->first), std::max(range->second, other->second)) : *other;
}

void widen(GeospatialBounds& box, const GeospatialBounds& other) {
  box.x_min = std::min(box.x_min, other.x_min);
  box.x_max = std::max(box.x_max, other.x_max);
  box.y_min = std::min(box.y_min, other.y_min);
  box.y_max = std::max(box.y_max, other.y_max);
  widen(box.z, other.z);
  widen(box.m, other.m);
}

}  // namespace

LeafSummaryBuilder::LeafSummaryBuilder(const LeafDescription& leaf) : order_(value_order(leaf.file_type)) {
  summary_.path = leaf.path;
  summary_.field_id = leaf.field_id;
}

void LeafSummaryBuilder::add(const EncodedChunk& chunk) {
  const ChunkStatistics& statistics = chunk.statistics;
  summary_.compressed_bytes += chunk.byte_size;
  summary_.value_count += chunk.value_count;
  summary_.null_count += statistics.null_count;
  if (statistics.nan_count) summary_.nan_count = summary_.nan_count.value_or(0) + *statistics.nan_count;
  if (statistics.bounds) {
    add_bounds(*statistics.bounds);
  } else if (chunk.value_count - statistics.null_count > statistics.nan_count.value_or(0)) {
    is_unbounded_ = true;
  }
  if (chunk.value_count > statistics.null_count) add_box(chunk.geospatial);
}

// A bound that is a value in one chunk is a value of the file, even if another chunk has it as a mere bound.
void LeafSummaryBuilder::add_bounds(const ValueBounds& bounds) {
  if (!summary_.bounds) {
    summary_.bounds = bounds;
    return;
  }
  ValueBounds& known = *summary_.bounds;
  const int low = compare_values(order_, bounds.min, known.min);
  if (low < 0) known.min = bounds.min;
  if (low <= 0) known.is_min_exact = bounds.is_min_exact || (low == 0 && known.is_min_exact);
  const int high = compare_values(order_, bounds.max, known.max);
  if (high > 0) known.max = bounds.max;
  if (high >= 0) known.is_max_exact = bounds.is_max_exact || (high == 0 && known.is_max_exact);
}

void LeafSummaryBuilder::add_box(const std::optional<ChunkGeospatialStatistics>& statistics) {
  if (!statistics || !statistics->bounds) {
    has_no_box_ = true;
  } else if (summary_.geospatial) {
    widen(*summary_.geospatial, *statistics->bounds);
  } else {
    summary_.geospatial = statistics->bounds;
  }
}

LeafSummary LeafSummaryBuilder::finish() {
  if (is_unbounded_) summary_.bounds.reset();
  if (has_no_box_) summary_.geospatial.reset();
  return std::move(summary_);
}

}  // namespace frazil::parquet
