#include "frazil/write/metrics.h"

#include <algorithm>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/parquet/uuid_bounds.h"
#include "frazil/spec/literal.h"

namespace frazil::write {

namespace {

using spec::TypeKind;

struct Bounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The code point after this one, over the surrogates; nothing after the last.
std::optional<uint32_t> next_valid(uint32_t code_point) {
  if (code_point == kCodePointMax) return std::nullopt;
  return code_point == 0xD7FF ? 0xE000 : code_point + 1;
}

void require_width(const spec::Type& type, std::string_view value, size_t width) {
  if (value.size() != width)
    throw_error(ErrorKind::kInternal, "a bound of {} bytes for a column of type {}", value.size(), type.to_string());
}

// PLAIN is little-endian in 4 or 8 bytes, or big-endian in as many as the precision needs.
std::string decimal_bound(const spec::Type& type, std::string_view plain) {
  Int128 unscaled = 0;
  if (type.precision() <= 9) {
    require_width(type, plain, 4);
    unscaled = load<int32_t>(plain.data());
  } else if (type.precision() <= 18) {
    require_width(type, plain, 8);
    unscaled = load<int64_t>(plain.data());
  } else {
    const auto wide = decimal_from_big_endian(bytes_of(plain));
    if (!wide) require_width(type, plain, 16);
    unscaled = *wide;
  }
  return text_of(decimal_to_big_endian(unscaled).bytes());
}

Bounds uuid_bounds(const spec::Type& type, const parquet::ValueBounds& plain) {
  require_width(type, plain.min, 16);
  require_width(type, plain.max, 16);
  parquet::UuidBounds bounds = parquet::uuid_bounds(plain.min, plain.max);
  return {std::move(bounds.lower), std::move(bounds.upper)};
}

Bounds text_bounds(const parquet::ValueBounds& plain, const MetricsMode& mode) {
  Bounds bounds;
  // A bound that the writer cut may end within a code point.
  const std::string_view lower = std::string_view(plain.min).substr(0, valid_utf8_prefix(plain.min));
  const bool is_text = is_valid_utf8(plain.max);
  if (mode.kind == MetricsMode::Kind::kFull) {
    bounds.lower = std::string(lower);
    if (is_text) bounds.upper = plain.max;
    return bounds;
  }
  bounds.lower = truncate_text_lower(lower, mode.length);
  if (is_text) bounds.upper = truncate_text_upper(plain.max, mode.length);
  return bounds;
}

Bounds byte_bounds(const parquet::ValueBounds& plain, const MetricsMode& mode) {
  if (mode.kind == MetricsMode::Kind::kFull) return {plain.min, plain.max};
  return {truncate_bytes_lower(plain.min, mode.length), truncate_bytes_upper(plain.max, mode.length)};
}

// Both are already as readers of any order need them: NaN left out, zeros -0.0 and 0.0.
Bounds fixed_width_bounds(const spec::Type& type, const parquet::ValueBounds& plain, size_t width) {
  require_width(type, plain.min, width);
  require_width(type, plain.max, width);
  return {plain.min, plain.max};
}

Bounds bounds_of(const spec::Type& type, const parquet::ValueBounds& plain, const MetricsMode& mode) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return fixed_width_bounds(type, plain, 1);
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kFloat:
      return fixed_width_bounds(type, plain, 4);
    case TypeKind::kLong:
    case TypeKind::kDouble:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return fixed_width_bounds(type, plain, 8);
    case TypeKind::kDecimal:
      return {decimal_bound(type, plain.min), decimal_bound(type, plain.max)};
    case TypeKind::kUuid:
      return uuid_bounds(type, plain);
    case TypeKind::kString:
      return text_bounds(plain, mode);
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return byte_bounds(plain, mode);
    default:
      return {};
  }
}

bool is_geospatial(const spec::Type& type) {
  return type.kind() == TypeKind::kGeometry || type.kind() == TypeKind::kGeography;
}

Bounds box_bounds(const parquet::GeospatialBounds& box) {
  spec::GeoBound low = {.x = box.x_min, .y = box.y_min, .z = std::nullopt, .m = std::nullopt};
  spec::GeoBound high = {.x = box.x_max, .y = box.y_max, .z = std::nullopt, .m = std::nullopt};
  if (box.z) {
    low.z = box.z->first;
    high.z = box.z->second;
  }
  if (box.m) {
    low.m = box.m->first;
    high.m = box.m->second;
  }
  return {spec::geo_bound_to_bytes(low), spec::geo_bound_to_bytes(high)};
}

// The field of a leaf, nullptr if the schema has none; whether a list or map is above it.
const spec::NestedField* find_leaf(const spec::Schema& schema, int32_t field_id, bool& is_repeated) {
  const spec::NestedField* leaf = schema.find(field_id);
  is_repeated = false;
  for (const spec::NestedField* above = leaf; above != nullptr; above = schema.parent(above->id))
    is_repeated = is_repeated || above->type->is_list() || above->type->is_map();
  return leaf;
}

template <typename Map>
void finish(std::optional<Map>& target, Map map) {
  std::sort(map.begin(), map.end());
  target = std::move(map);
}

}  // namespace

std::string truncate_text_lower(std::string_view text, int32_t code_points) {
  return std::string(text.substr(0, utf8_prefix_bytes(text, static_cast<size_t>(code_points))));
}

std::optional<std::string> truncate_text_upper(std::string_view text, int32_t code_points) {
  const size_t kept = utf8_prefix_bytes(text, static_cast<size_t>(code_points));
  if (kept == text.size()) return std::string(text);
  // From the last code point back; within one, nothing is decoded.
  for (size_t begin = kept; begin-- > 0;) {
    size_t position = begin;
    const auto code_point = next_code_point(text, position);
    const auto following = code_point ? next_valid(*code_point) : std::nullopt;
    if (!following) continue;
    std::string bound(text.substr(0, begin));
    append_code_point(bound, *following);
    return bound;
  }
  return std::nullopt;
}

std::string truncate_bytes_lower(std::string_view bytes, int32_t length) {
  return std::string(bytes.substr(0, static_cast<size_t>(length)));
}

std::optional<std::string> truncate_bytes_upper(std::string_view bytes, int32_t length) {
  if (bytes.size() <= static_cast<size_t>(length)) return std::string(bytes);
  std::string bound(bytes.substr(0, static_cast<size_t>(length)));
  while (!bound.empty()) {
    if (bound.back() != '\xff') {
      ++bound.back();
      return bound;
    }
    bound.pop_back();
  }
  return std::nullopt;
}

void add_metrics(manifest::DataFile& file, const parquet::FileSummary& summary, const spec::Schema& schema,
                 const MetricsConfig& config) {
  manifest::CountMap column_sizes;
  manifest::CountMap value_counts;
  manifest::CountMap null_value_counts;
  manifest::CountMap nan_value_counts;
  manifest::BoundMap lower_bounds;
  manifest::BoundMap upper_bounds;
  for (const parquet::LeafSummary& leaf : summary.leaves) {
    if (!leaf.field_id) continue;
    const int32_t id = *leaf.field_id;
    bool is_repeated = false;
    const spec::NestedField* field = find_leaf(schema, id, is_repeated);
    const MetricsMode mode = config.mode(id);
    if (field == nullptr || !mode.has_counts()) continue;
    column_sizes.emplace_back(id, static_cast<int64_t>(leaf.compressed_bytes));
    if (is_repeated) continue;
    value_counts.emplace_back(id, leaf.value_count);
    null_value_counts.emplace_back(id, leaf.null_count);
    if (leaf.nan_count) nan_value_counts.emplace_back(id, *leaf.nan_count);
    if (!mode.has_bounds()) continue;
    Bounds bounds;
    if (is_geospatial(*field->type)) {
      if (leaf.geospatial) bounds = box_bounds(*leaf.geospatial);
    } else if (leaf.bounds) {
      bounds = bounds_of(*field->type, *leaf.bounds, mode);
    }
    if (bounds.lower) lower_bounds.emplace_back(id, std::move(*bounds.lower));
    if (bounds.upper) upper_bounds.emplace_back(id, std::move(*bounds.upper));
  }
  file.record_count = summary.row_count;
  file.file_size_bytes = static_cast<int64_t>(summary.file_bytes);
  file.split_offsets = summary.row_group_offsets;
  finish(file.column_sizes, std::move(column_sizes));
  finish(file.value_counts, std::move(value_counts));
  finish(file.null_value_counts, std::move(null_value_counts));
  finish(file.nan_value_counts, std::move(nan_value_counts));
  finish(file.lower_bounds, std::move(lower_bounds));
  finish(file.upper_bounds, std::move(upper_bounds));
}

}  // namespace frazil::write
