#include "frazil/scan/assemble.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

using Kind = ColumnSource::Kind;

// The types of what is in it, one a child of the source.
std::vector<DataTypePtr> child_types(const DataType& type) {
  const DataType& around = type.id() == TypeId::kMap ? *type.children()[0].type : type;
  std::vector<DataTypePtr> types;
  for (const Field& field : around.children()) types.push_back(field.type);
  return types;
}

ArrayPtr with_children(const Array& stored, const DataTypePtr& type, std::vector<ArrayPtr> children) {
  auto array = std::make_shared<Array>(stored);
  array->type = type;
  array->children = std::move(children);
  return array;
}

// Bytes a value of the widest buffer of a null of that type.
size_t null_width(const DataType& type) {
  size_t width = type.id() == TypeId::kStruct || type.id() == TypeId::kNull ? 0 : 8;
  if (type.id() == TypeId::kFixedSizeBinary) width = static_cast<size_t>(type.fixed_size());
  if (type.id() == TypeId::kDecimal128) width = 16;
  if (type.id() != TypeId::kStruct) return width;  // elements of lists are not there
  for (const Field& field : type.children()) width = std::max(width, null_width(*field.type));
  return width;
}

size_t bytes_of(const spec::Literal& value, const DataType& type, int64_t count_of_values) {
  const auto count = static_cast<size_t>(count_of_values);
  size_t bytes = MemoryPool::block_bytes(count / 8 + 1);
  if (const auto* text = std::get_if<std::string>(&value.value())) {
    return bytes + MemoryPool::block_bytes(count * 4 + 4) + MemoryPool::block_bytes(count * text->size());
  }
  if (type.id() == TypeId::kStruct && !value.is_null()) {
    if (const auto* values = std::get_if<std::vector<spec::Literal>>(&value.value())) {
      for (size_t i = 0; i < values->size(); ++i) {
        bytes += bytes_of((*values)[i], *type.children()[i].type, count_of_values);
      }
      return bytes;
    }
  }
  return bytes + MemoryPool::block_bytes(count * null_width(type) + 8);
}

}  // namespace

Assembler::Assembler(std::vector<ColumnSource> sources, SchemaPtr schema) : schema_(std::move(schema)) {
  for (size_t i = 0; i < sources.size(); ++i) columns_.push_back(compile(sources[i], schema_->field(i).type));
}

Assembler::Node Assembler::compile(const ColumnSource& source, const DataTypePtr& type) {
  Node node;
  node.kind = source.kind;
  node.place = source.place;
  node.constant = source.constant;
  node.type = type;
  const std::vector<DataTypePtr> types = child_types(*type);
  for (size_t i = 0; i < source.children.size(); ++i) node.children.push_back(compile(source.children[i], types[i]));
  return node;
}

size_t Assembler::constant_bytes(int64_t rows) const {
  size_t bytes = 0;
  for (const Node& node : columns_) bytes += constant_bytes(node, rows);
  return bytes;
}

size_t Assembler::constant_bytes(const Node& node, int64_t count) {
  if (node.kind == Kind::kConstant) return bytes_of(node.constant, *node.type, count);
  size_t bytes = 0;
  for (const Node& child : node.children) bytes += constant_bytes(child, count);
  return bytes;
}

void Assembler::make_constants(int64_t rows, MemoryPool& pool) {
  for (Node& node : columns_) make_constants(node, rows, pool);
}

void Assembler::make_constants(Node& node, int64_t count, MemoryPool& pool) {
  if (node.kind == Kind::kConstant) static_cast<void>(constant(node, count, pool));
  if (node.kind != Kind::kStruct) return;  // how many elements lists have is known when they are decoded
  for (Node& child : node.children) make_constants(child, count, pool);
}

ArrayPtr Assembler::constant(Node& node, int64_t count, MemoryPool& pool) {
  if (node.values == nullptr || node.values->length < count) {
    ArrayPtr values = spec::make_constant_array(node.constant, count, pool);
    if (node.values != nullptr) bytes_in_use_ -= bytes_of(node.constant, *node.type, node.values->length);
    bytes_in_use_ += bytes_of(node.constant, *node.type, count);
    node.values = std::move(values);
  }
  return node.values->length == count ? node.values : node.values->slice(0, count);
}

RecordBatch Assembler::assemble(const RecordBatch& decoded, MemoryPool& pool) {
  return {schema_, decoded.row_count(), assemble_fields(columns_, decoded.columns(), decoded.row_count(), pool)};
}

std::vector<ArrayPtr> Assembler::assemble_fields(std::vector<Node>& nodes, const std::vector<ArrayPtr>& stored,
                                                 int64_t count, MemoryPool& pool) {
  std::vector<ArrayPtr> arrays;
  arrays.reserve(nodes.size());
  for (Node& node : nodes) {
    const bool is_constant = node.kind == Kind::kConstant;
    arrays.push_back(is_constant ? constant(node, count, pool) : assemble(node, stored[node.place], pool));
  }
  return arrays;
}

ArrayPtr Assembler::assemble(Node& node, const ArrayPtr& stored, MemoryPool& pool) {
  switch (node.kind) {
    case Kind::kConstant:
    case Kind::kWhole:
      break;
    case Kind::kStruct:
      // Values of the children count from the start of the buffers.
      return with_children(*stored, node.type,
                           assemble_fields(node.children, stored->children, stored->offset + stored->length, pool));
    case Kind::kList:
      return with_children(*stored, node.type,
                           assemble_fields(node.children, stored->children, stored->children[0]->length, pool));
    case Kind::kMap: {
      const Array& entries = *stored->children[0];
      return with_children(
          *stored, node.type,
          {with_children(entries, node.type->children()[0].type,
                         assemble_fields(node.children, entries.children, entries.offset + entries.length, pool))});
    }
  }
  return stored;
}

}  // namespace frazil::scan
