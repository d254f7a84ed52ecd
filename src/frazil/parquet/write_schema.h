// The Parquet schema that an Arrow schema is written as (format/LogicalTypes.md): the mirror of column_request.h.
//
//   leaves                            leaf_description.h
//   null                              optional, whatever the field says
//   struct                            group; VARIANT with the extension arrow.parquet.variant
//   list, large, view, fixed size     group (LIST) { repeated group list { element } }
//   map                               group (MAP) { repeated group key_value { required key; value } }
//   dictionary, run-end encoded       what their values are
//
// Refused by name: unions, structs without fields, and the leaves that leaf_type() refuses.
//
// The root's children are the schema's fields in their order, nullable ones optional. Field metadata "PARQUET:field_id"
// becomes the field id of its node: of a list, of its element, of a map's key and value.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

// Immutable.
class WriteSchema {
 public:
  // Throws Error(kUnsupported) naming the column for what is refused, Error(kInvalidArgument) for a field id that is no
  // number.
  explicit WriteSchema(SchemaPtr arrow_schema);
  WriteSchema(const WriteSchema&) = delete;
  WriteSchema& operator=(const WriteSchema&) = delete;

  const SchemaPtr& arrow_schema() const { return arrow_schema_; }
  // Nodes, levels and paths; views on this object.
  const FileSchema& file_schema() const { return file_schema_; }
  // One a leaf, in the order of the file.
  std::span<const LeafDescription> leaves() const { return leaves_; }
  // The node of field `column` of the Arrow schema; its leaves are [first_leaf, first_leaf + leaf_count).
  const SchemaNode& column_node(size_t column) const { return nodes_[column_nodes_[column]]; }
  // The names from a column down to `node`, without the groups that only repeat: as Iceberg names columns.
  std::string column_name(uint32_t node) const;
  // The leaf of that path: as it stands in the file ("points.list.element.x"), or by column_name()
  // ("points.element.x", "props.key", "props.value"). Linear.
  std::optional<size_t> find_leaf(std::string_view path) const;

 private:
  class Maker;
  SchemaPtr arrow_schema_;
  std::deque<std::string> names_;  // what nodes are views on
  std::vector<SchemaNode> nodes_;
  std::vector<uint32_t> leaf_nodes_;
  std::vector<uint32_t> column_nodes_;
  std::vector<LeafDescription> leaves_;
  FileSchema file_schema_;
};

}  // namespace frazil::parquet
