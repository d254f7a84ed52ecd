#include "frazil/spec/promotion.h"

#include "frazil/base/error.h"
#include "frazil/base/time_unit.h"

namespace frazil::spec {

std::optional<Promotion> promotion(const Type& from, const Type& to) {
  TypeKind source = from.kind();
  TypeKind target = to.kind();
  if (source == target) {
    if (source == TypeKind::kDecimal) {
      if (from.scale() != to.scale() || from.precision() > to.precision()) return std::nullopt;
      return from.precision() == to.precision() ? Promotion::kNone : Promotion::kWiderDecimal;
    }
    if (from.is_nested() || from.equals(to)) return Promotion::kNone;
    return std::nullopt;
  }
  if (source == TypeKind::kUnknown) return Promotion::kUnknownToAny;
  if (source == TypeKind::kInt && target == TypeKind::kLong) return Promotion::kIntToLong;
  if (source == TypeKind::kFloat && target == TypeKind::kDouble) return Promotion::kFloatToDouble;
  if (source == TypeKind::kDate && target == TypeKind::kTimestamp) return Promotion::kDateToTimestamp;
  if (source == TypeKind::kDate && target == TypeKind::kTimestampNs) return Promotion::kDateToTimestampNs;
  return std::nullopt;
}

bool can_promote(const Type& from, const Type& to, int format_version) {
  std::optional<Promotion> way = promotion(from, to);
  if (!way) return false;
  switch (*way) {
    case Promotion::kDateToTimestamp:
    case Promotion::kDateToTimestampNs:
    case Promotion::kUnknownToAny:
      return format_version >= 3;
    default:
      return true;
  }
}

Literal promote(const Literal& value, const TypePtr& to) {
  std::optional<Promotion> way = promotion(*value.type(), *to);
  if (!way) {
    throw_error(ErrorKind::kInvalidArgument, "type {} cannot be promoted to {}", value.type()->to_string(),
                to->to_string());
  }
  if (value.is_null()) return Literal::null(to);
  switch (*way) {
    case Promotion::kNone:
    case Promotion::kWiderDecimal:
      return {to, value.value()};
    case Promotion::kIntToLong:
      return {to, int64_t{value.as<int32_t>()}};
    case Promotion::kFloatToDouble:
      return {to, double{value.as<float>()}};
    case Promotion::kDateToTimestamp:
    case Promotion::kDateToTimestampNs: {
      TimeUnit unit = *way == Promotion::kDateToTimestamp ? TimeUnit::kMicro : TimeUnit::kNano;
      int64_t timestamp = 0;
      if (__builtin_mul_overflow(int64_t{value.as<int32_t>()}, units_per_day(unit), &timestamp)) {
        throw_error(ErrorKind::kInvalidArgument, "date {} is out of the range of {}", to_human_string(value),
                    to->to_string());
      }
      return {to, timestamp};
    }
    case Promotion::kUnknownToAny:
      break;
  }
  return Literal::null(to);
}

}  // namespace frazil::spec
