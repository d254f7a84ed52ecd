// Name mapping: field ids for data files that have none (spec, "Column Projection", "Name Mapping Serialization"). It
// is the table property "schema.name-mapping.default".
//
//   mapping := [ {"field-id"?: I, "names": [S...], "fields"?: mapping} ... ]
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/schema.h"

namespace frazil::spec {

inline constexpr std::string_view kNameMappingProperty = "schema.name-mapping.default";

struct MappedField {
  std::optional<int32_t> field_id;  // absent: the names are known to belong to no field
  std::vector<std::string> names;
  std::vector<MappedField> fields;  // list: "element"; map: "key", "value"; struct: its fields
};

class NameMapping {
 public:
  NameMapping() = default;
  // Throws Error(kInvalidArgument) if two fields of one level share a name, or two have one id.
  explicit NameMapping(std::vector<MappedField> fields);

  std::span<const MappedField> fields() const { return fields_; }
  // By names from the column down, as in a data file: {"points", "element", "x"}. nullptr if not mapped.
  const MappedField* find(std::span<const std::string> path) const;
  // Of one level: the field among `siblings` that has the name, or nullptr.
  static const MappedField* find(std::span<const MappedField> siblings, std::string_view name);

 private:
  std::vector<MappedField> fields_;
};

// The text of the property. Throws CorruptError.
NameMapping parse_name_mapping(std::string_view text);
NameMapping name_mapping_from_json(const json::Value& value);
json::Value name_mapping_to_json(const NameMapping& mapping);
// The mapping that gives each field its own name, as writers store it when a table takes in files without ids.
NameMapping make_name_mapping(const Schema& schema);

}  // namespace frazil::spec
