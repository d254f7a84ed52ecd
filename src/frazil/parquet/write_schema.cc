#include "frazil/parquet/write_schema.h"

#include <charconv>
#include <cstdint>

#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

constexpr std::string_view kFieldIdKey = "PARQUET:field_id";

std::optional<int32_t> field_id_of(const Field& field, const std::string& column) {
  const std::optional<std::string_view> text = find_metadata(field.metadata, kFieldIdKey);
  if (!text) return std::nullopt;
  int32_t id = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), id);
  if (error != std::errc() || end != text->data() + text->size()) {
    throw_error(ErrorKind::kInvalidArgument, "column '{}' has the field id '{}', which is no number", column, *text);
  }
  return id;
}

// What dictionaries and runs stand for.
const DataTypePtr& value_type(const DataTypePtr& type) {
  const DataTypePtr* at = &type;
  for (;;) {
    if ((*at)->id() == TypeId::kDictionary) {
      at = &(*at)->value_type();
    } else if ((*at)->id() == TypeId::kRunEndEncoded) {
      at = &(*at)->children()[1].type;
    } else {
      return *at;
    }
  }
}

}  // namespace

// Appends nodes depth first. Recursion is bounded by kMaxTypeDepth.
class WriteSchema::Maker {
 public:
  explicit Maker(WriteSchema& schema) : schema_(schema) {}

  void make() {
    begin_group("schema", Repetition::kRequired, {});
    for (const Field& field : schema_.arrow_schema_->fields()) {
      schema_.column_nodes_.push_back(static_cast<uint32_t>(schema_.nodes_.size()));
      add(field, field.name, field.nullable);
    }
    end_group();
  }

 private:
  SchemaNode& node(uint32_t index) { return schema_.nodes_[index]; }

  uint32_t begin_node(std::string_view name, Repetition repetition, std::optional<int32_t> field_id) {
    const auto index = static_cast<uint32_t>(schema_.nodes_.size());
    SchemaNode made;
    made.name = schema_.names_.emplace_back(name);
    made.field_id = field_id;
    made.repetition = repetition;
    made.first_leaf = static_cast<uint32_t>(schema_.leaf_nodes_.size());
    if (!open_.empty()) {
      SchemaNode& parent = node(open_.back());
      ++parent.child_count;
      made.parent = open_.back();
      made.max_definition = static_cast<uint8_t>(parent.max_definition + (repetition != Repetition::kRequired));
      made.max_repetition = static_cast<uint8_t>(parent.max_repetition + (repetition == Repetition::kRepeated));
    }
    schema_.nodes_.push_back(made);
    return index;
  }

  void begin_group(std::string_view name, Repetition repetition, std::optional<int32_t> field_id,
                   Kind annotation = Kind::kNone) {
    const uint32_t index = begin_node(name, repetition, field_id);
    node(index).is_group = true;
    node(index).logical.kind = annotation;
    open_.push_back(index);
    if (open_.size() > kMaxSchemaDepth) {
      throw_error(ErrorKind::kUnsupported, "column '{}' nests more than {} groups", schema_.column_name(open_[1]),
                  kMaxSchemaDepth);
    }
  }

  void end_group() {
    SchemaNode& group = node(open_.back());
    group.subtree_size = static_cast<uint32_t>(schema_.nodes_.size()) - open_.back();
    group.leaf_count = static_cast<uint32_t>(schema_.leaf_nodes_.size()) - group.first_leaf;
    open_.pop_back();
  }

  std::string column_name(std::string_view name) const {
    const std::string above = schema_.column_name(open_.back());
    return above.empty() ? std::string(name) : above + "." + std::string(name);
  }

  void add(const Field& field, std::string_view name, bool nullable) {
    const DataTypePtr& type = value_type(field.type);
    const std::string column = column_name(name);
    const std::optional<int32_t> id = field_id_of(field, column);
    const Repetition repetition =
        nullable || type->id() == TypeId::kNull ? Repetition::kOptional : Repetition::kRequired;
    if (type->id() == TypeId::kMap) {
      begin_group(name, repetition, id, Kind::kMap);
      begin_group("key_value", Repetition::kRepeated, {});
      const std::vector<Field>& entry = type->children()[0].type->children();
      add(entry[0], "key", false);
      add(entry[1], "value", entry[1].nullable);
      end_group();
      end_group();
    } else if (is_list(type->id())) {
      begin_group(name, repetition, id, Kind::kList);
      begin_group("list", Repetition::kRepeated, {});
      add(type->children()[0], "element", type->children()[0].nullable);
      end_group();
      end_group();
    } else if (type->id() == TypeId::kStruct) {
      if (type->children().empty()) {
        throw_error(ErrorKind::kUnsupported, "column '{}' is a struct without fields, which Parquet does not have",
                    column);
      }
      const bool is_variant = field.extension_name() == "arrow.parquet.variant";
      begin_group(name, repetition, id, is_variant ? Kind::kVariant : Kind::kNone);
      for (const Field& child : type->children()) add(child, child.name, child.nullable);
      end_group();
    } else {
      add_leaf(field, type, name, repetition, id, column);
    }
  }

  void add_leaf(const Field& field, const DataTypePtr& type, std::string_view name, Repetition repetition,
                std::optional<int32_t> id, const std::string& column) {
    LeafDescription leaf;
    leaf.file_type = leaf_type({.name = column, .type = type, .metadata = field.metadata});
    leaf.field_id = id;
    leaf.type = type;
    const uint32_t index = begin_node(name, repetition, id);
    SchemaNode& made = node(index);
    made.type = leaf.file_type.physical;
    made.type_length = leaf.file_type.type_length;
    made.logical = leaf.file_type.logical;
    made.leaf_count = 1;
    leaf.max_definition = made.max_definition;
    leaf.max_repetition = made.max_repetition;
    leaf.is_required = made.repetition == Repetition::kRequired;
    leaf.is_dictionary = field.type->id() == TypeId::kDictionary;
    schema_.leaf_nodes_.push_back(index);
    schema_.leaves_.push_back(std::move(leaf));
  }

  WriteSchema& schema_;
  std::vector<uint32_t> open_;  // groups, the root first
};

WriteSchema::WriteSchema(SchemaPtr arrow_schema) : arrow_schema_(std::move(arrow_schema)) {
  Maker(*this).make();
  file_schema_ = FileSchema(nodes_, leaf_nodes_);
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    leaves_[leaf].path = file_schema_.path(leaf_nodes_[leaf]);
    nodes_[leaf_nodes_[leaf]].logical.crs = leaves_[leaf].file_type.crs;
  }
}

std::string WriteSchema::column_name(uint32_t node) const {
  std::string name;
  for (; node != 0; node = nodes_[node].parent) {
    if (nodes_[node].repetition == Repetition::kRepeated) continue;
    const std::string_view part = nodes_[node].name;
    name = name.empty() ? std::string(part) : std::string(part) + "." + name;
  }
  return name;
}

std::optional<size_t> WriteSchema::find_leaf(std::string_view path) const {
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (leaves_[leaf].path == path) return leaf;
  }
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (column_name(leaf_nodes_[leaf]) == path) return leaf;
  }
  return std::nullopt;
}

}  // namespace frazil::parquet
