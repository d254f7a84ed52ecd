#include "frazil/parquet/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/base/decimal.h"
#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;
using predicate::Value;
using predicate::ValueKind;

// A value of a bound is at most this long; longer ones are not worth a comparison.
constexpr size_t kBoundBytesMax = size_t{1} << 16;

int parse_number(std::string_view& text) {
  int number = 0;
  size_t used = 0;
  while (used < text.size() && text[used] >= '0' && text[used] <= '9') {
    if (number < 1'000'000) number = number * 10 + (text[used] - '0');
    ++used;
  }
  text.remove_prefix(used);
  return number;
}

bool is_binary(PhysicalType type) {
  return type == PhysicalType::kByteArray || type == PhysicalType::kFixedLenByteArray;
}

bool has_defined_order(const SchemaNode& leaf) {
  switch (leaf.logical.kind) {
    case Kind::kInterval:
    case Kind::kGeometry:
    case Kind::kGeography:
    case Kind::kVariant:
    case Kind::kUnknown:
    case Kind::kUnrecognized:
      return false;
    default:
      return leaf.type != PhysicalType::kInt96;
  }
}

// Whether signed comparison, of bytes too, is the order of the type.
bool is_signed(const SchemaNode& leaf) {
  if (is_binary(leaf.type) || leaf.type == PhysicalType::kInt96) return false;
  return leaf.logical.kind != Kind::kInteger || leaf.logical.is_signed;
}

// PARQUET-251.
bool binary_bounds_are_corrupt(const WriterVersion& writer) {
  if (!writer.is_known) return true;
  return writer.application == "parquet-mr" && writer.before(1, 8);
}

bool decimal_bounds_are_corrupt(const SchemaNode& leaf, const WriterVersion& writer) {
  if (leaf.logical.kind != Kind::kDecimal) return false;
  if (writer.application.starts_with("hyparquet")) return true;
  if (!is_binary(leaf.type)) return false;
  if (writer.application == "parquet-cpp") return true;
  if (writer.application == "parquet-cpp-arrow") return writer.before(4, 0);
  if (writer.application == "parquet-rs") return leaf.type == PhysicalType::kByteArray;
  if (writer.application == "Polars") return true;
  if (writer.application == "ClickHouse") return writer.before(25, 8);
  return false;
}

// Arrays of dictionaries were written past the statistics: nulls were not counted before 5 (ARROW-12513), of several
// batches only the first was looked at before 12 (apache/arrow#15042, #34106). Who made a dictionary cannot be told from
// the file.
bool dictionaries_were_not_counted(const FileMetadata& metadata, size_t leaf, const WriterVersion& writer) {
  if (writer.application != "parquet-cpp-arrow" || !writer.before(12, 0)) return false;
  if (metadata.schema().leaf(leaf).type != PhysicalType::kByteArray) return false;
  const auto groups = metadata.row_groups();
  return std::any_of(groups.begin(), groups.end(), [leaf](const RowGroup& group) {
    const ColumnChunk& chunk = group.columns[leaf];
    return chunk.declares(Encoding::kPlainDictionary) || chunk.declares(Encoding::kRleDictionary);
  });
}

// Shifted by the writer's time zone (parquet-extra/duckdb/corrupt_stats; duckdb#14430).
bool timestamp_bounds_are_corrupt(const SchemaNode& leaf, const WriterVersion& writer) {
  return leaf.logical.kind == Kind::kTimestamp && writer.application == "Parquet.Net" && writer.before(5, 0);
}

bool is_integer_like(const DataType& type) {
  const ValueKind kind = predicate::value_kind(type);
  return kind == ValueKind::kSigned || kind == ValueKind::kUnsigned;
}

// Whether different plain values are read as different values, and how the bytes of one are found from its value is
// known: integers (which only widen), decimals of one scale, floats, bytes.
bool is_invertible(const SchemaNode& leaf, const DataType& type) {
  switch (leaf.type) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      if (leaf.logical.kind == Kind::kTime || leaf.logical.kind == Kind::kTimestamp) {
        return type.unit() == leaf.logical.unit;
      }
      if (leaf.logical.kind == Kind::kDate) return type.id() == TypeId::kDate32;
      return is_integer_like(type) || predicate::value_kind(type) == ValueKind::kDecimal;
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return true;
    case PhysicalType::kByteArray:
      return predicate::value_kind(type) == ValueKind::kBytes;
    case PhysicalType::kFixedLenByteArray:
      return predicate::value_kind(type) == ValueKind::kBytes || predicate::value_kind(type) == ValueKind::kDecimal;
    default:
      return false;
  }
}

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <typename Float>
std::vector<std::string> float_forms(double value) {
  if (value == 0) return {bytes_of(Float{0}), bytes_of(-Float{0})};
  const auto narrowed = static_cast<Float>(value);
  if (static_cast<double>(narrowed) != value) return {};
  return {bytes_of(narrowed)};
}

std::optional<Int128> to_integer(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return Int128{*number};
  if (const auto* number = std::get_if<uint64_t>(&value)) return static_cast<Int128>(*number);
  if (const auto* number = std::get_if<Int128>(&value)) return *number;
  return std::nullopt;
}

}  // namespace

WriterVersion parse_writer(std::string_view created_by) {
  WriterVersion writer;
  constexpr std::string_view kVersion = " version ";
  const size_t place = created_by.find(kVersion);
  if (place == std::string_view::npos) {
    // "ClickHouse v25.3.2.39", "Polars"
    const size_t space = created_by.find(" v");
    writer.application = created_by.substr(0, space);
    if (space == std::string_view::npos) return writer;
    created_by.remove_prefix(space + 2);
  } else {
    writer.application = created_by.substr(0, place);
    created_by.remove_prefix(place + kVersion.size());
    if (created_by.starts_with('v')) created_by.remove_prefix(1);
  }
  if (created_by.empty() || created_by[0] < '0' || created_by[0] > '9') return writer;
  writer.is_known = true;
  writer.major = parse_number(created_by);
  if (created_by.starts_with('.')) {
    created_by.remove_prefix(1);
    writer.minor = parse_number(created_by);
  }
  return writer;
}

StatisticsDecoder::StatisticsDecoder(const FileMetadata& metadata, size_t leaf, DataTypePtr type)
    : leaf_(&metadata.schema().leaf(leaf)), type_(std::move(type)), conversion_(find_conversion(*leaf_, *type_)) {
  const WriterVersion writer = parse_writer(metadata.created_by());
  trusts_any_ = !dictionaries_were_not_counted(metadata, leaf, writer);
  has_order_ = conversion_ && has_defined_order(*leaf_) && predicate::value_kind(*type_) != ValueKind::kNone &&
               !decimal_bounds_are_corrupt(*leaf_, writer) && !timestamp_bounds_are_corrupt(*leaf_, writer);
  if (leaf < metadata.column_orders().size()) order_ = metadata.column_orders()[leaf];
  trusts_deprecated_ = has_order_ && is_signed(*leaf_);
  trusts_equal_ = has_order_ && !(is_binary(leaf_->type) && binary_bounds_are_corrupt(writer));
  trusts_page_uppers_ =
      !(is_binary(leaf_->type) && metadata.created_by().find("segmentio/parquet-go") != std::string_view::npos);
}

std::optional<Value> StatisticsDecoder::value(std::span<const std::byte> plain) const {
  if (!conversion_ || plain.size() > kBoundBytesMax) return std::nullopt;
  const ValueKind kind = predicate::value_kind(*type_);
  if (kind == ValueKind::kNone) return std::nullopt;
  if (kind == ValueKind::kBytes) {
    return std::string(reinterpret_cast<const char*>(plain.data()), plain.size());
  }
  if (conversion_->form == ValueForm::kBits) {
    if (plain.size() != 1 || std::to_integer<uint8_t>(plain[0]) > 1) return std::nullopt;
    return plain[0] != std::byte{0};
  }
  if (conversion_->form != ValueForm::kFixed || conversion_->target_width > 32) return std::nullopt;
  // Conversions read padding behind a value, and write wide targets.
  std::vector<std::byte> source(plain.size() + kBlockPadding);
  std::copy(plain.begin(), plain.end(), source.begin());
  alignas(64) std::byte target[32 + kBlockPadding] = {};
  if (conversion_->convert_bytes != nullptr) {
    if (!conversion_->convert_bytes(source.data(), plain.size(), target)) return std::nullopt;
  } else {
    if (plain.size() != static_cast<size_t>(conversion_->source_width)) return std::nullopt;
    if (conversion_->convert == nullptr) {
      std::memcpy(target, source.data(), plain.size());
    } else if (!conversion_->convert(source.data(), 1, target, conversion_->parameters)) {
      return std::nullopt;
    }
  }
  Array one;
  one.type = type_;
  one.length = 1;
  one.null_count = 0;
  one.buffers[1] = Buffer::borrow({target, static_cast<size_t>(conversion_->target_width)});
  return predicate::value_at(one, 0);
}

bool StatisticsDecoder::trusts_deprecated(const Statistics& statistics) const {
  if (trusts_deprecated_) return true;
  return trusts_equal_ && statistics.min && statistics.max &&
         std::equal(statistics.min->begin(), statistics.min->end(), statistics.max->begin(), statistics.max->end());
}

predicate::ColumnStatistics StatisticsDecoder::decode(const Statistics& statistics, int64_t row_count) const {
  predicate::ColumnStatistics result;
  if (row_count < 0) return result;
  result.row_count = row_count;
  if (!trusts_any_) return result;
  if (statistics.null_count && *statistics.null_count >= 0 && *statistics.null_count <= row_count) {
    result.null_count = statistics.null_count;
  }
  const int64_t valid_max = row_count - result.null_count.value_or(0);
  if (statistics.nan_count && *statistics.nan_count >= 0 && *statistics.nan_count <= valid_max) {
    result.nan_count = statistics.nan_count;
  }
  if (!has_order_) return result;

  const bool has_new = statistics.min_value || statistics.max_value;
  if (has_new && order_ != ColumnOrder::kUnknown) {
    if (statistics.min_value) result.lower = value(*statistics.min_value);
    if (statistics.max_value) result.upper = value(*statistics.max_value);
  } else if (trusts_deprecated(statistics)) {
    if (statistics.min) result.lower = value(*statistics.min);
    if (statistics.max) result.upper = value(*statistics.max);
  }
  const bool lower_is_nan = result.lower && predicate::is_nan(*result.lower);
  const bool upper_is_nan = result.upper && predicate::is_nan(*result.upper);
  if (lower_is_nan || upper_is_nan) {
    if (order_ == ColumnOrder::kIeee754TotalOrder && lower_is_nan && upper_is_nan && result.null_count) {
      result.nan_count = valid_max;
    }
    result.lower.reset();
    result.upper.reset();
  }
  return result;
}

predicate::ColumnStatistics StatisticsDecoder::decode(const ColumnIndex& bounds, const OffsetIndex& offsets,
                                                      size_t page) const {
  const auto row_count = static_cast<int64_t>(offsets.rows(page).row_count());
  const Statistics statistics = bounds.statistics(page);
  predicate::ColumnStatistics result = decode(statistics, row_count);
  if (bounds.null_pages[page]) {
    // Writers that had no statistics said "null page" too (parquet-testing, datapage_v1-snappy-compressed-checksum: of
    // a required column, with null counts of -1): it is believed where nothing speaks against it.
    const bool is_credible =
        leaf_->max_definition > 0 && (bounds.null_counts.empty() || statistics.null_count == row_count);
    if (!is_credible) {
      result = {};
      result.row_count = row_count;
      return result;
    }
    result.null_count = row_count;
    result.nan_count = 0;
  }
  if (!trusts_page_uppers_) result.upper.reset();
  return result;
}

std::optional<std::string> StatisticsDecoder::plain_integer(Int128 value) const {
  const bool is_32 = leaf_->type == PhysicalType::kInt32;
  // Unsigned values of 8 and 16 bits are small either way.
  if (leaf_->logical.kind == Kind::kInteger && !leaf_->logical.is_signed) {
    const Int128 most = is_32 ? Int128{std::numeric_limits<uint32_t>::max()}
                              : static_cast<Int128>(std::numeric_limits<uint64_t>::max());
    if (value < 0 || value > most) return std::nullopt;
  } else {
    const Int128 most =
        is_32 ? Int128{std::numeric_limits<int32_t>::max()} : Int128{std::numeric_limits<int64_t>::max()};
    if (value > most || value < -most - 1) return std::nullopt;
  }
  return is_32 ? bytes_of(static_cast<uint32_t>(value)) : bytes_of(static_cast<uint64_t>(value));
}

std::optional<std::vector<std::string>> StatisticsDecoder::plain_forms(const Value& wanted) const {
  if (!conversion_ || !is_invertible(*leaf_, *type_)) return std::nullopt;
  std::vector<std::string> forms;
  switch (leaf_->type) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64: {
      const std::optional<Int128> number = to_integer(wanted);
      if (!number) return std::nullopt;
      if (auto bytes = plain_integer(*number)) forms.push_back(*std::move(bytes));
      break;
    }
    case PhysicalType::kFloat:
    case PhysicalType::kDouble: {
      const auto* number = std::get_if<double>(&wanted);
      if (number == nullptr || std::isnan(*number)) return std::nullopt;
      forms = leaf_->type == PhysicalType::kFloat ? float_forms<float>(*number) : float_forms<double>(*number);
      break;
    }
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray: {
      if (const auto* bytes = std::get_if<std::string>(&wanted)) {
        const bool fits =
            leaf_->type == PhysicalType::kByteArray || bytes->size() == static_cast<size_t>(leaf_->type_length);
        if (fits) forms.push_back(*bytes);
        break;
      }
      const auto* number = std::get_if<Int128>(&wanted);
      if (number == nullptr || leaf_->type_length <= 0 || leaf_->type_length > 64) return std::nullopt;
      std::string bytes(static_cast<size_t>(leaf_->type_length), '\0');
      if (decimal_to_big_endian(*number, std::as_writable_bytes(std::span(bytes)))) forms.push_back(std::move(bytes));
      break;
    }
    default:
      return std::nullopt;
  }
  // The way back must lead here: a form that reads as something else would be a wrong answer, not a slow one.
  for (const std::string& form : forms) {
    const std::optional<Value> back = value(std::as_bytes(std::span(form)));
    if (!back || predicate::kind_of(*back) != predicate::kind_of(wanted) || predicate::compare(*back, wanted) != 0) {
      return std::nullopt;
    }
  }
  return forms;
}

}  // namespace frazil::parquet
