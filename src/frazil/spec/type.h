// Iceberg's types (spec, "Schemas and Data Types"; JSON: "Appendix C"). Immutable and shared.
//
//   type      := "boolean" | "int" | "long" | "float" | "double" | "decimal(P, S)" | "date" | "time"
//              | "timestamp" | "timestamptz" | "string" | "uuid" | "fixed[L]" | "binary"
//              | "timestamp_ns" | "timestamptz_ns" | "unknown" | "variant"               (since v3)
//              | "geometry" | "geometry(CRS)" | "geography" | "geography(CRS)" | "geography(CRS, ALGORITHM)"
//              | {"type": "struct", "fields": [field...]}
//              | {"type": "list", "element-id": I, "element-required": B, "element": type}
//              | {"type": "map", "key-id": I, "key": type, "value-id": I, "value-required": B, "value": type}
//   field     := {"id": I, "name": S, "required": B, "type": type, "doc"?, "initial-default"?, "write-default"?}
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"

namespace frazil::spec {

enum class TypeKind : uint8_t {
  kUnknown,  // only nulls; not stored in data files
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,           // days since 1970-01-01
  kTime,           // microseconds since midnight
  kTimestamp,      // microseconds since 1970-01-01T00:00
  kTimestampTz,    // the same, in UTC
  kTimestampNs,    // nanoseconds
  kTimestampTzNs,  // the same, in UTC
  kString,
  kUuid,
  kFixed,
  kBinary,
  kVariant,
  kGeometry,
  kGeography,
  kStruct,
  kList,
  kMap,
};

class Type;
using TypePtr = std::shared_ptr<const Type>;
class Literal;
using LiteralPtr = std::shared_ptr<const Literal>;

// How deep types may nest; deeper ones are an error when made or parsed.
inline constexpr int kMaxTypeDepth = 100;
// The largest id that a user's field may have; above are the reserved ones (spec, "Reserved Field IDs").
inline constexpr int32_t kMaxUserFieldId = 2147483447;
inline constexpr std::string_view kDefaultCrs = "OGC:CRS84";
inline constexpr std::string_view kDefaultEdgeAlgorithm = "spherical";

// A column, a struct's field, a list's element, a map's key or value.
struct NestedField {
  int32_t id = 0;
  std::string name;
  TypePtr type;
  bool required = false;
  std::optional<std::string> doc;
  LiteralPtr initial_default;  // what rows written before the column was added have; nullptr: null
  LiteralPtr write_default;    // what writers put when no value is given; nullptr: null
  json::Object extra;          // members that the spec does not know, kept for the round trip

  // Ids, names, types, requiredness, docs, defaults, not `extra`.
  bool equals(const NestedField& other) const;
};

class Type {
 public:
  TypeKind kind() const { return kind_; }
  bool is_struct() const { return kind_ == TypeKind::kStruct; }
  bool is_list() const { return kind_ == TypeKind::kList; }
  bool is_map() const { return kind_ == TypeKind::kMap; }
  bool is_nested() const { return kind_ >= TypeKind::kStruct; }
  // Everything but struct, list, map and variant.
  bool is_primitive() const { return !is_nested() && kind_ != TypeKind::kVariant; }

  // Decimal.
  int32_t precision() const { return precision_; }
  int32_t scale() const { return scale_; }
  // Fixed: bytes.
  int32_t length() const { return length_; }
  // Geometry and geography: never empty, kDefaultCrs if the type did not say.
  const std::string& crs() const { return crs_; }
  // Geography: "spherical", "vincenty", "thomas", "andoyer", "karney".
  const std::string& algorithm() const { return algorithm_; }

  // Struct: all. List: {element}. Map: {key, value}. Others: none.
  std::span<const NestedField> fields() const { return fields_; }
  const NestedField& element() const { return fields_[0]; }  // requires a list
  const NestedField& key() const { return fields_[0]; }      // requires a map
  const NestedField& value() const { return fields_[1]; }    // requires a map
  // Struct: the field of that name or id at this level, or nullptr. Linear.
  const NestedField* find(std::string_view name) const;
  const NestedField* find(int32_t id) const;
  // Levels: 1 for what does not nest.
  int depth() const { return depth_; }

  bool equals(const Type& other) const;
  // The spec's notation: "decimal(9, 2)", "struct<1: a: required int, 2: b: optional list<3: optional string>>".
  std::string to_string() const;

 private:
  friend struct TypeMaker;
  TypeKind kind_ = TypeKind::kUnknown;
  int32_t precision_ = 0;
  int32_t scale_ = 0;
  int32_t length_ = 0;
  int depth_ = 1;
  std::string crs_;
  std::string algorithm_;
  std::vector<NestedField> fields_;
};

// Makers. Each throws Error(kInvalidArgument) if a parameter is outside of what the spec allows or nesting is too deep.
TypePtr primitive(TypeKind kind);                   // those without parameters, and variant; shared instances
TypePtr decimal(int32_t precision, int32_t scale);  // precision 1..38
TypePtr fixed(int32_t length);
TypePtr geometry(std::string crs = {});
TypePtr geography(std::string crs = {}, std::string algorithm = {});
TypePtr struct_(std::vector<NestedField> fields);
TypePtr list(int32_t element_id, TypePtr element, bool element_required);
TypePtr map(int32_t key_id, TypePtr key, int32_t value_id, TypePtr value, bool value_required);

// "int", "timestamptz_ns", "decimal", "struct", ...
std::string_view to_string(TypeKind kind);
// The format version that the kind needs: 1 or 3.
int minimum_format_version(TypeKind kind);

// The type of a text like "decimal(9,2)"; spaces inside the brackets and the letters' case do not matter. Throws
// CorruptError for anything else, Error(kUnsupported) for a name that a later version may have brought.
TypePtr parse_primitive(std::string_view text);
// From and to JSON. Reading throws CorruptError, which says what rule is broken, with the path of the field as context.
TypePtr type_from_json(const json::Value& value);
json::Value type_to_json(const Type& type);
NestedField field_from_json(const json::Value& value);
json::Value field_to_json(const NestedField& field);

}  // namespace frazil::spec
