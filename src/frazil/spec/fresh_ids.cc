#include <utility>
#include <vector>

#include "frazil/base/checked.h"
#include "frazil/base/error.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/new_table.h"

namespace frazil::spec {

namespace {

// Numbers as Iceberg Java's TypeUtil.assignFreshIds does: all fields of a struct, then what is inside of each; a list's
// element before what is in it, a map's key and value before what is in them.
class FreshIds {
 public:
  explicit FreshIds(int32_t first_id) : next_(first_id) {}

  TypePtr renumber(const TypePtr& type) {
    if (type->is_struct()) return struct_(renumber_fields(type->fields()));
    if (type->is_list()) {
      const int32_t id = take();
      return list(id, renumber(type->element().type), type->element().required);
    }
    if (type->is_map()) {
      const int32_t key_id = take();
      const int32_t value_id = take();
      TypePtr key = renumber(type->key().type);
      return map(key_id, std::move(key), value_id, renumber(type->value().type), type->value().required);
    }
    return type;
  }

  std::vector<NestedField> renumber_fields(std::span<const NestedField> fields) {
    std::vector<NestedField> renumbered(fields.begin(), fields.end());
    for (NestedField& field : renumbered) {
      changed_.emplace_back(field.id, next_);
      field.id = take();
    }
    for (NestedField& field : renumbered) {
      const TypePtr old = field.type;
      field.type = renumber(old);
      if (field.type == old) continue;
      field.initial_default = retyped(field.initial_default, field.type);
      field.write_default = retyped(field.write_default, field.type);
    }
    return renumbered;
  }

  // Of a struct's field. Lists and maps give their parts no names to be identifiers by.
  int32_t new_id(int32_t old_id) const {
    for (const auto& [from, to] : changed_) {
      if (from == old_id) return to;
    }
    throw_error(ErrorKind::kInvalidArgument, "identifier field id {} is not in the schema", old_id);
  }

 private:
  int32_t take() {
    if (next_ > kMaxUserFieldId) throw_error(ErrorKind::kInvalidArgument, "the schema has too many fields");
    return next_++;
  }

  static LiteralPtr retyped(const LiteralPtr& value, const TypePtr& type) {
    return value == nullptr ? nullptr : std::make_shared<const Literal>(retyped(*value, type));
  }
  // A default of a nested type holds the types of its parts.
  static Literal retyped(const Literal& value, const TypePtr& type) {
    if (value.is_null() || !type->is_nested()) return Literal(type, value.value());
    if (type->is_map()) {
      const auto& old = value.as<LiteralMap>();
      LiteralMap map;
      for (const Literal& key : old.keys) map.keys.push_back(retyped(key, type->key().type));
      for (const Literal& each : old.values) map.values.push_back(retyped(each, type->value().type));
      return Literal(type, std::move(map));
    }
    std::vector<Literal> parts;
    const auto& old = value.as<std::vector<Literal>>();
    for (size_t i = 0; i < old.size(); ++i) {
      parts.push_back(retyped(old[i], type->is_list() ? type->element().type : type->fields()[i].type));
    }
    return Literal(type, std::move(parts));
  }

  int32_t next_;
  std::vector<std::pair<int32_t, int32_t>> changed_;
};

}  // namespace

SchemaPtr with_fresh_ids(const Schema& schema, int32_t first_id) {
  FreshIds ids(first_id);
  std::vector<NestedField> fields = ids.renumber_fields(schema.fields());
  std::vector<int32_t> identifiers;
  for (int32_t id : schema.identifier_field_ids()) identifiers.push_back(ids.new_id(id));
  return std::make_shared<const Schema>(std::move(fields), 0, std::move(identifiers));
}

}  // namespace frazil::spec
