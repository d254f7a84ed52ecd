#include "frazil/parquet/geospatial_statistics.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace frazil::parquet {

// Lengths are checked before they are used; what does not fit is not understood.
class GeospatialStatisticsBuilder::Reader {
 public:
  Reader(GeospatialStatisticsBuilder& target, std::string_view bytes) : target_(target), bytes_(bytes) {}

  // The type's code; nothing if it is not understood.
  std::optional<uint32_t> geometry(int depth) {
    if (depth > kDepthMax || bytes_.empty()) return std::nullopt;
    const auto order = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    if (order > 1) return std::nullopt;
    const bool was_swapped = is_swapped_;
    is_swapped_ = (order == 1) != (std::endian::native == std::endian::little);
    const auto type = read<uint32_t>();
    bool ok = type && *type / 1000 <= 3 && body(*type % 1000, *type / 1000, depth);
    is_swapped_ = was_swapped;
    return ok ? type : std::nullopt;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  bool body(uint32_t type, uint32_t dimensions, int depth) {
    switch (type) {
      case 1:
        return point(dimensions);
      case 2:
        return points(dimensions);
      case 3: {
        const auto rings = read<uint32_t>();
        if (!rings) return false;
        for (uint32_t i = 0; i < *rings; ++i) {
          if (!points(dimensions)) return false;
        }
        return true;
      }
      case 4:
      case 5:
      case 6:
      case 7: {
        const auto parts = read<uint32_t>();
        if (!parts) return false;
        for (uint32_t i = 0; i < *parts; ++i) {
          if (!geometry(depth + 1)) return false;
        }
        return true;
      }
      default:
        return false;
    }
  }

  bool points(uint32_t dimensions) {
    const auto count = read<uint32_t>();
    if (!count) return false;
    for (uint32_t i = 0; i < *count; ++i) {
      if (!point(dimensions)) return false;
    }
    return true;
  }

  bool point(uint32_t dimensions) {
    const bool has_z = (dimensions & 1) != 0;
    const bool has_m = (dimensions & 2) != 0;
    return coordinate(target_.x_) && coordinate(target_.y_) && (!has_z || coordinate(target_.z_)) &&
           (!has_m || coordinate(target_.m_));
  }

  // Comparisons with NaN are false: it widens nothing.
  bool coordinate(Range& range) {
    const auto bits = read<uint64_t>();
    if (bits) range.add(std::bit_cast<double>(*bits));
    return bits.has_value();
  }

  template <typename T>
  std::optional<T> read() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    char raw[sizeof(T)];
    bytes_.copy(raw, sizeof(T));
    if (is_swapped_) std::reverse(raw, raw + sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return std::bit_cast<T>(raw);
  }

  GeospatialStatisticsBuilder& target_;
  std::string_view bytes_;
  bool is_swapped_ = false;
};

void GeospatialStatisticsBuilder::add(std::string_view value) {
  if (!is_understood_) return;
  Reader reader(*this, value);
  const auto type = reader.geometry(0);
  if (!type || !reader.at_end()) {
    is_understood_ = false;
    return;
  }
  const auto code = static_cast<int32_t>(*type);
  const auto place = std::lower_bound(types_.begin(), types_.end(), code);
  if (place == types_.end() || *place != code) types_.insert(place, code);
}

std::optional<ChunkGeospatialStatistics> GeospatialStatisticsBuilder::finish() const {
  if (!is_understood_ || types_.empty()) return std::nullopt;
  ChunkGeospatialStatistics statistics;
  statistics.types = types_;
  if (kind_ == LogicalType::Kind::kGeometry && !x_.is_empty() && !y_.is_empty()) {
    GeospatialBounds box{.x_min = x_.min, .x_max = x_.max, .y_min = y_.min, .y_max = y_.max, .z = {}, .m = {}};
    if (!z_.is_empty()) box.z = {z_.min, z_.max};
    if (!m_.is_empty()) box.m = {m_.min, m_.max};
    statistics.bounds = box;
  }
  return statistics;
}

}  // namespace frazil::parquet
