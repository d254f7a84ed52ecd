#include "frazil/parquet/variant.h"

#include <bit>
#include <cmath>
#include <span>

#include "frazil/base/base64.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"
#include "frazil/columnar/pretty.h"

namespace frazil::parquet {

namespace {

constexpr int32_t kScaleMax = 38;

// `size` is 1..4; the bytes are there.
uint32_t load_unsigned(const char* at, uint32_t size) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < size; ++i) value |= uint32_t{static_cast<uint8_t>(at[i])} << (8 * i);
  return value;
}

}  // namespace

// ---- Metadata ----

VariantMetadata::VariantMetadata(std::string_view bytes) : bytes_(bytes) {
  if (bytes.empty()) throw_corrupt(0, "variant metadata is empty");
  const auto header = static_cast<uint8_t>(bytes.front());
  if ((header & 15) != 1) throw_corrupt(0, "variant metadata has version {}", header & 15);
  is_sorted_ = (header & 16) != 0;
  offset_size_ = 1U + (header >> 6);
  if (bytes.size() < 1 + offset_size_) throw_corrupt(bytes.size(), "variant metadata ends before its dictionary");
  name_count_ = load_unsigned(bytes.data() + 1, offset_size_);
  const uint64_t names_at = 1 + (uint64_t{name_count_} + 2) * offset_size_;
  if (names_at > bytes.size()) {
    throw_corrupt(bytes.size(), "variant metadata of {} bytes has {} names", bytes.size(), name_count_);
  }
  names_at_ = static_cast<size_t>(names_at);
  if (offset(0) != 0) throw_corrupt(1, "variant metadata: its first name starts at {}", offset(0));
  if (offset(name_count_) > bytes.size() - names_at_) {
    throw_corrupt(names_at_, "variant metadata of {} bytes has names of {} bytes", bytes.size(), offset(name_count_));
  }
  byte_size_ = names_at_ + static_cast<size_t>(offset(name_count_));
}

uint64_t VariantMetadata::offset(uint64_t index) const {
  return load_unsigned(bytes_.data() + 1 + (index + 1) * offset_size_, offset_size_);
}

std::string_view VariantMetadata::name(uint32_t id) const {
  if (id >= name_count_) throw_corrupt(0, "variant: name {} of {}", id, name_count_);
  const uint64_t begin = offset(id);
  const uint64_t end = offset(uint64_t{id} + 1);
  if (begin > end || end > byte_size_ - names_at_) {
    throw_corrupt(names_at_, "variant metadata: name {} is [{}, {}) of {} bytes", id, begin, end,
                  byte_size_ - names_at_);
  }
  return bytes_.substr(names_at_ + static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

std::optional<uint32_t> VariantMetadata::find(std::string_view wanted) const {
  if (!is_sorted_) {
    for (uint32_t id = 0; id < name_count_; ++id) {
      if (name(id) == wanted) return id;
    }
    return std::nullopt;
  }
  uint32_t low = 0;
  for (uint32_t high = name_count_; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (name(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < name_count_ && name(low) == wanted ? std::optional(low) : std::nullopt;
}

// ---- Value ----

std::string_view to_string(VariantType type) {
  constexpr std::string_view kNames[] = {"null",
                                         "bool",
                                         "int8",
                                         "int16",
                                         "int32",
                                         "int64",
                                         "double",
                                         "decimal4",
                                         "decimal8",
                                         "decimal16",
                                         "date",
                                         "timestamp",
                                         "timestamp_ntz",
                                         "float",
                                         "binary",
                                         "string",
                                         "time_ntz",
                                         "timestamp_nanos",
                                         "timestamp_ntz_nanos",
                                         "uuid",
                                         "object",
                                         "array"};
  return kNames[static_cast<size_t>(type)];
}

Variant::Variant(const VariantMetadata& metadata, std::string_view bytes) : metadata_(&metadata), bytes_(bytes) {
  if (bytes.empty()) throw_corrupt(0, "variant value is empty");
  const auto upper = static_cast<uint8_t>(header() >> 2);
  switch (header() & 3) {
    case 0:
      open_primitive(upper);
      return;
    case 1:
      type_ = VariantType::kString;
      byte_size_ = size_t{1} + upper;
      break;
    case 2:
      type_ = VariantType::kObject;
      open_container(upper);
      return;
    default:
      type_ = VariantType::kArray;
      open_container(upper);
      return;
  }
  if (byte_size_ > bytes.size()) {
    throw_corrupt(1, "variant: a string of {} bytes where {} are left", upper, bytes.size() - 1);
  }
}

uint64_t Variant::read(size_t at, uint32_t size) const {
  return load_unsigned(bytes_.data() + at, size);
}

void Variant::open_primitive(uint8_t number) {
  struct Primitive {
    VariantType type;
    uint8_t size;  // of the data; kCounted: 4 bytes that say it, and as many
  };
  constexpr uint8_t kCounted = 255;
  constexpr Primitive kPrimitives[] = {{VariantType::kNull, 0},           {VariantType::kBool, 0},
                                       {VariantType::kBool, 0},           {VariantType::kInt8, 1},
                                       {VariantType::kInt16, 2},          {VariantType::kInt32, 4},
                                       {VariantType::kInt64, 8},          {VariantType::kDouble, 8},
                                       {VariantType::kDecimal4, 5},       {VariantType::kDecimal8, 9},
                                       {VariantType::kDecimal16, 17},     {VariantType::kDate, 4},
                                       {VariantType::kTimestamp, 8},      {VariantType::kTimestampNtz, 8},
                                       {VariantType::kFloat, 4},          {VariantType::kBinary, kCounted},
                                       {VariantType::kString, kCounted},  {VariantType::kTimeNtz, 8},
                                       {VariantType::kTimestampNanos, 8}, {VariantType::kTimestampNtzNanos, 8},
                                       {VariantType::kUuid, 16}};
  if (number >= std::size(kPrimitives)) {
    throw_error(ErrorKind::kUnsupported, "variant: primitive type {} is not known", number);
  }
  type_ = kPrimitives[number].type;
  uint64_t size = kPrimitives[number].size;
  if (size == kCounted) {
    if (bytes_.size() < 5) throw_corrupt(1, "variant: a string's length where {} bytes are left", bytes_.size() - 1);
    size = read(1, 4);
    data_at_ = 5;
  }
  if (size > bytes_.size() - data_at_) {
    throw_corrupt(data_at_, "variant: {} of {} bytes where {} are left", to_string(type_), size,
                  bytes_.size() - data_at_);
  }
  byte_size_ = data_at_ + static_cast<size_t>(size);
}

void Variant::open_container(uint8_t upper) {
  offset_size_ = static_cast<uint8_t>(1 + (upper & 3));
  bool is_large = (upper & 4) != 0;
  if (type_ == VariantType::kObject) {
    id_size_ = static_cast<uint8_t>(1 + ((upper >> 2) & 3));
    is_large = (upper & 16) != 0;
  }
  const uint32_t count_size = is_large ? 4 : 1;
  data_at_ = size_t{1} + count_size;
  if (data_at_ > bytes_.size()) throw_corrupt(1, "variant: {} ends before its count", to_string(type_));
  count_ = static_cast<uint32_t>(read(1, count_size));
  const uint64_t values_at = data_at_ + uint64_t{count_} * (id_size_ + offset_size_) + offset_size_;
  if (values_at > bytes_.size()) {
    throw_corrupt(1, "variant: {} of {} elements where {} bytes are left", to_string(type_), count_,
                  bytes_.size() - data_at_);
  }
  values_at_ = static_cast<size_t>(values_at);
  const uint64_t size = read(values_at_ - offset_size_, offset_size_);
  if (size > bytes_.size() - values_at_) {
    throw_corrupt(values_at_ - offset_size_, "variant: {} whose values take {} bytes where {} are left",
                  to_string(type_), size, bytes_.size() - values_at_);
  }
  byte_size_ = values_at_ + static_cast<size_t>(size);
}

int64_t Variant::as_int64() const {
  const char* data = bytes_.data() + data_at_;
  switch (byte_size_ - data_at_) {
    case 1:
      return load<int8_t>(data);
    case 2:
      return load<int16_t>(data);
    case 4:
      return load<int32_t>(data);
    default:
      return load<int64_t>(data);
  }
}

double Variant::as_double() const {
  return load<double>(bytes_.data() + data_at_);
}

float Variant::as_float() const {
  return load<float>(bytes_.data() + data_at_);
}

Decimal128 Variant::as_decimal() const {
  if (type_ != VariantType::kDecimal4 && type_ != VariantType::kDecimal8 && type_ != VariantType::kDecimal16) {
    return {as_int64(), 0};
  }
  const char* data = bytes_.data() + data_at_ + 1;
  const int32_t scale = static_cast<uint8_t>(bytes_[data_at_]);
  if (scale > kScaleMax) throw_corrupt(data_at_, "variant: a decimal's scale is {}", scale);
  switch (type_) {
    case VariantType::kDecimal4:
      return {load<int32_t>(data), scale};
    case VariantType::kDecimal8:
      return {load<int64_t>(data), scale};
    default:
      return {make_int128(load<int64_t>(data + 8), load<uint64_t>(data)), scale};
  }
}

Variant Variant::element(uint32_t index) const {
  if (index >= count_) throw_error(ErrorKind::kInvalidArgument, "variant: element {} of {}", index, count_);
  const size_t offsets_at = data_at_ + size_t{count_} * id_size_;
  const uint64_t begin = read(offsets_at + size_t{index} * offset_size_, offset_size_);
  const size_t size = byte_size_ - values_at_;
  if (begin >= size) {
    throw_corrupt(offsets_at + size_t{index} * offset_size_, "variant: element {} starts at byte {} of {}", index,
                  begin, size);
  }
  return {*metadata_, bytes_.substr(values_at_ + static_cast<size_t>(begin), size - static_cast<size_t>(begin))};
}

uint32_t Variant::field_id(uint32_t index) const {
  if (type_ != VariantType::kObject || index >= count_) {
    throw_error(ErrorKind::kInvalidArgument, "variant: field {} of {} of {}", index, to_string(type_), count_);
  }
  return static_cast<uint32_t>(read(data_at_ + size_t{index} * id_size_, id_size_));
}

std::string_view Variant::field_name(uint32_t index) const {
  return metadata_->name(field_id(index));
}

std::optional<Variant> Variant::find(std::string_view name) const {
  if (type_ != VariantType::kObject) return std::nullopt;
  uint32_t low = 0;
  for (uint32_t high = count_; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (field_name(middle) < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == count_ || field_name(low) != name) return std::nullopt;
  return element(low);
}

// ---- Walks ----

namespace {

// Values whose offsets overlap could be walked exponentially often. In a value that is right each byte belongs to one
// node, so a walk that has visited more than there are is over.
class Walk {
 public:
  explicit Walk(const Variant& root) : bytes_left_(root.bytes().size()) {}

  // Each node before its elements.
  void enter(const Variant& value) {
    if (value.own_size() > bytes_left_) throw_corrupt(0, "variant: elements overlap");
    bytes_left_ -= value.own_size();
    if (++depth_ > kMaxVariantDepth) {
      throw_error(ErrorKind::kUnsupported, "variant nests more than {} levels", kMaxVariantDepth);
    }
  }
  void leave() { --depth_; }

 private:
  size_t bytes_left_;
  int depth_ = 0;
};

void check_text(std::string_view text) {
  if (!is_valid_utf8(text)) throw_corrupt(0, "variant: text that is not UTF-8");
}

// The name of field `index`, which must come after the one before it: then names are unique too.
std::string_view next_name(const Variant& object, uint32_t index, std::string_view before) {
  const std::string_view name = object.field_name(index);
  if (index > 0 && name <= before) throw_corrupt(0, "variant: fields '{}' and '{}' are not in order", before, name);
  return name;
}

void check(const Variant& value, Walk& walk) {
  walk.enter(value);
  switch (value.type()) {
    case VariantType::kString:
      check_text(value.as_bytes());
      break;
    case VariantType::kDecimal4:
    case VariantType::kDecimal8:
    case VariantType::kDecimal16:
      static_cast<void>(value.as_decimal());
      break;
    case VariantType::kObject:
    case VariantType::kArray: {
      std::string_view name;
      for (uint32_t i = 0; i < value.element_count(); ++i) {
        if (value.type() == VariantType::kObject) {
          name = next_name(value, i, name);
          check_text(name);
        }
        check(value.element(i), walk);
      }
      break;
    }
    default:
      break;
  }
  walk.leave();
}

class JsonWriter {
 public:
  JsonWriter(std::string& out, size_t bytes_max) : out_(out), begin_(out.size()), bytes_max_(bytes_max) {}

  void write(const Variant& value, Walk& walk) {
    walk.enter(value);
    if (value.is_container()) {
      write_container(value, walk);
    } else {
      write_primitive(value);
    }
    walk.leave();
    if (out_.size() - begin_ > bytes_max_) {
      throw_error(ErrorKind::kUnsupported, "a variant whose text has more than {} bytes", bytes_max_);
    }
  }

 private:
  void write_container(const Variant& value, Walk& walk) {
    const bool is_object = value.type() == VariantType::kObject;
    out_ += is_object ? '{' : '[';
    std::string_view name;
    for (uint32_t i = 0; i < value.element_count(); ++i) {
      if (i > 0) out_ += ',';
      if (is_object) {
        name = next_name(value, i, name);
        write_text(name);
        out_ += ':';
      }
      write(value.element(i), walk);
    }
    out_ += is_object ? '}' : ']';
  }

  void write_text(std::string_view text) {
    check_text(text);
    append_json_string(out_, text);
  }

  template <typename Float>
  void write_float(Float value) {
    const bool is_number = std::isfinite(value);
    if (!is_number) out_ += '"';
    append_number(out_, value);
    if (!is_number) out_ += '"';
  }

  void write_timestamp(const Variant& value, TimeUnit unit, std::string_view zone) {
    append_timestamp(out_, value.as_int64(), unit, {.zone = zone});
  }

  void write_primitive(const Variant& value) {
    switch (value.type()) {
      case VariantType::kNull:
        out_ += "null";
        return;
      case VariantType::kBool:
        out_ += value.as_bool() ? "true" : "false";
        return;
      case VariantType::kInt8:
      case VariantType::kInt16:
      case VariantType::kInt32:
      case VariantType::kInt64:
        return append_number(out_, value.as_int64());
      case VariantType::kDouble:
        return write_float(value.as_double());
      case VariantType::kFloat:
        return write_float(value.as_float());
      case VariantType::kDecimal4:
      case VariantType::kDecimal8:
      case VariantType::kDecimal16: {
        const Decimal128 number = value.as_decimal();
        return append_decimal(out_, number.unscaled, number.scale);
      }
      case VariantType::kString:
        return write_text(value.as_bytes());
      default:
        out_ += '"';
        write_quoted(value);
        out_ += '"';
    }
  }

  void write_quoted(const Variant& value) {
    switch (value.type()) {
      case VariantType::kDate:
        return append_date(out_, value.as_int64());
      case VariantType::kTimestamp:
        return write_timestamp(value, TimeUnit::kMicro, "+00:00");
      case VariantType::kTimestampNtz:
        return write_timestamp(value, TimeUnit::kMicro, "");
      case VariantType::kTimestampNanos:
        return write_timestamp(value, TimeUnit::kNano, "+00:00");
      case VariantType::kTimestampNtzNanos:
        return write_timestamp(value, TimeUnit::kNano, "");
      case VariantType::kTimeNtz:
        return append_time(out_, value.as_int64(), TimeUnit::kMicro);
      case VariantType::kUuid:
        return append_uuid(out_, uuid_from_bytes(std::as_bytes(std::span(value.as_bytes()))));
      default:
        out_ += encode_base64(value.as_bytes());
    }
  }

  std::string& out_;
  const size_t begin_;
  const size_t bytes_max_;
};

enum class Class : uint8_t {
  kNull,
  kBool,
  kNumber,
  kDouble,
  kFloat,
  kDate,
  kInstant,
  kLocal,
  kTime,
  kBinary,
  kString,
  kUuid,
  kObject,
  kArray
};

Class class_of(VariantType type) {
  switch (type) {
    case VariantType::kNull:
      return Class::kNull;
    case VariantType::kBool:
      return Class::kBool;
    case VariantType::kInt8:
    case VariantType::kInt16:
    case VariantType::kInt32:
    case VariantType::kInt64:
    case VariantType::kDecimal4:
    case VariantType::kDecimal8:
    case VariantType::kDecimal16:
      return Class::kNumber;
    case VariantType::kDouble:
      return Class::kDouble;
    case VariantType::kFloat:
      return Class::kFloat;
    case VariantType::kDate:
      return Class::kDate;
    case VariantType::kTimestamp:
    case VariantType::kTimestampNanos:
      return Class::kInstant;
    case VariantType::kTimestampNtz:
    case VariantType::kTimestampNtzNanos:
      return Class::kLocal;
    case VariantType::kTimeNtz:
      return Class::kTime;
    case VariantType::kBinary:
      return Class::kBinary;
    case VariantType::kString:
      return Class::kString;
    case VariantType::kUuid:
      return Class::kUuid;
    case VariantType::kObject:
      return Class::kObject;
    case VariantType::kArray:
      return Class::kArray;
  }
  return Class::kNull;
}

Int128 nanoseconds(const Variant& value) {
  const bool is_nano = value.type() == VariantType::kTimestampNanos || value.type() == VariantType::kTimestampNtzNanos;
  return Int128{value.as_int64()} * (is_nano ? 1 : 1000);
}

bool equal(const Variant& left, const Variant& right, Walk& left_walk, Walk& right_walk);

bool equal_containers(const Variant& left, const Variant& right, Walk& left_walk, Walk& right_walk) {
  if (left.element_count() != right.element_count()) return false;
  std::string_view left_name;
  std::string_view right_name;
  for (uint32_t i = 0; i < left.element_count(); ++i) {
    if (left.type() == VariantType::kObject) {
      left_name = next_name(left, i, left_name);
      right_name = next_name(right, i, right_name);
      if (left_name != right_name) return false;
    }
    if (!equal(left.element(i), right.element(i), left_walk, right_walk)) return false;
  }
  return true;
}

bool equal(const Variant& left, const Variant& right, Walk& left_walk, Walk& right_walk) {
  const Class kind = class_of(left.type());
  if (kind != class_of(right.type())) return false;
  left_walk.enter(left);
  right_walk.enter(right);
  bool is_equal = true;
  switch (kind) {
    case Class::kNull:
      break;
    case Class::kBool:
      is_equal = left.as_bool() == right.as_bool();
      break;
    case Class::kNumber:
      is_equal = left.as_decimal() == right.as_decimal();
      break;
    case Class::kDouble: {
      const double a = left.as_double();
      const double b = right.as_double();
      is_equal = std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
      break;
    }
    case Class::kFloat: {
      const float a = left.as_float();
      const float b = right.as_float();
      is_equal = std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
      break;
    }
    case Class::kDate:
    case Class::kTime:
      is_equal = left.as_int64() == right.as_int64();
      break;
    case Class::kInstant:
    case Class::kLocal:
      is_equal = nanoseconds(left) == nanoseconds(right);
      break;
    case Class::kBinary:
    case Class::kString:
    case Class::kUuid:
      is_equal = left.as_bytes() == right.as_bytes();
      break;
    case Class::kObject:
    case Class::kArray:
      is_equal = equal_containers(left, right, left_walk, right_walk);
      break;
  }
  left_walk.leave();
  right_walk.leave();
  return is_equal;
}

}  // namespace

void validate_variant(const Variant& value) {
  Walk walk(value);
  check(value, walk);
}

void append_variant_json(std::string& out, const Variant& value, size_t bytes_max) {
  Walk walk(value);
  JsonWriter(out, bytes_max).write(value, walk);
}

bool variants_equal(const Variant& left, const Variant& right) {
  Walk left_walk(left);
  Walk right_walk(right);
  return equal(left, right, left_walk, right_walk);
}

}  // namespace frazil::parquet
