#include "frazil/spec/write_defaults.h"

#include <algorithm>
#include <span>

#include "frazil/spec/literal.h"

namespace frazil::spec {

namespace {

bool has_default(const NestedField& field) {
  return field.write_default != nullptr || std::ranges::any_of(field.type->fields(), has_default);
}

void add_defaults(json::Value& value, const Type& type);

void add_to_members(json::Value& object, std::span<const NestedField> fields) {
  for (const NestedField& field : fields) {
    if (json::Value* member = object.find(field.name)) {
      add_defaults(*member, *field.type);
    } else if (field.write_default != nullptr) {
      object.as_object().emplace_back(field.name, literal_to_json(*field.write_default));
    }
  }
}

void add_to_items(json::Value& items, const Type& type) {
  for (json::Value& item : items.as_array()) add_defaults(item, type);
}

// Either form: {"keys": [..], "values": [..]}, or the keys as names.
void add_to_entries(json::Value& map, const Type& type) {
  json::Value* keys = map.find("keys");
  json::Value* values = map.find("values");
  if (map.as_object().size() == 2 && keys != nullptr && keys->is_array() && values != nullptr && values->is_array()) {
    add_to_items(*keys, *type.key().type);
    add_to_items(*values, *type.value().type);
  } else {
    for (auto& [name, value] : map.as_object()) add_defaults(value, *type.value().type);
  }
}

void add_defaults(json::Value& value, const Type& type) {
  if (type.is_struct() && value.is_object()) add_to_members(value, type.fields());
  if (type.is_list() && value.is_array()) add_to_items(value, *type.element().type);
  if (type.is_map() && value.is_object()) add_to_entries(value, type);
}

}  // namespace

bool has_write_defaults(const Schema& schema) {
  return std::ranges::any_of(schema.fields(), has_default);
}

void add_write_defaults(json::Value& row, const Schema& schema) {
  add_to_members(row, schema.fields());
}

}  // namespace frazil::spec
