#include <map>
#include <utility>

#include "frazil/avro/schema.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

bool is_timestamp(Logical logical) {
  return logical == Logical::kTimestampMillis || logical == Logical::kTimestampMicros ||
         logical == Logical::kTimestampNanos;
}

json::Array texts(const std::vector<std::string>& items) {
  json::Array array;
  for (const std::string& item : items) array.emplace_back(item);
  return array;
}

class Writer {
 public:
  json::Value write(const Node& node) {
    switch (node.kind) {
      case Kind::kUnion: {
        json::Array branches;
        for (const NodePtr& branch : node.branches) branches.push_back(write(*branch));
        return json::Value(std::move(branches));
      }
      case Kind::kRecord:
      case Kind::kEnum:
      case Kind::kFixed:
        return write_named(node);
      case Kind::kArray:
      case Kind::kMap: {
        json::Object object = begin(node);
        object.emplace_back(node.kind == Kind::kArray ? "items" : "values", write(*node.element));
        add_id(object, "element-id", node.element_id);
        add_id(object, "key-id", node.key_id);
        add_id(object, "value-id", node.value_id);
        return json::Value(annotated(node, std::move(object)));
      }
      default:
        if (node.logical == Logical::kNone) return json::Value(to_string(node.kind));
        return json::Value(annotated(node, begin(node)));
    }
  }

 private:
  static json::Object begin(const Node& node) {
    json::Object object;
    object.emplace_back("type", json::Value(to_string(node.kind)));
    return object;
  }

  static void add_id(json::Object& object, std::string_view key, std::optional<int32_t> id) {
    if (id) object.emplace_back(key, json::Value(*id));
  }

  static json::Object annotated(const Node& node, json::Object object) {
    if (node.logical == Logical::kNone) return object;
    object.emplace_back("logicalType", json::Value(to_string(node.logical)));
    if (node.logical == Logical::kDecimal) {
      object.emplace_back("precision", json::Value(node.precision));
      object.emplace_back("scale", json::Value(node.scale));
    }
    if (is_timestamp(node.logical)) object.emplace_back("adjust-to-utc", json::Value(node.adjust_to_utc));
    return object;
  }

  json::Value write_field(const Field& field) {
    json::Object object;
    object.emplace_back("name", json::Value(field.name));
    if (!field.aliases.empty()) object.emplace_back("aliases", json::Value(texts(field.aliases)));
    object.emplace_back("type", write(*field.type));
    if (field.default_value) object.emplace_back("default", *field.default_value);
    add_id(object, "field-id", field.field_id);
    if (!field.original_name.empty()) object.emplace_back("iceberg-field-name", json::Value(field.original_name));
    return json::Value(std::move(object));
  }

  // The definition where the name is met first, then the name alone: Avro forbids to define it twice.
  json::Value write_named(const Node& node) {
    json::Object object = begin(node);
    object.emplace_back("name", json::Value(node.name));
    if (!node.aliases.empty()) object.emplace_back("aliases", json::Value(texts(node.aliases)));
    if (node.kind == Kind::kRecord) {
      json::Array fields;
      for (const Field& field : node.fields) fields.push_back(write_field(field));
      object.emplace_back("fields", json::Value(std::move(fields)));
    } else if (node.kind == Kind::kEnum) {
      object.emplace_back("symbols", json::Value(texts(node.symbols)));
      if (node.default_symbol) object.emplace_back("default", json::Value(*node.default_symbol));
    } else {
      object.emplace_back("size", json::Value(node.fixed_size));
      object = annotated(node, std::move(object));
    }
    json::Value value(std::move(object));
    const auto [known, is_new] = defined_.emplace(node.name, value);
    if (is_new) return value;
    // A record that holds a named type is written with the name alone the second time: compare by what it defines.
    if (node.kind != Kind::kRecord && !(known->second == value)) {
      throw_error(ErrorKind::kInvalidArgument, "an Avro schema has two types '{}'", node.name);
    }
    return json::Value(node.name);
  }

  std::map<std::string, json::Value, std::less<>> defined_;
};

}  // namespace

json::Value schema_to_json(const Node& node) {
  return Writer().write(node);
}

}  // namespace frazil::avro
