#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/schema.h"

namespace frazil::spec {

namespace {

// `whole` fields are kept with all that is in them, `partly` those that have something to keep inside.
struct Wanted {
  std::unordered_set<int32_t> whole;
  std::unordered_set<int32_t> partly;

  bool keeps(int32_t id) const { return whole.contains(id) || partly.contains(id); }
};

NestedField prune(const NestedField& field, const Wanted& wanted);

TypePtr prune(const TypePtr& type, const Wanted& wanted) {
  switch (type->kind()) {
    case TypeKind::kStruct: {
      std::vector<NestedField> fields;
      for (const NestedField& field : type->fields()) {
        if (wanted.keeps(field.id)) fields.push_back(prune(field, wanted));
      }
      return struct_(std::move(fields));
    }
    case TypeKind::kList: {
      NestedField element = prune(type->element(), wanted);
      return list(element.id, element.type, element.required);
    }
    case TypeKind::kMap: {
      // Keys stay whole: half a key is no key. A map of which only the key was named keeps its values too.
      const NestedField& value = type->value();
      NestedField pruned = wanted.keeps(value.id) ? prune(value, wanted) : value;
      return map(type->key().id, type->key().type, value.id, pruned.type, value.required);
    }
    default:
      return type;
  }
}

NestedField prune(const NestedField& field, const Wanted& wanted) {
  NestedField pruned = field;
  if (!wanted.whole.contains(field.id)) pruned.type = prune(field.type, wanted);
  return pruned;
}

void want(const Schema& schema, int32_t id, Wanted& wanted) {
  std::vector<int32_t> path = schema.path(id);
  for (size_t i = 0; i + 1 < path.size(); ++i) wanted.partly.insert(path[i]);
  wanted.whole.insert(id);
}

SchemaPtr pruned_schema(const Schema& schema, const Wanted& wanted, std::span<const int32_t> column_order) {
  std::vector<NestedField> fields;
  fields.reserve(column_order.size());
  for (int32_t id : column_order) fields.push_back(prune(*schema.find(id), wanted));

  Schema without_identifiers(fields, schema.schema_id());
  std::vector<int32_t> identifiers;
  for (int32_t id : schema.identifier_field_ids()) {
    if (without_identifiers.find(id) != nullptr) identifiers.push_back(id);
  }
  return std::make_shared<const Schema>(std::move(fields), schema.schema_id(), std::move(identifiers));
}

size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j < row.size(); ++j) {
      size_t change = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[right.size()];
}

[[noreturn]] void throw_unknown(const Schema& schema, std::string_view name) {
  constexpr size_t kMaxCompared = 64;  // longer names are not typing errors of each other
  constexpr size_t kMaxCandidates = 1000;
  Error error(ErrorKind::kNotFound, message("column '{}' does not exist", name));
  std::string best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  size_t compared = 0;
  for (const NestedField& column : schema.fields()) {
    if (++compared > kMaxCandidates || name.size() > kMaxCompared) break;
    if (column.name.size() > kMaxCompared) continue;
    size_t distance = edit_distance(name, column.name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = column.name;
  }
  if (!best.empty()) error.set_hint(message("did you mean '{}'?", best));
  throw error;
}

}  // namespace

SchemaPtr select_columns(const Schema& schema, std::span<const std::string> names, NameCase name_case) {
  Wanted wanted;
  std::vector<int32_t> column_order;
  std::unordered_set<int32_t> ordered;
  for (const std::string& name : names) {
    const NestedField* field = schema.find(name, name_case);
    if (field == nullptr) throw_unknown(schema, name);
    want(schema, field->id, wanted);
    int32_t column = schema.path(field->id).front();
    if (ordered.insert(column).second) column_order.push_back(column);
  }
  return pruned_schema(schema, wanted, column_order);
}

SchemaPtr select_fields(const Schema& schema, std::span<const int32_t> ids) {
  Wanted wanted;
  for (int32_t id : ids) {
    if (schema.find(id) == nullptr) throw_error(ErrorKind::kNotFound, "field id {} does not exist", id);
    want(schema, id, wanted);
  }
  std::vector<int32_t> column_order;
  for (const NestedField& column : schema.fields()) {
    if (wanted.keeps(column.id)) column_order.push_back(column.id);
  }
  return pruned_schema(schema, wanted, column_order);
}

}  // namespace frazil::spec
