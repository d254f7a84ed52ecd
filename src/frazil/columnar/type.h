// Arrow's logical types, fields and schemas (Columnar format, "Data Types"; Schema.fbs). Immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/time_unit.h"

namespace frazil {

enum class TypeId : uint8_t {
  kNull,
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kHalfFloat,
  kFloat,
  kDouble,
  kDecimal32,
  kDecimal64,
  kDecimal128,
  kDecimal256,
  kDate32,  // days since 1970-01-01
  kDate64,  // milliseconds since 1970-01-01, whole days
  kTime32,  // seconds or milliseconds since midnight
  kTime64,  // microseconds or nanoseconds since midnight
  kTimestamp,
  kDuration,
  kIntervalMonths,
  kIntervalDayTime,
  kIntervalMonthDayNano,
  kUtf8,
  kLargeUtf8,
  kUtf8View,
  kBinary,
  kLargeBinary,
  kBinaryView,
  kFixedSizeBinary,
  kList,
  kLargeList,
  kListView,
  kLargeListView,
  kFixedSizeList,
  kStruct,
  kMap,
  kDenseUnion,
  kSparseUnion,
  kDictionary,
  kRunEndEncoded,
};

inline constexpr int kTypeIdCount = static_cast<int>(TypeId::kRunEndEncoded) + 1;
// "int64", "fixed_size_binary", "run_end_encoded", ...
std::string_view to_string(TypeId id);

class DataType;
using DataTypePtr = std::shared_ptr<const DataType>;

// Key-value pairs in their order; keys may repeat (Arrow allows it).
using Metadata = std::vector<std::pair<std::string, std::string>>;
// The first value of `key`.
std::optional<std::string_view> find_metadata(const Metadata& metadata, std::string_view key);

struct Field {
  std::string name = {};
  DataTypePtr type = {};
  bool nullable = true;
  Metadata metadata = {};  // an extension type is the pair "ARROW:extension:name" / ":metadata" on its storage type

  std::optional<std::string_view> extension_name() const { return find_metadata(metadata, "ARROW:extension:name"); }
  // Names, types, nullability; metadata only if asked.
  bool equals(const Field& other, bool compare_metadata = false) const;
};

// Types nest at most this deep (a type without children is 1 deep), so that recursion over a type, and over an array
// that validate() accepted, is bounded. Makers throw Error(kInvalidArgument) beyond.
inline constexpr int kMaxTypeDepth = 64;

class DataType {
 public:
  TypeId id() const { return id_; }
  // Time32, Time64, Timestamp, Duration.
  TimeUnit unit() const { return unit_; }
  // Timestamp: empty if without zone.
  const std::string& timezone() const { return timezone_; }
  // Decimals.
  int32_t precision() const { return precision_; }
  int32_t scale() const { return scale_; }
  // FixedSizeBinary: bytes a value; FixedSizeList: elements a value.
  int32_t fixed_size() const { return fixed_size_; }
  // Map: keys_sorted; Dictionary: ordered.
  bool ordered() const { return ordered_; }
  // List kinds: the element. Map: the entries struct. Struct, union: all. Run-end: run_ends, values.
  // Dictionary: none (its value type's children belong to the value type).
  const std::vector<Field>& children() const { return children_; }
  // Unions: the type id of each child.
  const std::vector<int8_t>& union_type_ids() const { return union_type_ids_; }
  // Dictionary only.
  const DataTypePtr& index_type() const { return index_type_; }
  const DataTypePtr& value_type() const { return value_type_; }

  int depth() const { return depth_; }
  // Bytes of one value in the values buffer for fixed-width types, of an index for dictionaries; booleans, views and
  // variable-width ones: 0.
  int32_t byte_width() const;
  bool equals(const DataType& other, bool compare_metadata = false) const;
  // "list<item: int32 not null>", "timestamp[us, UTC]", "decimal128(9, 2)", ...
  std::string to_string() const;

 private:
  friend struct DataTypeMaker;
  TypeId id_ = TypeId::kNull;
  TimeUnit unit_ = TimeUnit::kSecond;
  bool ordered_ = false;
  int32_t precision_ = 0;
  int32_t scale_ = 0;
  int32_t fixed_size_ = 0;
  int32_t depth_ = 1;
  std::string timezone_;
  std::vector<Field> children_;
  std::vector<int8_t> union_type_ids_;
  DataTypePtr index_type_;
  DataTypePtr value_type_;
};

// Groups of types.
bool is_signed_integer(TypeId id);
bool is_integer(TypeId id);
bool is_floating(TypeId id);
bool is_decimal(TypeId id);
bool is_bytes(TypeId id);  // utf8, binary, their large and view forms; not fixed-size binary
bool is_view(TypeId id);   // utf8 view, binary view
bool is_list(TypeId id);   // every kind of list and map: what Array::list_range serves
bool is_union(TypeId id);
// Whether arrays of this type have a validity buffer: all but null, unions and run-end encoded.
bool has_validity_buffer(TypeId id);

// Makers. All throw Error(kInvalidArgument) for parameters that Arrow forbids.
// Types without parameters are shared instances: primitive(TypeId::kInt64). Throws for types that need parameters.
DataTypePtr primitive(TypeId id);
DataTypePtr time32(TimeUnit unit);  // seconds or milliseconds
DataTypePtr time64(TimeUnit unit);  // microseconds or nanoseconds
DataTypePtr timestamp(TimeUnit unit, std::string timezone = {});
DataTypePtr duration(TimeUnit unit);
// kDecimal128 by default. Throws Error(kInvalidArgument) if the precision does not fit the width.
DataTypePtr decimal(int32_t precision, int32_t scale, TypeId id = TypeId::kDecimal128);
DataTypePtr fixed_size_binary(int32_t byte_width);
DataTypePtr list(Field element, TypeId id = TypeId::kList);  // kList, kLargeList, kListView, kLargeListView
DataTypePtr fixed_size_list(Field element, int32_t size);
DataTypePtr struct_(std::vector<Field> fields);
DataTypePtr map(Field key, Field value, bool keys_sorted = false);  // entries: struct<key not null, value> not null
// From any entries field, as other writers name it.
DataTypePtr map_of_entries(Field entries, bool keys_sorted = false);
DataTypePtr dictionary(DataTypePtr index, DataTypePtr value, bool ordered = false);
DataTypePtr dense_union(std::vector<Field> fields, std::vector<int8_t> type_ids);
DataTypePtr sparse_union(std::vector<Field> fields, std::vector<int8_t> type_ids);
DataTypePtr run_end_encoded(Field run_ends, Field values);

class Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

class Schema {
 public:
  explicit Schema(std::vector<Field> fields, Metadata metadata = {});
  static SchemaPtr make(std::vector<Field> fields, Metadata metadata = {}) {
    return std::make_shared<const Schema>(std::move(fields), std::move(metadata));
  }

  const std::vector<Field>& fields() const { return fields_; }
  const Field& field(size_t index) const { return fields_.at(index); }
  size_t field_count() const { return fields_.size(); }
  const Metadata& metadata() const { return metadata_; }
  // The first field of that name. Linear.
  std::optional<size_t> index_of(std::string_view name) const;
  bool equals(const Schema& other, bool compare_metadata = false) const;
  // One field a line.
  std::string to_string() const;

 private:
  std::vector<Field> fields_;
  Metadata metadata_;
};

}  // namespace frazil
