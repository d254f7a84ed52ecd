#include "frazil/text/inferred_type.h"

#include <algorithm>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil::text {
namespace {

bool looks_like_number(std::string_view text) {
  // Names for numbers ("NaN", "inf") are words in most columns, and 007 is a code.
  if (text.find_first_of("0123456789") == std::string_view::npos) return false;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() < 2 || text[0] != '0' || text[1] < '0' || text[1] > '9';
}

}  // namespace

InferredType::Kind InferredType::kind_of_number(std::string_view text) {
  return parse_int64(text) ? Kind::kInteger : Kind::kDouble;
}

InferredType::Kind InferredType::kind_of_text(std::string_view text) {
  if (text == "true" || text == "false") return Kind::kBool;
  if (looks_like_number(text) && parse_double(text)) {
    // A whole number that 64 bits do not hold would lose digits as a double.
    const bool whole = text.find_first_not_of("+-0123456789") == std::string_view::npos;
    if (!whole) return Kind::kDouble;
    return parse_int64(text) ? Kind::kInteger : Kind::kText;
  }
  if (try_parse_date(text)) return Kind::kDate;
  if (try_parse_timestamp(text, TimeUnit::kMicro, ZoneRule::kForbidden)) return Kind::kTimestamp;
  if (try_parse_timestamp(text, TimeUnit::kMicro, ZoneRule::kRequired)) return Kind::kTimestampUtc;
  return Kind::kText;
}

InferredType::Kind InferredType::common(Kind left, Kind right) {
  if (left == right || right == Kind::kNone) return left;
  if (left == Kind::kNone) return right;
  const auto either = [&](Kind one, Kind other) {
    return (left == one && right == other) || (left == other && right == one);
  };
  if (either(Kind::kInteger, Kind::kDouble)) return Kind::kDouble;
  if (either(Kind::kDate, Kind::kTimestamp)) return Kind::kTimestamp;
  return Kind::kText;
}

std::string_view InferredType::name(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "true or false";
    case Kind::kInteger:
    case Kind::kDouble:
      return "a number";
    case Kind::kStruct:
      return "an object";
    case Kind::kList:
      return "an array";
    default:
      return "a text";
  }
}

void InferredType::add_text(std::string_view text) {
  // Once a text, always a text: no need to look.
  if (kind_ != Kind::kText) kind_ = common(kind_, kind_of_text(text));
}

void InferredType::add_json(const json::Value& value) {
  Kind kind = Kind::kNone;
  switch (value.kind()) {
    case json::Value::Kind::kNull:
      return;
    case json::Value::Kind::kBool:
      kind = Kind::kBool;
      break;
    case json::Value::Kind::kNumber:
      kind = kind_of_number(value.number_text());
      break;
    case json::Value::Kind::kString:
      kind = kind_of_text(value.as_string());
      if (kind == Kind::kBool || kind == Kind::kInteger || kind == Kind::kDouble) kind = Kind::kText;
      break;
    case json::Value::Kind::kArray:
      kind = Kind::kList;
      break;
    case json::Value::Kind::kObject:
      kind = Kind::kStruct;
      break;
  }
  if (kind_ != Kind::kNone && name(kind_) != name(kind)) {
    throw_error(ErrorKind::kInvalidArgument, "{} and {} in one column", name(kind_), name(kind));
  }
  kind_ = common(kind_, kind);
  if (kind == Kind::kList) {
    if (element_ == nullptr) element_ = std::make_unique<InferredType>();
    for (const json::Value& item : value.as_array()) element_->add_json(item);
  }
  if (kind != Kind::kStruct) return;
  for (const auto& [key, member] : value.as_object()) {
    auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& known) { return known.first == key; });
    if (found == members_.end()) found = members_.insert(members_.end(), std::pair(key, InferredType()));
    try {
      found->second.add_json(member);
    } catch (Error& error) {
      error.add_context(message("in '{}'", key));
      throw;
    }
  }
}

std::vector<Field> InferredType::fields() const {
  std::vector<Field> fields;
  for (const auto& [key, member] : members_) fields.push_back({.name = key, .type = member.type()});
  return fields;
}

DataTypePtr InferredType::type() const {
  switch (kind_) {
    case Kind::kBool:
      return primitive(TypeId::kBool);
    case Kind::kInteger:
      return primitive(TypeId::kInt64);
    case Kind::kDouble:
      return primitive(TypeId::kDouble);
    case Kind::kDate:
      return primitive(TypeId::kDate32);
    case Kind::kTimestamp:
      return timestamp(TimeUnit::kMicro);
    case Kind::kTimestampUtc:
      return timestamp(TimeUnit::kMicro, "UTC");
    case Kind::kStruct:
      return struct_(fields());
    case Kind::kList:
      return list({.name = "element", .type = element_ != nullptr ? element_->type() : primitive(TypeId::kUtf8)});
    default:
      return primitive(TypeId::kUtf8);
  }
}

}  // namespace frazil::text
