#include "frazil/text/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "frazil/base/civil_time.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"

namespace frazil::text {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

template <typename T>
bool append_fixed(ArrayBuilder& builder, std::optional<T> value) {
  if (value) static_cast<FixedWidthBuilder&>(builder).append<T>(*value);
  return value.has_value();
}

bool append_bool(ArrayBuilder& builder, const Field&, std::string_view text) {
  text = trim(text);
  bool value = true;
  if (!equals_ignoring_case(text, "true") && !equals_ignoring_case(text, "t") && text != "1") {
    value = false;
    if (!equals_ignoring_case(text, "false") && !equals_ignoring_case(text, "f") && text != "0") return false;
  }
  static_cast<BoolBuilder&>(builder).append(value);
  return true;
}

template <typename T>
bool append_integer(ArrayBuilder& builder, const Field&, std::string_view text) {
  if constexpr (std::is_signed_v<T>) {
    const auto value = parse_int64(trim(text));
    if (!value || *value != static_cast<T>(*value)) return false;
    return append_fixed(builder, std::optional(static_cast<T>(*value)));
  } else {
    const auto value = parse_uint64(trim(text));
    if (!value || *value != static_cast<T>(*value)) return false;
    return append_fixed(builder, std::optional(static_cast<T>(*value)));
  }
}

// A number that is too large for its type is none of it; infinity is what is called so.
template <typename T>
bool append_floating(ArrayBuilder& builder, std::string_view text, std::optional<T> value) {
  if (value && std::isinf(*value) && text.find_first_of("0123456789") != std::string_view::npos) return false;
  return append_fixed(builder, value);
}

bool append_float(ArrayBuilder& builder, const Field&, std::string_view text) {
  return append_floating(builder, text, parse_float(trim(text)));
}

bool append_double(ArrayBuilder& builder, const Field&, std::string_view text) {
  return append_floating(builder, text, parse_double(trim(text)));
}

bool append_decimal128(ArrayBuilder& builder, const Field& field, std::string_view text) {
  return append_fixed(builder, try_parse_decimal128(trim(text), field.type->precision(), field.type->scale()));
}

bool append_date(ArrayBuilder& builder, const Field&, std::string_view text) {
  return append_fixed(builder, try_parse_date(trim(text)));
}

bool append_time(ArrayBuilder& builder, const Field& field, std::string_view text) {
  const auto value = try_parse_time(trim(text), field.type->unit());
  if (!value) return false;
  if (field.type->id() == TypeId::kTime64) return append_fixed(builder, value);
  return append_fixed(builder, std::optional(static_cast<int32_t>(*value)));
}

bool append_timestamp(ArrayBuilder& builder, const Field& field, std::string_view text) {
  text = trim(text);
  const TimeUnit unit = field.type->unit();
  const ZoneRule zone = field.type->timezone().empty() ? ZoneRule::kForbidden : ZoneRule::kOptional;
  if (const auto value = try_parse_timestamp(text, unit, zone)) return append_fixed(builder, value);
  // A date is its midnight.
  const auto days = try_parse_date(text);
  constexpr int64_t kSecondsPerDay = 86'400;
  return append_fixed(builder,
                      days ? convert_timestamp(*days * kSecondsPerDay, TimeUnit::kSecond, unit) : std::nullopt);
}

bool append_utf8(ArrayBuilder& builder, const Field&, std::string_view text) {
  if (!is_valid_utf8(text)) return false;
  static_cast<BytesBuilder&>(builder).append(text);
  return true;
}

bool append_binary(ArrayBuilder& builder, const Field&, std::string_view text) {
  const auto bytes = decode_hex(trim(text));
  if (bytes) static_cast<BytesBuilder&>(builder).append(*bytes);
  return bytes.has_value();
}

bool append_fixed_binary(ArrayBuilder& builder, const Field& field, std::string_view text) {
  const auto bytes = decode_hex(trim(text));
  if (!bytes || bytes->size() != static_cast<size_t>(field.type->fixed_size())) return false;
  static_cast<FixedWidthBuilder&>(builder).append_bytes(*bytes);
  return true;
}

bool append_uuid(ArrayBuilder& builder, const Field&, std::string_view text) {
  return append_fixed(builder, try_parse_uuid(trim(text)));
}

bool append_nested(ArrayBuilder& builder, const Field& field, std::string_view text) {
  json::Value value;
  try {
    value = json::parse(text);
  } catch (const CorruptError&) {
    return false;
  }
  if (value.is_null()) return false;
  append_json(builder, field, value);
  return true;
}

AppendText find_append_text(const Field& field) {
  switch (field.type->id()) {
    case TypeId::kBool:
      return append_bool;
    case TypeId::kInt8:
      return append_integer<int8_t>;
    case TypeId::kInt16:
      return append_integer<int16_t>;
    case TypeId::kInt32:
      return append_integer<int32_t>;
    case TypeId::kInt64:
      return append_integer<int64_t>;
    case TypeId::kUInt8:
      return append_integer<uint8_t>;
    case TypeId::kUInt16:
      return append_integer<uint16_t>;
    case TypeId::kUInt32:
      return append_integer<uint32_t>;
    case TypeId::kUInt64:
      return append_integer<uint64_t>;
    case TypeId::kFloat:
      return append_float;
    case TypeId::kDouble:
      return append_double;
    case TypeId::kDecimal128:
      return append_decimal128;
    case TypeId::kDate32:
      return append_date;
    case TypeId::kTime32:
    case TypeId::kTime64:
      return append_time;
    case TypeId::kTimestamp:
      return append_timestamp;
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
      return append_utf8;
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
      return append_binary;
    case TypeId::kFixedSizeBinary:
      return field.extension_name() == "arrow.uuid" && field.type->fixed_size() == 16 ? append_uuid
                                                                                      : append_fixed_binary;
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kFixedSizeList:
    case TypeId::kMap:
    case TypeId::kStruct:
      return append_nested;
    default:
      return nullptr;
  }
}

[[noreturn]] void throw_wrong(const Field& field, std::string_view expected, const json::Value& found) {
  throw_error(ErrorKind::kInvalidArgument, "'{}': expected {}, found {}", field.name, expected,
              json::to_string(found.kind()));
}

// Which kinds of JSON values a type is written as.
bool takes(const DataType& type, const json::Value& value) {
  const bool is_string = value.is_string();
  const bool is_number = value.kind() == json::Value::Kind::kNumber;
  if (is_integer(type.id())) return is_number;
  if (is_floating(type.id()) || is_decimal(type.id())) return is_number || is_string;
  return is_string;
}

void append_scalar_text(ArrayBuilder& builder, const Field& field, std::string_view text) {
  if (!append_text_for(field)(builder, field, text)) {
    throw_error(ErrorKind::kInvalidArgument, "'{}': {} is {}", field.name, json::quote(text), not_a(field));
  }
}

void append_scalar(ArrayBuilder& builder, const Field& field, const json::Value& value) {
  const DataType& type = *field.type;
  if (type.id() == TypeId::kBool) {
    if (value.kind() != json::Value::Kind::kBool) throw_wrong(field, "true or false", value);
    builder.as<BoolBuilder>().append(value.as_bool());
    return;
  }
  if (!takes(type, value)) throw_wrong(field, type.to_string(), value);
  append_scalar_text(builder, field, value.is_string() ? value.as_string() : value.number_text());
}

// The errors of a child name the way down to it.
template <typename Append>
void within(const Field& parent, Append append) {
  try {
    append();
  } catch (Error& error) {
    error.add_context(message("in '{}'", parent.name));
    throw;
  }
}

void append_child(ArrayBuilder& builder, const Field& parent, const Field& child, const json::Value& value) {
  within(parent, [&] { append_json(builder, child, value); });
}

void append_struct(StructBuilder& builder, const Field& field, const json::Value& value) {
  if (!value.is_object()) throw_wrong(field, "an object", value);
  const auto& children = field.type->children();
  for (const auto& [name, member] : value.as_object()) {
    if (std::none_of(children.begin(), children.end(), [&](const Field& child) { return child.name == name; })) {
      throw_error(ErrorKind::kInvalidArgument, "'{}' has no field '{}'", field.name, name);
    }
  }
  builder.append();
  for (size_t i = 0; i < children.size(); ++i) {
    const json::Value* member = value.find(children[i].name);
    append_child(builder.child(i), field, children[i], member != nullptr ? *member : json::Value());
  }
}

void append_map(ListBuilder& builder, const Field& field, const json::Value& value) {
  if (!value.is_object()) throw_wrong(field, "an object", value);
  const Field& entries = field.type->children().at(0);
  const Field& key = entries.type->children().at(0);
  const Field& item = entries.type->children().at(1);
  builder.append();
  const json::Value* keys = value.find("keys");
  const json::Value* values = value.find("values");
  if (keys != nullptr && values != nullptr && value.as_object().size() == 2 && keys->is_array() && values->is_array()) {
    if (keys->as_array().size() != values->as_array().size()) {
      throw_error(ErrorKind::kInvalidArgument, "'{}': {} keys and {} values", field.name, keys->as_array().size(),
                  values->as_array().size());
    }
    for (size_t i = 0; i < keys->as_array().size(); ++i) {
      append_child(builder.keys(), field, key, keys->as_array()[i]);
      append_child(builder.items(), field, item, values->as_array()[i]);
      builder.end_entry();
    }
    return;
  }
  for (const auto& [name, member] : value.as_object()) {
    within(field, [&] { append_scalar_text(builder.keys(), key, name); });
    append_child(builder.items(), field, item, member);
    builder.end_entry();
  }
}

void append_list(ListBuilder& builder, const Field& field, const json::Value& value) {
  if (!value.is_array()) throw_wrong(field, "an array", value);
  const auto& items = value.as_array();
  if (field.type->id() == TypeId::kFixedSizeList && items.size() != static_cast<size_t>(field.type->fixed_size())) {
    throw_error(ErrorKind::kInvalidArgument, "'{}': {} elements instead of {}", field.name, items.size(),
                field.type->fixed_size());
  }
  builder.append();
  for (const json::Value& item : items) append_child(builder.values(), field, field.type->children().at(0), item);
}

}  // namespace

AppendText append_text_for(const Field& field) {
  const AppendText found = find_append_text(field);
  if (found == nullptr) {
    throw_error(ErrorKind::kUnsupported, "values of '{}', {}, are not read from text", field.name,
                field.type->to_string());
  }
  return found;
}

std::string not_a(const Field& field) {
  const bool is_text = field.type->id() == TypeId::kUtf8 || field.type->id() == TypeId::kLargeUtf8 ||
                       field.type->id() == TypeId::kUtf8View;
  if (is_text) return "not valid UTF-8";
  return "no " + (field.extension_name() == "arrow.uuid" ? std::string("uuid") : field.type->to_string());
}

void append_json(ArrayBuilder& builder, const Field& field, const json::Value& value) {
  if (value.is_null()) {
    if (!field.nullable) throw_error(ErrorKind::kInvalidArgument, "'{}' is required, found null", field.name);
    builder.append_null();
    return;
  }
  switch (field.type->id()) {
    case TypeId::kStruct:
      append_struct(builder.as<StructBuilder>(), field, value);
      return;
    case TypeId::kMap:
      append_map(builder.as<ListBuilder>(), field, value);
      return;
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kFixedSizeList:
      append_list(builder.as<ListBuilder>(), field, value);
      return;
    default:
      append_scalar(builder, field, value);
  }
}

}  // namespace frazil::text
