#include "frazil/parquet/value_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "frazil/base/byte_reader.h"
#include "frazil/base/half_float.h"
#include "frazil/base/utf8.h"
#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

template <typename T>
T load_value(std::string_view value) {
  return load<T>(reinterpret_cast<const std::byte*>(value.data()));
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <typename T>
int compare(T left, T right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

// The first eight bytes, so that their numbers compare as the values do unless they are equal.
uint64_t prefix_of(std::string_view value) {
  uint64_t word = 0;
  if (!value.empty()) std::memcpy(&word, value.data(), std::min<size_t>(value.size(), 8));
  return __builtin_bswap64(word);
}

bool is_text_kind(Kind kind) {
  return kind == Kind::kString || kind == Kind::kJson || kind == Kind::kEnum;
}

// Zeros of either sign become the one that bounds both.
template <typename T>
void set_zero(std::string& value, T zero) {
  if (load_value<T>(value) == T{0}) value.assign(bytes_of(zero));
}

}  // namespace

ValueOrder value_order(const LeafType& type) {
  const Kind kind = type.logical.kind;
  if (kind == Kind::kInterval || kind == Kind::kGeometry || kind == Kind::kGeography || kind == Kind::kUnknown ||
      kind == Kind::kUnrecognized || kind == Kind::kMisplaced || kind == Kind::kVariant) {
    return ValueOrder::kNone;
  }
  const bool is_unsigned = kind == Kind::kInteger && !type.logical.is_signed;
  switch (type.physical) {
    case PhysicalType::kBoolean:
      return ValueOrder::kBoolean;
    case PhysicalType::kInt32:
      return is_unsigned ? ValueOrder::kUnsigned4 : ValueOrder::kSigned4;
    case PhysicalType::kInt64:
      return is_unsigned ? ValueOrder::kUnsigned8 : ValueOrder::kSigned8;
    case PhysicalType::kInt96:
      return ValueOrder::kNone;
    case PhysicalType::kFloat:
      return ValueOrder::kFloat;
    case PhysicalType::kDouble:
      return ValueOrder::kDouble;
    case PhysicalType::kByteArray:
      return kind == Kind::kDecimal ? ValueOrder::kNone : ValueOrder::kBytes;
    case PhysicalType::kFixedLenByteArray:
      return kind == Kind::kDecimal   ? ValueOrder::kSignedBytes
             : kind == Kind::kFloat16 ? ValueOrder::kHalf
                                      : ValueOrder::kBytes;
  }
  return ValueOrder::kNone;
}

int compare_values(ValueOrder order, std::string_view left, std::string_view right) {
  switch (order) {
    case ValueOrder::kBoolean:
      return compare(load_value<uint8_t>(left), load_value<uint8_t>(right));
    case ValueOrder::kSigned4:
      return compare(load_value<int32_t>(left), load_value<int32_t>(right));
    case ValueOrder::kUnsigned4:
      return compare(load_value<uint32_t>(left), load_value<uint32_t>(right));
    case ValueOrder::kSigned8:
      return compare(load_value<int64_t>(left), load_value<int64_t>(right));
    case ValueOrder::kUnsigned8:
      return compare(load_value<uint64_t>(left), load_value<uint64_t>(right));
    case ValueOrder::kHalf:
      return compare(half_to_float(load_value<uint16_t>(left)), half_to_float(load_value<uint16_t>(right)));
    case ValueOrder::kFloat:
      return compare(load_value<float>(left), load_value<float>(right));
    case ValueOrder::kDouble:
      return compare(load_value<double>(left), load_value<double>(right));
    case ValueOrder::kSignedBytes:
      if (const int signs = compare(static_cast<int8_t>(left[0]), static_cast<int8_t>(right[0])); signs != 0) {
        return signs;
      }
      return left.compare(right);
    default:
      return left.compare(right);
  }
}

bool is_nan(ValueOrder order, std::string_view value) {
  switch (order) {
    case ValueOrder::kHalf:
      return std::isnan(half_to_float(load_value<uint16_t>(value)));
    case ValueOrder::kFloat:
      return std::isnan(load_value<float>(value));
    case ValueOrder::kDouble:
      return std::isnan(load_value<double>(value));
    default:
      return false;
  }
}

void BoundsBuilder::clear() {
  has_ = false;
  nan_count_ = 0;
}

void BoundsBuilder::add_ordered(std::string_view low, std::string_view high) {
  if (!has_ || compare_values(order_, low, min_) < 0) min_.assign(low);
  if (!has_ || compare_values(order_, high, max_) > 0) max_.assign(high);
  has_ = true;
}

void BoundsBuilder::add_value(std::string_view value) {
  if (order_ == ValueOrder::kNone) return;
  if (is_nan(order_, value)) {
    ++nan_count_;
    return;
  }
  add_ordered(value, value);
}

void BoundsBuilder::add(const BoundsBuilder& other) {
  nan_count_ += other.nan_count_;
  if (other.has_) add_ordered(other.min_, other.max_);
}

void BoundsBuilder::add(const FixedValues& values) {
  if (values.count == 0 || order_ == ValueOrder::kNone) return;
  const EncodeKernels& kernels = encode_kernels();
  const auto add_both = [&](const auto& both) { add_ordered(bytes_of(both.min), bytes_of(both.max)); };
  const auto add_floats = [&](const auto& both) {
    nan_count_ += both.nan_count;
    if (both.min <= both.max) add_both(both);
  };
  switch (order_) {
    case ValueOrder::kSigned4:
      return add_both(kernels.min_max_i4(values.as<int32_t>(), values.count));
    case ValueOrder::kUnsigned4:
      return add_both(kernels.min_max_u4(values.as<uint32_t>(), values.count));
    case ValueOrder::kSigned8:
      return add_both(kernels.min_max_i8(values.as<int64_t>(), values.count));
    case ValueOrder::kUnsigned8:
      return add_both(kernels.min_max_u8(values.as<uint64_t>(), values.count));
    case ValueOrder::kFloat:
      return add_floats(kernels.min_max_f4(values.as<float>(), values.count));
    case ValueOrder::kDouble:
      return add_floats(kernels.min_max_f8(values.as<double>(), values.count));
    case ValueOrder::kBoolean: {
      const auto* const flags = values.as<char>();
      const bool has_false = std::memchr(flags, 0, values.count) != nullptr;
      const bool has_true = std::memchr(flags, 1, values.count) != nullptr;
      return add_ordered({has_false ? "\0" : "\1", 1}, {has_true ? "\1" : "\0", 1});
    }
    default:
      for (size_t i = 0; i < values.count; ++i) add_value({values.as<char>() + i * values.width, values.width});
  }
}

void BoundsBuilder::add(const BytesValues& values) {
  if (values.count == 0 || order_ == ValueOrder::kNone) return;
  std::string_view low = values.value(0);
  std::string_view high = low;
  uint64_t low_prefix = prefix_of(low);
  uint64_t high_prefix = low_prefix;
  for (size_t i = 1; i < values.count; ++i) {
    const std::string_view value = values.value(i);
    const uint64_t prefix = prefix_of(value);
    if (prefix <= low_prefix && (prefix < low_prefix || value < low)) {
      low = value;
      low_prefix = prefix;
    }
    if (prefix >= high_prefix && (prefix > high_prefix || value > high)) {
      high = value;
      high_prefix = prefix;
    }
  }
  add_ordered(low, high);
}

std::optional<ValueBounds> BoundsBuilder::finish(const LeafType& type, size_t length_max) const {
  if (!has_) return std::nullopt;
  ValueBounds bounds{.min = min_, .max = max_};
  switch (order_) {
    case ValueOrder::kHalf:
      if ((load_value<uint16_t>(min_) & 0x7FFF) == 0) bounds.min.assign(bytes_of(uint16_t{0x8000}));
      if ((load_value<uint16_t>(max_) & 0x7FFF) == 0) bounds.max.assign(bytes_of(uint16_t{0}));
      break;
    case ValueOrder::kFloat:
      set_zero(bounds.min, -0.0F);
      set_zero(bounds.max, 0.0F);
      break;
    case ValueOrder::kDouble:
      set_zero(bounds.min, -0.0);
      set_zero(bounds.max, 0.0);
      break;
    case ValueOrder::kBytes: {
      // Of fixed length, bounds have that length: readers hold them to it.
      if (type.physical != PhysicalType::kByteArray) break;
      const bool is_text = is_text_kind(type.logical.kind);
      if (min_.size() > length_max) {
        bounds.min = cut_min(min_, length_max, is_text);
        bounds.is_min_exact = false;
      }
      if (max_.size() > length_max) {
        if (auto cut = cut_max(max_, length_max, is_text)) {
          bounds.max = std::move(*cut);
          bounds.is_max_exact = false;
        }
      }
      break;
    }
    default:
      break;
  }
  return bounds;
}

BoundaryOrder order_of_bounds(ValueOrder order, std::span<const EncodedPage> pages) {
  bool ascends = true;
  bool descends = true;
  const ValueBounds* last = nullptr;
  for (const EncodedPage& page : pages) {
    if (!page.bounds) continue;
    if (last != nullptr) {
      const int lows = compare_values(order, last->min, page.bounds->min);
      const int highs = compare_values(order, last->max, page.bounds->max);
      ascends = ascends && lows <= 0 && highs <= 0;
      descends = descends && lows >= 0 && highs >= 0;
    }
    last = &*page.bounds;
  }
  return ascends ? BoundaryOrder::kAscending : descends ? BoundaryOrder::kDescending : BoundaryOrder::kUnordered;
}

namespace {

// The longest prefix of at most `length` bytes that does not cut a code point.
std::string_view text_prefix(std::string_view value, size_t length) {
  if (value.size() <= length) return value;
  size_t end = length;
  while (end > 0 && (static_cast<uint8_t>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end);
}

std::optional<std::string> raise_text(std::string_view prefix) {
  while (!prefix.empty()) {
    size_t start = prefix.size() - 1;
    while (start > 0 && (static_cast<uint8_t>(prefix[start]) & 0xC0) == 0x80) --start;
    size_t position = start;
    const auto code_point = next_code_point(prefix, position);
    if (!code_point) return std::nullopt;  // no valid text: the caller's bytes are not believed
    prefix = prefix.substr(0, start);
    if (*code_point == kCodePointMax) continue;
    std::string raised(prefix);
    append_code_point(raised, *code_point == 0xD7FF ? 0xE000 : *code_point + 1);
    return raised;
  }
  return std::nullopt;
}

std::optional<std::string> raise_bytes(std::string_view prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string raised(prefix);
  raised.back() = static_cast<char>(raised.back() + 1);
  return raised;
}

}  // namespace

std::string cut_min(std::string_view value, size_t length, bool is_text) {
  return std::string(is_text ? text_prefix(value, length) : value.substr(0, length));
}

std::optional<std::string> cut_max(std::string_view value, size_t length, bool is_text) {
  return is_text ? raise_text(text_prefix(value, length)) : raise_bytes(value.substr(0, length));
}

}  // namespace frazil::parquet
