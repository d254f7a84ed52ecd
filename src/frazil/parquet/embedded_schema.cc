#include "frazil/parquet/embedded_schema.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "frazil/base/base64.h"
#include "frazil/base/error.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/dictionary_columns.h"
#include "frazil/parquet/list_forms.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

namespace {

constexpr std::string_view kExtensionPrefix = "ARROW:extension:";
// Elements that a null list takes: not as many as somebody may write into a footer. Embeddings have some thousands.
constexpr int32_t kFixedListSizeMax = 65'536;

// What the Arrow schema has for the nodes of one top-level column. A repeated node without annotation stands for a list and
// its element.
using FieldsByNode = std::map<std::pair<uint32_t, ColumnRequest::Kind>, const Field*>;

const Field* child_field(const Field& field, const ColumnRequest& request, size_t index) {
  const DataType& type = *field.type;
  switch (request.kind) {
    case ColumnRequest::Kind::kStruct: {
      if (type.id() != TypeId::kStruct) return nullptr;
      const std::string& name = request.children[index].field.name;
      const std::vector<Field>& fields = type.children();
      if (index < fields.size() && fields[index].name == name) return &fields[index];
      const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
      return found != fields.end() ? &*found : nullptr;
    }
    case ColumnRequest::Kind::kList:
      return is_list(type.id()) && type.id() != TypeId::kMap ? &type.children()[0] : nullptr;
    case ColumnRequest::Kind::kMap:
      return type.id() == TypeId::kMap ? &type.children()[0].type->children()[index] : nullptr;
    default:
      return nullptr;
  }
}

void match(const ColumnRequest& request, const Field& field, FieldsByNode& fields) {
  fields.emplace(std::pair(request.node, request.kind), &field);
  for (size_t i = 0; i < request.children.size(); ++i) {
    if (const Field* child = child_field(field, request, i)) match(request.children[i], *child, fields);
  }
}

// `type` as the Arrow schema has it, if that is a form of the same values; else `type`.
DataTypePtr refined(const SchemaNode& node, const DataTypePtr& type, const DataTypePtr& wanted) {
  switch (type->id()) {
    case TypeId::kTimestamp:
      if (type->timezone() != "UTC" || wanted->id() != TypeId::kTimestamp || wanted->timezone().empty()) return type;
      return timestamp(type->unit(), wanted->timezone());
    case TypeId::kInt64:
      return wanted->id() == TypeId::kDuration && can_read_as(node, *wanted) ? wanted : type;
    case TypeId::kUtf8:
      return wanted->id() == TypeId::kLargeUtf8 || wanted->id() == TypeId::kUtf8View ? wanted : type;
    case TypeId::kBinary:
      return wanted->id() == TypeId::kLargeBinary || wanted->id() == TypeId::kBinaryView ? wanted : type;
    case TypeId::kDecimal128:
      return wanted->id() == TypeId::kDecimal256 && can_read_as(node, *wanted) ? wanted : type;
    default:
      return type;
  }
}

void add_metadata(const Field& from, bool with_extension, Metadata& metadata) {
  for (const auto& [key, value] : from.metadata) {
    if (find_metadata(metadata, key) || (!with_extension && key.starts_with(kExtensionPrefix))) continue;
    metadata.emplace_back(key, value);
  }
}

class Refinement {
 public:
  Refinement(const FileMetadata& metadata, std::optional<EmbeddedSchema::DictionaryGroups> dictionaries)
      : metadata_(metadata), dictionaries_(dictionaries) {}

  void apply(ColumnRequest& request, const FieldsByNode& fields) const {
    const SchemaNode& node = metadata_.schema().node(request.node);
    // The parts of a variant are put together as the specification of variants has them.
    if (node.logical.kind != LogicalType::Kind::kVariant) {
      for (ColumnRequest& child : request.children) apply(child, fields);
    }
    const auto found = fields.find({request.node, request.kind});
    if (found == fields.end()) return;
    const Field& field = *found->second;
    if (request.kind == ColumnRequest::Kind::kLeaf) refine_leaf(node, field, request.field);
    if (request.kind == ColumnRequest::Kind::kList) refine_list(*field.type, request);
    add_metadata(field, !request.field.extension_name() && has_storage(request, *field.type), request.field.metadata);
  }

 private:
  // Whether a refined leaf or list of leaves becomes that type. The element may have another name: Arrow calls it "item".
  static bool has_storage(const ColumnRequest& request, const DataType& wanted) {
    if (request.kind == ColumnRequest::Kind::kLeaf) return request.field.type->equals(wanted);
    if (request.kind != ColumnRequest::Kind::kList || request.children[0].kind != ColumnRequest::Kind::kLeaf)
      return false;
    const DataTypePtr type = ListForms(request, arrow_field(request)).field().type;
    return type->id() == wanted.id() && type->fixed_size() == wanted.fixed_size() &&
           type->children()[0].type->equals(*wanted.children()[0].type);
  }

  static void refine_list(const DataType& wanted, ColumnRequest& target) {
    switch (wanted.id()) {
      case TypeId::kLargeList:
        target.is_large = true;
        break;
      case TypeId::kLargeListView:
        target.is_large = true;
        target.list_form = ColumnRequest::ListForm::kView;
        break;
      case TypeId::kListView:
        target.list_form = ColumnRequest::ListForm::kView;
        break;
      case TypeId::kFixedSizeList:
        if (wanted.fixed_size() > kFixedListSizeMax) break;
        target.list_form = ColumnRequest::ListForm::kFixedSize;
        target.list_size = wanted.fixed_size();
        break;
      default:
        break;
    }
  }

  void refine_leaf(const SchemaNode& node, const Field& field, Field& target) const {
    if (!target.type->equals(*arrow_leaf_type(node))) return;
    const bool is_dictionary = field.type->id() == TypeId::kDictionary;
    target.type = refined(node, target.type, is_dictionary ? field.type->value_type() : field.type);
    if (!is_dictionary || !dictionaries_ || target.extension_name()) return;
    DataTypePtr indices = dictionary(primitive(TypeId::kInt32), target.type, field.type->ordered());
    if (can_read_as(node, *indices) &&
        has_dictionaries(metadata_, node.first_leaf, dictionaries_->first, dictionaries_->end)) {
      target.type = std::move(indices);
    }
  }

  const FileMetadata& metadata_;
  std::optional<EmbeddedSchema::DictionaryGroups> dictionaries_;
};

// A child of the root.
struct TopLevel {
  uint32_t node = 1;
  size_t ordinal = 0;

  // Goes to the one that `node` is or is below: on from here, if that is not behind it.
  void find(const FileSchema& schema, uint32_t below) {
    if (below < node) *this = TopLevel();
    while (below >= node + schema.node(node).subtree_size) {
      node += schema.node(node).subtree_size;
      ++ordinal;
    }
  }
};

}  // namespace

std::string embedded_schema_text(const Schema& schema) {
  MemoryPool pool;  // a few KiB, given back at once
  const Buffer message = ipc::schema_message(schema, pool);
  return encode_base64(message.span());
}

std::optional<EmbeddedSchema> EmbeddedSchema::of(const FileMetadata& metadata) {
  const std::optional<std::string_view> text = metadata.find_key_value(kEmbeddedSchemaKey);
  if (!text) return std::nullopt;
  std::optional<std::string> decoded = decode_base64(*text);
  if (!decoded) return std::nullopt;
  auto bytes = std::make_unique<const std::string>(*std::move(decoded));
  try {
    const ipc::SchemaMessage message(std::as_bytes(std::span(*bytes)));
    return EmbeddedSchema(std::move(bytes), message);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void EmbeddedSchema::refine(std::vector<ColumnRequest>& requests, const FileMetadata& metadata,
                            std::optional<DictionaryGroups> dictionaries) const {
  const FileSchema& schema = metadata.schema();
  const Refinement refinement(metadata, dictionaries);
  TopLevel top;
  uint32_t matched = 0;  // the top-level node whose fields these are
  std::optional<Field> field;
  FieldsByNode fields;
  for (ColumnRequest& request : requests) {
    top.find(schema, request.node);
    if (matched != top.node) {
      matched = top.node;
      fields.clear();
      field = find_field(top.ordinal, schema.node(top.node).name);
      if (field) match(request_column(schema, top.node), *field, fields);
    }
    refinement.apply(request, fields);
  }
}

std::optional<Field> EmbeddedSchema::find_field(size_t index, std::string_view name) const {
  if (index >= message_.field_count()) return std::nullopt;
  try {
    Field field = message_.field(index);
    if (field.name == name) return field;
  } catch (const Error&) {
    // Damaged, or newer than what is known here: it says nothing.
  }
  return std::nullopt;
}

Metadata EmbeddedSchema::metadata() const {
  try {
    return message_.metadata();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace frazil::parquet
