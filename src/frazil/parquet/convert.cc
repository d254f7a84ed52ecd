#include "frazil/parquet/convert.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "frazil/base/byte_reader.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/int128.h"
#include "frazil/base/time_unit.h"

namespace frazil::parquet {

namespace {

// ---- Kernels ----

// Integers and floats to wider ones: every value fits.
template <typename Source, typename Target>
bool widen(const std::byte* source, size_t count, std::byte* target, const ConvertParameters&) noexcept {
  for (size_t i = 0; i < count; ++i) {
    store<Target>(target + i * sizeof(Target), static_cast<Target>(load<Source>(source + i * sizeof(Source))));
  }
  return true;
}

// Integers whose annotation promises that they fit: a promise of the file, so it is checked.
template <typename Source, typename Target>
bool narrow(const std::byte* source, size_t count, std::byte* target, const ConvertParameters&) noexcept {
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    const Source value = load<Source>(source + i * sizeof(Source));
    fits &= std::in_range<Target>(value);
    store<Target>(target + i * sizeof(Target), static_cast<Target>(value));
  }
  return fits;
}

template <typename Source>
bool multiply(const std::byte* source, size_t count, std::byte* target, const ConvertParameters& parameters) noexcept {
  const int64_t most = std::numeric_limits<int64_t>::max() / parameters.factor;
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = load<Source>(source + i * sizeof(Source));
    fits &= value <= most && value >= -most;
    store<int64_t>(target + i * 8,
                   static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(parameters.factor)));
  }
  return fits;
}

template <typename Source, typename Target>
bool divide(const std::byte* source, size_t count, std::byte* target, const ConvertParameters& parameters) noexcept {
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = floor_divide(int64_t{load<Source>(source + i * sizeof(Source))}, parameters.factor);
    fits &= std::in_range<Target>(value);
    store<Target>(target + i * sizeof(Target), static_cast<Target>(value));
  }
  return fits;
}

// INT96: nanoseconds of the day (8 bytes), Julian day (4 bytes). Some writers leave negative nanoseconds, or more than
// a day's: the sum is what counts.
template <bool kCoarser>
bool int96_to_timestamp(const std::byte* source, size_t count, std::byte* target,
                        const ConvertParameters& parameters) noexcept {
  constexpr int64_t kJulianEpoch = 2'440'588;  // 1970-01-01
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    const auto nanos = load<int64_t>(source + i * 12);
    const int64_t days = int64_t{load<int32_t>(source + i * 12 + 8)} - kJulianEpoch;
    int64_t value = 0;
    if constexpr (kCoarser) {  // factor: nanoseconds of the target's unit
      // Modulo 2^64, as Spark computes: past the year 286,000 its own day overflows, and only so its microseconds come
      // back (parquet-testing, int96_from_spark).
      const auto per_day = static_cast<uint64_t>(86'400'000'000'000 / parameters.factor);
      const auto of_day = static_cast<uint64_t>(floor_divide(nanos, parameters.factor));
      value = static_cast<int64_t>(static_cast<uint64_t>(days) * per_day + of_day);
    } else {
      // In 128 bits: days alone may be below the range where the sum is not (1677-09-21).
      const Int128 sum = static_cast<Int128>(days) * 86'400'000'000'000 + nanos;
      value = static_cast<int64_t>(sum);
      fits &= value == sum;
    }
    store(target + i * 8, value);
  }
  return fits;
}

template <typename Source>
bool integer_to_decimal128(const std::byte* source, size_t count, std::byte* target,
                           const ConvertParameters&) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = load<Source>(source + i * sizeof(Source));
    store<int64_t>(target + i * 16, value);
    store<int64_t>(target + i * 16 + 8, value >> 63);
  }
  return true;
}

// Two's complement, highest byte first, of any length: longer than 16 bytes only as sign extension; 0 bytes are 0.
bool big_endian_to_decimal128(const std::byte* source, size_t size, std::byte* target) noexcept {
  UInt128 value = size > 0 && (source[0] & std::byte{0x80}) != std::byte{0} ? ~UInt128{0} : UInt128{0};
  const auto sign = static_cast<std::byte>(low_bits(static_cast<Int128>(value)) & 0xFF);
  bool fits = true;
  while (size > 16) {
    fits &= *source == sign;
    ++source;
    --size;
  }
  for (size_t i = 0; i < size; ++i) value = value << 8 | std::to_integer<uint8_t>(source[i]);
  fits &= size < 16 || (value >> 127 != 0) == (sign != std::byte{0});
  store(target, value);
  return fits;
}

// The same for 32 bytes.
bool big_endian_to_decimal256(const std::byte* source, size_t size, std::byte* target) noexcept {
  const bool is_negative = size > 0 && (source[0] & std::byte{0x80}) != std::byte{0};
  const auto sign = is_negative ? std::byte{0xFF} : std::byte{0};
  bool fits = true;
  for (; size > 32; ++source, --size) fits &= *source == sign;
  for (size_t i = 0; i < size; ++i) target[i] = source[size - 1 - i];
  if (size < 32) std::memset(target + size, static_cast<int>(sign), 32 - size);
  fits &= (target[31] & std::byte{0x80}) == (sign & std::byte{0x80});
  return fits;
}

bool fixed_to_decimal256(const std::byte* source, size_t count, std::byte* target,
                         const ConvertParameters& parameters) noexcept {
  const auto width = static_cast<size_t>(parameters.source_width);
  bool fits = true;
  for (size_t i = 0; i < count; ++i) fits &= big_endian_to_decimal256(source + i * width, width, target + i * 32);
  return fits;
}

template <typename Source>
bool integer_to_decimal256(const std::byte* source, size_t count, std::byte* target,
                           const ConvertParameters&) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = load<Source>(source + i * sizeof(Source));
    store<int64_t>(target + i * 32, value);
    for (size_t word = 1; word < 4; ++word) store<int64_t>(target + i * 32 + word * 8, value >> 63);
  }
  return true;
}

bool fixed_to_decimal128(const std::byte* source, size_t count, std::byte* target,
                         const ConvertParameters& parameters) noexcept {
  const auto width = static_cast<size_t>(parameters.source_width);
  if (width > 16) {
    bool fits = true;
    for (size_t i = 0; i < count; ++i) fits &= big_endian_to_decimal128(source + i * width, width, target + i * 16);
    return fits;
  }
  if (width > 8) {
    // The last 8 bytes, and the first 8 with what they share with those shifted out.
    const auto overlap = static_cast<int>(128 - 8 * width);
    for (size_t i = 0; i < count; ++i) {
      const std::byte* value = source + i * width;
      store(target + i * 16, __builtin_bswap64(load<uint64_t>(value + width - 8)));
      store(target + i * 16 + 8, static_cast<int64_t>(__builtin_bswap64(load<uint64_t>(value))) >> overlap);
    }
    return true;
  }
  // Up to 8 bytes: one load where 8 are readable (the padding of the block makes it always so), shifted down with sign.
  const auto shift = static_cast<int>(64 - 8 * width);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<int64_t>(__builtin_bswap64(load<uint64_t>(source + i * width))) >> shift;
    store<int64_t>(target + i * 16, value);
    store<int64_t>(target + i * 16 + 8, value >> 63);
  }
  return true;
}

// INTERVAL: months, days, milliseconds, 4 bytes each, unsigned; Arrow's month-day-nano: int32, int32, int64.
bool interval_to_month_day_nano(const std::byte* source, size_t count, std::byte* target,
                                const ConvertParameters&) noexcept {
  for (size_t i = 0; i < count; ++i) {
    store<uint64_t>(target + i * 16, load<uint64_t>(source + i * 12));
    store<int64_t>(target + i * 16 + 8, int64_t{load<uint32_t>(source + i * 12 + 8)} * 1'000'000);
  }
  return true;
}

// ---- Choice ----

Conversion fixed(int32_t source_width, int32_t target_width, ConvertFixed convert = nullptr, int64_t factor = 1) {
  Conversion conversion;
  conversion.source_width = source_width;
  conversion.target_width = target_width;
  conversion.convert = convert;
  conversion.parameters = {.factor = factor, .source_width = source_width};
  return conversion;
}

struct IntegerType {
  int bits = 0;  // 0: not an integer
  bool is_signed = true;
};

IntegerType integer_type(TypeId id) {
  switch (id) {
    case TypeId::kInt8:
      return {8, true};
    case TypeId::kInt16:
      return {16, true};
    case TypeId::kInt32:
      return {32, true};
    case TypeId::kInt64:
      return {64, true};
    case TypeId::kUInt8:
      return {8, false};
    case TypeId::kUInt16:
      return {16, false};
    case TypeId::kUInt32:
      return {32, false};
    case TypeId::kUInt64:
      return {64, false};
    default:
      return {};
  }
}

// INT32 holds signed values, and unsigned ones of 8, 16 (as they are) and 32 bits (by their bits).
std::optional<Conversion> integer_conversion(PhysicalType physical, IntegerType source, IntegerType target) {
  if (target.bits < source.bits) return std::nullopt;
  // A signed value has no place in an unsigned type.
  if (source.is_signed && !target.is_signed) return std::nullopt;
  if (physical == PhysicalType::kInt64) {
    if (target.is_signed == source.is_signed) return fixed(8, 8);
    return fixed(8, 8, narrow<uint64_t, int64_t>);
  }
  // An unsigned value of 32 bits as a signed one of 32: checked.
  if (!source.is_signed && source.bits == 32) {
    if (target.bits == 32) return target.is_signed ? fixed(4, 4, narrow<uint32_t, int32_t>) : fixed(4, 4);
    return fixed(4, 8, widen<uint32_t, uint64_t>);
  }
  switch (target.bits) {
    case 8:
      return target.is_signed ? fixed(4, 1, narrow<int32_t, int8_t>) : fixed(4, 1, narrow<int32_t, uint8_t>);
    case 16:
      return target.is_signed ? fixed(4, 2, narrow<int32_t, int16_t>) : fixed(4, 2, narrow<int32_t, uint16_t>);
    case 32:
      return fixed(4, 4);
    default:
      return fixed(4, 8, widen<int32_t, int64_t>);
  }
}

// Between units of 8-byte values.
Conversion unit_conversion(TimeUnit from, TimeUnit to) {
  const int64_t source = units_per_second(from);
  const int64_t target = units_per_second(to);
  if (source == target) return fixed(8, 8);
  if (source < target) return fixed(8, 8, multiply<int64_t>, target / source);
  return fixed(8, 8, divide<int64_t, int64_t>, source / target);
}

std::optional<Conversion> time_conversion(const SchemaNode& leaf, const DataType& type) {
  const int64_t target = units_per_second(type.unit());
  if (leaf.logical.unit == TimeUnit::kMilli) {  // INT32
    if (type.id() == TypeId::kTime64) return fixed(4, 8, multiply<int32_t>, target / 1000);
    return target == 1000 ? fixed(4, 4) : fixed(4, 4, divide<int32_t, int32_t>, 1000 / target);
  }
  if (type.id() == TypeId::kTime64) return unit_conversion(leaf.logical.unit, type.unit());
  return fixed(8, 4, divide<int64_t, int32_t>, units_per_second(leaf.logical.unit) / target);
}

std::optional<Conversion> decimal_conversion(const SchemaNode& leaf, const DataType& type) {
  const bool is_wide = type.id() == TypeId::kDecimal256;
  if ((!is_wide && type.id() != TypeId::kDecimal128) || type.scale() != leaf.logical.scale ||
      type.precision() < leaf.logical.precision) {
    return std::nullopt;
  }
  switch (leaf.type) {
    case PhysicalType::kInt32:
      return is_wide ? fixed(4, 32, integer_to_decimal256<int32_t>) : fixed(4, 16, integer_to_decimal128<int32_t>);
    case PhysicalType::kInt64:
      return is_wide ? fixed(8, 32, integer_to_decimal256<int64_t>) : fixed(8, 16, integer_to_decimal128<int64_t>);
    case PhysicalType::kFixedLenByteArray:
      return is_wide ? fixed(leaf.type_length, 32, fixed_to_decimal256)
                     : fixed(leaf.type_length, 16, fixed_to_decimal128);
    case PhysicalType::kByteArray: {
      Conversion conversion = fixed(0, is_wide ? 32 : 16);
      conversion.convert_bytes = is_wide ? big_endian_to_decimal256 : big_endian_to_decimal128;
      return conversion;
    }
    default:
      return std::nullopt;
  }
}

// No Arrow decimal has more digits.
bool is_decimal(const SchemaNode& leaf) {
  return leaf.logical.kind == LogicalType::Kind::kDecimal && leaf.logical.precision <= 76;
}

std::optional<Conversion> bytes_conversion(const SchemaNode& leaf, const DataType& type) {
  Conversion conversion;
  switch (type.id()) {
    case TypeId::kUtf8:
    case TypeId::kBinary:
      conversion.form = ValueForm::kBytes;
      break;
    case TypeId::kLargeUtf8:
    case TypeId::kLargeBinary:
      conversion.form = ValueForm::kLargeBytes;
      break;
    case TypeId::kUtf8View:
    case TypeId::kBinaryView:
      conversion.form = ValueForm::kViews;
      conversion.target_width = 16;
      break;
    default:
      return std::nullopt;
  }
  conversion.is_text = type.id() == TypeId::kUtf8 || type.id() == TypeId::kLargeUtf8 || type.id() == TypeId::kUtf8View;
  conversion.source_width = leaf.type == PhysicalType::kFixedLenByteArray ? leaf.type_length : 0;
  return conversion;
}

// Of text, binary and fixed-size binary: what is worth being said once.
std::optional<Conversion> index_conversion(const SchemaNode& leaf, const DataType& type) {
  const TypeId value = type.value_type()->id();
  if (type.index_type()->id() != TypeId::kInt32 || (!is_bytes(value) && value != TypeId::kFixedSizeBinary)) {
    return std::nullopt;
  }
  const std::optional<Conversion> values = find_conversion(leaf, *type.value_type());
  if (!values) return std::nullopt;
  Conversion conversion = fixed(values->source_width, sizeof(int32_t));
  conversion.to_indices = true;
  return conversion;
}

std::optional<Conversion> int_conversion(const SchemaNode& leaf, const DataType& type) {
  using Kind = LogicalType::Kind;
  const bool is_32 = leaf.type == PhysicalType::kInt32;
  switch (leaf.logical.kind) {
    case Kind::kDecimal:
      return decimal_conversion(leaf, type);
    case Kind::kDate:
      if (type.id() == TypeId::kDate32) return fixed(4, 4);
      if (type.id() == TypeId::kDate64) return fixed(4, 8, multiply<int32_t>, units_per_day(TimeUnit::kMilli));
      if (type.id() == TypeId::kTimestamp && type.timezone().empty()) {
        return fixed(4, 8, multiply<int32_t>, units_per_day(type.unit()));
      }
      return std::nullopt;
    case Kind::kTime:
      if (type.id() == TypeId::kTime32 || type.id() == TypeId::kTime64) return time_conversion(leaf, type);
      return std::nullopt;
    case Kind::kTimestamp:
      if (type.id() == TypeId::kTimestamp) return unit_conversion(leaf.logical.unit, type.unit());
      return std::nullopt;
    default: {
      IntegerType source{is_32 ? 32 : 64, true};
      if (leaf.logical.kind == Kind::kInteger) source = {leaf.logical.bit_width, leaf.logical.is_signed};
      if (type.id() == TypeId::kDuration && source.bits == 64 && source.is_signed) return fixed(8, 8);
      const IntegerType target = integer_type(type.id());
      if (target.bits == 0) return std::nullopt;
      return integer_conversion(leaf.type, source, target);
    }
  }
}

}  // namespace

std::optional<Conversion> find_conversion(const SchemaNode& leaf, const DataType& type) {
  using Kind = LogicalType::Kind;
  if (leaf.is_group || leaf.logical.kind == Kind::kMisplaced) return std::nullopt;
  if (type.id() == TypeId::kNull) {
    if (leaf.logical.kind != Kind::kUnknown) return std::nullopt;
    Conversion conversion;
    conversion.form = ValueForm::kNone;
    return conversion;
  }
  if (type.id() == TypeId::kDictionary) return index_conversion(leaf, type);
  switch (leaf.type) {
    case PhysicalType::kBoolean: {
      if (type.id() != TypeId::kBool) return std::nullopt;
      Conversion conversion;
      conversion.form = ValueForm::kBits;
      return conversion;
    }
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return int_conversion(leaf, type);
    case PhysicalType::kInt96:
      if (type.id() != TypeId::kTimestamp) return std::nullopt;
      if (type.unit() == TimeUnit::kNano) return fixed(12, 8, int96_to_timestamp<false>);
      return fixed(12, 8, int96_to_timestamp<true>, 1'000'000'000 / units_per_second(type.unit()));
    case PhysicalType::kFloat:
      if (type.id() == TypeId::kFloat) return fixed(4, 4);
      if (type.id() == TypeId::kDouble) return fixed(4, 8, widen<float, double>);
      return std::nullopt;
    case PhysicalType::kDouble:
      if (type.id() == TypeId::kDouble) return fixed(8, 8);
      return std::nullopt;
    case PhysicalType::kByteArray:
      if (is_decimal(leaf)) return decimal_conversion(leaf, type);
      return bytes_conversion(leaf, type);
    case PhysicalType::kFixedLenByteArray:
      if (is_decimal(leaf)) return decimal_conversion(leaf, type);
      if (leaf.logical.kind == Kind::kFloat16 && type.id() == TypeId::kHalfFloat) return fixed(2, 2);
      if (leaf.logical.kind == Kind::kInterval && type.id() == TypeId::kIntervalMonthDayNano) {
        return fixed(12, 16, interval_to_month_day_nano);
      }
      if (type.id() == TypeId::kFixedSizeBinary) {
        if (type.fixed_size() != leaf.type_length) return std::nullopt;
        return fixed(leaf.type_length, leaf.type_length);
      }
      return bytes_conversion(leaf, type);
  }
  return std::nullopt;
}

bool can_read_as(const SchemaNode& leaf, const DataType& type) {
  return find_conversion(leaf, type).has_value();
}

}  // namespace frazil::parquet
