// A table's schema: a struct with an id, and the names and ids of everything in it (spec, "Schemas", "Appendix C").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/type.h"

namespace frazil::spec {

class Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

// How names are compared: exactly, or with the letters A-Z and a-z taken as equal.
enum class NameCase : uint8_t { kSensitive, kInsensitive };

// Immutable. Pointers to fields that it gives live as long as any copy of it.
class Schema {
 public:
  // Throws Error(kInvalidArgument) if two fields have one id, two fields of one struct have one name, or an identifier
  // field is missing, optional, nested in a list, map or optional struct, or of type float, double, or not primitive.
  explicit Schema(std::vector<NestedField> fields, int32_t schema_id = 0,
                  std::vector<int32_t> identifier_field_ids = {});

  int32_t schema_id() const { return schema_id_; }
  // The columns.
  std::span<const NestedField> fields() const { return root_->fields(); }
  const TypePtr& as_struct() const { return root_; }
  std::span<const int32_t> identifier_field_ids() const { return identifier_field_ids_; }
  bool is_identifier(int32_t id) const;
  // Of any level; 0 if there are no fields.
  int32_t highest_field_id() const;

  // The field of any level, or nullptr. O(log n).
  const NestedField* find(int32_t id) const;
  // By name: a column, or a path with dots: "point.x", "tags.element", "points.element.x" or "points.x" for the field
  // of a struct in a list, "scores.key", "scores.value.x" or "scores.x" for one in a map's values. Names that have dots
  // themselves are found too. A column whose whole name fits comes first. Throws Error(kInvalidArgument) if several
  // fields fit. Linear in the fields on the way.
  const NestedField* find(std::string_view name, NameCase name_case = NameCase::kSensitive) const;
  // "points.element.x"; empty if there is no such field.
  std::string full_name(int32_t id) const;
  // The ids from the column down to the field itself; empty if there is no such field.
  std::vector<int32_t> path(int32_t id) const;
  // The struct, list or map field that holds field `id`, or nullptr for columns and unknown ids.
  const NestedField* parent(int32_t id) const;

  // Fields, their types and identifier fields; the schema id does not matter.
  bool same_fields(const Schema& other) const;
  // "table {\n  1: id: required long\n}", as Iceberg prints schemas.
  std::string to_string() const;

  const json::Object& extra() const { return extra_; }

 private:
  friend SchemaPtr schema_from_json(const json::Value& value);
  struct Entry {
    int32_t id;
    int32_t parent;  // index in entries_ of the field that holds it, -1: the schema
    const NestedField* field;
  };
  const Entry* entry(int32_t id) const;
  void index(const Type& type, int32_t parent, std::vector<Entry>& found);

  int32_t schema_id_;
  TypePtr root_;
  std::vector<int32_t> identifier_field_ids_;
  std::vector<Entry> entries_;  // by id
  json::Object extra_;
};

// Throws CorruptError with the rule that is broken. A missing schema-id is 0, as v1 has it.
SchemaPtr schema_from_json(const json::Value& value);
json::Value schema_to_json(const Schema& schema);

// The schema with only what `names` ask for (Schema::find tells how names are found): columns in the order in which
// they are named first, nested fields in the order of the table. A nested name keeps its structs, lists and maps around
// it ("points.x" gives list<struct<x>>); naming a struct keeps all of it. Keys of a map are always kept whole. The schema
// id stays; identifier fields that are gone are left out. Throws Error(kNotFound) for an unknown name, with a hint if
// one is near it.
SchemaPtr select_columns(const Schema& schema, std::span<const std::string> names,
                         NameCase name_case = NameCase::kSensitive);
// The same by field ids, in the order of the table.
SchemaPtr select_fields(const Schema& schema, std::span<const int32_t> ids);

}  // namespace frazil::spec
