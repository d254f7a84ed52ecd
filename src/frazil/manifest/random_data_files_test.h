// Random partition specs and data files, for the tests of this layer. The same seed gives the same.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "frazil/base/decimal.h"
#include "frazil/manifest/data_file.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::manifest {

class RandomDataFiles {
 public:
  explicit RandomDataFiles(uint64_t seed) : random_(seed) { make_spec(); }

  const spec::SchemaPtr& schema() const { return schema_; }
  const spec::PartitionSpec& spec() const { return spec_; }

  // As the format version can hold it, and as it comes back from a reader: counts that rise by field id or not, maps
  // absent and empty, no row id.
  DataFile next(int32_t format_version, FileContent content) {
    DataFile file;
    file.content = content;
    file.path = "s3://bucket/data/" + text(20) + "/" + std::to_string(random_()) + ".parquet";
    file.format = static_cast<FileFormat>(below(5));
    if (file.format == FileFormat::kOther) file.other_format = "lance" + text(3);
    file.spec_id = spec_.spec_id;
    const spec::TypePtr types = spec_.partition_type(*schema_);
    for (const spec::NestedField& field : types->fields()) {
      file.partition.push_back(coin(5) ? spec::Literal::null(field.type) : value(field.type));
    }
    file.record_count = static_cast<int64_t>(below(1'000'000));
    file.file_size_bytes = static_cast<int64_t>(below(1ULL << (1 + below(45)))) + 1000;
    file.column_sizes = counts();
    file.value_counts = counts();
    file.null_value_counts = counts();
    file.nan_value_counts = counts();
    file.lower_bounds = bounds();
    file.upper_bounds = bounds();
    if (coin(5)) file.key_metadata = bytes(30);
    for (int64_t offset = 4; coin(2) && offset < file.file_size_bytes; offset += 1 + static_cast<int64_t>(below(100)))
      file.split_offsets.push_back(offset);
    if (coin(2)) file.sort_order_id = static_cast<int32_t>(below(5));
    if (content == FileContent::kEqualityDeletes) {
      do file.equality_ids.push_back(static_cast<int32_t>(1 + below(100)));
      while (coin(2));
    }
    if (content == FileContent::kPositionDeletes && (format_version >= 3 || coin(2)))
      file.referenced_data_file = "s3://bucket/" + text(10);
    if (content == FileContent::kPositionDeletes && format_version >= 3) {
      file.content_offset = static_cast<int64_t>(below(1000));
      file.content_size_bytes = static_cast<int64_t>(below(1000));
    }
    return file;
  }

  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool coin(uint64_t one_in) { return below(one_in) == 0; }

  spec::Literal value(const spec::TypePtr& type) {
    using spec::TypeKind;
    switch (type->kind()) {
      case TypeKind::kBoolean:
        return {type, coin(2)};
      case TypeKind::kInt:
      case TypeKind::kDate:
        return {type, static_cast<int32_t>(integer())};
      case TypeKind::kFloat:
        return {type, static_cast<float>(number())};
      case TypeKind::kDouble:
        return {type, number()};
      case TypeKind::kDecimal: {
        const auto digits = static_cast<int32_t>(1 + below(static_cast<uint64_t>(type->precision())));
        const Int128 bound = power_of_ten(digits);
        const Int128 wide = static_cast<Int128>(random_()) << 63 | static_cast<Int128>(random_() >> 1);
        return {type, (coin(2) ? -1 : 1) * (coin(4) ? bound - 1 : wide % bound)};
      }
      case TypeKind::kUuid: {
        Uuid uuid;
        for (std::byte& b : uuid.bytes) b = static_cast<std::byte>(random_());
        return {type, uuid};
      }
      case TypeKind::kString:
        return {type, text(20)};
      case TypeKind::kFixed: {
        std::string fixed = bytes(0);
        for (int32_t i = 0; i < type->length(); ++i) fixed += static_cast<char>(random_());
        return {type, std::move(fixed)};
      }
      case TypeKind::kBinary:
        return {type, bytes(20)};
      default:
        return {type, integer()};
    }
  }

 private:
  int64_t integer() {
    const int64_t extremes[] = {0, -1, 1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    return coin(4) ? extremes[below(5)] : static_cast<int64_t>(random_()) >> below(64);
  }
  double number() {
    const double extremes[] = {0.0, -0.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1e-300};
    return coin(3) ? extremes[below(6)] : static_cast<double>(static_cast<int64_t>(random_())) / 1e6;
  }
  std::string text(size_t longest) {
    constexpr std::string_view kLetters[] = {
        "a", "Z", "7", "/", "=", " ", "é", "日", "😀", "%", std::string_view("\0", 1)};
    std::string out;
    for (uint64_t count = below(longest + 1); count > 0; --count) out += kLetters[below(std::size(kLetters))];
    return out;
  }
  std::string bytes(size_t longest) {
    std::string out;
    for (uint64_t count = below(longest + 1); count > 0; --count) out += static_cast<char>(random_());
    return out;
  }
  std::optional<CountMap> counts() {
    if (coin(4)) return std::nullopt;
    CountMap map;
    for (uint64_t count = below(20); count > 0; --count) {
      map.emplace_back(static_cast<int32_t>(random_() >> (32 + below(32))),
                       static_cast<int64_t>(random_() >> (1 + below(63))));
    }
    return map;
  }
  std::optional<BoundMap> bounds() {
    if (coin(4)) return std::nullopt;
    BoundMap map;
    for (uint64_t count = below(20); count > 0; --count)
      map.emplace_back(static_cast<int32_t>(random_() >> 33), bytes(coin(10) ? 3000 : 16));
    return map;
  }

  // Columns of all types, and a field on some of them with a transform that fits.
  void make_spec() {
    const std::vector<spec::TypePtr> types = {spec::primitive(spec::TypeKind::kBoolean),
                                              spec::primitive(spec::TypeKind::kInt),
                                              spec::primitive(spec::TypeKind::kLong),
                                              spec::primitive(spec::TypeKind::kFloat),
                                              spec::primitive(spec::TypeKind::kDouble),
                                              spec::decimal(static_cast<int32_t>(1 + below(38)), 0),
                                              spec::decimal(9, 2),
                                              spec::primitive(spec::TypeKind::kDate),
                                              spec::primitive(spec::TypeKind::kTime),
                                              spec::primitive(spec::TypeKind::kTimestamp),
                                              spec::primitive(spec::TypeKind::kTimestampTz),
                                              spec::primitive(spec::TypeKind::kTimestampNs),
                                              spec::primitive(spec::TypeKind::kString),
                                              spec::primitive(spec::TypeKind::kUuid),
                                              spec::fixed(static_cast<int32_t>(1 + below(20))),
                                              spec::primitive(spec::TypeKind::kBinary)};
    std::vector<spec::NestedField> columns;
    for (const spec::TypePtr& type : types) {
      spec::NestedField column;
      column.id = static_cast<int32_t>(columns.size() + 1);
      column.name = "c" + std::to_string(column.id);
      column.type = type;
      columns.push_back(std::move(column));
    }
    schema_ = std::make_shared<const spec::Schema>(columns, 3);
    spec_.spec_id = static_cast<int32_t>(below(5));
    const spec::Transform transforms[] = {spec::Transform::identity(),   spec::Transform::bucket(16),
                                          spec::Transform::truncate(10), spec::Transform::year(),
                                          spec::Transform::month(),      spec::Transform::day(),
                                          spec::Transform::hour(),       spec::Transform::always_null()};
    for (const spec::NestedField& column : columns) {
      if (!coin(3)) continue;
      spec::PartitionField field;
      field.source_ids = {column.id};
      field.field_id = 1000 + static_cast<int32_t>(spec_.fields.size());
      do field.transform = transforms[below(std::size(transforms))];
      while (!field.transform.can_transform(*column.type));
      field.name = coin(4) ? text(8) + std::to_string(column.id) : column.name + "_part";
      spec_.fields.push_back(std::move(field));
    }
  }

  std::mt19937_64 random_;
  spec::SchemaPtr schema_;
  spec::PartitionSpec spec_;
};

}  // namespace frazil::manifest
