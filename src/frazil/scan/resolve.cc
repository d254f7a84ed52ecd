#include "frazil/scan/resolve.h"

#include <string>
#include <unordered_map>

#include "frazil/base/error.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/promotion.h"

namespace frazil::scan {

namespace {

// The file's columns by the ids that they carry, or that mapping or position give.
std::unordered_map<int32_t, uint32_t> columns_by_id(const parquet::FileSchema& file, const FileContext& context) {
  bool has_ids = false;
  bool all_named = true;
  for (const auto& node : file.nodes()) has_ids = has_ids || node.field_id.has_value();
  for (uint32_t child = 0, index = 1; child < file.root().child_count; ++child) {
    all_named = all_named && context.table_schema.as_struct()->find(file.node(index).name) != nullptr;
    index += file.node(index).subtree_size;
  }
  std::unordered_map<int32_t, uint32_t> nodes;
  bool any_of_table = false;
  uint32_t index = 1;
  for (uint32_t child = 0; child < file.root().child_count; ++child) {
    const auto& node = file.node(index);
    std::optional<int32_t> id;
    if (has_ids) {
      id = node.field_id;
    } else if (context.name_mapping != nullptr) {
      const auto* mapped = spec::NameMapping::find(context.name_mapping->fields(), node.name);
      if (mapped != nullptr) id = mapped->field_id;
    } else if (all_named) {
      id = context.table_schema.as_struct()->find(node.name)->id;
    } else {
      id = static_cast<int32_t>(child) + 1;
    }
    if (id.has_value()) {
      // Of two columns with one id, which only a broken writer makes, the first counts.
      nodes.emplace(*id, index);
      any_of_table = any_of_table || context.table_schema.find(*id) != nullptr;
    }
    index += node.subtree_size;
  }
  // A mapping with other numbers than the schema's would give a table of nulls without a word. A file with ids of its
  // own may have none of the table's: all its columns were dropped since.
  if (!has_ids && !any_of_table && file.root().child_count > 0) {
    throw_corrupt(
        CorruptError::kNoOffset, "the file has no field ids, and {} gives none of its {} columns one of the table's",
        context.name_mapping != nullptr ? "the table's name mapping" : "their position", file.root().child_count);
  }
  return nodes;
}

// The value of an identity partition field over the column, if the spec has one.
const spec::Literal* partition_constant(const spec::PartitionSpec& spec, const std::vector<spec::Literal>& partition,
                                        int32_t column_id) {
  for (size_t i = 0; i < spec.fields.size() && i < partition.size(); ++i) {
    const auto& field = spec.fields[i];
    if (!field.is_opaque() && field.source_id() == column_id &&
        field.transform.kind() == spec::TransformKind::kIdentity) {
      return &partition[i];
    }
  }
  return nullptr;
}

}  // namespace

std::vector<ColumnSource> resolve_columns(const parquet::FileSchema& file, const spec::Schema& columns,
                                          const FileContext& context) {
  const auto nodes = columns_by_id(file, context);
  std::vector<ColumnSource> sources;
  for (const auto& column : columns.fields()) {
    ColumnSource source;
    auto found = nodes.find(column.id);
    if (column.type->kind() == spec::TypeKind::kUnknown) {
      // Never stored; a column of that id in the file was dropped or promoted wrongly and must not show through.
      source.constant = spec::Literal::null(column.type);
    } else if (found != nodes.end()) {
      const auto& node = file.node(found->second);
      if (node.is_group || node.max_repetition > 0 || !column.type->is_primitive()) {
        throw_error(ErrorKind::kUnsupported, "column '{}' of type {} is nested: nested columns are not read yet",
                    column.name, column.type->to_string());
      }
      auto type = spec::to_arrow_type(*column.type);
      if (!parquet::can_read_as(node, *type)) {
        throw_corrupt(CorruptError::kNoOffset, "column '{}' is {} in the file and cannot be read as {}", column.name,
                      parquet::arrow_leaf_type(node)->to_string(), column.type->to_string());
      }
      source.leaf = static_cast<int>(node.first_leaf);
    } else if (const auto* value = partition_constant(context.spec, context.partition, column.id)) {
      // The partition keeps the type that the column had when its manifest was written.
      source.constant = value->is_null() ? spec::Literal::null(column.type) : spec::promote(*value, column.type);
    } else if (column.initial_default != nullptr) {
      source.constant = *column.initial_default;
    } else if (!column.required) {
      source.constant = spec::Literal::null(column.type);
    } else {
      throw_corrupt(CorruptError::kNoOffset, "required column '{}' (field id {}) is not in the file", column.name,
                    column.id);
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace frazil::scan
