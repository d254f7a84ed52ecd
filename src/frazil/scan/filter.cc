#include "frazil/scan/filter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "frazil/base/error.h"
#include "frazil/predicate/evaluate.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

using predicate::BoundAnd;
using predicate::BoundColumn;
using predicate::BoundNode;
using predicate::BoundOr;
using predicate::BoundPredicate;
using predicate::BoundTest;
using predicate::TestKind;

// The field of a bound column.
const spec::NestedField& field_of(const spec::Schema& schema, const BoundColumn& column) {
  std::span<const spec::NestedField> fields = schema.fields();
  const spec::NestedField* field = nullptr;
  for (const size_t index : column.path) {
    if (field != nullptr && !field->type->is_struct()) {
      throw_error(ErrorKind::kInvalidArgument, "column {}: {} is {}, which has no fields to test", column.name,
                  field->name, field->type->to_string());
    }
    field = &fields[index];
    fields = field->type->fields();
  }
  return *field;
}

// The ids of the fields without fields of their own, which select_fields() makes the whole of.
void add_leaf_ids(const spec::NestedField& field, std::vector<int32_t>& ids) {
  if (field.type->fields().empty()) ids.push_back(field.id);
  for (const auto& child : field.type->fields()) add_leaf_ids(child, ids);
}

// The same column in a schema with some of the fields. Its type may have fewer too.
BoundColumn move_column(BoundColumn column, const spec::Schema& from, const spec::Schema& to,
                        const frazil::Schema& arrow) {
  std::span<const spec::NestedField> fields = from.fields();
  std::span<const spec::NestedField> kept = to.fields();
  const Field* field = nullptr;
  for (size_t& index : column.path) {
    const auto& wanted = fields[index];
    index = 0;
    while (kept[index].id != wanted.id) ++index;
    field = field == nullptr ? &arrow.field(index) : &field->type->children()[index];
    fields = wanted.type->fields();
    kept = kept[index].type->fields();
  }
  column.field = *field;
  return column;
}

class FileBinder {
 public:
  FileBinder(const Filter& filter, std::span<const ColumnSource> sources, const frazil::Schema& decoded,
             MemoryPool& pool)
      : filter_(filter), sources_(sources), decoded_(decoded), pool_(pool) {}

  BoundNode bind(const BoundNode& node) {
    if (const auto* test = std::get_if<BoundTest>(&node.form)) return bind_test(*test);
    if (const auto* all = std::get_if<BoundAnd>(&node.form)) return bind_group<BoundAnd>(all->operands, false);
    if (const auto* any = std::get_if<BoundOr>(&node.form)) return bind_group<BoundOr>(any->operands, true);
    return node;
  }

  std::vector<BoundColumn> take_columns() { return std::move(columns_); }

 private:
  // `absorbing` decides alone.
  template <typename Group>
  BoundNode bind_group(const std::vector<BoundNode>& operands, bool absorbing) {
    Group group;
    for (const BoundNode& operand : operands) {
      BoundNode bound = bind(operand);
      if (const bool* value = std::get_if<bool>(&bound.form)) {
        if (*value == absorbing) return {absorbing};
        continue;
      }
      group.operands.push_back(std::move(bound));
    }
    if (group.operands.empty()) return {!absorbing};
    if (group.operands.size() == 1) return std::move(group.operands[0]);
    return {std::move(group)};
  }

  BoundNode bind_test(const BoundTest& test) {
    const BoundColumn& column = filter_.predicate.columns()[test.column];
    std::vector<size_t> path;  // down what is decoded
    const ColumnSource* source = &sources_[column.path[0]];
    size_t depth = 1;
    for (; !source->is_constant(); ++depth) {
      path.push_back(source->place);
      if (depth == column.path.size()) {
        BoundTest placed = test;
        placed.column = place_column(std::move(path), column.name);
        return {std::move(placed)};
      }
      source = &source->children[column.path[depth]];
    }
    const bool if_valid = is_true_for(source->constant, test, std::span(column.path).subspan(depth));
    if (path.empty()) return {if_valid};
    // The constant is there where the structs around it are.
    const bool if_null = test.kind == TestKind::kNull || test.kind == TestKind::kNotNan;
    if (if_valid == if_null) return {if_valid};
    BoundTest placed;
    placed.column = place_column(std::move(path), column.name);
    placed.kind = if_valid ? TestKind::kNotNull : TestKind::kNull;
    return {std::move(placed)};
  }

  // Whether the test of a field of the constant is true; of the constant itself if `path` is empty.
  bool is_true_for(const spec::Literal& constant, BoundTest test, std::span<const size_t> path) {
    const DataTypePtr type = spec::to_arrow_type(*constant.type());
    BoundColumn column{.path = {0}, .name = {}, .field = {.name = {}, .type = type}};
    for (const size_t index : path) {
      column.path.push_back(index);
      column.field = Field(column.field.type->children()[index]);
    }
    test.column = 0;
    const SchemaPtr schema = Schema::make({{.name = {}, .type = type}});
    const RecordBatch batch(schema, 1, {spec::make_constant_array(constant, 1, pool_)});
    const BoundPredicate alone(schema, {std::move(column)}, {std::move(test)});
    return predicate::evaluate(alone, batch, pool_).selected_count() == 1;
  }

  size_t place_column(std::vector<size_t> path, const std::string& name) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].path == path) return i;
    }
    const Field* field = &decoded_.field(path[0]);
    for (size_t depth = 1; depth < path.size(); ++depth) field = &field->type->children()[path[depth]];
    columns_.push_back({.path = std::move(path), .name = name, .field = *field});
    return columns_.size() - 1;
  }

  const Filter& filter_;
  std::span<const ColumnSource> sources_;
  const frazil::Schema& decoded_;
  MemoryPool& pool_;
  std::vector<BoundColumn> columns_;
};

}  // namespace

std::optional<Filter> bind_filter(const predicate::Predicate& where, const spec::Schema& table,
                                  const spec::Schema& selected) {
  const BoundPredicate on_table = predicate::bind_predicate(where, spec::to_arrow_schema(table));
  if (on_table.always_true()) return std::nullopt;
  std::vector<int32_t> ids;
  for (const auto& field : selected.fields()) add_leaf_ids(field, ids);
  for (const BoundColumn& column : on_table.columns()) add_leaf_ids(field_of(table, column), ids);
  spec::SchemaPtr columns = spec::select_fields(table, ids);
  SchemaPtr arrow = spec::to_arrow_schema(*columns);
  std::vector<BoundColumn> moved;
  for (const BoundColumn& column : on_table.columns()) moved.push_back(move_column(column, table, *columns, *arrow));
  return Filter{.columns = std::move(columns), .predicate = {std::move(arrow), std::move(moved), on_table.root()}};
}

BoundPredicate bind_to_file(const Filter& filter, std::span<const ColumnSource> sources, SchemaPtr decoded,
                            MemoryPool& pool) {
  FileBinder binder(filter, sources, *decoded, pool);
  BoundNode root = binder.bind(filter.predicate.root());
  // Constants may have left no test of a column.
  return predicate::make_bound_predicate(std::move(decoded), binder.take_columns(), std::move(root));
}

}  // namespace frazil::scan
