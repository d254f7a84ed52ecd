#include "frazil/predicate/value.h"

#include <cmath>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/half_float.h"
#include "frazil/columnar/layout.h"

namespace frazil::predicate {

namespace {

std::strong_ordering compare_doubles(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) <=> std::isnan(right);
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

Value fixed_width_value(const Array& array, int64_t index) {
  const std::byte* place = array.buffers[1].data() + (array.offset + index) * array.type->byte_width();
  switch (array.type->id()) {
    case TypeId::kInt8:
      return int64_t{load<int8_t>(place)};
    case TypeId::kInt16:
      return int64_t{load<int16_t>(place)};
    case TypeId::kInt32:
    case TypeId::kDate32:
    case TypeId::kTime32:
      return int64_t{load<int32_t>(place)};
    case TypeId::kUInt8:
      return uint64_t{load<uint8_t>(place)};
    case TypeId::kUInt16:
      return uint64_t{load<uint16_t>(place)};
    case TypeId::kUInt32:
      return uint64_t{load<uint32_t>(place)};
    case TypeId::kUInt64:
      return load<uint64_t>(place);
    case TypeId::kHalfFloat:
      return double{half_to_float(load<uint16_t>(place))};
    case TypeId::kFloat:
      return double{load<float>(place)};
    case TypeId::kDouble:
      return load<double>(place);
    case TypeId::kDecimal32:
      return Int128{load<int32_t>(place)};
    case TypeId::kDecimal64:
      return Int128{load<int64_t>(place)};
    case TypeId::kDecimal128:
      return load<Int128>(place);
    case TypeId::kDecimal256:
      return load<Int256>(place);
    default:
      return load<int64_t>(place);
  }
}

}  // namespace

ValueKind value_kind(const DataType& type) {
  switch (type.id()) {
    case TypeId::kBool:
      return ValueKind::kBool;
    case TypeId::kInt8:
    case TypeId::kInt16:
    case TypeId::kInt32:
    case TypeId::kInt64:
    case TypeId::kDate32:
    case TypeId::kDate64:
    case TypeId::kTime32:
    case TypeId::kTime64:
    case TypeId::kTimestamp:
    case TypeId::kDuration:
      return ValueKind::kSigned;
    case TypeId::kUInt8:
    case TypeId::kUInt16:
    case TypeId::kUInt32:
    case TypeId::kUInt64:
      return ValueKind::kUnsigned;
    case TypeId::kHalfFloat:
    case TypeId::kFloat:
    case TypeId::kDouble:
      return ValueKind::kFloating;
    case TypeId::kDecimal32:
    case TypeId::kDecimal64:
    case TypeId::kDecimal128:
      return ValueKind::kDecimal;
    case TypeId::kDecimal256:
      return ValueKind::kWideDecimal;
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
    case TypeId::kFixedSizeBinary:
      return ValueKind::kBytes;
    case TypeId::kDictionary:
      return value_kind(*type.value_type());
    case TypeId::kRunEndEncoded:
      return value_kind(*type.children()[1].type);
    default:
      return ValueKind::kNone;
  }
}

std::strong_ordering compare(const Value& left, const Value& right) {
  if (left.index() != right.index()) {
    throw_error(ErrorKind::kInternal, "values of different kinds are compared: {} and {}", left.index(), right.index());
  }
  return std::visit(
      [&](const auto& value) -> std::strong_ordering {
        using T = std::decay_t<decltype(value)>;
        const T& other = std::get<T>(right);
        if constexpr (std::is_same_v<T, double>) {
          return compare_doubles(value, other);
        } else {
          return value <=> other;
        }
      },
      left);
}

bool is_nan(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && std::isnan(*number);
}

std::optional<Value> value_at(const Array& array, int64_t index) {
  if (value_kind(*array.type) == ValueKind::kNone) {
    throw_error(ErrorKind::kUnsupported, "values of type {} cannot be compared", array.type->to_string());
  }
  if (array.type->id() == TypeId::kRunEndEncoded) {
    const int64_t run = run_value_index(array, index);
    return value_at(*array.children[1], run);
  }
  if (array.is_null(index)) return std::nullopt;
  switch (layout_of(array.type->id())) {
    case Layout::kDictionary:
      return value_at(*array.dictionary, dictionary_index(array, index));
    case Layout::kBool:
      return array.bool_value(index);
    case Layout::kBytes:
    case Layout::kView:
      return std::string(array.bytes_value(index));
    default:
      if (array.type->id() == TypeId::kFixedSizeBinary) return std::string(array.bytes_value(index));
      return fixed_width_value(array, index);
  }
}

}  // namespace frazil::predicate
