#include "frazil/parquet/leaf_description.h"

#include <string_view>

#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

LeafType plain(PhysicalType physical) {
  LeafType type;
  type.physical = physical;
  return type;
}

LeafType annotated(PhysicalType physical, Kind kind) {
  LeafType type = plain(physical);
  type.logical.kind = kind;
  return type;
}

LeafType fixed(int32_t length, Kind kind = Kind::kNone) {
  LeafType type = annotated(PhysicalType::kFixedLenByteArray, kind);
  type.type_length = length;
  return type;
}

LeafType integer(int8_t bit_width, bool is_signed) {
  LeafType type = annotated(bit_width == 64 ? PhysicalType::kInt64 : PhysicalType::kInt32, Kind::kInteger);
  type.logical.bit_width = bit_width;
  type.logical.is_signed = is_signed;
  return type;
}

LeafType time_of(PhysicalType physical, Kind kind, TimeUnit unit, bool is_adjusted_to_utc) {
  LeafType type = annotated(physical, kind);
  type.logical.unit = unit == TimeUnit::kSecond ? TimeUnit::kMilli : unit;
  type.logical.is_adjusted_to_utc = is_adjusted_to_utc;
  return type;
}

// The fewest bytes whose two's complement holds 10^precision - 1: 2^(8 n - 1) > 10^precision.
int32_t decimal_bytes(int32_t precision) {
  // precision * log2(10), rounded up in 1/1000: bits of the largest value.
  const int32_t bits = (precision * 3322 + 999) / 1000;
  return (bits + 1 + 7) / 8;
}

LeafType decimal_of(const Field& field) {
  const DataType& type = *field.type;
  if (type.scale() < 0 || type.scale() > type.precision()) {
    throw_error(ErrorKind::kUnsupported, "column '{}' is {}: Parquet's decimals have scales from 0 to the precision",
                field.name, type.to_string());
  }
  LeafType leaf = type.precision() <= 9    ? annotated(PhysicalType::kInt32, Kind::kDecimal)
                  : type.precision() <= 18 ? annotated(PhysicalType::kInt64, Kind::kDecimal)
                                           : fixed(decimal_bytes(type.precision()), Kind::kDecimal);
  leaf.logical.precision = type.precision();
  leaf.logical.scale = type.scale();
  return leaf;
}

// The text member `name` of GeoArrow's metadata, a flat JSON object; nothing where it is no text. What our reader writes
// has no escapes in what is looked for.
std::optional<std::string_view> text_member(std::string_view json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\"";
  size_t at = json.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at = json.find_first_not_of(" \t\r\n:", at + key.size());
  if (at == std::string_view::npos || json[at] != '"') return std::nullopt;
  const size_t end = json.find('"', at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return json.substr(at + 1, end - at - 1);
}

LeafType geo_of(const Field& field) {
  constexpr std::string_view kEdges[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
  const std::string_view json = find_metadata(field.metadata, "ARROW:extension:metadata").value_or("");
  LeafType leaf = annotated(PhysicalType::kByteArray, Kind::kGeometry);
  const std::string_view crs = text_member(json, "crs").value_or("");
  if (text_member(json, "crs_type") == "srid") {
    leaf.crs = "srid:" + std::string(crs);
  } else if (crs != "OGC:CRS84") {
    leaf.crs = crs;
  }
  if (const auto edges = text_member(json, "edges"); edges && *edges != "planar") {
    leaf.logical.kind = Kind::kGeography;
    for (size_t i = 0; i < std::size(kEdges); ++i) {
      if (*edges == kEdges[i]) leaf.logical.edge_algorithm = static_cast<int8_t>(i);
    }
  }
  return leaf;
}

}  // namespace

LeafType leaf_type(const Field& field) {
  const DataType& type = *field.type;
  const std::string_view extension = field.extension_name().value_or("");
  switch (type.id()) {
    case TypeId::kNull:
      return annotated(PhysicalType::kInt32, Kind::kUnknown);
    case TypeId::kBool:
      return plain(PhysicalType::kBoolean);
    case TypeId::kInt8:
      return integer(8, true);
    case TypeId::kInt16:
      return integer(16, true);
    case TypeId::kInt32:
    case TypeId::kIntervalMonths:
      return type.id() == TypeId::kInt32 ? plain(PhysicalType::kInt32) : fixed(12, Kind::kInterval);
    case TypeId::kInt64:
    case TypeId::kDuration:
      return plain(PhysicalType::kInt64);
    case TypeId::kUInt8:
      return integer(8, false);
    case TypeId::kUInt16:
      return integer(16, false);
    case TypeId::kUInt32:
      return integer(32, false);
    case TypeId::kUInt64:
      return integer(64, false);
    case TypeId::kHalfFloat:
      return fixed(2, Kind::kFloat16);
    case TypeId::kFloat:
      return plain(PhysicalType::kFloat);
    case TypeId::kDouble:
      return plain(PhysicalType::kDouble);
    case TypeId::kDecimal32:
    case TypeId::kDecimal64:
    case TypeId::kDecimal128:
    case TypeId::kDecimal256:
      return decimal_of(field);
    case TypeId::kDate32:
    case TypeId::kDate64:
      return annotated(PhysicalType::kInt32, Kind::kDate);
    case TypeId::kTime32:
      return time_of(PhysicalType::kInt32, Kind::kTime, type.unit(), false);
    case TypeId::kTime64:
      return time_of(PhysicalType::kInt64, Kind::kTime, type.unit(), false);
    case TypeId::kTimestamp:
      return time_of(PhysicalType::kInt64, Kind::kTimestamp, type.unit(), !type.timezone().empty());
    case TypeId::kIntervalDayTime:
    case TypeId::kIntervalMonthDayNano:
      return fixed(12, Kind::kInterval);
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
      return annotated(PhysicalType::kByteArray, extension == "arrow.json" ? Kind::kJson : Kind::kString);
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
      return extension == "geoarrow.wkb" ? geo_of(field) : plain(PhysicalType::kByteArray);
    case TypeId::kFixedSizeBinary:
      if (type.fixed_size() < 1) break;
      return fixed(type.fixed_size(), extension == "arrow.uuid" && type.fixed_size() == 16 ? Kind::kUuid : Kind::kNone);
    case TypeId::kDictionary: {
      Field values = field;
      values.type = type.value_type();
      return leaf_type(values);
    }
    default:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "column '{}' is {}, which Parquet cannot hold", field.name, type.to_string());
}

}  // namespace frazil::parquet
