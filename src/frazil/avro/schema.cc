#include "frazil/avro/schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

constexpr std::array<std::string_view, 14> kKindNames = {"null",   "boolean", "int",    "long",   "float",
                                                         "double", "bytes",   "string", "record", "enum",
                                                         "array",  "map",     "union",  "fixed"};

constexpr std::array<std::pair<std::string_view, Logical>, 12> kLogicalNames = {{
    {"decimal", Logical::kDecimal},
    {"uuid", Logical::kUuid},
    {"date", Logical::kDate},
    {"time-millis", Logical::kTimeMillis},
    {"time-micros", Logical::kTimeMicros},
    {"timestamp-millis", Logical::kTimestampMillis},
    {"timestamp-micros", Logical::kTimestampMicros},
    {"timestamp-nanos", Logical::kTimestampNanos},
    {"local-timestamp-millis", Logical::kLocalTimestampMillis},
    {"local-timestamp-micros", Logical::kLocalTimestampMicros},
    {"local-timestamp-nanos", Logical::kLocalTimestampNanos},
    {"duration", Logical::kDuration},
}};

constexpr int32_t kMaxFixedSize = 1 << 24;

std::optional<Kind> primitive_kind(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(Kind::kString); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

[[noreturn]] void throw_schema(std::string_view text) {
  throw_corrupt(CorruptError::kNoOffset, "bad Avro schema: {}", text);
}

std::optional<int32_t> find_id(const json::Value& value, std::string_view key) {
  const json::Value* member = value.find(key);
  if (member == nullptr || member->is_null()) return std::nullopt;
  return member->as_int32();
}

const json::Value& require(const json::Value& value, std::string_view key) {
  const json::Value* member = value.find(key);
  if (member == nullptr) throw_schema(message("'{}' is missing", key));
  return *member;
}

// A decimal's precision and scale that cannot be are no error: the logical type is then ignored.
bool read_decimal(const json::Value& value, Node& node) {
  const json::Value* precision = value.find("precision");
  const json::Value* scale = value.find("scale");
  if (precision == nullptr || precision->kind() != json::Value::Kind::kNumber) return false;
  try {
    node.precision = precision->as_int32();
    node.scale = scale != nullptr && !scale->is_null() ? scale->as_int32() : 0;
  } catch (const CorruptError&) {
    return false;
  }
  return node.precision > 0 && node.precision <= 76 && node.scale >= 0 && node.scale <= node.precision;
}

bool logical_fits(Logical logical, const Node& node) {
  switch (logical) {
    case Logical::kDecimal:
      return node.kind == Kind::kBytes || node.kind == Kind::kFixed;
    case Logical::kUuid:
      return node.kind == Kind::kString || (node.kind == Kind::kFixed && node.fixed_size == 16);
    case Logical::kDate:
    case Logical::kTimeMillis:
      return node.kind == Kind::kInt;
    case Logical::kDuration:
      return node.kind == Kind::kFixed && node.fixed_size == 12;
    case Logical::kNone:
    case Logical::kMap:
      return false;
    default:
      return node.kind == Kind::kLong;
  }
}

class Parser {
 public:
  NodePtr parse(const json::Value& value, const std::string& space, int32_t level) {
    if (level > kMaxSchemaDepth) {
      throw_error(ErrorKind::kUnsupported, "Avro schema is deeper than {} levels", kMaxSchemaDepth);
    }
    switch (value.kind()) {
      case json::Value::Kind::kString:
        return named(value.as_string(), space);
      case json::Value::Kind::kArray:
        return parse_union(value.as_array(), space, level);
      case json::Value::Kind::kObject:
        return parse_object(value, space, level);
      default:
        throw_schema("expected a type name, an array or an object");
    }
  }

 private:
  NodePtr named(const std::string& name, const std::string& space) {
    if (auto kind = primitive_kind(name)) return primitive(*kind);
    const std::string full = full_name(name, space);
    for (const std::string& candidate : {full, name}) {
      if (open_.contains(candidate)) {
        throw_error(ErrorKind::kUnsupported, "Avro record '{}' contains itself, which has no columns", candidate);
      }
      if (auto found = known_.find(candidate); found != known_.end()) return found->second;
    }
    throw_schema(message("type '{}' is not defined", name));
  }

  NodePtr parse_union(const json::Array& branches, const std::string& space, int32_t level) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kUnion;
    for (const json::Value& branch : branches) {
      NodePtr child = parse(branch, space, level + 1);
      if (child->kind == Kind::kUnion) throw_schema("a union stands directly in a union");
      node->depth = std::max(node->depth, child->depth + 1);
      node->branches.push_back(std::move(child));
    }
    if (node->branches.empty()) throw_schema("a union has no branches");
    return check_depth(node);
  }

  NodePtr parse_object(const json::Value& value, const std::string& space, int32_t level) {
    const json::Value& type = require(value, "type");
    // {"type": {...}} and {"type": ["null", ...]}: a wrapper that adds nothing, as some writers make.
    if (type.kind() != json::Value::Kind::kString) return parse(type, space, level + 1);
    const std::string& name = type.as_string();
    if (auto kind = primitive_kind(name)) {
      Node node;
      node.kind = *kind;
      return annotate(value, std::move(node));
    }
    if (name == "record" || name == "error") return parse_record(value, space, level);
    if (name == "enum") return parse_enum(value, space);
    if (name == "fixed") return parse_fixed(value, space);
    if (name == "array") return parse_array(value, space, level);
    if (name == "map") return parse_map(value, space, level);
    return named(name, space);
  }

  NodePtr annotate(const json::Value& value, Node node) {
    if (const json::Value* member = value.find("logicalType");
        member != nullptr && member->kind() == json::Value::Kind::kString) {
      for (const auto& [text, logical] : kLogicalNames) {
        if (text != member->as_string() || !logical_fits(logical, node)) continue;
        if (logical != Logical::kDecimal || read_decimal(value, node)) node.logical = logical;
      }
    }
    if (const json::Value* member = value.find("adjust-to-utc");
        member != nullptr && member->kind() == json::Value::Kind::kBool) {
      node.adjust_to_utc = member->as_bool();
    }
    return std::make_shared<const Node>(std::move(node));
  }

  static std::string full_name(const std::string& name, const std::string& space) {
    return space.empty() || name.find('.') != std::string::npos ? name : space + "." + name;
  }

  // Sets the full name and the aliases; returns the namespace for what is inside.
  static std::string read_name(const json::Value& value, const std::string& space, Node& node) {
    const std::string& name = require(value, "name").as_string();
    if (name.empty()) throw_schema("a name is empty");
    std::string own = space;
    if (const json::Value* member = value.find("namespace");
        member != nullptr && member->kind() == json::Value::Kind::kString) {
      own = member->as_string();
    }
    if (size_t dot = name.rfind('.'); dot != std::string::npos) own = name.substr(0, dot);
    node.name = full_name(name, own);
    if (const json::Value* aliases = value.find("aliases"); aliases != nullptr && !aliases->is_null()) {
      for (const json::Value& alias : aliases->as_array()) node.aliases.push_back(full_name(alias.as_string(), own));
    }
    return own;
  }

  NodePtr parse_record(const json::Value& value, const std::string& space, int32_t level) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kRecord;
    const std::string own = read_name(value, space, *node);
    if (!open_.insert(node->name).second) throw_schema(message("record '{}' is defined inside itself", node->name));
    for (const json::Value& member : require(value, "fields").as_array()) {
      Field field = parse_field(member, own, level);
      node->depth = std::max(node->depth, field.type->depth + 1);
      node->fields.push_back(std::move(field));
    }
    open_.erase(node->name);
    return define(check_depth(node));
  }

  Field parse_field(const json::Value& value, const std::string& space, int32_t level) {
    if (value.kind() != json::Value::Kind::kObject) throw_schema("a field is no object");
    Field field;
    field.name = require(value, "name").as_string();
    field.field_id = find_id(value, "field-id");
    if (const json::Value* aliases = value.find("aliases"); aliases != nullptr && !aliases->is_null()) {
      for (const json::Value& alias : aliases->as_array()) field.aliases.push_back(alias.as_string());
    }
    const json::Value& type = require(value, "type");
    // Old writers annotate the field itself: {"name": ..., "type": "long", "logicalType": ...}. Such a logical type is
    // none by the specification, and is ignored.
    field.type = parse(type, space, level + 1);
    if (const json::Value* fallback = value.find("default")) field.default_value = *fallback;
    if (const json::Value* original = value.find("iceberg-field-name"); original != nullptr && original->is_string())
      field.original_name = original->as_string();
    return field;
  }

  NodePtr parse_enum(const json::Value& value, const std::string& space) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kEnum;
    read_name(value, space, *node);
    std::set<std::string_view> seen;
    for (const json::Value& symbol : require(value, "symbols").as_array()) {
      if (!seen.insert(symbol.as_string()).second) throw_schema(message("enum '{}' repeats a symbol", node->name));
      node->symbols.push_back(symbol.as_string());
    }
    if (const json::Value* fallback = value.find("default"); fallback != nullptr && !fallback->is_null()) {
      node->default_symbol = fallback->as_string();
    }
    return define(node);
  }

  NodePtr parse_fixed(const json::Value& value, const std::string& space) {
    Node node;
    node.kind = Kind::kFixed;
    read_name(value, space, node);
    node.fixed_size = require(value, "size").as_int32();
    if (node.fixed_size < 0 || node.fixed_size > kMaxFixedSize) {
      throw_schema(message("fixed '{}' has {} bytes", node.name, node.fixed_size));
    }
    return define(annotate(value, std::move(node)));
  }

  NodePtr parse_array(const json::Value& value, const std::string& space, int32_t level) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kArray;
    node->element = parse(require(value, "items"), space, level + 1);
    node->element_id = find_id(value, "element-id");
    node->depth = node->element->depth + 1;
    const json::Value* logical = value.find("logicalType");
    const bool is_map =
        logical != nullptr && logical->kind() == json::Value::Kind::kString && logical->as_string() == "map";
    if (is_map && node->element->kind == Kind::kRecord && node->element->fields.size() == 2)
      node->logical = Logical::kMap;
    return check_depth(node);
  }

  NodePtr parse_map(const json::Value& value, const std::string& space, int32_t level) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kMap;
    node->element = parse(require(value, "values"), space, level + 1);
    node->key_id = find_id(value, "key-id");
    node->value_id = find_id(value, "value-id");
    node->depth = node->element->depth + 1;
    return check_depth(node);
  }

  // References make a tree deeper than its text is.
  static NodePtr check_depth(const std::shared_ptr<Node>& node) {
    if (node->depth > kMaxSchemaDepth) {
      throw_error(ErrorKind::kUnsupported, "Avro schema is deeper than {} levels", kMaxSchemaDepth);
    }
    return node;
  }

  // Avro forbids to define a name twice; writers that inline a type at each use did so. The last one counts.
  NodePtr define(NodePtr node) {
    known_[node->name] = node;
    return node;
  }

  std::map<std::string, NodePtr, std::less<>> known_;
  std::set<std::string, std::less<>> open_;
};

}  // namespace

std::string_view to_string(Kind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::string_view to_string(Logical logical) {
  for (const auto& [text, known] : kLogicalNames) {
    if (known == logical) return text;
  }
  return logical == Logical::kMap ? "map" : "";
}

const Node* Node::non_null() const {
  if (kind != Kind::kUnion) return this;
  const Node* other = nullptr;
  bool has_null = false;
  for (const NodePtr& branch : branches) {
    if (branch->kind == Kind::kNull) {
      has_null = true;
    } else if (other != nullptr) {
      return nullptr;
    } else {
      other = branch.get();
    }
  }
  return has_null || branches.size() == 1 ? other : nullptr;
}

bool Node::nullable() const {
  if (kind == Kind::kNull) return true;
  return kind == Kind::kUnion && std::any_of(branches.begin(), branches.end(),
                                             [](const NodePtr& branch) { return branch->kind == Kind::kNull; });
}

NodePtr schema_from_json(const json::Value& value) {
  return Parser().parse(value, "", 1);
}

NodePtr parse_schema(std::string_view json_text, MemoryPool* pool) {
  try {
    return schema_from_json(
        json::parse(json_text, {.max_depth = 4 * kMaxSchemaDepth, .max_bytes = kMaxSchemaBytes, .pool = pool}));
  } catch (Error& error) {
    error.add_context("reading an Avro schema");
    throw;
  }
}

NodePtr primitive(Kind kind, Logical logical) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->logical = logical;
  return node;
}

NodePtr optional_of(NodePtr type) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::kUnion;
  node->depth = type->depth + 1;
  node->branches = {primitive(Kind::kNull), std::move(type)};
  return node;
}

NodePtr record(std::string name, std::vector<Field> fields) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::kRecord;
  node->name = std::move(name);
  for (const Field& field : fields) {
    if (field.type != nullptr) node->depth = std::max(node->depth, field.type->depth + 1);
  }
  node->fields = std::move(fields);
  return node;
}

NodePtr array_of(NodePtr element, std::optional<int32_t> element_id) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::kArray;
  node->depth = element->depth + 1;
  node->element = std::move(element);
  node->element_id = element_id;
  return node;
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Kind::kUnion: {
      std::string text = "union of ";
      for (size_t i = 0; i < node.branches.size(); ++i) {
        text += (i == 0 ? "" : ", ") + describe(*node.branches[i]);
        if (text.size() > 200) return text + ", ...";
      }
      return text;
    }
    case Kind::kRecord:
    case Kind::kEnum:
      return message("{} '{}'", to_string(node.kind), node.name);
    case Kind::kArray:
    case Kind::kMap:
      return message("{} of {}", node.logical == Logical::kMap ? "map" : to_string(node.kind), describe(*node.element));
    default:
      break;
  }
  if (node.logical == Logical::kDecimal) return message("decimal({}, {})", node.precision, node.scale);
  if (node.logical != Logical::kNone) return std::string(to_string(node.logical));
  if (node.kind == Kind::kFixed) return message("fixed({})", node.fixed_size);
  return std::string(to_string(node.kind));
}

}  // namespace frazil::avro
