#include "frazil/spec/literal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"

namespace frazil::spec {

namespace {

template <typename T>
bool holds(const Literal::Value& value) {
  return std::holds_alternative<T>(value);
}

// Whether a value of that kind can stand in the type.
bool fits(const Type& type, const Literal::Value& value) {
  switch (type.kind()) {
    case TypeKind::kUnknown:
      return false;
    case TypeKind::kBoolean:
      return holds<bool>(value);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return holds<int32_t>(value);
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return holds<int64_t>(value);
    case TypeKind::kFloat:
      return holds<float>(value);
    case TypeKind::kDouble:
      return holds<double>(value);
    case TypeKind::kDecimal:
      return holds<Int128>(value);
    case TypeKind::kUuid:
      return holds<Uuid>(value);
    case TypeKind::kString:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
    case TypeKind::kVariant:
      return holds<std::string>(value);
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return holds<std::string>(value) || holds<GeoBound>(value);
    case TypeKind::kStruct:
    case TypeKind::kList:
      return holds<std::vector<Literal>>(value);
    case TypeKind::kMap:
      return holds<LiteralMap>(value);
  }
  return false;
}

template <typename T>
std::strong_ordering compare_floats(T left, T right) {
  bool left_nan = std::isnan(left);
  bool right_nan = std::isnan(right);
  if (left_nan || right_nan) return left_nan <=> right_nan;
  if (left < right) return std::strong_ordering::less;
  return left > right ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare_bytes(std::string_view left, std::string_view right) {
  size_t common = std::min(left.size(), right.size());
  int order = common == 0 ? 0 : std::memcmp(left.data(), right.data(), common);
  if (order != 0) return order <=> 0;
  return left.size() <=> right.size();
}

bool equal_values(const Literal::Value& left, const Literal::Value& right) {
  if (left.index() != right.index()) return false;
  if (const auto* value = std::get_if<float>(&left)) return compare_floats(*value, std::get<float>(right)) == 0;
  if (const auto* value = std::get_if<double>(&left)) return compare_floats(*value, std::get<double>(right)) == 0;
  if (const auto* map = std::get_if<LiteralMap>(&left)) {
    const auto& other = std::get<LiteralMap>(right);
    return map->keys == other.keys && map->values == other.values;
  }
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, LiteralMap>) {
          return false;  // above
        } else {
          return value == std::get<T>(right);
        }
      },
      left);
}

}  // namespace

Literal::Literal() : type_(primitive(TypeKind::kUnknown)) {}

Literal::Literal(TypePtr type, Value value) : type_(std::move(type)), value_(std::move(value)) {
  if (is_null()) return;
  bool good = fits(*type_, value_);
  if (good && type_->is_struct()) {
    // None at all stands for {}: every field takes its own default.
    size_t count = as<std::vector<Literal>>().size();
    good = count == type_->fields().size() || count == 0;
  }
  if (good && type_->is_map()) good = as<LiteralMap>().keys.size() == as<LiteralMap>().values.size();
  if (!good) throw_error(ErrorKind::kInvalidArgument, "the value does not fit the type {}", type_->to_string());
}

Literal Literal::boolean(bool value) {
  return {primitive(TypeKind::kBoolean), value};
}
Literal Literal::int_(int32_t value) {
  return {primitive(TypeKind::kInt), value};
}
Literal Literal::long_(int64_t value) {
  return {primitive(TypeKind::kLong), value};
}
Literal Literal::float_(float value) {
  return {primitive(TypeKind::kFloat), value};
}
Literal Literal::double_(double value) {
  return {primitive(TypeKind::kDouble), value};
}
Literal Literal::string(std::string value) {
  return {primitive(TypeKind::kString), std::move(value)};
}
Literal Literal::binary(std::string value) {
  return {primitive(TypeKind::kBinary), std::move(value)};
}
Literal Literal::date(int32_t days) {
  return {primitive(TypeKind::kDate), days};
}
Literal Literal::uuid(const Uuid& value) {
  return {primitive(TypeKind::kUuid), value};
}

int64_t Literal::as_integer() const {
  if (const auto* value = std::get_if<int32_t>(&value_)) return *value;
  return std::get<int64_t>(value_);
}

bool Literal::is_nan() const {
  if (const auto* value = std::get_if<float>(&value_)) return std::isnan(*value);
  if (const auto* value = std::get_if<double>(&value_)) return std::isnan(*value);
  return false;
}

bool Literal::operator==(const Literal& other) const {
  return type_->equals(*other.type_) && equal_values(value_, other.value_);
}

std::strong_ordering compare(const Literal& left, const Literal& right) {
  if (const auto* value = std::get_if<bool>(&left.value())) return *value <=> right.as<bool>();
  if (const auto* value = std::get_if<float>(&left.value())) return compare_floats(*value, right.as<float>());
  if (const auto* value = std::get_if<double>(&left.value())) return compare_floats(*value, right.as<double>());
  if (const auto* value = std::get_if<Uuid>(&left.value())) return *value <=> right.as<Uuid>();
  if (const auto* value = std::get_if<std::string>(&left.value())) {
    return compare_bytes(*value, right.as<std::string>());
  }
  if (const auto* value = std::get_if<Int128>(&left.value())) {
    return compare_decimals(*value, left.type()->scale(), right.as<Int128>(), right.type()->scale());
  }
  if (left.value().index() != right.value().index()) {
    throw_error(ErrorKind::kInvalidArgument, "values of types {} and {} cannot be compared", left.type()->to_string(),
                right.type()->to_string());
  }
  return left.as_integer() <=> right.as_integer();
}

}  // namespace frazil::spec
