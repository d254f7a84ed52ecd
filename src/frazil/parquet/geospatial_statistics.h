// Geospatial statistics of a column chunk, from its values in well-known binary (format/Geospatial.md; ISO 13249-3,
// "Well-known binary representation"):
//
//   geometry   := order:u8 type:u32 body             // order: 0 big-endian, 1 little-endian
//   type       := 1..7, + 1000 with Z, + 2000 with M, + 3000 with both
//   body       := point                              // 1 point: all coordinates NaN if empty
//               | count:u32 point*                   // 2 line string
//               | count:u32 (count:u32 point*)*      // 3 polygon
//               | count:u32 geometry*                // 4 to 7: multi point, line string, polygon, collection
//   point      := x:f64 y:f64 [z:f64] [m:f64]
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

class GeospatialStatisticsBuilder {
 public:
  // Collections in collections; deeper ones are not understood.
  static constexpr int kDepthMax = 32;

  // kGeometry or kGeography. Of geographies there is no box: its edges are arcs, which leave the box of their ends.
  explicit GeospatialStatisticsBuilder(LogicalType::Kind kind) : kind_(kind) {}

  // NaN coordinates are passed over, each dimension for itself. A value that is not understood ends it: no statistics.
  void add(std::string_view value);
  // Nothing if a value was not understood, or there was none. No box without a value that has X and Y.
  std::optional<ChunkGeospatialStatistics> finish() const;

 private:
  struct Range {
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    bool is_empty() const { return min > max; }
    void add(double value) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  };
  class Reader;

  LogicalType::Kind kind_;
  bool is_understood_ = true;
  Range x_, y_, z_, m_;
  std::vector<int32_t> types_;  // ascending
};

}  // namespace frazil::parquet
