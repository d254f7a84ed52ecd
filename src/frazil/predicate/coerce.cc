#include "frazil/predicate/coerce.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/number_text.h"
#include "frazil/predicate/literal_text.h"

namespace frazil::predicate {

namespace {

struct Column {
  const Field& field;
  const DataType& type;
  std::string_view name;
};

[[noreturn]] void throw_unfit(const Literal& literal, const Column& column, std::string_view hint = {}) {
  Error error(ErrorKind::kInvalidArgument, message("column {} of type {} cannot be compared with {}", column.name,
                                                   column.type.to_string(), describe(literal)));
  if (!hint.empty()) error.set_hint(std::string(hint));
  throw error;
}

// ---- Numbers ----

// A number as sign * digits * 10^exponent, digits without zeros in front.
struct Digits {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

Digits split_number(std::string_view text) {
  Digits out;
  out.negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  bool behind_point = false;
  for (char c : text.substr(0, e)) {
    if (c == '.') {
      behind_point = true;
      continue;
    }
    if (!out.digits.empty() || c != '0') out.digits += c;
    if (behind_point) --out.exponent;
  }
  if (e != text.size()) {
    std::string_view power = text.substr(e + 1);
    const bool negative = power[0] == '-';
    if (negative || power[0] == '+') power.remove_prefix(1);
    // Texts are at most 2^26 bytes, so an exponent beyond this decides alone.
    constexpr int64_t kExponentMax = 1'000'000'000;
    int64_t value = 0;
    for (char c : power) value = std::min<int64_t>(value * 10 + (c - '0'), kExponentMax);
    out.exponent += negative ? -value : value;
  }
  return out;
}

// The integer floor(number * 10^scale); nothing if its magnitude passes 77 digits or 2^255 - 1.
struct Floor {
  Int256 value;
  bool exact = true;
};
std::optional<Floor> floor_at_scale(const Digits& number, int32_t scale) {
  Floor out;
  if (number.digits.empty()) return out;
  const int64_t shift = number.exponent + scale;
  const auto count = static_cast<int64_t>(number.digits.size());
  const int64_t whole = std::max<int64_t>(count + shift, 0);  // digits of the integer
  if (whole > 77) return std::nullopt;
  for (int64_t i = 0; i < whole; ++i) {
    if (!append_digit(out.value, i < count ? number.digits[static_cast<size_t>(i)] - '0' : 0)) return std::nullopt;
  }
  for (int64_t i = whole; i < count; ++i) out.exact = out.exact && number.digits[static_cast<size_t>(i)] == '0';
  if (number.negative) {
    // floor(-2.5) = -3
    if (!out.exact && !increment(out.value)) return std::nullopt;
    out.value = negate(out.value);
  }
  return out;
}

template <typename T, typename Held>
Position place(const Floor& floor, T low, T high) {
  if (floor.value < Int256(Int128{low})) {
    // The greatest integer below a literal just under the least one is no value of the type.
    return {Position::kBelowAll, {}};
  }
  if (floor.value > Int256(Int128{high})) return {Position::kAboveAll, {}};
  const Position::Kind kind = floor.exact ? Position::kExact : Position::kBetween;
  return {kind, static_cast<Held>(floor.value.to_int128())};
}

template <typename T>
Position place_integer(const Floor& floor) {
  using Held = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
  return place<T, Held>(floor, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

Position place_number(const Digits& number, const DataType& type) {
  const int32_t scale = is_decimal(type.id()) ? type.scale() : 0;
  const auto floor = floor_at_scale(number, scale);
  if (!floor) return {number.negative ? Position::kBelowAll : Position::kAboveAll, {}};
  switch (type.id()) {
    case TypeId::kInt8:
      return place_integer<int8_t>(*floor);
    case TypeId::kInt16:
      return place_integer<int16_t>(*floor);
    case TypeId::kInt32:
      return place_integer<int32_t>(*floor);
    case TypeId::kInt64:
      return place_integer<int64_t>(*floor);
    case TypeId::kUInt8:
      return place_integer<uint8_t>(*floor);
    case TypeId::kUInt16:
      return place_integer<uint16_t>(*floor);
    case TypeId::kUInt32:
      return place_integer<uint32_t>(*floor);
    case TypeId::kUInt64:
      return place_integer<uint64_t>(*floor);
    case TypeId::kDecimal32:
      return place<int32_t, Int128>(*floor, INT32_MIN, INT32_MAX);
    case TypeId::kDecimal64:
      return place<int64_t, Int128>(*floor, INT64_MIN, INT64_MAX);
    case TypeId::kDecimal128:
      return place<Int128, Int128>(*floor, kInt128Min, kInt128Max);
    default:
      return {floor->exact ? Position::kExact : Position::kBetween, floor->value};
  }
}

// ---- Floats ----

// The nearest half float, ties to even; infinite past 65504 and half a step.
double round_to_half(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), -14);
  const double step = std::ldexp(1.0, exponent - 10);
  const double rounded = std::nearbyint(value / step) * step;
  return std::fabs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

double largest(TypeId id) {
  if (id == TypeId::kHalfFloat) return 65504;
  return id == TypeId::kFloat ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

// A finite literal beyond the largest float stands between that and infinity.
Position place_float(double rounded, bool literal_is_finite, TypeId id) {
  if (!std::isinf(rounded) || !literal_is_finite) return {Position::kExact, rounded};
  return {Position::kBetween, rounded > 0 ? largest(id) : rounded};
}

Position place_number_in_floats(const std::string& text, TypeId id) {
  double rounded = 0;
  if (id == TypeId::kFloat) {
    rounded = double{parse_float(text).value_or(0)};
  } else {
    rounded = parse_double(text).value_or(0);
    if (id == TypeId::kHalfFloat) rounded = round_to_half(rounded);
  }
  return place_float(rounded, true, id);
}

Position place_double_in_floats(double value, TypeId id) {
  double rounded = value;
  if (id == TypeId::kFloat) {
    // Conversion of a double beyond float is undefined in C++, so the text rounds it.
    rounded = std::isfinite(value) ? double{parse_float(number_to_string(value)).value_or(0)} : value;
    if (std::fabs(value) <= double{std::numeric_limits<float>::max()}) rounded = double{static_cast<float>(value)};
  }
  if (id == TypeId::kHalfFloat) rounded = round_to_half(value);
  return place_float(rounded, std::isfinite(value), id);
}

// The shortest text of a double is what somebody wrote: 0.1 finds 0.10 in decimals. Beyond 2^53 doubles are integers
// and stand for themselves.
std::string exact_text(double value) {
  if (std::fabs(value) < 0x1p53) return number_to_string(value);
  char digits[400];
  const auto result = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 0);
  return {digits, result.ptr};
}

Position place_number_literal(const Number& literal, const DataType& type) {
  if (is_floating(type.id())) return place_number_in_floats(literal.text, type.id());
  return place_number(split_number(literal.text), type);
}

Position place_double_literal(double value, const DataType& type) {
  if (is_floating(type.id())) return place_double_in_floats(value, type.id());
  if (std::isnan(value)) return {Position::kAboveAll, {}};  // NaN is greater than everything
  if (std::isinf(value)) return {value < 0 ? Position::kBelowAll : Position::kAboveAll, {}};
  return place_number(split_number(exact_text(value)), type);
}

// ---- Time ----

Position place_in(Int128 value, bool exact, int64_t low, int64_t high) {
  if (value < low) return {Position::kBelowAll, {}};
  if (value > high) return {Position::kAboveAll, {}};
  return {exact ? Position::kExact : Position::kBetween, static_cast<int64_t>(value)};
}

Position place_timestamp(const Timestamp& timestamp, const DataType& type) {
  if (type.id() == TypeId::kDate32) {
    const int64_t days = floor_divide(timestamp.seconds, kSecondsPerDay);
    const bool exact = days * kSecondsPerDay == timestamp.seconds && timestamp.nanoseconds == 0;
    return place_in(days, exact, INT32_MIN, INT32_MAX);
  }
  const TimeUnit unit = type.id() == TypeId::kDate64 ? TimeUnit::kMilli : type.unit();
  const int64_t per_second = units_per_second(unit);
  const int64_t nanoseconds_per_unit = 1'000'000'000 / per_second;
  const Int128 value = Int128{timestamp.seconds} * per_second + timestamp.nanoseconds / nanoseconds_per_unit;
  return place_in(value, timestamp.nanoseconds % nanoseconds_per_unit == 0, INT64_MIN, INT64_MAX);
}

Position place_time(const Time& time, const DataType& type) {
  const int64_t nanoseconds_per_unit = 1'000'000'000 / units_per_second(type.unit());
  return {time.nanoseconds % nanoseconds_per_unit == 0 ? Position::kExact : Position::kBetween,
          time.nanoseconds / nanoseconds_per_unit};
}

bool takes_timestamps(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kDate32 || id == TypeId::kDate64;
}

void check_zone(const Timestamp& timestamp, const Literal& literal, const Column& column) {
  if (timestamp.has_zone && column.type.timezone().empty()) throw_unfit(literal, column, "leave out the zone");
}

// ---- Text ----

bool is_text(TypeId id) {
  return id == TypeId::kUtf8 || id == TypeId::kLargeUtf8 || id == TypeId::kUtf8View;
}

bool is_uuid(const Column& column) {
  return column.type.id() == TypeId::kFixedSizeBinary && column.type.fixed_size() == 16 &&
         column.field.extension_name() == "arrow.uuid";
}

std::string bytes_of(const Uuid& uuid) {
  return {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()};
}

Position place_text(const std::string& text, const Literal& literal, const Column& column) {
  const TypeId id = column.type.id();
  if (is_text(id)) return {Position::kExact, text};
  if (takes_timestamps(id)) {
    const auto timestamp = parse_timestamp_text(text);
    if (!timestamp) throw_unfit(literal, column, "write dates as '2026-11-01' and timestamps as '2026-11-01T12:30:00'");
    check_zone(*timestamp, literal, column);
    return place_timestamp(*timestamp, column.type);
  }
  if (id == TypeId::kTime32 || id == TypeId::kTime64) {
    const auto time = try_parse_time(text, TimeUnit::kNano);
    if (!time) throw_unfit(literal, column, "write times as '12:30:00.5'");
    return place_time(Time{*time}, column.type);
  }
  if (is_decimal(id)) {
    if (!is_number(text)) throw_unfit(literal, column);
    return place_number(split_number(text), column.type);
  }
  if (is_uuid(column)) {
    const auto uuid = try_parse_uuid(text);
    if (!uuid) throw_unfit(literal, column, "write UUIDs as 'f79c3e09-677c-4bbd-a479-3f349cb785e7'");
    return {Position::kExact, bytes_of(*uuid)};
  }
  if (is_integer(id) || is_floating(id)) throw_unfit(literal, column, "numbers stand without quotes");
  if (id == TypeId::kBool) throw_unfit(literal, column, "write TRUE or FALSE");
  throw_unfit(literal, column, is_bytes(id) || id == TypeId::kFixedSizeBinary ? "write bytes as X'00ff'" : "");
}

struct Coerce {
  const Literal& literal;
  const Column& column;

  TypeId id() const { return column.type.id(); }
  Position operator()(bool value) const {
    if (id() != TypeId::kBool) throw_unfit(literal, column);
    return {Position::kExact, value};
  }
  Position operator()(const Number& value) const {
    if (!is_integer(id()) && !is_floating(id()) && !is_decimal(id())) {
      throw_unfit(literal, column, is_text(id()) ? "text stands in single quotes" : "");
    }
    return place_number_literal(value, column.type);
  }
  Position operator()(const Double& value) const {
    if (!is_integer(id()) && !is_floating(id()) && !is_decimal(id())) throw_unfit(literal, column);
    return place_double_literal(value.value, column.type);
  }
  Position operator()(const std::string& value) const { return place_text(value, literal, column); }
  Position operator()(const Binary& value) const {
    const bool binary = id() == TypeId::kBinary || id() == TypeId::kLargeBinary || id() == TypeId::kBinaryView;
    if (!binary && id() != TypeId::kFixedSizeBinary) throw_unfit(literal, column);
    return {Position::kExact, value.bytes};
  }
  Position operator()(const Date& value) const {
    if (!takes_timestamps(id())) throw_unfit(literal, column);
    return place_timestamp({int64_t{value.days} * kSecondsPerDay, 0, false}, column.type);
  }
  Position operator()(const Time& value) const {
    if (id() != TypeId::kTime32 && id() != TypeId::kTime64) throw_unfit(literal, column);
    return place_time(value, column.type);
  }
  Position operator()(const Timestamp& value) const {
    if (!takes_timestamps(id())) throw_unfit(literal, column);
    check_zone(value, literal, column);
    return place_timestamp(value, column.type);
  }
  Position operator()(const Uuid& value) const {
    if (id() != TypeId::kFixedSizeBinary || column.type.fixed_size() != 16) throw_unfit(literal, column);
    return {Position::kExact, bytes_of(value)};
  }
};

}  // namespace

std::string describe(const Literal& literal) {
  return excerpt(to_text(literal), 60);
}

Position coerce(const Literal& literal, const Field& field, const DataType& type, std::string_view column) {
  const Column place{field, type, column};
  return std::visit(Coerce{literal, place}, literal);
}

}  // namespace frazil::predicate
