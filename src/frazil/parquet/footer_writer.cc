#include "frazil/parquet/footer_writer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/parquet/page_index_writer.h"
#include "frazil/parquet/thrift_writer.h"
#include "frazil/parquet/uuid_bounds.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

// ---- Schema ----

// The old annotation of a logical type, for readers that know only those; -1 if there is none. Local times get it too, as
// LogicalTypes.md demands.
int converted_type(const LogicalType& logical) {
  switch (logical.kind) {
    case Kind::kString:
      return 0;
    case Kind::kMap:
      return 1;
    case Kind::kList:
      return 3;
    case Kind::kEnum:
      return 4;
    case Kind::kDecimal:
      return 5;
    case Kind::kDate:
      return 6;
    case Kind::kTime:
      return logical.unit == TimeUnit::kMilli ? 7 : logical.unit == TimeUnit::kMicro ? 8 : -1;
    case Kind::kTimestamp:
      return logical.unit == TimeUnit::kMilli ? 9 : logical.unit == TimeUnit::kMicro ? 10 : -1;
    case Kind::kInteger: {
      const int width = logical.bit_width == 8 ? 0 : logical.bit_width == 16 ? 1 : logical.bit_width == 32 ? 2 : 3;
      return (logical.is_signed ? 15 : 11) + width;
    }
    case Kind::kJson:
      return 19;
    case Kind::kBson:
      return 20;
    case Kind::kInterval:
      return 21;
    default:
      return -1;
  }
}

// The member of the union LogicalType; 0 if the type is not in it.
int logical_type_id(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return 1;
    case Kind::kMap:
      return 2;
    case Kind::kList:
      return 3;
    case Kind::kEnum:
      return 4;
    case Kind::kDecimal:
      return 5;
    case Kind::kDate:
      return 6;
    case Kind::kTime:
      return 7;
    case Kind::kTimestamp:
      return 8;
    case Kind::kInteger:
      return 10;
    case Kind::kUnknown:
      return 11;
    case Kind::kJson:
      return 12;
    case Kind::kBson:
      return 13;
    case Kind::kUuid:
      return 14;
    case Kind::kFloat16:
      return 15;
    case Kind::kVariant:
      return 16;
    case Kind::kGeometry:
      return 17;
    case Kind::kGeography:
      return 18;
    default:
      return 0;  // intervals have the old annotation alone
  }
}

// The specification's version of variants, which is the only one.
constexpr int8_t kVariantVersion = 1;

void write_logical_type(ThriftWriter& element, const LogicalType& logical) {
  const int id = logical_type_id(logical.kind);
  if (id == 0) return;
  element.begin_struct(10);
  element.begin_struct(id);
  switch (logical.kind) {
    case Kind::kDecimal:
      element.i32(1, logical.scale);
      element.i32(2, logical.precision);
      break;
    case Kind::kTime:
    case Kind::kTimestamp:
      element.boolean(1, logical.is_adjusted_to_utc);
      element.begin_struct(2);
      element.empty_struct(logical.unit == TimeUnit::kMilli ? 1 : logical.unit == TimeUnit::kMicro ? 2 : 3);
      element.end_struct();
      break;
    case Kind::kInteger:
      element.i8(1, logical.bit_width);
      element.boolean(2, logical.is_signed);
      break;
    case Kind::kVariant:
      element.i8(1, kVariantVersion);
      break;
    case Kind::kGeometry:
    case Kind::kGeography:
      if (!logical.crs.empty()) element.binary(1, logical.crs);
      if (logical.kind == Kind::kGeography) element.i32(2, logical.edge_algorithm);
      break;
    default:
      break;
  }
  element.end_struct();
  element.end_struct();
}

// ---- Column chunks ----

// Those that every reader may trust.
std::optional<ValueBounds> bounds_for_readers(Kind kind, const std::optional<ValueBounds>& exact) {
  if (kind != Kind::kUuid || !exact) return exact;
  UuidBounds bounds = uuid_bounds(exact->min, exact->max);
  if (!bounds.lower || !bounds.upper) return std::nullopt;  // readers take one bound without the other for none
  return ValueBounds{.min = *bounds.lower,
                     .max = *bounds.upper,
                     .is_min_exact = *bounds.lower == exact->min,
                     .is_max_exact = *bounds.upper == exact->max};
}

void write_statistics(ThriftWriter& metadata, Kind kind, const ChunkStatistics& statistics) {
  metadata.begin_struct(12);
  metadata.i64(3, statistics.null_count);
  if (statistics.distinct_count) metadata.i64(4, *statistics.distinct_count);
  if (const std::optional<ValueBounds> bounds = bounds_for_readers(kind, statistics.bounds)) {
    metadata.binary(5, std::string_view(bounds->max));
    metadata.binary(6, std::string_view(bounds->min));
    metadata.boolean(7, bounds->is_max_exact);
    metadata.boolean(8, bounds->is_min_exact);
  }
  if (statistics.nan_count) metadata.i64(9, *statistics.nan_count);
  metadata.end_struct();
}

void write_size_statistics(ThriftWriter& metadata, const SizeStatistics& sizes) {
  if (!sizes.unencoded_byte_array_bytes && sizes.repetition_histogram.empty() && sizes.definition_histogram.empty()) {
    return;
  }
  metadata.begin_struct(16);
  if (sizes.unencoded_byte_array_bytes) metadata.i64(1, *sizes.unencoded_byte_array_bytes);
  if (!sizes.repetition_histogram.empty()) metadata.i64_list(2, sizes.repetition_histogram);
  if (!sizes.definition_histogram.empty()) metadata.i64_list(3, sizes.definition_histogram);
  metadata.end_struct();
}

void write_geospatial_statistics(ThriftWriter& metadata, const ChunkGeospatialStatistics& statistics) {
  metadata.begin_struct(17);
  if (statistics.bounds) {
    const GeospatialBounds& box = *statistics.bounds;
    metadata.begin_struct(1);
    metadata.real(1, box.x_min);
    metadata.real(2, box.x_max);
    metadata.real(3, box.y_min);
    metadata.real(4, box.y_max);
    if (box.z) {
      metadata.real(5, box.z->first);
      metadata.real(6, box.z->second);
    }
    if (box.m) {
      metadata.real(7, box.m->first);
      metadata.real(8, box.m->second);
    }
    metadata.end_struct();
  }
  if (!statistics.types.empty()) metadata.i32_list(2, statistics.types);
  metadata.end_struct();
}

int64_t signed_size(uint64_t size) {
  return static_cast<int64_t>(size);
}

}  // namespace

FooterWriter::FooterWriter(const WritePlan& plan, MemoryPool& pool)
    : plan_(plan), pool_(pool), chunk_metadata_(pool), column_indexes_(pool), offset_indexes_(pool) {}

void FooterWriter::write_metadata(size_t leaf, const EncodedChunk& chunk, const ChunkPlace& place) {
  const FileSchema& schema = plan_.schema().file_schema();
  ThriftWriter metadata(chunk_metadata_);
  metadata.i32(1, static_cast<int32_t>(plan_.leaves()[leaf].file_type.physical));
  metadata.begin_list(2, ThriftType::kI32, chunk.encodings.size());
  for (Encoding encoding : chunk.encodings) metadata.element(static_cast<int32_t>(encoding));
  std::vector<std::string_view> path;
  for (uint32_t node = schema.leaf_node(leaf); node != 0; node = schema.node(node).parent) {
    path.push_back(schema.node(node).name);
  }
  metadata.begin_list(3, ThriftType::kBinary, path.size());
  for (size_t i = path.size(); i > 0; --i) metadata.element(path[i - 1]);
  metadata.i32(4, static_cast<int32_t>(chunk.codec));
  metadata.i64(5, chunk.value_count);
  metadata.i64(6, signed_size(chunk.uncompressed_size));
  metadata.i64(7, signed_size(chunk.byte_size));
  metadata.i64(9, signed_size(place.offset + chunk.dictionary_page_size));
  if (chunk.dictionary_page_size > 0) metadata.i64(11, signed_size(place.offset));
  write_statistics(metadata, plan_.leaves()[leaf].file_type.logical.kind, chunk.statistics);
  if (!chunk.encoding_stats.empty()) {
    metadata.begin_list(13, ThriftType::kStruct, chunk.encoding_stats.size());
    for (const EncodedChunk::EncodingCount& pages : chunk.encoding_stats) {
      metadata.begin_element();
      metadata.i32(1, static_cast<int32_t>(pages.page));
      metadata.i32(2, static_cast<int32_t>(pages.encoding));
      metadata.i32(3, pages.count);
      metadata.end_struct();
    }
  }
  if (place.bloom_offset > 0) {
    metadata.i64(14, signed_size(place.bloom_offset));
    metadata.i32(15, static_cast<int32_t>(place.bloom_size));
  }
  write_size_statistics(metadata, chunk.sizes);
  if (chunk.geospatial) write_geospatial_statistics(metadata, *chunk.geospatial);
  metadata.finish();
}

void FooterWriter::add_row_group(int64_t rows, std::span<const EncodedChunk> chunks,
                                 std::span<const ChunkPlace> places) {
  RowGroup& group = row_groups_.emplace_back();
  group.row_count = rows;
  group.offset = places.empty() ? 0 : places.front().offset;
  row_count_ += rows;
  for (size_t leaf = 0; leaf < chunks.size(); ++leaf) {
    const EncodedChunk& chunk = chunks[leaf];
    group.uncompressed_size += chunk.uncompressed_size;
    group.compressed_size += chunk.byte_size;
    Chunk& kept = chunks_.emplace_back();
    const size_t metadata_begin = chunk_metadata_.size();
    write_metadata(leaf, chunk, places[leaf]);
    kept.metadata_size = chunk_metadata_.size() - metadata_begin;
    if (!plan_.options().page_index || chunk.pages.empty()) continue;
    if (chunk.has_column_index) kept.column_index_size = write_column_index(column_indexes_, chunk);
    const bool is_byte_array = plan_.leaves()[leaf].file_type.physical == PhysicalType::kByteArray;
    kept.offset_index_size = write_offset_index(offset_indexes_, chunk, places[leaf].offset, is_byte_array);
  }
}

void FooterWriter::write_schema(ThriftWriter& footer) const {
  const std::span<const SchemaNode> nodes = plan_.schema().file_schema().nodes();
  footer.begin_list(2, ThriftType::kStruct, nodes.size());
  for (const SchemaNode& node : nodes) {
    footer.begin_element();
    if (!node.is_group) {
      footer.i32(1, static_cast<int32_t>(node.type));
      if (node.type == PhysicalType::kFixedLenByteArray) footer.i32(2, node.type_length);
    }
    if (&node != nodes.data()) footer.i32(3, static_cast<int32_t>(node.repetition));
    footer.binary(4, node.name);
    if (node.is_group) footer.i32(5, static_cast<int32_t>(node.child_count));
    const int converted = converted_type(node.logical);
    if (converted >= 0) footer.i32(6, converted);
    if (node.logical.kind == Kind::kDecimal) {
      footer.i32(7, node.logical.scale);
      footer.i32(8, node.logical.precision);
    }
    if (node.field_id) footer.i32(9, *node.field_id);
    write_logical_type(footer, node.logical);
    footer.end_struct();
  }
}

void FooterWriter::write_row_groups(ThriftWriter& footer, uint64_t column_index_offset,
                                    uint64_t offset_index_offset) const {
  const size_t leaf_count = plan_.leaves().size();
  const std::byte* metadata = chunk_metadata_.data();
  footer.begin_list(4, ThriftType::kStruct, row_groups_.size());
  for (size_t g = 0; g < row_groups_.size(); ++g) {
    const RowGroup& group = row_groups_[g];
    footer.begin_element();
    footer.begin_list(1, ThriftType::kStruct, leaf_count);
    for (size_t leaf = 0; leaf < leaf_count; ++leaf) {
      const Chunk& chunk = chunks_[g * leaf_count + leaf];
      footer.begin_element();
      footer.i64(2, 0);  // file_offset: of metadata outside of the footer, which there is none of
      footer.struct_bytes(3, {metadata, chunk.metadata_size});
      metadata += chunk.metadata_size;
      if (chunk.offset_index_size > 0) {
        footer.i64(4, signed_size(offset_index_offset));
        footer.i32(5, static_cast<int32_t>(chunk.offset_index_size));
        offset_index_offset += chunk.offset_index_size;
      }
      if (chunk.column_index_size > 0) {
        footer.i64(6, signed_size(column_index_offset));
        footer.i32(7, static_cast<int32_t>(chunk.column_index_size));
        column_index_offset += chunk.column_index_size;
      }
      footer.end_struct();
    }
    footer.i64(2, signed_size(group.uncompressed_size));
    footer.i64(3, group.row_count);
    const std::span<const uint32_t> sorting = plan_.sorting_leaves();
    if (!sorting.empty()) {
      footer.begin_list(4, ThriftType::kStruct, sorting.size());
      for (size_t i = 0; i < sorting.size(); ++i) {
        footer.begin_element();
        footer.i32(1, static_cast<int32_t>(sorting[i]));
        footer.boolean(2, plan_.options().sorting_columns[i].descending);
        footer.boolean(3, plan_.options().sorting_columns[i].nulls_first);
        footer.end_struct();
      }
    }
    footer.i64(5, signed_size(group.offset));
    footer.i64(6, signed_size(group.compressed_size));
    // An i16: files with more row groups go without.
    if (g <= size_t{std::numeric_limits<int16_t>::max()}) footer.i16(7, static_cast<int16_t>(g));
    footer.end_struct();
  }
}

FooterWriter::Parts FooterWriter::finish(uint64_t offset) {
  GrowingBuffer bytes(pool_);
  ThriftWriter footer(bytes);
  // 2 stands for encodings and annotations of the format's second version, which legacy files do without.
  footer.i32(1, plan_.options().columns.profile == EncodingProfile::kLegacy ? 1 : 2);
  write_schema(footer);
  footer.i64(3, row_count_);
  write_row_groups(footer, offset, offset + column_indexes_.size());
  const Metadata& key_values = plan_.options().key_values;
  if (!key_values.empty()) {
    footer.begin_list(5, ThriftType::kStruct, key_values.size());
    for (const auto& [key, value] : key_values) {
      footer.begin_element();
      footer.binary(1, key);
      footer.binary(2, value);
      footer.end_struct();
    }
  }
  footer.binary(6, plan_.options().created_by);
  footer.begin_list(7, ThriftType::kStruct, plan_.leaves().size());
  for (size_t leaf = 0; leaf < plan_.leaves().size(); ++leaf) {
    footer.begin_element();
    footer.empty_struct(1);  // TYPE_ORDER
    footer.end_struct();
  }
  footer.finish();
  Parts parts;
  parts.column_indexes = column_indexes_.freeze();
  parts.offset_indexes = offset_indexes_.freeze();
  parts.footer = bytes.freeze();
  return parts;
}

}  // namespace frazil::parquet
