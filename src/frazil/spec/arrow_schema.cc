#include "frazil/spec/arrow_schema.h"

#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/json/value.h"

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

}  // namespace

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
