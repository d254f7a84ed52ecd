#include "frazil/spec/bind_fields.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/spec/source_ids.h"
#include "frazil/spec/table_update.h"

namespace frazil::spec {

namespace {

template <typename... Args>
[[noreturn]] void refuse(std::string_view format, const Args&... args) {
  throw Error(ErrorKind::kInvalidArgument, message(format, args...));
}

// `what` begins the sentence: "partition field 'x'".
void check_term(const std::string& what, const Transform& transform, const std::vector<int32_t>& source_ids,
                const Schema& schema) {
  if (source_ids.size() != 1) refuse("{}: transforms of several columns cannot be written", what);
  if (transform.is_unknown()) refuse("{}: the transform '{}' is not known", what, transform.to_string());
  const int32_t source_id = source_ids.front();
  const NestedField* source = schema.find(source_id);
  if (source == nullptr) refuse("{}: the schema has no field with the id {}", what, source_id);
  if (!source->type->is_primitive()) {
    refuse("{}: '{}' of type {} is not primitive", what, schema.full_name(source_id), source->type->to_string());
  }
  for (const NestedField* up = schema.parent(source_id); up != nullptr; up = schema.parent(up->id)) {
    if (!up->type->is_struct()) {
      refuse("{}: '{}' is inside of a list or map", what, schema.full_name(source_id));
    }
  }
  if (!transform.can_transform(*source->type)) {
    refuse("{}: {} does not take the type {} of '{}'", what, transform.to_string(), source->type->to_string(),
           schema.full_name(source_id));
  }
}

std::string describe(const PartitionField& field) {
  return message("partition field '{}'", excerpt(field.name));
}

bool same_field(const PartitionField& left, const PartitionField& right) {
  return left.source_ids == right.source_ids && left.transform == right.transform && left.name == right.name;
}

}  // namespace

void check_new_spec(const PartitionSpec& spec, const Schema& schema) {
  std::unordered_set<std::string_view> names;
  std::unordered_set<std::string> terms;
  for (const PartitionField& field : spec.fields) {
    if (field.name.empty()) refuse("a partition field has no name");
    check_term(describe(field), field.transform, field.source_ids, schema);
    if (!names.insert(field.name).second) refuse("{} is there twice", describe(field));
    const bool keeps_value = field.transform.kind() == TransformKind::kIdentity || field.transform.is_void();
    const NestedField* column = schema.find(field.name);
    if (column != nullptr && !(keeps_value && column->id == field.source_id())) {
      refuse("{} has the name of a column: give it another", describe(field));
    }
    std::string term = describe_term(field.transform, field.source_ids, schema);
    if (!field.transform.is_void() && !terms.insert(term).second) {
      refuse("the table would be partitioned by {} twice", term);
    }
  }
}

void check_new_sort_order(const SortOrder& order, const Schema& schema) {
  std::unordered_set<std::string> terms;
  for (const SortField& field : order.fields) {
    check_term("sort field", field.transform, field.source_ids, schema);
    std::string term = describe_term(field.transform, field.source_ids, schema);
    if (!terms.insert(term).second) refuse("the table would be sorted by {} twice", term);
  }
}

int32_t assign_field_ids(PartitionSpec& spec, std::span<const PartitionSpec> older, int32_t last_id,
                         int format_version) {
  if (format_version == 1) {
    int32_t place = kFirstPartitionFieldId;
    for (PartitionField& field : spec.fields) {
      if (field.field_id != kUnassignedFieldId && field.field_id != place) {
        refuse("{} must have the id {} in format version 1, not {}", describe(field), place, field.field_id);
      }
      field.field_id = place++;
    }
    return std::max(last_id, place - 1);
  }

  std::unordered_set<int32_t> used;
  for (const PartitionField& field : spec.fields) {
    if (field.field_id == kUnassignedFieldId) continue;
    if (field.field_id < 0) refuse("{} has the id {}", describe(field), field.field_id);
    if (!used.insert(field.field_id).second) refuse("two partition fields have the id {}", field.field_id);
    last_id = std::max(last_id, field.field_id);
    for (const PartitionSpec& other : older) {
      const PartitionField* had = other.find(field.field_id);
      if (had != nullptr && had->source_ids != field.source_ids) {
        refuse("{} has the id {}, which partition spec {} gave to '{}'", describe(field), field.field_id, other.spec_id,
               had->name);
      }
    }
  }
  for (PartitionField& field : spec.fields) {
    for (size_t i = 0; field.field_id == kUnassignedFieldId && i < older.size(); ++i) {
      for (const PartitionField& had : older[i].fields) {
        if (!same_field(had, field) || !used.insert(had.field_id).second) continue;
        field.field_id = had.field_id;
        break;
      }
    }
    if (field.field_id != kUnassignedFieldId) continue;
    if (last_id >= kMaxUserFieldId) refuse("there are no partition field ids left");
    field.field_id = ++last_id;
  }
  return last_id;
}

}  // namespace frazil::spec
