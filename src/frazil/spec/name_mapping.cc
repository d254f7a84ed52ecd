#include "frazil/spec/name_mapping.h"

#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/spec/json_object.h"

namespace frazil::spec {

namespace {

void check(std::span<const MappedField> fields, std::unordered_set<int32_t>& ids) {
  std::unordered_set<std::string_view> names;
  for (const MappedField& field : fields) {
    for (const std::string& name : field.names) {
      if (!names.insert(name).second) {
        throw_error(ErrorKind::kInvalidArgument, "name mapping: the name '{}' is mapped twice at one level", name);
      }
    }
    if (field.field_id && !ids.insert(*field.field_id).second) {
      throw_error(ErrorKind::kInvalidArgument, "name mapping: the field id {} is mapped twice", *field.field_id);
    }
    check(field.fields, ids);
  }
}

std::vector<MappedField> fields_from_json(const json::Value& value, int depth) {
  if (depth > kMaxTypeDepth) {
    throw_corrupt(CorruptError::kNoOffset, "name mapping: nested deeper than {} levels", kMaxTypeDepth);
  }
  if (value.kind() != json::Value::Kind::kArray) {
    throw_corrupt(CorruptError::kNoOffset, "name mapping: expected a JSON array");
  }
  std::vector<MappedField> fields;
  fields.reserve(value.as_array().size());
  for (const json::Value& item : value.as_array()) {
    ObjectReader reader(item, "name mapping");
    MappedField field;
    field.field_id = reader.optional_int("field-id");
    for (const json::Value& name : reader.required_array("names")) field.names.push_back(name.as_string());
    if (const json::Value* nested = reader.optional("fields")) field.fields = fields_from_json(*nested, depth + 1);
    fields.push_back(std::move(field));
  }
  return fields;
}

json::Value fields_to_json(std::span<const MappedField> fields) {
  json::Array items;
  items.reserve(fields.size());
  for (const MappedField& field : fields) {
    json::Object item;
    if (field.field_id) item.emplace_back("field-id", json::Value(int64_t{*field.field_id}));
    json::Array names;
    for (const std::string& name : field.names) names.emplace_back(name);
    item.emplace_back("names", json::Value(std::move(names)));
    if (!field.fields.empty()) item.emplace_back("fields", fields_to_json(field.fields));
    items.emplace_back(std::move(item));
  }
  return json::Value(std::move(items));
}

std::vector<MappedField> mapped(std::span<const NestedField> fields) {
  std::vector<MappedField> result;
  result.reserve(fields.size());
  for (const NestedField& field : fields) {
    result.push_back({field.id, {field.name}, mapped(field.type->fields())});
  }
  return result;
}

}  // namespace

NameMapping::NameMapping(std::vector<MappedField> fields) : fields_(std::move(fields)) {
  std::unordered_set<int32_t> ids;
  check(fields_, ids);
}

const MappedField* NameMapping::find(std::span<const MappedField> siblings, std::string_view name) {
  for (const MappedField& field : siblings) {
    for (const std::string& each : field.names) {
      if (each == name) return &field;
    }
  }
  return nullptr;
}

const MappedField* NameMapping::find(std::span<const std::string> path) const {
  const MappedField* found = nullptr;
  std::span<const MappedField> level = fields_;
  for (const std::string& name : path) {
    found = find(level, name);
    if (found == nullptr) return nullptr;
    level = found->fields;
  }
  return found;
}

NameMapping name_mapping_from_json(const json::Value& value) {
  try {
    return NameMapping(fields_from_json(value, 1));
  } catch (const CorruptError&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    throw_corrupt(CorruptError::kNoOffset, "{}", error.message());
  }
}

NameMapping parse_name_mapping(std::string_view text) {
  json::ParseOptions options;
  options.max_depth = 2 * kMaxTypeDepth + 2;
  return name_mapping_from_json(json::parse(text, options));
}

json::Value name_mapping_to_json(const NameMapping& mapping) {
  return fields_to_json(mapping.fields());
}

NameMapping make_name_mapping(const Schema& schema) {
  return NameMapping(mapped(schema.fields()));
}

}  // namespace frazil::spec
