#include "frazil/parquet/schema.h"

#include <iterator>
#include <string>

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
  if (precision < 1 || leaf.logical.scale < 0 || leaf.logical.scale > precision) {
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
      return leaf.logical.precision > 76 ? physical_type(leaf, options) : decimal_type(leaf);
    case Kind::kMisplaced:
      throw_corrupt(CorruptError::kNoOffset, "schema: column '{}' is {} and annotated as {}, which cannot be",
                    leaf.name, to_string(leaf.type), logical.misplaced);
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

namespace {

void append_json_text(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

// Parquet's CRS is "srid:N", "projjson:KEY" (a key of the file's metadata) or any other text.
std::string geo_metadata(const LogicalType& logical) {
  constexpr std::string_view kEdges[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
  std::string json = "{\"crs\":";
  if (logical.crs.empty()) {
    json += "\"OGC:CRS84\",\"crs_type\":\"authority_code\"";
  } else if (logical.crs.starts_with("srid:")) {
    append_json_text(json, logical.crs.substr(5));
    json += ",\"crs_type\":\"srid\"";
  } else {
    append_json_text(json, logical.crs);
  }
  if (logical.kind == Kind::kGeography) {
    const size_t edges = static_cast<uint8_t>(logical.edge_algorithm);
    json += ",\"edges\":\"" + std::string(kEdges[edges < std::size(kEdges) ? edges : 0]) + "\"";
  }
  return json + "}";
}

}  // namespace

void add_extension(const SchemaNode& leaf, Metadata& metadata) {
  constexpr const char* kName = "ARROW:extension:name";
  constexpr const char* kMetadata = "ARROW:extension:metadata";
  switch (leaf.logical.kind) {
    case Kind::kUuid:
      metadata.emplace_back(kName, "arrow.uuid");
      return;
    case Kind::kJson:
      metadata.emplace_back(kName, "arrow.json");
      return;
    case Kind::kGeometry:
    case Kind::kGeography:
      metadata.emplace_back(kName, "geoarrow.wkb");
      metadata.emplace_back(kMetadata, geo_metadata(leaf.logical));
      return;
    default:
      return;
  }
}

std::string_view to_string(LogicalType::Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "STRING";
    case Kind::kMap:
      return "MAP";
    case Kind::kMapKeyValue:
      return "MAP_KEY_VALUE";
    case Kind::kList:
      return "LIST";
    case Kind::kEnum:
      return "ENUM";
    case Kind::kDecimal:
      return "DECIMAL";
    case Kind::kDate:
      return "DATE";
    case Kind::kTime:
      return "TIME";
    case Kind::kTimestamp:
      return "TIMESTAMP";
    case Kind::kInterval:
      return "INTERVAL";
    case Kind::kInteger:
      return "INTEGER";
    case Kind::kUnknown:
      return "UNKNOWN";
    case Kind::kJson:
      return "JSON";
    case Kind::kBson:
      return "BSON";
    case Kind::kUuid:
      return "UUID";
    case Kind::kFloat16:
      return "FLOAT16";
    case Kind::kVariant:
      return "VARIANT";
    case Kind::kGeometry:
      return "GEOMETRY";
    case Kind::kGeography:
      return "GEOGRAPHY";
    default:
      return "none";
  }
}

}  // namespace frazil::parquet
