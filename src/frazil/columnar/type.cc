#include "frazil/columnar/type.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"

namespace frazil {

namespace {

constexpr std::array<std::string_view, kTypeIdCount> kTypeNames = {
    "null",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "halffloat",
    "float",
    "double",
    "decimal32",
    "decimal64",
    "decimal128",
    "decimal256",
    "date32",
    "date64",
    "time32",
    "time64",
    "timestamp",
    "duration",
    "interval_months",
    "interval_day_time",
    "interval_month_day_nano",
    "utf8",
    "large_utf8",
    "utf8_view",
    "binary",
    "large_binary",
    "binary_view",
    "fixed_size_binary",
    "list",
    "large_list",
    "list_view",
    "large_list_view",
    "fixed_size_list",
    "struct",
    "map",
    "dense_union",
    "sparse_union",
    "dictionary",
    "run_end_encoded",
};

std::string_view unit_name(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond:
      return "s";
    case TimeUnit::kMilli:
      return "ms";
    case TimeUnit::kMicro:
      return "us";
    case TimeUnit::kNano:
      return "ns";
  }
  return "?";
}

bool is_primitive(TypeId id) {
  switch (id) {
    case TypeId::kNull:
    case TypeId::kBool:
    case TypeId::kInt8:
    case TypeId::kInt16:
    case TypeId::kInt32:
    case TypeId::kInt64:
    case TypeId::kUInt8:
    case TypeId::kUInt16:
    case TypeId::kUInt32:
    case TypeId::kUInt64:
    case TypeId::kHalfFloat:
    case TypeId::kFloat:
    case TypeId::kDouble:
    case TypeId::kDate32:
    case TypeId::kDate64:
    case TypeId::kIntervalMonths:
    case TypeId::kIntervalDayTime:
    case TypeId::kIntervalMonthDayNano:
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
      return true;
    default:
      return false;
  }
}

int32_t decimal_precision_max(TypeId id) {
  switch (id) {
    case TypeId::kDecimal32:
      return 9;
    case TypeId::kDecimal64:
      return 18;
    case TypeId::kDecimal128:
      return 38;
    case TypeId::kDecimal256:
      return 76;
    default:
      return 0;
  }
}

void append_field(std::string& out, const Field& field) {
  out += field.name;
  out += ": ";
  out += field.type->to_string();
  if (!field.nullable) out += " not null";
}

void append_children(std::string& out, const std::vector<Field>& children) {
  for (size_t i = 0; i < children.size(); ++i) {
    if (i != 0) out += ", ";
    append_field(out, children[i]);
  }
}

void require_type(const DataTypePtr& type, std::string_view role) {
  if (type == nullptr) throw_error(ErrorKind::kInvalidArgument, "{} has no type", role);
}

}  // namespace

std::string_view to_string(TypeId id) {
  auto index = static_cast<size_t>(id);
  return index < kTypeNames.size() ? kTypeNames[index] : "unknown type";
}

std::optional<std::string_view> find_metadata(const Metadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// ---- Groups ----

bool is_signed_integer(TypeId id) {
  return id >= TypeId::kInt8 && id <= TypeId::kInt64;
}
bool is_integer(TypeId id) {
  return id >= TypeId::kInt8 && id <= TypeId::kUInt64;
}
bool is_floating(TypeId id) {
  return id >= TypeId::kHalfFloat && id <= TypeId::kDouble;
}
bool is_decimal(TypeId id) {
  return id >= TypeId::kDecimal32 && id <= TypeId::kDecimal256;
}
bool is_bytes(TypeId id) {
  return id >= TypeId::kUtf8 && id <= TypeId::kBinaryView;
}
bool is_view(TypeId id) {
  return id == TypeId::kUtf8View || id == TypeId::kBinaryView;
}
bool is_list(TypeId id) {
  return (id >= TypeId::kList && id <= TypeId::kFixedSizeList) || id == TypeId::kMap;
}
bool is_union(TypeId id) {
  return id == TypeId::kDenseUnion || id == TypeId::kSparseUnion;
}
bool has_validity_buffer(TypeId id) {
  return id != TypeId::kNull && id != TypeId::kRunEndEncoded && !is_union(id);
}

// ---- DataType ----

int32_t DataType::byte_width() const {
  switch (id_) {
    case TypeId::kInt8:
    case TypeId::kUInt8:
      return 1;
    case TypeId::kInt16:
    case TypeId::kUInt16:
    case TypeId::kHalfFloat:
      return 2;
    case TypeId::kInt32:
    case TypeId::kUInt32:
    case TypeId::kFloat:
    case TypeId::kDecimal32:
    case TypeId::kDate32:
    case TypeId::kTime32:
    case TypeId::kIntervalMonths:
      return 4;
    case TypeId::kInt64:
    case TypeId::kUInt64:
    case TypeId::kDouble:
    case TypeId::kDecimal64:
    case TypeId::kDate64:
    case TypeId::kTime64:
    case TypeId::kTimestamp:
    case TypeId::kDuration:
    case TypeId::kIntervalDayTime:
      return 8;
    case TypeId::kDecimal128:
    case TypeId::kIntervalMonthDayNano:
      return 16;
    case TypeId::kDecimal256:
      return 32;
    case TypeId::kFixedSizeBinary:
      return fixed_size_;
    case TypeId::kDictionary:
      return index_type_->byte_width();
    default:
      return 0;
  }
}

bool Field::equals(const Field& other, bool compare_metadata) const {
  return name == other.name && nullable == other.nullable && type->equals(*other.type, compare_metadata) &&
         (!compare_metadata || metadata == other.metadata);
}

bool DataType::equals(const DataType& other, bool compare_metadata) const {
  if (this == &other) return true;
  if (id_ != other.id_ || unit_ != other.unit_ || ordered_ != other.ordered_ || precision_ != other.precision_ ||
      scale_ != other.scale_ || fixed_size_ != other.fixed_size_ || depth_ != other.depth_ ||
      timezone_ != other.timezone_ || union_type_ids_ != other.union_type_ids_) {
    return false;
  }
  if (id_ == TypeId::kDictionary) {
    return index_type_->equals(*other.index_type_, compare_metadata) &&
           value_type_->equals(*other.value_type_, compare_metadata);
  }
  return std::equal(children_.begin(), children_.end(), other.children_.begin(), other.children_.end(),
                    [&](const Field& left, const Field& right) { return left.equals(right, compare_metadata); });
}

std::string DataType::to_string() const {
  std::string out(frazil::to_string(id_));
  switch (id_) {
    case TypeId::kTime32:
    case TypeId::kTime64:
    case TypeId::kDuration:
      out += message("[{}]", unit_name(unit_));
      break;
    case TypeId::kTimestamp:
      out += timezone_.empty() ? message("[{}]", unit_name(unit_)) : message("[{}, {}]", unit_name(unit_), timezone_);
      break;
    case TypeId::kDecimal32:
    case TypeId::kDecimal64:
    case TypeId::kDecimal128:
    case TypeId::kDecimal256:
      out += message("({}, {})", precision_, scale_);
      break;
    case TypeId::kFixedSizeBinary:
      out += message("[{}]", fixed_size_);
      break;
    case TypeId::kMap: {
      const auto& entries = children_[0].type->children();
      out += message("<{}, {}{}{}>", entries[0].type->to_string(), entries[1].type->to_string(),
                     entries[1].nullable ? "" : " not null", ordered_ ? ", keys_sorted" : "");
      break;
    }
    case TypeId::kDictionary:
      out += message("<values={}, indices={}{}>", value_type_->to_string(), index_type_->to_string(),
                     ordered_ ? ", ordered" : "");
      break;
    case TypeId::kDenseUnion:
    case TypeId::kSparseUnion:
      out += '<';
      for (size_t i = 0; i < children_.size(); ++i) {
        if (i != 0) out += ", ";
        append_field(out, children_[i]);
        out += message("={}", union_type_ids_[i]);
      }
      out += '>';
      break;
    case TypeId::kList:
    case TypeId::kLargeList:
    case TypeId::kListView:
    case TypeId::kLargeListView:
    case TypeId::kFixedSizeList:
    case TypeId::kStruct:
    case TypeId::kRunEndEncoded:
      out += '<';
      append_children(out, children_);
      out += '>';
      if (id_ == TypeId::kFixedSizeList) out += message("[{}]", fixed_size_);
      break;
    default:
      break;
  }
  return out;
}

// ---- Makers ----

struct DataTypeMaker {
  std::shared_ptr<DataType> type = std::make_shared<DataType>();

  explicit DataTypeMaker(TypeId id) { type->id_ = id; }
  DataTypeMaker& unit(TimeUnit value) {
    type->unit_ = value;
    return *this;
  }
  DataTypeMaker& timezone(std::string value) {
    type->timezone_ = std::move(value);
    return *this;
  }
  DataTypeMaker& ordered(bool value) {
    type->ordered_ = value;
    return *this;
  }
  DataTypeMaker& decimal(int32_t precision, int32_t scale) {
    type->precision_ = precision;
    type->scale_ = scale;
    return *this;
  }
  DataTypeMaker& fixed_size(int32_t value) {
    type->fixed_size_ = value;
    return *this;
  }
  DataTypeMaker& children(std::vector<Field> fields) {
    for (const Field& field : fields) {
      require_type(field.type, message("field '{}'", field.name));
      deepen(*field.type);
    }
    type->children_ = std::move(fields);
    return *this;
  }
  DataTypeMaker& union_type_ids(std::vector<int8_t> ids) {
    type->union_type_ids_ = std::move(ids);
    return *this;
  }
  DataTypeMaker& dictionary(DataTypePtr index, DataTypePtr value) {
    deepen(*value);
    type->index_type_ = std::move(index);
    type->value_type_ = std::move(value);
    return *this;
  }
  void deepen(const DataType& child) {
    type->depth_ = std::max(type->depth_, child.depth_ + 1);
    if (type->depth_ > kMaxTypeDepth) {
      throw_error(ErrorKind::kInvalidArgument, "type nests deeper than {} levels", kMaxTypeDepth);
    }
  }
};

DataTypePtr primitive(TypeId id) {
  // They live for ever and are not counted: every array of theirs would count in one place, from all threads.
  static const auto& kInstances = *new std::array<DataTypePtr, kTypeIdCount>([] {
    std::array<DataTypePtr, kTypeIdCount> instances;
    for (int i = 0; i < kTypeIdCount; ++i) {
      auto type_id = static_cast<TypeId>(i);
      if (!is_primitive(type_id)) continue;
      const auto* type = new DataType(*DataTypeMaker(type_id).type);
      instances[static_cast<size_t>(i)] = DataTypePtr(std::shared_ptr<void>(), type);
    }
    return instances;
  }());
  auto index = static_cast<size_t>(id);
  if (index >= kInstances.size() || kInstances[index] == nullptr) {
    throw_error(ErrorKind::kInvalidArgument, "type {} needs parameters", to_string(id));
  }
  return kInstances[index];
}

DataTypePtr time32(TimeUnit unit) {
  if (unit != TimeUnit::kSecond && unit != TimeUnit::kMilli) {
    throw_error(ErrorKind::kInvalidArgument, "time32 counts seconds or milliseconds, not {}", unit_name(unit));
  }
  return DataTypeMaker(TypeId::kTime32).unit(unit).type;
}

DataTypePtr time64(TimeUnit unit) {
  if (unit != TimeUnit::kMicro && unit != TimeUnit::kNano) {
    throw_error(ErrorKind::kInvalidArgument, "time64 counts microseconds or nanoseconds, not {}", unit_name(unit));
  }
  return DataTypeMaker(TypeId::kTime64).unit(unit).type;
}

DataTypePtr timestamp(TimeUnit unit, std::string timezone) {
  return DataTypeMaker(TypeId::kTimestamp).unit(unit).timezone(std::move(timezone)).type;
}

DataTypePtr duration(TimeUnit unit) {
  return DataTypeMaker(TypeId::kDuration).unit(unit).type;
}

DataTypePtr decimal(int32_t precision, int32_t scale, TypeId id) {
  int32_t precision_max = decimal_precision_max(id);
  if (precision_max == 0) throw_error(ErrorKind::kInvalidArgument, "{} is not a decimal type", to_string(id));
  if (precision < 1 || precision > precision_max) {
    throw_error(ErrorKind::kInvalidArgument, "precision of {} is outside 1..{}: {}", to_string(id), precision_max,
                precision);
  }
  if (scale < -kDecimalScaleMax || scale > kDecimalScaleMax) {
    throw_error(ErrorKind::kInvalidArgument, "scale of {} is outside +-{}: {}", to_string(id), kDecimalScaleMax, scale);
  }
  return DataTypeMaker(id).decimal(precision, scale).type;
}

DataTypePtr fixed_size_binary(int32_t byte_width) {
  if (byte_width < 0)
    throw_error(ErrorKind::kInvalidArgument, "width of fixed_size_binary is negative: {}", byte_width);
  return DataTypeMaker(TypeId::kFixedSizeBinary).fixed_size(byte_width).type;
}

DataTypePtr list(Field element, TypeId id) {
  if (id < TypeId::kList || id > TypeId::kLargeListView) {
    throw_error(ErrorKind::kInvalidArgument, "{} is not a list type", to_string(id));
  }
  return DataTypeMaker(id).children({std::move(element)}).type;
}

DataTypePtr fixed_size_list(Field element, int32_t size) {
  if (size < 0) throw_error(ErrorKind::kInvalidArgument, "size of fixed_size_list is negative: {}", size);
  return DataTypeMaker(TypeId::kFixedSizeList).children({std::move(element)}).fixed_size(size).type;
}

DataTypePtr struct_(std::vector<Field> fields) {
  return DataTypeMaker(TypeId::kStruct).children(std::move(fields)).type;
}

DataTypePtr map(Field key, Field value, bool keys_sorted) {
  key.nullable = false;
  return map_of_entries(
      {.name = "entries", .type = struct_({std::move(key), std::move(value)}), .nullable = false, .metadata = {}},
      keys_sorted);
}

DataTypePtr map_of_entries(Field entries, bool keys_sorted) {
  require_type(entries.type, "map's entries field");
  if (entries.type->id() != TypeId::kStruct || entries.type->children().size() != 2) {
    throw_error(ErrorKind::kInvalidArgument, "entries of a map are a struct of two fields, not {}",
                entries.type->to_string());
  }
  return DataTypeMaker(TypeId::kMap).children({std::move(entries)}).ordered(keys_sorted).type;
}

DataTypePtr dictionary(DataTypePtr index, DataTypePtr value, bool ordered) {
  require_type(index, "dictionary's index");
  require_type(value, "dictionary's value");
  if (!is_integer(index->id())) {
    throw_error(ErrorKind::kInvalidArgument, "dictionary indices are integers, not {}", index->to_string());
  }
  return DataTypeMaker(TypeId::kDictionary).dictionary(std::move(index), std::move(value)).ordered(ordered).type;
}

namespace {

DataTypePtr make_union(TypeId id, std::vector<Field> fields, std::vector<int8_t> type_ids) {
  if (fields.size() != type_ids.size()) {
    throw_error(ErrorKind::kInvalidArgument, "union has {} fields and {} type ids", fields.size(), type_ids.size());
  }
  std::bitset<128> seen;
  for (int8_t type_id : type_ids) {
    if (type_id < 0 || seen[static_cast<size_t>(type_id)]) {
      throw_error(ErrorKind::kInvalidArgument, "type id of a union is {}: {}", type_id < 0 ? "negative" : "repeated",
                  type_id);
    }
    seen.set(static_cast<size_t>(type_id));
  }
  return DataTypeMaker(id).children(std::move(fields)).union_type_ids(std::move(type_ids)).type;
}

}  // namespace

DataTypePtr dense_union(std::vector<Field> fields, std::vector<int8_t> type_ids) {
  return make_union(TypeId::kDenseUnion, std::move(fields), std::move(type_ids));
}

DataTypePtr sparse_union(std::vector<Field> fields, std::vector<int8_t> type_ids) {
  return make_union(TypeId::kSparseUnion, std::move(fields), std::move(type_ids));
}

DataTypePtr run_end_encoded(Field run_ends, Field values) {
  require_type(run_ends.type, "run_ends");
  TypeId id = run_ends.type->id();
  if (id != TypeId::kInt16 && id != TypeId::kInt32 && id != TypeId::kInt64) {
    throw_error(ErrorKind::kInvalidArgument, "run ends are int16, int32 or int64, not {}", run_ends.type->to_string());
  }
  return DataTypeMaker(TypeId::kRunEndEncoded).children({std::move(run_ends), std::move(values)}).type;
}

// ---- Schema ----

Schema::Schema(std::vector<Field> fields, Metadata metadata)
    : fields_(std::move(fields)), metadata_(std::move(metadata)) {
  for (const Field& field : fields_) {
    if (field.type == nullptr) require_type(field.type, message("column '{}'", field.name));
  }
}

std::optional<size_t> Schema::index_of(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
  }
  return std::nullopt;
}

bool Schema::equals(const Schema& other, bool compare_metadata) const {
  return std::equal(fields_.begin(), fields_.end(), other.fields_.begin(), other.fields_.end(),
                    [&](const Field& left, const Field& right) { return left.equals(right, compare_metadata); }) &&
         (!compare_metadata || metadata_ == other.metadata_);
}

std::string Schema::to_string() const {
  std::string out;
  for (const Field& field : fields_) {
    append_field(out, field);
    out += '\n';
  }
  return out;
}

}  // namespace frazil
