#include "frazil/spec/partition_spec.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/base/percent_encoding.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/source_ids.h"

namespace frazil::spec {

namespace {

PartitionField field_from_json(const json::Value& value, std::optional<int32_t> given_id) {
  ObjectReader reader(value, "partition field");
  PartitionField field;
  field.name = reader.required_string("name");
  field.transform = Transform::parse(reader.required_string("transform"));
  field.source_ids = read_source_ids(reader, "partition field");
  field.field_id = given_id ? *given_id : reader.required_int("field-id");
  field.extra = reader.rest();
  return field;
}

std::vector<PartitionField> fields_from_json(const json::Value& value) {
  if (value.kind() != json::Value::Kind::kArray) {
    throw_corrupt(CorruptError::kNoOffset, "partition spec: expected a JSON array of fields");
  }
  const json::Array& items = value.as_array();
  // v1 writers had no ids: either all fields have one, or they are numbered from 1000 on.
  size_t with_id = 0;
  for (const json::Value& item : items) with_id += ObjectReader(item, "partition field").has("field-id") ? 1 : 0;
  std::vector<PartitionField> fields;
  fields.reserve(items.size());
  for (const json::Value& item : items) {
    std::optional<int32_t> given_id;
    if (with_id == 0) given_id = kFirstPartitionFieldId + static_cast<int32_t>(fields.size());
    fields.push_back(field_from_json(item, given_id));
  }
  std::unordered_set<int32_t> ids;
  std::unordered_set<std::string_view> names;
  for (const PartitionField& field : fields) {
    if (!ids.insert(field.field_id).second) {
      throw_corrupt(CorruptError::kNoOffset, "partition spec: two fields have the id {}", field.field_id);
    }
    if (!names.insert(field.name).second) {
      throw_corrupt(CorruptError::kNoOffset, "partition spec: two fields have the name '{}'", field.name);
    }
  }
  return fields;
}

template <typename T>
bool same_sign(const Literal& left, const Literal& right) {
  const auto* value = std::get_if<T>(&left.value());
  return value == nullptr || std::isnan(*value) || std::signbit(*value) == std::signbit(right.as<T>());
}

}  // namespace

bool same_partition(std::span<const Literal> left, std::span<const Literal> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Literal& a, const Literal& b) {
    return a == b && same_sign<float>(a, b) && same_sign<double>(a, b);
  });
}

bool PartitionField::operator==(const PartitionField& other) const {
  return source_ids == other.source_ids && field_id == other.field_id && name == other.name &&
         transform == other.transform;
}

bool PartitionSpec::is_unpartitioned() const {
  return std::all_of(fields.begin(), fields.end(),
                     [](const PartitionField& field) { return field.transform.is_void(); });
}

int32_t PartitionSpec::highest_field_id() const {
  int32_t highest = kFirstPartitionFieldId - 1;
  for (const PartitionField& field : fields) highest = std::max(highest, field.field_id);
  return highest;
}

const PartitionField* PartitionSpec::find(int32_t field_id) const {
  for (const PartitionField& field : fields) {
    if (field.field_id == field_id) return &field;
  }
  return nullptr;
}

TypePtr PartitionSpec::partition_type(const Schema& schema) const {
  std::vector<NestedField> types;
  types.reserve(fields.size());
  for (const PartitionField& field : fields) {
    NestedField type;
    type.id = field.field_id;
    type.name = field.name;
    const NestedField* source = field.is_opaque() ? nullptr : schema.find(field.source_id());
    type.type = field.is_opaque() ? primitive(TypeKind::kUnknown)
                                  : field.transform.result_type(source == nullptr ? nullptr : source->type);
    types.push_back(std::move(type));
  }
  return struct_(std::move(types));
}

std::string PartitionSpec::to_string(const Schema& schema) const {
  std::string text;
  for (const PartitionField& field : fields) {
    if (!text.empty()) text += ", ";
    text += describe_term(field.transform, field.source_ids, schema);
  }
  return text.empty() ? "unpartitioned" : text;
}

bool PartitionSpec::operator==(const PartitionSpec& other) const {
  return spec_id == other.spec_id && fields == other.fields;
}

std::string partition_path(const PartitionSpec& spec, std::span<const Literal> values) {
  if (values.size() != spec.fields.size()) {
    throw_error(ErrorKind::kInvalidArgument, "partition spec {} has {} fields, not {}", spec.spec_id,
                spec.fields.size(), values.size());
  }
  std::string path;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) path += '/';
    path += encode_percent(spec.fields[i].name, PercentStyle::kForm);
    path += '=';
    path += encode_percent(spec.fields[i].transform.human_string(values[i]), PercentStyle::kForm);
  }
  return path;
}

PartitionSpec partition_spec_from_json(const json::Value& value) {
  ObjectReader reader(value, "partition spec");
  PartitionSpec spec;
  spec.spec_id = reader.required_int("spec-id");
  try {
    spec.fields = fields_from_json(reader.required("fields"));
  } catch (Error& error) {
    error.add_context(message("partition spec {}", spec.spec_id));
    throw;
  }
  spec.extra = reader.rest();
  return spec;
}

PartitionSpec partition_spec_from_fields_json(const json::Value& fields, int32_t spec_id) {
  PartitionSpec spec;
  spec.spec_id = spec_id;
  spec.fields = fields_from_json(fields);
  return spec;
}

json::Value partition_fields_to_json(const PartitionSpec& spec) {
  json::Array items;
  items.reserve(spec.fields.size());
  for (const PartitionField& field : spec.fields) {
    json::Object item;
    item.emplace_back("name", json::Value(field.name));
    item.emplace_back("transform", json::Value(field.transform.to_string()));
    write_source_ids(item, field.source_ids);
    item.emplace_back("field-id", json::Value(int64_t{field.field_id}));
    append_extra(item, field.extra);
    items.emplace_back(std::move(item));
  }
  return json::Value(std::move(items));
}

json::Value partition_spec_to_json(const PartitionSpec& spec) {
  json::Object object;
  object.emplace_back("spec-id", json::Value(int64_t{spec.spec_id}));
  object.emplace_back("fields", partition_fields_to_json(spec));
  append_extra(object, spec.extra);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
