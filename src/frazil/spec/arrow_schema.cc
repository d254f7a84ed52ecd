#include "frazil/spec/arrow_schema.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/spec/new_table.h"

namespace frazil::spec {

namespace {

void add_extension(Metadata& metadata, std::string_view name, std::string parameters = {}) {
  metadata.emplace_back("ARROW:extension:name", std::string(name));
  metadata.emplace_back("ARROW:extension:metadata", std::move(parameters));
}

// GeoArrow's extension metadata: where the numbers lie, and how edges run.
std::string geo_metadata(const Type& type) {
  constexpr std::string_view kSrid = "srid:";
  constexpr std::string_view kProjjson = "projjson:";
  json::Object object;
  std::string_view crs = type.crs();
  if (crs.starts_with(kSrid)) {
    object.emplace_back("crs", json::Value(std::string(crs.substr(kSrid.size()))));
    object.emplace_back("crs_type", json::Value("srid"));
  } else {
    object.emplace_back("crs", json::Value(std::string(crs)));
    // A projjson CRS names a table property: what it holds is not known here, so its type is left open.
    if (!crs.starts_with(kProjjson)) object.emplace_back("crs_type", json::Value("authority_code"));
  }
  if (type.kind() == TypeKind::kGeography) object.emplace_back("edges", json::Value(type.algorithm()));
  return json::write(json::Value(std::move(object)));
}

Field binary_part(std::string name) {
  Field field;
  field.name = std::move(name);
  field.type = frazil::primitive(TypeId::kBinary);
  field.nullable = false;
  return field;
}

// ---- From Arrow ----

TypePtr geo_type(std::string_view metadata) {
  std::string crs;
  std::optional<std::string> edges;
  try {
    const json::Value object = json::parse(metadata.empty() ? "{}" : metadata);
    const json::Value* found = object.find("crs");
    if (found != nullptr && found->is_string()) crs = found->as_string();
    const json::Value* crs_type = object.find("crs_type");
    if (crs_type != nullptr && crs_type->is_string() && crs_type->as_string() == "srid") crs = "srid:" + crs;
    found = object.find("edges");
    if (found != nullptr && found->is_string()) edges = found->as_string();
  } catch (const CorruptError&) {
    crs.clear();  // what no program can read says nothing
  }
  if (edges && *edges != "planar") return geography(std::move(crs), *edges);
  return geometry(std::move(crs));
}

class FromArrow {
 public:
  std::vector<NestedField> fields(std::span<const Field> arrow) {
    std::vector<NestedField> out;
    for (const Field& field : arrow) out.push_back(nested(field));
    return out;
  }

 private:
  NestedField nested(const Field& arrow) {
    NestedField field;
    field.id = next_id_++;
    field.name = arrow.name;
    try {
      field.type = type(arrow, *arrow.type);
    } catch (Error& error) {
      error.add_context(message("in column or field '{}'", arrow.name));
      throw;
    }
    field.required = !arrow.nullable;
    if (const auto doc = find_metadata(arrow.metadata, "doc")) field.doc = std::string(*doc);
    return field;
  }

  TypePtr type(const Field& field, const DataType& arrow) {
    const auto extension = field.extension_name();
    if (extension == "arrow.parquet.variant") return primitive(TypeKind::kVariant);
    if (extension == "geoarrow.wkb" && is_bytes(arrow.id())) {
      return geo_type(find_metadata(field.metadata, "ARROW:extension:metadata").value_or(""));
    }
    switch (arrow.id()) {
      case TypeId::kNull:
        return primitive(TypeKind::kUnknown);
      case TypeId::kBool:
        return primitive(TypeKind::kBoolean);
      case TypeId::kInt8:
      case TypeId::kInt16:
      case TypeId::kInt32:
      case TypeId::kUInt8:
      case TypeId::kUInt16:
        return primitive(TypeKind::kInt);
      case TypeId::kInt64:
      case TypeId::kUInt32:
        return primitive(TypeKind::kLong);
      case TypeId::kHalfFloat:
      case TypeId::kFloat:
        return primitive(TypeKind::kFloat);
      case TypeId::kDouble:
        return primitive(TypeKind::kDouble);
      case TypeId::kDecimal32:
      case TypeId::kDecimal64:
      case TypeId::kDecimal128:
      case TypeId::kDecimal256:
        if (arrow.precision() > kDecimal128PrecisionMax || arrow.scale() < 0 || arrow.scale() > arrow.precision())
          break;
        return decimal(arrow.precision(), arrow.scale());
      case TypeId::kDate32:
      case TypeId::kDate64:
        return primitive(TypeKind::kDate);
      case TypeId::kTime32:
        return primitive(TypeKind::kTime);
      case TypeId::kTime64:
        if (arrow.unit() == TimeUnit::kNano) break;
        return primitive(TypeKind::kTime);
      case TypeId::kTimestamp:
        if (arrow.unit() == TimeUnit::kNano) {
          return primitive(arrow.timezone().empty() ? TypeKind::kTimestampNs : TypeKind::kTimestampTzNs);
        }
        return primitive(arrow.timezone().empty() ? TypeKind::kTimestamp : TypeKind::kTimestampTz);
      case TypeId::kUtf8:
      case TypeId::kLargeUtf8:
      case TypeId::kUtf8View:
        return primitive(TypeKind::kString);
      case TypeId::kBinary:
      case TypeId::kLargeBinary:
      case TypeId::kBinaryView:
        return primitive(TypeKind::kBinary);
      case TypeId::kFixedSizeBinary:
        if (extension == "arrow.uuid" && arrow.fixed_size() == static_cast<int32_t>(Uuid::kByteSize)) {
          return primitive(TypeKind::kUuid);
        }
        return fixed(arrow.fixed_size());
      case TypeId::kDictionary:
        return type(field, *arrow.value_type());
      case TypeId::kRunEndEncoded:
        return type(field, *arrow.children().at(1).type);
      case TypeId::kStruct:
        return struct_(fields(arrow.children()));
      case TypeId::kMap: {
        const auto& entries = arrow.children().at(0).type->children();
        NestedField key = nested(entries.at(0));
        NestedField value = nested(entries.at(1));
        return map(key.id, std::move(key.type), value.id, std::move(value.type), value.required);
      }
      default:
        if (is_list(arrow.id())) {
          NestedField element = nested(arrow.children().at(0));
          return list(element.id, std::move(element.type), element.required);
        }
    }
    throw_error(ErrorKind::kUnsupported, "Iceberg has no type for Arrow's {}", arrow.to_string());
  }

  int32_t next_id_ = 1;
};

}  // namespace

SchemaPtr schema_from_arrow(const frazil::Schema& schema) {
  return with_fresh_ids(Schema(FromArrow().fields(schema.fields())));
}

DataTypePtr to_arrow_type(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kUnknown:
      return frazil::primitive(TypeId::kNull);
    case TypeKind::kBoolean:
      return frazil::primitive(TypeId::kBool);
    case TypeKind::kInt:
      return frazil::primitive(TypeId::kInt32);
    case TypeKind::kLong:
      return frazil::primitive(TypeId::kInt64);
    case TypeKind::kFloat:
      return frazil::primitive(TypeId::kFloat);
    case TypeKind::kDouble:
      return frazil::primitive(TypeId::kDouble);
    case TypeKind::kDecimal:
      return frazil::decimal(type.precision(), type.scale());
    case TypeKind::kDate:
      return frazil::primitive(TypeId::kDate32);
    case TypeKind::kTime:
      return frazil::time64(TimeUnit::kMicro);
    case TypeKind::kTimestamp:
      return frazil::timestamp(TimeUnit::kMicro);
    case TypeKind::kTimestampTz:
      return frazil::timestamp(TimeUnit::kMicro, "UTC");
    case TypeKind::kTimestampNs:
      return frazil::timestamp(TimeUnit::kNano);
    case TypeKind::kTimestampTzNs:
      return frazil::timestamp(TimeUnit::kNano, "UTC");
    case TypeKind::kString:
      return frazil::primitive(TypeId::kUtf8);
    case TypeKind::kUuid:
      return frazil::fixed_size_binary(static_cast<int32_t>(Uuid::kByteSize));
    case TypeKind::kFixed:
      return frazil::fixed_size_binary(type.length());
    case TypeKind::kBinary:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return frazil::primitive(TypeId::kBinary);
    case TypeKind::kVariant:
      return frazil::struct_({binary_part("metadata"), binary_part("value")});
    case TypeKind::kStruct: {
      std::vector<Field> fields;
      fields.reserve(type.fields().size());
      for (const NestedField& field : type.fields()) fields.push_back(to_arrow_field(field));
      return frazil::struct_(std::move(fields));
    }
    case TypeKind::kList:
      return frazil::list(to_arrow_field(type.element()));
    case TypeKind::kMap:
      return frazil::map(to_arrow_field(type.key()), to_arrow_field(type.value()));
  }
  throw_error(ErrorKind::kInternal, "type {} has no Arrow type", type.to_string());
}

Field to_arrow_field(const NestedField& field) {
  Field result;
  result.name = field.name;
  result.type = to_arrow_type(*field.type);
  result.nullable = !field.required;
  result.metadata.emplace_back(std::string(kFieldIdKey), std::to_string(field.id));
  if (field.doc) result.metadata.emplace_back("doc", *field.doc);
  switch (field.type->kind()) {
    case TypeKind::kUuid:
      add_extension(result.metadata, "arrow.uuid");
      break;
    case TypeKind::kVariant:
      add_extension(result.metadata, "arrow.parquet.variant");
      break;
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      add_extension(result.metadata, "geoarrow.wkb", geo_metadata(*field.type));
      break;
    default:
      break;
  }
  return result;
}

frazil::SchemaPtr to_arrow_schema(const Schema& schema) {
  std::vector<Field> fields;
  fields.reserve(schema.fields().size());
  for (const NestedField& field : schema.fields()) fields.push_back(to_arrow_field(field));
  return std::make_shared<const frazil::Schema>(std::move(fields));
}

}  // namespace frazil::spec
