#include <cmath>
#include <string>
#include <utility>

#include "frazil/base/base64.h"
#include "frazil/base/civil_time.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/message.h"
#include "frazil/base/number_text.h"
#include "frazil/spec/literal.h"

namespace frazil::spec {

namespace {

TimeUnit unit_of(TypeKind kind) {
  return kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs ? TimeUnit::kNano : TimeUnit::kMicro;
}

bool has_zone(TypeKind kind) {
  return kind == TypeKind::kTimestampTz || kind == TypeKind::kTimestampTzNs;
}

// The value of a text in the type's JSON form. Throws Error(kInvalidArgument).
Literal from_text(const TypePtr& type, std::string_view text, ZoneRule zone_rule) {
  switch (type->kind()) {
    case TypeKind::kDate:
      return {type, parse_date(text)};
    case TypeKind::kTime:
      return {type, parse_time(text, TimeUnit::kMicro)};
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
      return {type, parse_timestamp(text, unit_of(type->kind()), ZoneRule::kForbidden)};
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampTzNs:
      return {type, parse_timestamp(text, unit_of(type->kind()), zone_rule)};
    case TypeKind::kDecimal:
      return {type, parse_decimal128(text, type->precision(), type->scale())};
    case TypeKind::kUuid:
      return {type, parse_uuid(text)};
    case TypeKind::kFixed:
    case TypeKind::kBinary: {
      std::optional<std::string> bytes = decode_hex(text);
      if (!bytes) throw_error(ErrorKind::kInvalidArgument, "'{}' is not pairs of hexadecimal digits", text);
      if (type->kind() == TypeKind::kFixed && bytes->size() != static_cast<size_t>(type->length())) {
        throw_error(ErrorKind::kInvalidArgument, "'{}' has {} bytes where {} has {}", text, bytes->size(),
                    type->to_string(), type->length());
      }
      return {type, std::move(*bytes)};
    }
    case TypeKind::kString:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return {type, std::string(text)};
    default:
      throw_error(ErrorKind::kInvalidArgument, "a text is not a value of type {}", type->to_string());
  }
}

// A number's text as it stands, so that a float is rounded once, from the text, not twice by way of a double.
float float_of(const json::Value& value) {
  const std::string& text = value.number_text();
  std::optional<float> number = parse_float(text);
  if (!number || !std::isfinite(*number)) {
    throw_corrupt(CorruptError::kNoOffset, "{} is out of the range of float", text);
  }
  return *number;
}

Literal struct_from_json(const TypePtr& type, const json::Value& value) {
  std::vector<Literal> values;
  const json::Object& members = value.as_object();
  if (members.empty()) return {type, std::move(values)};
  size_t used = 0;
  values.reserve(type->fields().size());
  for (const NestedField& field : type->fields()) {
    const json::Value* member = value.find(std::to_string(field.id));
    if (member != nullptr) {
      ++used;
      if (member->is_null() && field.required) {
        throw_corrupt(CorruptError::kNoOffset, "required field {} of a struct value is null", field.id);
      }
      values.push_back(literal_from_json(field.type, *member));
    } else if (field.initial_default != nullptr) {
      values.push_back(*field.initial_default);
    } else if (field.required) {
      throw_corrupt(CorruptError::kNoOffset, "required field {} of a struct value is missing", field.id);
    } else {
      values.push_back(Literal::null(field.type));
    }
  }
  if (used != members.size()) {
    throw_corrupt(CorruptError::kNoOffset, "a struct value has a member that is no field id of {}", type->to_string());
  }
  return {type, std::move(values)};
}

std::vector<Literal> list_from_json(const NestedField& element, const json::Array& items) {
  std::vector<Literal> values;
  values.reserve(items.size());
  for (const json::Value& item : items) {
    if (item.is_null() && element.required) {
      throw_corrupt(CorruptError::kNoOffset, "a required {} is null", element.name);
    }
    values.push_back(literal_from_json(element.type, item));
  }
  return values;
}

json::Value list_to_json(const std::vector<Literal>& values) {
  json::Array items;
  items.reserve(values.size());
  for (const Literal& value : values) items.push_back(literal_to_json(value));
  return json::Value(std::move(items));
}

}  // namespace

Literal literal_from_json(const TypePtr& type, const json::Value& value) {
  if (value.is_null()) return Literal::null(type);
  try {
    switch (type->kind()) {
      case TypeKind::kUnknown:
        throw_corrupt(CorruptError::kNoOffset, "only null is a value of type unknown");
      case TypeKind::kVariant:
        throw_error(ErrorKind::kUnsupported, "type variant has no JSON single-value form");
      case TypeKind::kBoolean:
        return {type, value.as_bool()};
      case TypeKind::kInt:
        return {type, value.as_int32()};
      case TypeKind::kLong:
        return {type, value.as_int64()};
      case TypeKind::kFloat:
        return {type, float_of(value)};
      case TypeKind::kDouble: {
        double number = value.as_double();
        if (!std::isfinite(number)) {
          throw_corrupt(CorruptError::kNoOffset, "{} is out of the range of double", value.number_text());
        }
        return {type, number};
      }
      case TypeKind::kStruct:
        return struct_from_json(type, value);
      case TypeKind::kList:
        return {type, list_from_json(type->element(), value.as_array())};
      case TypeKind::kMap: {
        LiteralMap map;
        map.keys = list_from_json(type->key(), value.at("keys").as_array());
        map.values = list_from_json(type->value(), value.at("values").as_array());
        if (map.keys.size() != map.values.size()) {
          throw_corrupt(CorruptError::kNoOffset, "a map value has {} keys and {} values", map.keys.size(),
                        map.values.size());
        }
        return {type, std::move(map)};
      }
      default:
        return from_text(type, value.as_string(), ZoneRule::kUtcOnly);
    }
  } catch (const CorruptError& error) {
    throw_corrupt(CorruptError::kNoOffset, "not a value of type {}: {}", spec::to_string(type->kind()),
                  error.message());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    throw_corrupt(CorruptError::kNoOffset, "not a value of type {}: {}", type->to_string(), error.message());
  }
}

json::Value literal_to_json(const Literal& literal) {
  if (literal.is_null()) return nullptr;
  const Type& type = *literal.type();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return json::Value(literal.as<bool>());
    case TypeKind::kInt:
      return json::Value(int64_t{literal.as<int32_t>()});
    case TypeKind::kLong:
      return json::Value(literal.as<int64_t>());
    case TypeKind::kFloat:
      if (!std::isfinite(literal.as<float>())) break;
      return json::Value(json::Number{number_to_string(literal.as<float>())});
    case TypeKind::kDouble:
      if (!std::isfinite(literal.as<double>())) break;
      return json::Value(literal.as<double>());
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return json::Value(encode_hex(literal.as<std::string>()));
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
    case TypeKind::kUuid:
      return json::Value(to_human_string(literal));
    case TypeKind::kString:
      return json::Value(literal.as<std::string>());
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      if (const auto* wkt = std::get_if<std::string>(&literal.value())) return json::Value(*wkt);
      break;
    case TypeKind::kStruct: {
      json::Object members;
      const auto& values = literal.as<std::vector<Literal>>();
      for (size_t i = 0; i < values.size(); ++i) {
        members.emplace_back(std::to_string(type.fields()[i].id), literal_to_json(values[i]));
      }
      return json::Value(std::move(members));
    }
    case TypeKind::kList:
      return list_to_json(literal.as<std::vector<Literal>>());
    case TypeKind::kMap: {
      const auto& map = literal.as<LiteralMap>();
      json::Object members;
      members.emplace_back("keys", list_to_json(map.keys));
      members.emplace_back("values", list_to_json(map.values));
      return json::Value(std::move(members));
    }
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "this value of type {} has no JSON single-value form", type.to_string());
}

std::string to_human_string(const Literal& literal) {
  if (literal.is_null()) return "null";
  const Type& type = *literal.type();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return literal.as<bool>() ? "true" : "false";
    case TypeKind::kInt:
    case TypeKind::kLong:
      return std::to_string(literal.as_integer());
    case TypeKind::kFloat:
      return number_to_string(literal.as<float>());
    case TypeKind::kDouble:
      return number_to_string(literal.as<double>());
    case TypeKind::kDecimal:
      return decimal_to_string(literal.as<Int128>(), type.scale());
    case TypeKind::kDate:
      return date_to_string(literal.as<int32_t>());
    case TypeKind::kTime:
      return time_to_string(literal.as<int64_t>(), TimeUnit::kMicro);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: {
      TimeTextOptions options;
      if (has_zone(type.kind())) options.zone = "+00:00";
      return timestamp_to_string(literal.as<int64_t>(), unit_of(type.kind()), options);
    }
    case TypeKind::kUuid:
      return frazil::to_string(literal.as<Uuid>());
    case TypeKind::kString:
      return literal.as<std::string>();
    case TypeKind::kFixed:
    case TypeKind::kBinary:
    case TypeKind::kVariant:
      return encode_base64(literal.as<std::string>());
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      if (const auto* bound = std::get_if<GeoBound>(&literal.value())) {
        std::string text = "(" + number_to_string(bound->x) + " " + number_to_string(bound->y);
        if (bound->z) text += " z=" + number_to_string(*bound->z);
        if (bound->m) text += " m=" + number_to_string(*bound->m);
        return text + ")";
      }
      return encode_base64(literal.as<std::string>());
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return json::write(literal_to_json(literal));
    case TypeKind::kUnknown:
      break;
  }
  return "null";
}

Literal parse_literal(const TypePtr& type, std::string_view text) {
  switch (type->kind()) {
    case TypeKind::kBoolean:
      if (text == "true" || text == "TRUE" || text == "True") return {type, true};
      if (text == "false" || text == "FALSE" || text == "False") return {type, false};
      break;
    case TypeKind::kInt:
    case TypeKind::kLong: {
      std::optional<int64_t> number = parse_int64(text);
      if (!number) break;
      if (type->kind() == TypeKind::kLong) return {type, *number};
      if (*number < INT32_MIN || *number > INT32_MAX) break;
      return {type, static_cast<int32_t>(*number)};
    }
    case TypeKind::kFloat:
      if (std::optional<float> number = parse_float(text)) return {type, *number};
      break;
    case TypeKind::kDouble:
      if (std::optional<double> number = parse_double(text)) return {type, *number};
      break;
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return literal_from_json(type, json::parse(text));
    case TypeKind::kUnknown:
      break;
    default:
      return from_text(type, text, ZoneRule::kOptional);
  }
  throw_error(ErrorKind::kInvalidArgument, "'{}' is not a value of type {}", text, type->to_string());
}

}  // namespace frazil::spec
