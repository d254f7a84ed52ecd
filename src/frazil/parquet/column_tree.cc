#include "frazil/parquet/column_tree.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::parquet {

// ---- Repeated columns ----

bool RepeatedColumn::in_piece() const {
  return std::any_of(leaves.begin(), leaves.end(), [](const auto& leaf) { return leaf->in_piece(); });
}

RepeatedReader& RepeatedColumn::behind() {
  for (const auto& leaf : leaves) {
    if (leaf->in_piece()) return *leaf;
  }
  return **std::min_element(leaves.begin(), leaves.end(), [](const auto& left, const auto& right) {
    return left->complete_rows() < right->complete_rows();
  });
}

bool RepeatedColumn::advance(size_t rows_max, MemorySource& memory) {
  RepeatedReader& leaf = behind();
  // What others tell about its lists must be known: it stays behind them.
  const size_t batch_rows = rows_max;
  for (const auto& other : leaves) {
    if (other.get() == &leaf) break;
    rows_max = std::min(rows_max, other->complete_rows());
  }
  if (!leaf.advance(rows_max, batch_rows, memory)) return false;
  if (!leaf.is_row_open()) leaf.check_lists(leaf.complete_rows());
  return true;
}

size_t RepeatedColumn::complete_rows() const {
  size_t rows = std::numeric_limits<size_t>::max();
  for (const auto& leaf : leaves) rows = std::min(rows, leaf->complete_rows());
  return rows;
}

uint64_t RepeatedColumn::bits_of(size_t rows) const {
  uint64_t bits = 0;
  for (const auto& leaf : leaves) bits += leaf->bits_of(rows);
  return bits;
}

uint64_t RepeatedColumn::bits_with_next(size_t rows) const {
  uint64_t bits = 0;
  for (const auto& leaf : leaves) bits += leaf->complete_rows() > rows ? leaf->bits_of(rows + 1) : leaf->decoded_bits();
  return bits;
}

// ---- Requests ----

namespace {

[[noreturn]] void throw_request(const FileSchema& schema, uint32_t node, const char* problem) {
  throw_error(ErrorKind::kInvalidArgument, "column '{}' is asked for {}", schema.path(node), problem);
}

bool is_at_or_below(const FileSchema& schema, uint32_t node, uint32_t ancestor) {
  return node >= ancestor && node < ancestor + schema.node(ancestor).subtree_size;
}

// The node at or above `node` that begins list number `depth` + 1 of its path.
uint32_t list_node(const FileSchema& schema, uint32_t node, uint32_t depth) {
  while (node != 0 &&
         (schema.node(node).repetition != Repetition::kRepeated || schema.node(node).max_repetition != depth + 1)) {
    node = schema.node(node).parent;
  }
  return node;
}

size_t count_leaves_outside_lists(std::span<const ColumnRequest> requests) {
  size_t count = 0;
  for (const ColumnRequest& request : requests) {
    if (request.kind == ColumnRequest::Kind::kLeaf) ++count;
    if (request.kind == ColumnRequest::Kind::kStruct) count += count_leaves_outside_lists(request.children);
  }
  return count;
}

}  // namespace

struct ColumnTree::Context {
  std::vector<RepeatedReader::ListLevel> lists;  // around the node; a leaf below told what `teller` names
  std::vector<RepeatedReader*> tellers;          // nullptr: none did yet
  uint32_t present() const { return lists.empty() ? 0 : lists.back().element; }
};

ColumnTree::ColumnTree(const InputFile& file, const FileMetadata& metadata, std::span<const ColumnRequest> requests,
                       Decompressor& decompressor, const Options& options)
    : file_(file), metadata_(metadata), decompressor_(decompressor), options_(options) {
  std::vector<Field> fields;
  fields.reserve(requests.size());
  roots_.reserve(requests.size());
  columns_.reserve(count_leaves_outside_lists(requests));  // readers are more than a KiB each
  for (const ColumnRequest& request : requests) {
    if (request.node == 0 || request.node >= metadata.schema().nodes().size()) {
      throw_error(ErrorKind::kInvalidArgument, "node {} of a schema that has {}", request.node,
                  metadata.schema().nodes().size());
    }
    fields.push_back(arrow_field(request));
    Context context;
    roots_.push_back(compile(request, context, 0));
  }
  schema_ = std::make_shared<const Schema>(std::move(fields));
}

// `around`: the definition level at which what is around the node is not null.
ColumnTree::Node ColumnTree::compile(const ColumnRequest& request, Context& context, uint32_t around) {
  switch (request.kind) {
    case ColumnRequest::Kind::kLeaf:
      return compile_leaf(request, context);
    case ColumnRequest::Kind::kStruct:
      return compile_struct(request, context, around);
    default:
      return compile_list(request, context, around);
  }
}

ColumnTree::Node ColumnTree::compile_leaf(const ColumnRequest& request, Context& context) {
  const FileSchema& schema = metadata_.schema();
  const SchemaNode& node = schema.node(request.node);
  if (node.is_group) throw_request(schema, request.node, "as a leaf and is a group");
  if (node.max_repetition != context.lists.size()) {
    throw_request(schema, request.node, "without a list for each of its repeated nodes");
  }
  Node leaf;
  leaf.field = request.field;
  if (context.lists.empty()) {
    leaf.column = columns_.size();
    columns_.emplace_back(file_, metadata_, node.first_leaf, request.field.type, decompressor_,
                          ColumnReader::Options{.pages = options_.pages, .data_bytes_max = options_.bytes_max});
    return leaf;
  }
  std::vector<RepeatedReader::ListLevel> lists = context.lists;
  for (size_t k = 0; k < lists.size(); ++k) lists[k].teller = context.tellers[k];
  auto reader = std::make_unique<RepeatedReader>(
      file_, metadata_, node.first_leaf, request.field.type, std::move(lists), decompressor_,
      RepeatedReader::Options{.pages = options_.pages, .bytes_max = options_.bytes_max});
  for (RepeatedReader*& teller : context.tellers) teller = teller == nullptr ? reader.get() : teller;
  leaf.repeated = reader.get();
  repeated_.back().leaves.push_back(std::move(reader));
  return leaf;
}

ColumnTree::Node ColumnTree::compile_struct(const ColumnRequest& request, Context& context, uint32_t around) {
  const FileSchema& schema = metadata_.schema();
  const SchemaNode& node = schema.node(request.node);
  if (!node.is_group) throw_request(schema, request.node, "as a struct and is none");
  if (node.max_repetition != context.lists.size()) {
    throw_request(schema, request.node, "without a list for each of its repeated nodes");
  }
  if (request.children.empty()) {
    throw_error(ErrorKind::kUnsupported, "group '{}' without columns is not read", schema.path(request.node));
  }
  Node result;
  result.kind = ColumnRequest::Kind::kStruct;
  result.field = arrow_field(request);
  for (const ColumnRequest& child : request.children) {
    if (child.node >= schema.nodes().size() || !is_at_or_below(schema, child.node, request.node)) {
      throw_request(schema, request.node, "with a field that is not below it");
    }
    result.children.push_back(compile(child, context, node.max_definition));
  }
  if (node.max_definition > around) {
    result.structure = &structures_.emplace_back(Structure::Form::kStruct);
    tell_struct(result, node.max_definition, context.lists.size());
  }
  return result;
}

ColumnTree::Node ColumnTree::compile_list(const ColumnRequest& request, Context& context, uint32_t around) {
  const FileSchema& schema = metadata_.schema();
  const SchemaNode& node = schema.node(request.node);
  const auto depth = static_cast<uint32_t>(context.lists.size());
  const uint32_t begin = list_node(schema, request.children.at(0).node % schema.nodes().size(), depth);
  for (const ColumnRequest& child : request.children) {
    if (child.node >= schema.nodes().size() || !is_at_or_below(schema, child.node, request.node)) {
      throw_request(schema, request.node, "with an element that is not below it");
    }
    if (begin == 0 || list_node(schema, child.node, depth) != begin || begin < request.node) {
      throw_request(schema, request.node, "as a list and has no repeated node");
    }
  }
  // A repeated node without annotation stands for the list and for its element.
  const uint32_t definition = begin == request.node ? node.max_definition - 1U : node.max_definition;
  if (begin != request.node && node.max_repetition != depth) {
    throw_request(schema, request.node, "without a list for each of its repeated nodes");
  }
  if (depth == 0) repeated_.emplace_back();
  Node result;
  result.kind = request.kind;
  result.field = arrow_field(request);
  result.nullable = definition > around;
  const bool is_large = request.kind == ColumnRequest::Kind::kList && request.is_large;
  result.structure = &structures_.emplace_back(is_large ? Structure::Form::kLargeList : Structure::Form::kList);
  const uint32_t element = schema.node(begin).max_definition;
  context.lists.push_back(
      {.structure = result.structure, .definition = definition, .element = element, .nullable = result.nullable});
  context.tellers.push_back(nullptr);
  for (const ColumnRequest& child : request.children) result.children.push_back(compile(child, context, element));
  context.lists.pop_back();
  context.tellers.pop_back();
  return result;
}

const ColumnTree::Node* ColumnTree::find_leaf(const Node& node, bool without_repetition) const {
  if (node.kind == ColumnRequest::Kind::kLeaf) {
    return !without_repetition || node.repeated == nullptr ? &node : nullptr;
  }
  for (const Node& child : node.children) {
    if (const Node* leaf = find_leaf(child, without_repetition)) return leaf;
  }
  return nullptr;
}

// Lets a leaf below the struct say where it is null. One without repetition knows how many rows the batch has.
void ColumnTree::tell_struct(const Node& node, uint32_t definition, size_t depth) {
  const Node* leaf = find_leaf(node, true);
  if (leaf != nullptr) {
    columns_[leaf->column].add_struct(*node.structure, definition);
  } else {
    find_leaf(node, false)->repeated->add_struct({node.structure, definition, depth});
  }
}

size_t ColumnTree::bytes_in_use() const {
  size_t bytes = 0;
  for (const ColumnReader& column : columns_) bytes += column.bytes_in_use();
  for (const RepeatedColumn& column : repeated_) {
    for (const auto& leaf : column.leaves) bytes += leaf->bytes_in_use();
  }
  for (const Structure& structure : structures_) bytes += structure.bytes_in_use();
  return bytes;
}

// ---- The end of a batch ----

bool ColumnTree::keep_tails(size_t rows, MemorySource& memory) {
  for (RepeatedColumn& column : repeated_) {
    for (auto& leaf : column.leaves) {
      if (!leaf->keep_tail(rows, memory)) return false;
    }
  }
  return true;
}

ColumnTree::Finished ColumnTree::finish(const Node& node, size_t rows, size_t slots, int64_t around_valid,
                                        MemorySource& memory) {
  Finished result;
  std::vector<Finished> children;
  if (node.kind == ColumnRequest::Kind::kLeaf) {
    if (node.repeated != nullptr) {
      result.array = node.repeated->finish(rows, memory);
    } else {
      result.array = columns_[node.column].finish_batch(memory);
    }
    result.valid = result.array->length - result.array->null_count;
    return result;
  }
  const bool is_struct = node.kind == ColumnRequest::Kind::kStruct;
  const size_t child_slots = is_struct ? slots : node.structure->elements(slots);
  const bool by_itself = is_struct ? node.structure != nullptr : node.nullable;
  result.valid = by_itself ? static_cast<int64_t>(slots - node.structure->batch_nulls()) : around_valid;
  const int64_t child_valid = is_struct ? result.valid : static_cast<int64_t>(child_slots);
  // Children first: where their rows end, the offsets of the lists around them say.
  for (const Node& child : node.children) {
    children.push_back(finish(child, rows, child_slots, child_valid, memory));
    if (!child.field.nullable && children.back().valid < child_valid) {
      throw_corrupt(CorruptError::kNoOffset, "field '{}' of '{}' has nulls and must not", child.field.name,
                    node.field.name);
    }
  }
  if (node.structure != nullptr) {
    result.array = node.structure->finish(node.field.type, slots, memory);
  } else {
    result.array = std::make_shared<Array>();
    result.array->type = node.field.type;
    result.array->length = static_cast<int64_t>(slots);
    result.array->null_count = 0;
  }
  if (node.kind == ColumnRequest::Kind::kMap) {
    auto entries = std::make_shared<Array>();
    entries->type = node.field.type->children()[0].type;
    entries->length = static_cast<int64_t>(child_slots);
    entries->null_count = 0;
    for (Finished& child : children) entries->children.push_back(std::move(child.array));
    result.array->children.push_back(std::move(entries));
  } else {
    for (Finished& child : children) result.array->children.push_back(std::move(child.array));
  }
  return result;
}

std::vector<ArrayPtr> ColumnTree::finish_batch(size_t rows, MemorySource& memory) {
  std::vector<ArrayPtr> arrays;
  arrays.reserve(roots_.size());
  for (const Node& root : roots_) {
    Finished finished = finish(root, rows, rows, static_cast<int64_t>(rows), memory);
    if (!root.field.nullable && finished.valid < static_cast<int64_t>(rows)) {
      throw_corrupt(CorruptError::kNoOffset, "column '{}' has nulls and must not", root.field.name);
    }
    arrays.push_back(std::move(finished.array));
  }
  return arrays;
}

}  // namespace frazil::parquet
