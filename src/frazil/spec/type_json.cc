#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/type.h"

namespace frazil::spec {

namespace {

// `depth` counts the levels around the value, so that a bottomless tree ends before the stack does.
TypePtr type_from_json(const json::Value& value, int depth);

// Default values (spec, "Default values"): null for unknown, variant and geo types; for a struct null or {}.
LiteralPtr default_from_json(const json::Value* value, const TypePtr& type, std::string_view key) {
  if (value == nullptr) return nullptr;
  switch (type->kind()) {
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      throw_corrupt(CorruptError::kNoOffset, "{} of a field of type {} must be null", key, type->to_string());
    case TypeKind::kStruct:
      if (value->kind() != json::Value::Kind::kObject || !value->as_object().empty()) {
        throw_corrupt(CorruptError::kNoOffset, "{} of a struct must be null or an empty struct", key);
      }
      break;
    default:
      break;
  }
  try {
    return std::make_shared<const Literal>(literal_from_json(type, *value));
  } catch (Error& error) {
    error.add_context(message("reading {}", key));
    throw;
  }
}

NestedField field_from_json(const json::Value& value, int depth) {
  ObjectReader reader(value, "field");
  NestedField field;
  field.name = reader.required_string("name");
  try {
    field.id = reader.required_int("id");
    if (field.id < 0) throw_corrupt(CorruptError::kNoOffset, "field id must not be negative: {}", field.id);
    field.required = reader.required_bool("required");
    field.type = type_from_json(reader.required("type"), depth);
    field.doc = reader.optional_string("doc");
    field.initial_default = default_from_json(reader.optional("initial-default"), field.type, "initial-default");
    field.write_default = default_from_json(reader.optional("write-default"), field.type, "write-default");
    if (field.type->kind() == TypeKind::kUnknown && field.required) {
      throw_corrupt(CorruptError::kNoOffset, "a field of type unknown must be optional");
    }
    field.extra = reader.rest();
  } catch (Error& error) {
    error.add_context(message("field '{}'", field.name));
    throw;
  }
  return field;
}

TypePtr checked(std::string_view what, const json::Value& value, int depth) {
  try {
    return type_from_json(value, depth);
  } catch (Error& error) {
    error.add_context(std::string(what));
    throw;
  }
}

TypePtr type_from_json(const json::Value& value, int depth) {
  if (value.kind() == json::Value::Kind::kString) return parse_primitive(value.as_string());
  if (depth >= kMaxTypeDepth - 1) {
    throw_corrupt(CorruptError::kNoOffset, "types nest deeper than {} levels", kMaxTypeDepth);
  }
  ObjectReader reader(value, "type");
  std::string kind = reader.required_string("type");
  if (kind == "struct") {
    const json::Array& items = reader.required_array("fields");
    std::vector<NestedField> fields;
    fields.reserve(items.size());
    for (const json::Value& item : items) fields.push_back(field_from_json(item, depth + 1));
    return struct_(std::move(fields));
  }
  if (kind == "list") {
    int32_t id = reader.required_int("element-id");
    bool required = reader.required_bool("element-required");
    return list(id, checked("list element", reader.required("element"), depth + 1), required);
  }
  if (kind == "map") {
    int32_t key_id = reader.required_int("key-id");
    int32_t value_id = reader.required_int("value-id");
    bool required = reader.required_bool("value-required");
    TypePtr key = checked("map key", reader.required("key"), depth + 1);
    return map(key_id, std::move(key), value_id, checked("map value", reader.required("value"), depth + 1), required);
  }
  throw_corrupt(CorruptError::kNoOffset, "type '{}' is none of struct, list and map", kind);
}

}  // namespace

TypePtr type_from_json(const json::Value& value) {
  return type_from_json(value, 0);
}

NestedField field_from_json(const json::Value& value) {
  return field_from_json(value, 0);
}

json::Value field_to_json(const NestedField& field) {
  json::Object object;
  object.emplace_back("id", json::Value(int64_t{field.id}));
  object.emplace_back("name", json::Value(field.name));
  object.emplace_back("required", json::Value(field.required));
  object.emplace_back("type", type_to_json(*field.type));
  if (field.doc) object.emplace_back("doc", json::Value(*field.doc));
  if (field.initial_default != nullptr) {
    object.emplace_back("initial-default", literal_to_json(*field.initial_default));
  }
  if (field.write_default != nullptr) object.emplace_back("write-default", literal_to_json(*field.write_default));
  append_extra(object, field.extra);
  return json::Value(std::move(object));
}

json::Value type_to_json(const Type& type) {
  json::Object object;
  switch (type.kind()) {
    case TypeKind::kStruct: {
      json::Array fields;
      fields.reserve(type.fields().size());
      for (const NestedField& field : type.fields()) fields.push_back(field_to_json(field));
      object.emplace_back("type", json::Value("struct"));
      object.emplace_back("fields", json::Value(std::move(fields)));
      break;
    }
    case TypeKind::kList:
      object.emplace_back("type", json::Value("list"));
      object.emplace_back("element-id", json::Value(int64_t{type.element().id}));
      object.emplace_back("element", type_to_json(*type.element().type));
      object.emplace_back("element-required", json::Value(type.element().required));
      break;
    case TypeKind::kMap:
      object.emplace_back("type", json::Value("map"));
      object.emplace_back("key-id", json::Value(int64_t{type.key().id}));
      object.emplace_back("key", type_to_json(*type.key().type));
      object.emplace_back("value-id", json::Value(int64_t{type.value().id}));
      object.emplace_back("value", type_to_json(*type.value().type));
      object.emplace_back("value-required", json::Value(type.value().required));
      break;
    default:
      return json::Value(type.to_string());
  }
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
