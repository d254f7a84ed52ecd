#include "frazil/write/stored_fields.h"

#include <memory>
#include <utility>
#include <vector>

#include "frazil/spec/arrow_schema.h"

namespace frazil::write {

namespace {

bool is_unknown(const spec::NestedField& field) {
  return field.type->kind() == spec::TypeKind::kUnknown;
}

// Of a struct, the places of the fields that are stored.
std::vector<size_t> stored_places(const spec::Type& type) {
  std::vector<size_t> places;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (!is_unknown(type.fields()[i])) places.push_back(i);
  }
  if (places.empty() && !type.fields().empty()) places.push_back(0);
  return places;
}

}  // namespace

spec::TypePtr stored_type(const spec::TypePtr& type) {
  if (!type->is_nested()) return type;
  if (type->is_list()) {
    const spec::NestedField& element = type->element();
    spec::TypePtr stored = stored_type(element.type);
    return stored == element.type ? type : spec::list(element.id, std::move(stored), element.required);
  }
  if (type->is_map()) {
    const spec::NestedField& key = type->key();
    const spec::NestedField& value = type->value();
    spec::TypePtr stored_key = stored_type(key.type);
    spec::TypePtr stored_value = stored_type(value.type);
    if (stored_key == key.type && stored_value == value.type) return type;
    return spec::map(key.id, std::move(stored_key), value.id, std::move(stored_value), value.required);
  }
  bool is_same = true;
  std::vector<spec::NestedField> fields;
  for (const size_t place : stored_places(*type)) {
    spec::NestedField& field = fields.emplace_back(type->fields()[place]);
    spec::TypePtr stored = stored_type(field.type);
    is_same = is_same && stored == field.type;
    field.type = std::move(stored);
  }
  is_same = is_same && fields.size() == type->fields().size();
  return is_same ? type : spec::struct_(std::move(fields));
}

ArrayPtr stored_array(const Array& array, const spec::Type& type, const DataTypePtr& stored) {
  auto result = std::make_shared<Array>(array);
  if (!type.is_nested()) return result;
  result->type = stored;
  const auto child = [](const Array& parent, size_t place, const spec::NestedField& field, const DataType& of_parent,
                        size_t stored_place) {
    return stored_array(*parent.children[place], *field.type, of_parent.children()[stored_place].type);
  };
  result->children.clear();
  if (type.is_map()) {
    const DataTypePtr& entries_type = stored->children()[0].type;
    auto entries = std::make_shared<Array>(*array.children[0]);
    entries->type = entries_type;
    entries->children.clear();
    for (size_t i = 0; i < 2; ++i) {
      entries->children.push_back(child(*array.children[0], i, type.fields()[i], *entries_type, i));
    }
    result->children.push_back(std::move(entries));
  } else if (type.is_list()) {
    result->children.push_back(child(array, 0, type.element(), *stored, 0));
  } else {
    for (const size_t place : stored_places(type)) {
      result->children.push_back(child(array, place, type.fields()[place], *stored, result->children.size()));
    }
  }
  return result;
}

}  // namespace frazil::write
