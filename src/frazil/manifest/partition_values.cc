#include "frazil/manifest/partition_values.h"

#include <string>

#include "frazil/base/byte_reader.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/int128.h"
#include "frazil/base/uuid.h"
#include "frazil/manifest/written_schema.h"

namespace frazil::manifest {

using avro::Kind;
using avro::Logical;
using spec::TypeKind;

spec::TypePtr iceberg_type_of(const avro::Node& node) {
  const avro::Node* value = node.non_null();
  if (value == nullptr) return nullptr;
  switch (value->logical) {
    case Logical::kDecimal:
      return value->precision <= 38 ? spec::decimal(value->precision, value->scale) : nullptr;
    case Logical::kDate:
      return spec::primitive(TypeKind::kDate);
    case Logical::kTimeMicros:
      return spec::primitive(TypeKind::kTime);
    case Logical::kTimestampMicros:
      return spec::primitive(value->adjust_to_utc ? TypeKind::kTimestampTz : TypeKind::kTimestamp);
    case Logical::kTimestampNanos:
      return spec::primitive(value->adjust_to_utc ? TypeKind::kTimestampTzNs : TypeKind::kTimestampNs);
    case Logical::kLocalTimestampMicros:
      return spec::primitive(TypeKind::kTimestamp);
    case Logical::kLocalTimestampNanos:
      return spec::primitive(TypeKind::kTimestampNs);
    case Logical::kUuid:
      return spec::primitive(TypeKind::kUuid);
    default:
      break;
  }
  switch (value->kind) {
    case Kind::kNull:
      return spec::primitive(TypeKind::kUnknown);
    case Kind::kBoolean:
      return spec::primitive(TypeKind::kBoolean);
    case Kind::kInt:
      return spec::primitive(TypeKind::kInt);
    case Kind::kLong:
      return spec::primitive(TypeKind::kLong);
    case Kind::kFloat:
      return spec::primitive(TypeKind::kFloat);
    case Kind::kDouble:
      return spec::primitive(TypeKind::kDouble);
    case Kind::kString:
      return spec::primitive(TypeKind::kString);
    case Kind::kBytes:
      return spec::primitive(TypeKind::kBinary);
    case Kind::kFixed:
      return value->fixed_size > 0 ? spec::fixed(value->fixed_size) : spec::primitive(TypeKind::kBinary);
    default:
      return nullptr;
  }
}

avro::NodePtr avro_type_of(const spec::Type& type) {
  const auto timestamp = [](Logical logical, bool adjust_to_utc) {
    auto node = std::make_shared<avro::Node>();
    node->kind = Kind::kLong;
    node->logical = logical;
    node->adjust_to_utc = adjust_to_utc;
    return node;
  };
  switch (type.kind()) {
    case TypeKind::kUnknown:
      return avro::primitive(Kind::kNull);
    case TypeKind::kBoolean:
      return avro::primitive(Kind::kBoolean);
    case TypeKind::kInt:
      return avro::primitive(Kind::kInt);
    case TypeKind::kLong:
      return avro::primitive(Kind::kLong);
    case TypeKind::kFloat:
      return avro::primitive(Kind::kFloat);
    case TypeKind::kDouble:
      return avro::primitive(Kind::kDouble);
    case TypeKind::kDate:
      return avro::primitive(Kind::kInt, Logical::kDate);
    case TypeKind::kTime:
      return avro::primitive(Kind::kLong, Logical::kTimeMicros);
    case TypeKind::kTimestamp:
      return timestamp(Logical::kTimestampMicros, false);
    case TypeKind::kTimestampTz:
      return timestamp(Logical::kTimestampMicros, true);
    case TypeKind::kTimestampNs:
      return timestamp(Logical::kTimestampNanos, false);
    case TypeKind::kTimestampTzNs:
      return timestamp(Logical::kTimestampNanos, true);
    case TypeKind::kString:
      return avro::primitive(Kind::kString);
    case TypeKind::kBinary:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return avro::primitive(Kind::kBytes);
    case TypeKind::kDecimal: {
      auto node = std::make_shared<avro::Node>();
      node->kind = Kind::kBytes;
      node->logical = Logical::kDecimal;
      node->precision = type.precision();
      node->scale = type.scale();
      return node;
    }
    case TypeKind::kUuid:
    case TypeKind::kFixed: {
      auto node = std::make_shared<avro::Node>();
      node->kind = Kind::kFixed;
      node->logical = type.kind() == TypeKind::kUuid ? Logical::kUuid : Logical::kNone;
      node->fixed_size = type.kind() == TypeKind::kUuid ? 16 : type.length();
      return node;
    }
    default:
      return nullptr;
  }
}

spec::Literal literal_at(const spec::TypePtr& type, const Array& array, int64_t index) {
  if (array.is_null(index)) return spec::Literal::null(type);
  switch (type->kind()) {
    case TypeKind::kBoolean:
      return {type, array.bool_value(index)};
    case TypeKind::kInt:
    case TypeKind::kDate:
      return {type, array.values<int32_t>()[index]};
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return {type, array.values<int64_t>()[index]};
    case TypeKind::kFloat:
      return {type, array.values<float>()[index]};
    case TypeKind::kDouble:
      return {type, array.values<double>()[index]};
    case TypeKind::kDecimal:
      return {type, load<Int128>(array.buffers[1].data() + (array.offset + index) * 16)};
    case TypeKind::kUuid: {
      const std::string_view bytes = array.bytes_value(index);
      return {type, uuid_from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())))};
    }
    default:
      return {type, std::string(array.bytes_value(index))};
  }
}

void write_value(avro::ValueEncoder& out, const spec::Literal& value) {
  const spec::Type& type = *value.type();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      out.write_boolean(value.as<bool>());
      return;
    case TypeKind::kFloat:
      out.write_float(value.as<float>());
      return;
    case TypeKind::kDouble:
      out.write_double(value.as<double>());
      return;
    case TypeKind::kDecimal: {
      std::array<std::byte, 16> bytes;
      const auto fixed = std::span(bytes).first(static_cast<size_t>(decimal_fixed_bytes(type.precision())));
      if (!decimal_to_big_endian(value.as<Int128>(), fixed))
        throw_error(ErrorKind::kInternal, "a partition value does not fit {}", type.to_string());
      out.write_fixed(fixed);
      return;
    }
    case TypeKind::kUuid:
      out.write_fixed(value.as<Uuid>().bytes);
      return;
    case TypeKind::kFixed: {
      const auto& bytes = value.as<std::string>();
      out.write_fixed(std::as_bytes(std::span(bytes.data(), bytes.size())));
      return;
    }
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      out.write_bytes(value.as<std::string>());
      return;
    default:
      out.write_long(value.as_integer());
      return;
  }
}

}  // namespace frazil::manifest
