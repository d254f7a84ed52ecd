#include <cmath>
#include <limits>

#include "frazil/base/byte_reader.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/time_unit.h"
#include "frazil/base/utf8.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/promotion.h"

namespace frazil::spec {

namespace {

[[noreturn]] void throw_width(const Type& type, size_t size) {
  throw_corrupt(CorruptError::kNoOffset, "a single value of type {} cannot have {} bytes", type.to_string(), size);
}

template <typename T>
T load_exactly(const Type& type, std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(T)) throw_width(type, bytes.size());
  return load<T>(bytes.data());
}

template <typename T>
std::string stored(T value) {
  std::string bytes(sizeof(T), '\0');
  store(bytes.data(), value);
  return bytes;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Literal literal_from_bytes(const TypePtr& type, std::span<const std::byte> bytes) {
  switch (type->kind()) {
    case TypeKind::kBoolean:
      return {type, load_exactly<uint8_t>(*type, bytes) != 0};
    case TypeKind::kInt:
    case TypeKind::kDate:
      return {type, load_exactly<int32_t>(*type, bytes)};
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return {type, load_exactly<int64_t>(*type, bytes)};
    case TypeKind::kFloat:
      return {type, load_exactly<float>(*type, bytes)};
    case TypeKind::kDouble:
      return {type, load_exactly<double>(*type, bytes)};
    case TypeKind::kDecimal: {
      if (bytes.empty()) throw_width(*type, 0);
      std::optional<Int128> unscaled = decimal_from_big_endian(bytes);
      if (!unscaled) throw_width(*type, bytes.size());
      return {type, *unscaled};
    }
    case TypeKind::kUuid:
      if (bytes.size() != Uuid::kByteSize) throw_width(*type, bytes.size());
      return {type, uuid_from_bytes(bytes)};
    case TypeKind::kString: {
      std::string text = text_of(bytes);
      if (!is_valid_utf8(text)) throw_corrupt(CorruptError::kNoOffset, "a single value of type string is not UTF-8");
      return {type, std::move(text)};
    }
    case TypeKind::kFixed:
      if (bytes.size() != static_cast<size_t>(type->length())) throw_width(*type, bytes.size());
      return {type, text_of(bytes)};
    case TypeKind::kBinary:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return {type, text_of(bytes)};
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      break;
  }
  throw_error(ErrorKind::kUnsupported, "type {} has no binary single-value form", type->to_string());
}

std::string literal_to_bytes(const Literal& literal) {
  const Type& type = *literal.type();
  if (!literal.is_null()) {
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return stored<uint8_t>(literal.as<bool>() ? 1 : 0);
      case TypeKind::kInt:
      case TypeKind::kDate:
        return stored(literal.as<int32_t>());
      case TypeKind::kLong:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz:
      case TypeKind::kTimestampNs:
      case TypeKind::kTimestampTzNs:
        return stored(literal.as<int64_t>());
      case TypeKind::kFloat:
        return stored(literal.as<float>());
      case TypeKind::kDouble:
        return stored(literal.as<double>());
      case TypeKind::kDecimal:
        return text_of(decimal_to_big_endian(literal.as<Int128>()).bytes());
      case TypeKind::kUuid:
        return text_of(literal.as<Uuid>().bytes);
      case TypeKind::kString:
      case TypeKind::kFixed:
      case TypeKind::kBinary:
        return literal.as<std::string>();
      case TypeKind::kGeometry:
      case TypeKind::kGeography:
        if (const auto* wkb = std::get_if<std::string>(&literal.value())) return *wkb;
        break;
      default:
        break;
    }
  }
  throw_error(ErrorKind::kUnsupported, "{} of type {} has no binary single-value form",
              literal.is_null() ? "null" : "this value", type.to_string());
}

std::optional<Literal> bound_from_bytes(const TypePtr& type, std::span<const std::byte> bytes) {
  // The narrower type that a promoted column had when the bound was written (spec, "Schema Evolution").
  auto promoted = [&](TypeKind from) {
    try {
      return promote(literal_from_bytes(primitive(from), bytes), type);
    } catch (const Error& error) {
      throw_corrupt(CorruptError::kNoOffset, "a bound of type {}: {}", type->to_string(), error.message());
    }
  };
  std::optional<Literal> bound;
  switch (type->kind()) {
    case TypeKind::kLong:
      bound = bytes.size() == 4 ? promoted(TypeKind::kInt) : literal_from_bytes(type, bytes);
      break;
    case TypeKind::kDouble:
      bound = bytes.size() == 4 ? promoted(TypeKind::kFloat) : literal_from_bytes(type, bytes);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
      bound = bytes.size() == 4 ? promoted(TypeKind::kDate) : literal_from_bytes(type, bytes);
      break;
    case TypeKind::kFixed:
      if (bytes.size() > static_cast<size_t>(type->length())) throw_width(*type, bytes.size());
      bound = Literal(type, text_of(bytes));
      break;
    case TypeKind::kVariant:
      bound = Literal(type, text_of(bytes));
      break;
    case TypeKind::kGeometry:
    case TypeKind::kGeography: {
      GeoBound corner = geo_bound_from_bytes(bytes);
      if (std::isnan(corner.x) || std::isnan(corner.y)) return std::nullopt;  // no x or no y: no bound
      bound = Literal(type, corner);
      break;
    }
    default:
      bound = literal_from_bytes(type, bytes);
      break;
  }
  if (bound->is_nan()) return std::nullopt;
  return bound;
}

std::string bound_to_bytes(const Literal& literal) {
  if (const auto* bound = std::get_if<GeoBound>(&literal.value())) return geo_bound_to_bytes(*bound);
  if (literal.type()->kind() == TypeKind::kVariant && !literal.is_null()) return literal.as<std::string>();
  return literal_to_bytes(literal);
}

GeoBound geo_bound_from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() != 16 && bytes.size() != 24 && bytes.size() != 32) {
    throw_corrupt(CorruptError::kNoOffset, "a geometry bound has 16, 24 or 32 bytes, not {}", bytes.size());
  }
  GeoBound bound;
  bound.x = load<double>(bytes.data());
  bound.y = load<double>(bytes.data() + 8);
  if (bytes.size() >= 24) {
    auto z = load<double>(bytes.data() + 16);
    // x:y:NaN:m says that z is not set; a NaN z without m is no bound either.
    if (!std::isnan(z)) bound.z = z;
  }
  if (bytes.size() == 32) bound.m = load<double>(bytes.data() + 24);
  return bound;
}

std::string geo_bound_to_bytes(const GeoBound& bound) {
  std::string bytes = stored(bound.x) + stored(bound.y);
  if (bound.z || bound.m) bytes += stored(bound.z.value_or(std::numeric_limits<double>::quiet_NaN()));
  if (bound.m) bytes += stored(*bound.m);
  return bytes;
}

}  // namespace frazil::spec
