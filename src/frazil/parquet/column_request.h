// What to read of the schema of a Parquet file, and the Arrow column that it becomes.
//
// A request is a tree that follows the schema: structs with any of their fields in any order, lists with their element,
// maps with key and value, leaves. request_column() makes the whole of a node, all legacy forms of lists and maps
// considered; a projection is what is left after children were taken out, reordered, or given other types.
//
//   optional group points (LIST) { repeated group list { optional group element { required double x; optional int32 t } } }
//
//   kList(points) - kStruct(element) - kLeaf(x), kLeaf(t)        list<struct<x, t>>
//   kList(points) - kStruct(element) - kLeaf(t)                  list<struct<t>>
//   kList(points) - kLeaf(t)                                     list<t>, null where the point is
#pragma once

#include <cstdint>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

struct ColumnRequest {
  enum class Kind : uint8_t {
    kLeaf,    // no children
    kStruct,  // at least one child
    kList,    // one child: the element
    kMap,     // two children: key and value
  };
  // Of FileSchema::nodes(). A list's or map's: the annotated group, or the repeated node itself if it has no annotation.
  // Groups between a request's node and its parent's may be left out: it is null where one of them is. Repeated nodes
  // may not, other than the one that a list or map stands for.
  uint32_t node = 0;
  // kLeaf: field.type is what values are decoded as (see can_read_as). Of the others the type is made of the children's
  // fields, and what stands here is not looked at. A field that is not nullable is CorruptError where a value is null.
  Field field;
  Kind kind = Kind::kLeaf;
  std::vector<ColumnRequest> children = {};
  bool is_large = false;  // kList: a large_list, with offsets of 64 bits
  // kList: what a FileReader makes of it (list_forms.h). A BatchReader gives offsets.
  enum class ListForm : uint8_t { kOffsets, kView, kFixedSize };
  ListForm list_form = ListForm::kOffsets;
  int32_t list_size = 0;  // kFixedSize
};

// The whole of `node`, which is not the root. Lists and maps as LogicalTypes.md has them, with its rules for old files; a
// map without values is a list of its keys, as in other readers; a repeated node without annotation is a list of required
// elements. Field ids become metadata "PARQUET:field_id"; UUID, JSON and geo types "ARROW:extension:name". Throws
// CorruptError for a tree that breaks the rules of LIST and MAP, Error(kUnsupported) beyond kMaxTypeDepth.
ColumnRequest request_column(const FileSchema& schema, uint32_t node, const ArrowTypeOptions& options = {});
// All columns: the children of the root. Here and inside of structs, groups without leaves have no values and are left out.
std::vector<ColumnRequest> request_columns(const FileSchema& schema, const ArrowTypeOptions& options = {});

// The field that the column will have: field.type of all but leaves from the children's.
Field arrow_field(const ColumnRequest& request);
// Of request_columns().
SchemaPtr arrow_schema(const FileSchema& schema, const ArrowTypeOptions& options = {});

}  // namespace frazil::parquet
