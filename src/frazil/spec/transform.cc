#include "frazil/spec/transform.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "frazil/base/civil_time.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/message.h"
#include "frazil/base/murmur3.h"
#include "frazil/base/time_unit.h"
#include "frazil/base/utf8.h"

namespace frazil::spec {

namespace kernel {

int32_t hash_integer(int64_t value) noexcept {
  return murmur3_x86_32_of_int64(value);
}

int32_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  return murmur3_x86_32(bytes);
}

int32_t hash_decimal(Int128 unscaled) noexcept {
  return murmur3_x86_32(decimal_to_big_endian(unscaled).bytes());
}

int32_t hash_double(double value) noexcept {
  if (value == 0) value = 0.0;  // -0.0 hashes as 0.0
  if (std::isnan(value)) return hash_integer(0x7ff8000000000000LL);
  return hash_integer(std::bit_cast<int64_t>(value));
}

std::optional<int32_t> truncate_int(int32_t value, int32_t width) noexcept {
  int64_t truncated = int64_t{value} - floor_modulo(int64_t{value}, width);
  if (truncated < std::numeric_limits<int32_t>::min()) return std::nullopt;
  return static_cast<int32_t>(truncated);
}

std::optional<int64_t> truncate_long(int64_t value, int32_t width) noexcept {
  int64_t truncated = 0;
  if (__builtin_sub_overflow(value, floor_modulo(value, width), &truncated)) return std::nullopt;
  return truncated;
}

std::optional<Int128> truncate_decimal(Int128 unscaled, int32_t width) noexcept {
  Int128 remainder = unscaled % width;
  if (remainder < 0) remainder += width;
  if (unscaled < kInt128Min + remainder) return std::nullopt;
  return unscaled - remainder;
}

std::string_view truncate_text(std::string_view text, int32_t count) noexcept {
  return text.substr(0, utf8_prefix_bytes(text, static_cast<size_t>(count)));
}

int32_t years_since_1970(int64_t days) noexcept {
  return static_cast<int32_t>(civil_from_days(days).year - 1970);
}

int32_t months_since_1970(int64_t days) noexcept {
  CivilDate date = civil_from_days(days);
  return static_cast<int32_t>((date.year - 1970) * 12 + date.month - 1);
}

}  // namespace kernel

namespace {

bool is_timestamp(TypeKind kind) {
  return kind >= TypeKind::kTimestamp && kind <= TypeKind::kTimestampTzNs;
}

TimeUnit unit_of(TypeKind kind) {
  return kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs ? TimeUnit::kNano : TimeUnit::kMicro;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

int32_t hash_of(const Literal& value) {
  switch (value.type()->kind()) {
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return kernel::hash_integer(floor_divide(value.as<int64_t>(), 1000));
    case TypeKind::kDecimal:
      return kernel::hash_decimal(value.as<Int128>());
    case TypeKind::kUuid:
      return kernel::hash_bytes(value.as<Uuid>().bytes);
    case TypeKind::kString:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return kernel::hash_bytes(bytes_of(value.as<std::string>()));
    default:
      return kernel::hash_integer(value.as_integer());
  }
}

std::optional<Literal> truncated(const Literal& value, int32_t width) {
  const TypePtr& type = value.type();
  switch (type->kind()) {
    case TypeKind::kInt:
      if (auto result = kernel::truncate_int(value.as<int32_t>(), width)) return Literal(type, *result);
      return std::nullopt;
    case TypeKind::kLong:
      if (auto result = kernel::truncate_long(value.as<int64_t>(), width)) return Literal(type, *result);
      return std::nullopt;
    case TypeKind::kDecimal:
      if (auto result = kernel::truncate_decimal(value.as<Int128>(), width)) return Literal(type, *result);
      return std::nullopt;
    case TypeKind::kString:
      return Literal(type, std::string(kernel::truncate_text(value.as<std::string>(), width)));
    default:
      return Literal(type, value.as<std::string>().substr(0, static_cast<size_t>(width)));
  }
}

std::optional<Literal> time_part(TransformKind kind, const Literal& value) {
  TypeKind source = value.type()->kind();
  int64_t days = value.as_integer();
  if (is_timestamp(source)) {
    TimeUnit unit = unit_of(source);
    if (kind == TransformKind::kHour) {
      int64_t hours = floor_divide(value.as<int64_t>(), units_per_second(unit) * 3600);
      // Microseconds reach beyond the year 246953, where hours do not fit an int.
      if (hours < std::numeric_limits<int32_t>::min() || hours > std::numeric_limits<int32_t>::max()) {
        return std::nullopt;
      }
      return Literal::int_(static_cast<int32_t>(hours));
    }
    days = split_timestamp(value.as<int64_t>(), unit).days;
  }
  if (kind == TransformKind::kYear) return Literal::int_(kernel::years_since_1970(days));
  if (kind == TransformKind::kMonth) return Literal::int_(kernel::months_since_1970(days));
  return Literal::date(static_cast<int32_t>(days));  // days of int64 microseconds always fit
}

std::string two_digits(int64_t value) {
  return message("{:02}", value);
}

// As java.time.LocalTime prints it: no seconds if they are zero, a fraction of 3 or 6 digits.
std::string human_time(int64_t micros) {
  const int digits = micros % 1'000'000 == 0 ? 0 : micros % 1'000 == 0 ? 3 : 6;
  std::string text = time_to_string(micros, TimeUnit::kMicro, {.fraction_digits = digits});
  constexpr std::string_view kNoSeconds = ":00";
  if (micros % 60'000'000 == 0 && text.ends_with(kNoSeconds)) text.resize(text.size() - kNoSeconds.size());
  return text;
}

std::string human_year(int64_t year) {
  return message("{:04}", year);
}

}  // namespace

Transform Transform::bucket(int32_t count) {
  if (count <= 0) throw_error(ErrorKind::kInvalidArgument, "bucket needs a positive number of buckets, not {}", count);
  return Transform(TransformKind::kBucket, count);
}

Transform Transform::truncate(int32_t width) {
  if (width <= 0) throw_error(ErrorKind::kInvalidArgument, "truncate needs a positive width, not {}", width);
  return Transform(TransformKind::kTruncate, width);
}

Transform Transform::parse(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower == "identity") return {};
  if (lower == "year") return year();
  if (lower == "month") return month();
  if (lower == "day") return day();
  if (lower == "hour") return hour();
  if (lower == "void") return always_null();
  for (auto [prefix, kind] : {std::pair{std::string_view("bucket["), TransformKind::kBucket},
                              std::pair{std::string_view("truncate["), TransformKind::kTruncate}}) {
    if (!lower.starts_with(prefix) || !lower.ends_with(']')) continue;
    std::string_view digits = std::string_view(lower).substr(prefix.size(), lower.size() - prefix.size() - 1);
    int32_t parameter = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parameter);
    if (error != std::errc() || end != digits.data() + digits.size() || parameter <= 0) {
      throw_corrupt(CorruptError::kNoOffset, "transform '{}' needs a positive 32-bit parameter", text);
    }
    return Transform(kind, parameter);
  }
  Transform unknown(TransformKind::kUnknown);
  unknown.unknown_text_ = text;
  return unknown;
}

bool Transform::preserves_order() const {
  switch (kind_) {
    case TransformKind::kBucket:
    case TransformKind::kVoid:
    case TransformKind::kUnknown:
      return false;
    default:
      return true;
  }
}

std::string Transform::to_string() const {
  switch (kind_) {
    case TransformKind::kIdentity:
      return "identity";
    case TransformKind::kBucket:
      return message("bucket[{}]", parameter_);
    case TransformKind::kTruncate:
      return message("truncate[{}]", parameter_);
    case TransformKind::kYear:
      return "year";
    case TransformKind::kMonth:
      return "month";
    case TransformKind::kDay:
      return "day";
    case TransformKind::kHour:
      return "hour";
    case TransformKind::kVoid:
      return "void";
    case TransformKind::kUnknown:
      break;
  }
  return unknown_text_;
}

bool Transform::can_transform(const Type& source) const {
  TypeKind kind = source.kind();
  switch (kind_) {
    case TransformKind::kIdentity:
      return source.is_primitive() && kind != TypeKind::kGeometry && kind != TypeKind::kGeography;
    case TransformKind::kBucket:
      switch (kind) {
        case TypeKind::kInt:
        case TypeKind::kLong:
        case TypeKind::kDecimal:
        case TypeKind::kDate:
        case TypeKind::kTime:
        case TypeKind::kString:
        case TypeKind::kUuid:
        case TypeKind::kFixed:
        case TypeKind::kBinary:
          return true;
        default:
          return is_timestamp(kind);
      }
    case TransformKind::kTruncate:
      return kind == TypeKind::kInt || kind == TypeKind::kLong || kind == TypeKind::kDecimal ||
             kind == TypeKind::kString || kind == TypeKind::kBinary;
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
      return kind == TypeKind::kDate || is_timestamp(kind);
    case TransformKind::kHour:
      return is_timestamp(kind);
    case TransformKind::kVoid:
    case TransformKind::kUnknown:
      break;
  }
  return true;
}

TypePtr Transform::result_type(const TypePtr& source) const {
  switch (kind_) {
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour:
      return primitive(TypeKind::kInt);
    case TransformKind::kDay:
      return primitive(TypeKind::kDate);
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kVoid:
      if (source != nullptr) return source;
      break;
    case TransformKind::kUnknown:
      break;
  }
  return primitive(TypeKind::kUnknown);
}

std::optional<Literal> Transform::try_apply(const Literal& value) const {
  if (is_unknown() || !can_transform(*value.type())) return std::nullopt;
  if (value.is_null() || is_void()) return Literal::null(result_type(value.type()));
  switch (kind_) {
    case TransformKind::kIdentity:
      return value;
    case TransformKind::kBucket:
      return Literal::int_(kernel::bucket_of(hash_of(value), parameter_));
    case TransformKind::kTruncate:
      return truncated(value, parameter_);
    default:
      return time_part(kind_, value);
  }
}

Literal Transform::apply(const Literal& value) const {
  if (is_unknown()) throw_error(ErrorKind::kUnsupported, "transform '{}' is not known", to_string());
  if (!can_transform(*value.type())) {
    throw_error(ErrorKind::kInvalidArgument, "transform {} does not take values of type {}", to_string(),
                value.type()->to_string());
  }
  std::optional<Literal> result = try_apply(value);
  if (!result) {
    throw_error(ErrorKind::kInvalidArgument, "{} of {} is out of range", to_string(), to_human_string(value));
  }
  return *std::move(result);
}

std::string Transform::human_string(const Literal& transformed) const {
  if (transformed.is_null()) return "null";
  bool is_ordinal = std::holds_alternative<int32_t>(transformed.value());
  switch (is_ordinal ? kind_ : TransformKind::kIdentity) {
    case TransformKind::kYear:
      return human_year(1970 + int64_t{transformed.as<int32_t>()});
    case TransformKind::kMonth: {
      int32_t months = transformed.as<int32_t>();
      return human_year(1970 + int64_t{floor_divide(months, 12)}) + "-" + two_digits(floor_modulo(months, 12) + 1);
    }
    case TransformKind::kDay:
      return date_to_string(transformed.as<int32_t>());
    case TransformKind::kHour: {
      int32_t hours = transformed.as<int32_t>();
      return date_to_string(floor_divide(hours, 24)) + "-" + two_digits(floor_modulo(hours, 24));
    }
    default:
      if (transformed.type()->kind() == TypeKind::kTime) return human_time(transformed.as<int64_t>());
      return to_human_string(transformed);
  }
}

}  // namespace frazil::spec
