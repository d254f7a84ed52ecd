#include "frazil/spec/schema.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/json_object.h"

namespace frazil::spec {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_text(std::string_view left, std::string_view right, NameCase name_case) {
  if (left.size() != right.size()) return false;
  if (name_case == NameCase::kSensitive) return left == right;
  return std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

// Finds the fields that a name can mean. A name with dots may be one field's own name or a path: all ways to cut it are
// tried, up to a number of steps that no honest schema reaches.
class NameSearch {
 public:
  explicit NameSearch(NameCase name_case) : name_case_(name_case) {}

  void search(const Type& type, std::string_view name) {
    size_t before = found_.size();
    for (const NestedField& field : type.fields()) {
      if (++steps_ > kMaxSteps) return;
      if (same_text(name, field.name, name_case_)) {
        found_.push_back(&field);
      } else if (name.size() > field.name.size() + 1 && name[field.name.size()] == '.' &&
                 same_text(name.substr(0, field.name.size()), field.name, name_case_)) {
        search(*field.type, name.substr(field.name.size() + 1));
      }
    }
    // Short names skip "element" and "value" of lists and maps of structs. The full names win: "m.value" is the map's
    // value, never a field "value" in it.
    if (found_.size() != before) return;
    if (type.is_list() && type.element().type->is_struct()) search(*type.element().type, name);
    if (type.is_map() && type.value().type->is_struct()) search(*type.value().type, name);
  }

  const std::vector<const NestedField*>& found() const { return found_; }

 private:
  static constexpr size_t kMaxSteps = 1 << 20;
  NameCase name_case_;
  size_t steps_ = 0;
  std::vector<const NestedField*> found_;
};

void check_names(const Type& type) {
  if (type.is_struct()) {
    std::unordered_set<std::string_view> names;
    names.reserve(type.fields().size());
    for (const NestedField& field : type.fields()) {
      if (!names.insert(field.name).second) {
        throw_error(ErrorKind::kInvalidArgument, "two fields of one struct have the name '{}'", field.name);
      }
    }
  }
  for (const NestedField& field : type.fields()) check_names(*field.type);
}

}  // namespace

void Schema::index(const Type& type, int32_t parent, std::vector<Entry>& found) {
  for (const NestedField& field : type.fields()) {
    found.push_back({field.id, parent, &field});
    if (field.type->is_nested()) index(*field.type, static_cast<int32_t>(found.size()) - 1, found);
  }
}

Schema::Schema(std::vector<NestedField> fields, int32_t schema_id, std::vector<int32_t> identifier_field_ids)
    : schema_id_(schema_id), root_(struct_(std::move(fields))), identifier_field_ids_(std::move(identifier_field_ids)) {
  check_names(*root_);
  std::vector<Entry> found;
  index(*root_, -1, found);

  // Sort by id, and let the parents point to the sorted places.
  std::vector<int32_t> order(found.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return found[a].id < found[b].id; });
  std::vector<int32_t> place(found.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int32_t>(i);
  entries_.reserve(found.size());
  for (int32_t i : order) {
    Entry each = found[i];
    if (each.parent >= 0) each.parent = place[each.parent];
    if (!entries_.empty() && entries_.back().id == each.id) {
      throw_error(ErrorKind::kInvalidArgument, "fields '{}' and '{}' have the same id {}", entries_.back().field->name,
                  each.field->name, each.id);
    }
    entries_.push_back(each);
  }

  for (int32_t id : identifier_field_ids_) {
    const Entry* found_entry = entry(id);
    if (found_entry == nullptr) {
      throw_error(ErrorKind::kInvalidArgument, "identifier field id {} is not in the schema", id);
    }
    const NestedField& field = *found_entry->field;
    if (!field.type->is_primitive() || field.type->kind() == TypeKind::kFloat ||
        field.type->kind() == TypeKind::kDouble) {
      throw_error(ErrorKind::kInvalidArgument, "field '{}' of type {} cannot be an identifier field", field.name,
                  field.type->to_string());
    }
    if (!field.required) {
      throw_error(ErrorKind::kInvalidArgument, "identifier field '{}' must be required", field.name);
    }
    for (int32_t up = found_entry->parent; up >= 0; up = entries_[up].parent) {
      const NestedField& around = *entries_[up].field;
      if (!around.type->is_struct() || !around.required) {
        throw_error(ErrorKind::kInvalidArgument, "identifier field '{}' must not be inside of '{}', which is {}",
                    field.name, around.name, around.type->is_struct() ? "optional" : "a list or map");
      }
    }
  }
}

const Schema::Entry* Schema::entry(int32_t id) const {
  auto place = std::lower_bound(entries_.begin(), entries_.end(), id,
                                [](const Entry& each, int32_t key) { return each.id < key; });
  return place == entries_.end() || place->id != id ? nullptr : &*place;
}

bool Schema::is_identifier(int32_t id) const {
  return std::find(identifier_field_ids_.begin(), identifier_field_ids_.end(), id) != identifier_field_ids_.end();
}

int32_t Schema::highest_field_id() const {
  return entries_.empty() ? 0 : entries_.back().id;
}

const NestedField* Schema::find(int32_t id) const {
  const Entry* found = entry(id);
  return found == nullptr ? nullptr : found->field;
}

const NestedField* Schema::find(std::string_view name, NameCase name_case) const {
  std::vector<const NestedField*> found;
  for (const NestedField& column : fields()) {
    if (column.name == name) return &column;
    if (same_text(name, column.name, name_case)) found.push_back(&column);
  }
  if (found.empty()) {
    NameSearch search(name_case);
    search.search(*root_, name);
    found = search.found();
  }
  if (found.empty()) return nullptr;
  if (found.size() == 1) return found.front();
  if (name_case == NameCase::kInsensitive) {
    NameSearch exact(NameCase::kSensitive);
    exact.search(*root_, name);
    if (exact.found().size() == 1) return exact.found().front();
  }
  throw_error(ErrorKind::kInvalidArgument, "name '{}' is ambiguous: '{}' (id {}) and '{}' (id {})", name,
              full_name(found[0]->id), found[0]->id, full_name(found[1]->id), found[1]->id);
}

std::string Schema::full_name(int32_t id) const {
  std::string name;
  for (const Entry* at = entry(id); at != nullptr; at = at->parent < 0 ? nullptr : &entries_[at->parent]) {
    name = name.empty() ? at->field->name : at->field->name + "." + name;
  }
  return name;
}

std::vector<int32_t> Schema::path(int32_t id) const {
  std::vector<int32_t> ids;
  for (const Entry* at = entry(id); at != nullptr; at = at->parent < 0 ? nullptr : &entries_[at->parent]) {
    ids.push_back(at->id);
  }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

const NestedField* Schema::parent(int32_t id) const {
  const Entry* found = entry(id);
  return found == nullptr || found->parent < 0 ? nullptr : entries_[found->parent].field;
}

bool Schema::same_fields(const Schema& other) const {
  return root_->equals(*other.root_) &&
         std::is_permutation(identifier_field_ids_.begin(), identifier_field_ids_.end(),
                             other.identifier_field_ids_.begin(), other.identifier_field_ids_.end());
}

std::string Schema::to_string() const {
  std::string text = "table {";
  for (const NestedField& field : fields()) {
    text += message("\n  {}: {}: {} {}", field.id, field.name, field.required ? "required" : "optional",
                    field.type->to_string());
    if (field.doc) text += message(" ({})", *field.doc);
  }
  return text + (fields().empty() ? "}" : "\n}");
}

SchemaPtr schema_from_json(const json::Value& value) {
  ObjectReader reader(value, "schema");
  int32_t schema_id = reader.optional_int("schema-id").value_or(0);
  std::vector<int32_t> identifiers;
  if (const json::Value* ids = reader.optional("identifier-field-ids")) {
    identifiers = reader.int_list(*ids, "identifier-field-ids");
  }
  try {
    TypePtr type = type_from_json(value);
    if (!type->is_struct()) throw_corrupt(CorruptError::kNoOffset, "schema: the type must be struct");
    reader.required("type");
    reader.required("fields");
    std::vector<NestedField> fields(type->fields().begin(), type->fields().end());
    auto schema = std::make_shared<Schema>(std::move(fields), schema_id, std::move(identifiers));
    schema->extra_ = reader.rest();
    return schema;
  } catch (CorruptError& error) {
    error.add_context(message("schema {}", schema_id));
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    throw_corrupt(CorruptError::kNoOffset, "schema {}: {}", schema_id, error.message());
  }
}

json::Value schema_to_json(const Schema& schema) {
  json::Object object;
  object.emplace_back("type", json::Value("struct"));
  object.emplace_back("schema-id", json::Value(int64_t{schema.schema_id()}));
  if (!schema.identifier_field_ids().empty()) {
    object.emplace_back("identifier-field-ids",
                        ints_to_json({schema.identifier_field_ids().begin(), schema.identifier_field_ids().end()}));
  }
  json::Array fields;
  fields.reserve(schema.fields().size());
  for (const NestedField& field : schema.fields()) fields.push_back(field_to_json(field));
  object.emplace_back("fields", json::Value(std::move(fields)));
  append_extra(object, schema.extra());
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
