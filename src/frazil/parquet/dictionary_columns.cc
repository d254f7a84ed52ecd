#include "frazil/parquet/dictionary_columns.h"

#include "frazil/parquet/dictionary_page.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

bool has_dictionaries(const FileMetadata& metadata, size_t leaf, size_t first_row_group, size_t row_group_end) {
  for (size_t group = first_row_group; group < row_group_end; ++group) {
    const RowGroup& row_group = metadata.row_groups()[group];
    if (row_group.row_count > 0 && !is_wholly_dictionary(row_group.columns[leaf])) return false;
  }
  return true;
}

void request_dictionaries(std::vector<ColumnRequest>& requests, const FileMetadata& metadata, size_t first_row_group,
                          size_t row_group_end) {
  for (ColumnRequest& request : requests) {
    const SchemaNode& node = metadata.schema().node(request.node);
    if (node.logical.kind == LogicalType::Kind::kVariant) continue;
    if (request.kind != ColumnRequest::Kind::kLeaf) {
      request_dictionaries(request.children, metadata, first_row_group, row_group_end);
      continue;
    }
    if (request.field.extension_name()) continue;
    const TypeId id = request.field.type->id();
    if (!is_bytes(id) && id != TypeId::kFixedSizeBinary) continue;
    if (!has_dictionaries(metadata, node.first_leaf, first_row_group, row_group_end)) continue;
    request.field.type = dictionary(primitive(TypeId::kInt32), request.field.type);
  }
}

}  // namespace frazil::parquet
