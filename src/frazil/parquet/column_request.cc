#include "frazil/parquet/column_request.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

using Kind = LogicalType::Kind;

Metadata id_metadata(const SchemaNode& node) {
  if (!node.field_id) return {};
  return {{"PARQUET:field_id", std::to_string(*node.field_id)}};
}

// Makes requests of whole subtrees. Depth is bounded by kMaxSchemaDepth.
class RequestMaker {
 public:
  RequestMaker(const FileSchema& schema, const ArrowTypeOptions& options) : schema_(schema), options_(options) {}

  // The node as it stands: a repeated one that is no part of a LIST or MAP is a list of required elements.
  ColumnRequest request(uint32_t index) const {
    const SchemaNode& node = schema_.node(index);
    if (node.repetition != Repetition::kRepeated) return single(index, node.repetition == Repetition::kOptional);
    return list_of(index, single(index, false), false);
  }

 private:
  ColumnRequest start(uint32_t index, bool nullable, ColumnRequest::Kind kind) const {
    const SchemaNode& node = schema_.node(index);
    ColumnRequest request;
    request.node = index;
    request.kind = kind;
    request.field.name = std::string(node.name);
    request.field.nullable = nullable;
    request.field.metadata = id_metadata(node);
    return request;
  }

  ColumnRequest list_of(uint32_t index, ColumnRequest element, bool nullable) const {
    ColumnRequest request = start(index, nullable, ColumnRequest::Kind::kList);
    request.children.push_back(std::move(element));
    return request;
  }

  // The node without its own repetition.
  ColumnRequest single(uint32_t index, bool nullable) const {
    const SchemaNode& node = schema_.node(index);
    if (!node.is_group) {
      ColumnRequest request = start(index, nullable, ColumnRequest::Kind::kLeaf);
      request.field.type = arrow_leaf_type(node, options_);
      add_extension(node, request.field.metadata);
      if (node.logical.kind == Kind::kUnknown) request.field.nullable = true;
      return request;
    }
    switch (node.logical.kind) {
      case Kind::kList:
        return list_request(index, nullable);
      case Kind::kMap:
      case Kind::kMapKeyValue:
        return map_request(index, nullable);
      default:
        return struct_request(index, nullable);
    }
  }

  ColumnRequest struct_request(uint32_t index, bool nullable) const {
    ColumnRequest request = start(index, nullable, ColumnRequest::Kind::kStruct);
    const SchemaNode& node = schema_.node(index);
    uint32_t child = index + 1;
    for (uint32_t i = 0; i < node.child_count; ++i, child += schema_.node(child).subtree_size) {
      if (schema_.node(child).leaf_count > 0) request.children.push_back(this->request(child));
    }
    return request;
  }

  // LogicalTypes.md, "Lists" with its rules for old files: the repeated child is the element itself if it is no group,
  // has several fields, has one that is repeated, or is named "array" or "<list>_tuple"; else it only wraps the
  // element.
  ColumnRequest list_request(uint32_t index, bool nullable) const {
    const SchemaNode& node = schema_.node(index);
    if (node.child_count != 1 || schema_.node(index + 1).repetition != Repetition::kRepeated) {
      throw_corrupt(CorruptError::kNoOffset, "schema: '{}' is a LIST without one repeated child", schema_.path(index));
    }
    const uint32_t repeated = index + 1;
    const SchemaNode& child = schema_.node(repeated);
    const bool is_element = !child.is_group || child.child_count != 1 || child.logical.kind == Kind::kList ||
                            child.logical.kind == Kind::kMap ||
                            schema_.node(repeated + 1).repetition == Repetition::kRepeated || child.name == "array" ||
                            child.name == std::string(node.name) + "_tuple";
    return list_of(index, is_element ? single(repeated, false) : request(repeated + 1), nullable);
  }

  // Arrow's map needs values: without them it is the list of its keys. That is what Arrow C++ and arrow-rs make of it.
  ColumnRequest map_request(uint32_t index, bool nullable) const {
    const SchemaNode& node = schema_.node(index);
    const uint32_t entries = index + 1;
    if (node.child_count != 1 || schema_.node(entries).repetition != Repetition::kRepeated ||
        !schema_.node(entries).is_group || schema_.node(entries).child_count < 1 ||
        schema_.node(entries).child_count > 2) {
      throw_corrupt(CorruptError::kNoOffset, "schema: '{}' is a MAP without repeated entries", schema_.path(index));
    }
    const uint32_t key = entries + 1;
    ColumnRequest keys = request(key);
    if (schema_.node(entries).child_count == 1) return list_of(index, std::move(keys), nullable);
    keys.field.nullable = false;  // some writers say optional; a null key is damage
    ColumnRequest request = start(index, nullable, ColumnRequest::Kind::kMap);
    request.children.push_back(std::move(keys));
    request.children.push_back(this->request(key + schema_.node(key).subtree_size));
    return request;
  }

  const FileSchema& schema_;
  const ArrowTypeOptions& options_;
};

int depth_of(const ColumnRequest& request) {
  int deepest = 0;
  for (const ColumnRequest& child : request.children) deepest = std::max(deepest, depth_of(child));
  return deepest + (request.kind == ColumnRequest::Kind::kMap ? 2 : 1);
}

}  // namespace

ColumnRequest request_column(const FileSchema& schema, uint32_t node, const ArrowTypeOptions& options) {
  ColumnRequest request = RequestMaker(schema, options).request(node);
  if (depth_of(request) > kMaxTypeDepth) {
    throw_error(ErrorKind::kUnsupported, "column '{}' nests more than {} levels", schema.path(node), kMaxTypeDepth);
  }
  return request;
}

std::vector<ColumnRequest> request_columns(const FileSchema& schema, const ArrowTypeOptions& options) {
  std::vector<ColumnRequest> requests;
  uint32_t child = 1;
  for (uint32_t i = 0; i < schema.root().child_count; ++i, child += schema.node(child).subtree_size) {
    if (schema.node(child).leaf_count > 0) requests.push_back(request_column(schema, child, options));
  }
  return requests;
}

Field arrow_field(const ColumnRequest& request) {
  Field field = request.field;
  std::vector<Field> children;
  for (const ColumnRequest& child : request.children) children.push_back(arrow_field(child));
  switch (request.kind) {
    case ColumnRequest::Kind::kLeaf:
      return field;
    case ColumnRequest::Kind::kStruct:
      field.type = struct_(std::move(children));
      return field;
    case ColumnRequest::Kind::kList:
      if (children.size() != 1) throw_error(ErrorKind::kInvalidArgument, "a list of {} elements", children.size());
      field.type = list(std::move(children[0]), request.is_large ? TypeId::kLargeList : TypeId::kList);
      return field;
    case ColumnRequest::Kind::kMap:
      if (children.size() != 2) throw_error(ErrorKind::kInvalidArgument, "a map of {} fields", children.size());
      field.type = map(std::move(children[0]), std::move(children[1]));
      return field;
  }
  return field;
}

SchemaPtr arrow_schema(const FileSchema& schema, const ArrowTypeOptions& options) {
  std::vector<Field> fields;
  for (const ColumnRequest& request : request_columns(schema, options)) fields.push_back(arrow_field(request));
  return std::make_shared<const Schema>(std::move(fields));
}

}  // namespace frazil::parquet
