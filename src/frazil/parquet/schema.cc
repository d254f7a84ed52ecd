#include "frazil/parquet/schema.h"

#include "frazil/base/error.h"

namespace frazil::parquet {

std::string FileSchema::path(uint32_t node) const {
  std::string path;
  for (; node != 0; node = nodes_[node].parent) {
    std::string name(nodes_[node].name);
    path = path.empty() ? std::move(name) : std::move(name) + "." + path;
  }
  return path;
}

std::optional<size_t> FileSchema::find_leaf(std::string_view wanted) const {
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (path(leaves_[leaf]) == wanted) return leaf;
  }
  return std::nullopt;
}

namespace {

using Kind = LogicalType::Kind;

DataTypePtr integer(int bit_width, bool is_signed) {
  switch (bit_width) {
    case 8:
      return primitive(is_signed ? TypeId::kInt8 : TypeId::kUInt8);
    case 16:
      return primitive(is_signed ? TypeId::kInt16 : TypeId::kUInt16);
    case 32:
      return primitive(is_signed ? TypeId::kInt32 : TypeId::kUInt32);
    default:
      return primitive(is_signed ? TypeId::kInt64 : TypeId::kUInt64);
  }
}

DataTypePtr decimal_type(const SchemaNode& leaf) {
  const int32_t precision = leaf.logical.precision;
  if (precision < 1 || precision > 76 || leaf.logical.scale < 0 || leaf.logical.scale > precision) {
    throw_corrupt(CorruptError::kNoOffset, "schema: column '{}' is decimal({}, {})", leaf.name, precision,
                  leaf.logical.scale);
  }
  return decimal(precision, leaf.logical.scale, precision <= 38 ? TypeId::kDecimal128 : TypeId::kDecimal256);
}

DataTypePtr physical_type(const SchemaNode& leaf, const ArrowTypeOptions& options) {
  switch (leaf.type) {
    case PhysicalType::kBoolean:
      return primitive(TypeId::kBool);
    case PhysicalType::kInt32:
      return primitive(TypeId::kInt32);
    case PhysicalType::kInt64:
      return primitive(TypeId::kInt64);
    case PhysicalType::kInt96:
      return timestamp(options.int96_unit);
    case PhysicalType::kFloat:
      return primitive(TypeId::kFloat);
    case PhysicalType::kDouble:
      return primitive(TypeId::kDouble);
    case PhysicalType::kByteArray:
      return primitive(TypeId::kBinary);
    case PhysicalType::kFixedLenByteArray:
      return fixed_size_binary(leaf.type_length);
  }
  return nullptr;
}

}  // namespace

DataTypePtr arrow_leaf_type(const SchemaNode& leaf, const ArrowTypeOptions& options) {
  const LogicalType& logical = leaf.logical;
  switch (logical.kind) {
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kJson:
      return primitive(TypeId::kUtf8);
    case Kind::kDecimal:
      return decimal_type(leaf);
    case Kind::kDate:
      return primitive(TypeId::kDate32);
    case Kind::kTime:
      return logical.unit == TimeUnit::kMilli ? time32(TimeUnit::kMilli) : time64(logical.unit);
    case Kind::kTimestamp:
      return timestamp(logical.unit, logical.is_adjusted_to_utc ? "UTC" : "");
    case Kind::kInteger:
      return integer(logical.bit_width, logical.is_signed);
    case Kind::kUnknown:
      return primitive(TypeId::kNull);
    case Kind::kFloat16:
      return primitive(TypeId::kHalfFloat);
    case Kind::kInterval:
      return primitive(TypeId::kIntervalMonthDayNano);
    default:
      return physical_type(leaf, options);
  }
}

}  // namespace frazil::parquet
