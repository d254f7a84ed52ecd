#include "frazil/scan/resolve.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "frazil/base/error.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/spec/promotion.h"

namespace frazil::scan {

namespace {

// The file's columns by the ids that they carry, or that mapping, names or positions give.
std::unordered_map<int32_t, size_t> columns_by_id(const std::vector<FileColumn>& file, bool has_ids,
                                                  const FileContext& context) {
  const auto& table = *context.table_schema.as_struct();
  const bool all_named = std::all_of(file.begin(), file.end(),
                                     [&](const FileColumn& column) { return table.find(column.name) != nullptr; });
  std::unordered_map<int32_t, size_t> columns;
  bool any_of_table = false;
  for (size_t i = 0; i < file.size(); ++i) {
    std::optional<int32_t> id;
    if (has_ids) {
      id = file[i].field_id;
    } else if (context.name_mapping != nullptr) {
      const auto* mapped = spec::NameMapping::find(context.name_mapping->fields(), file[i].name);
      if (mapped != nullptr) id = mapped->field_id;
    } else if (all_named) {
      id = table.find(file[i].name)->id;
    } else {
      id = static_cast<int32_t>(i) + 1;
    }
    if (!id.has_value()) continue;
    // Of two columns with one id, which only a broken writer makes, the first counts.
    columns.emplace(*id, i);
    any_of_table = any_of_table || context.table_schema.find(*id) != nullptr;
  }
  // A mapping with other numbers than the schema's would give a table of nulls without a word. A file with ids of its
  // own may have none of the table's: all its columns were dropped since.
  if (!has_ids && !any_of_table && !file.empty()) {
    throw_corrupt(CorruptError::kNoOffset,
                  "the file has no field ids, and {} gives none of its {} columns one of the table's",
                  context.name_mapping != nullptr ? "the table's name mapping" : "their position", file.size());
  }
  return columns;
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

std::vector<ColumnSource> resolve_columns(const std::vector<FileColumn>& file, bool has_ids,
                                          const spec::Schema& columns, const FileContext& context) {
  const auto by_id = columns_by_id(file, has_ids, context);
  std::vector<ColumnSource> sources;
  for (const auto& column : columns.fields()) {
    ColumnSource source;
    const auto found = by_id.find(column.id);
    if (column.type->kind() == spec::TypeKind::kUnknown) {
      // Never stored; a column of that id in the file was dropped or promoted wrongly and must not show through.
      source.constant = spec::Literal::null(column.type);
    } else if (found != by_id.end()) {
      const FileColumn& in_file = file[found->second];
      if (in_file.is_nested || !column.type->is_primitive()) {
        throw_error(ErrorKind::kUnsupported, "column '{}' of type {} is nested: nested columns are not read yet",
                    column.name, column.type->to_string());
      }
      if (!in_file.can_read_as(*spec::to_arrow_type(*column.type))) {
        throw_corrupt(CorruptError::kNoOffset, "column '{}' is {} in the file and cannot be read as {}", column.name,
                      in_file.type_text, column.type->to_string());
      }
      source.column = found->second;
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
