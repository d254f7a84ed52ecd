// Where each field of a scan comes from in one data file, at every level (spec, "Column Projection"). The result drives
// reading, filling and filtering; nothing else looks at the file's names and ids.
//
//   1. the file's field with the same id
//   2. a file without any ids: the ids of the table's name mapping; without a mapping, columns by name if every column
//      of the file has the name of one of the table's (Hive's files lack the partition columns, so positions would be
//      wrong), else by position, as Iceberg Java does; fields of structs by name
//   3. the partition value, if the file's spec has an identity transform of the field
//   4. the field's initial default, else null, else (required) an error
//
// Fields of a struct are looked for among the fields of the file's struct. The element of a list, key and value of a map
// are the file's: no evolution replaces them alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/spec/literal.h"
#include "frazil/spec/name_mapping.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::scan {

// A field of a data file, whatever its format.
struct FileField {
  // kVariant: a group that says so; one of just metadata and value is one too if the table says so.
  enum class Kind : uint8_t { kLeaf, kStruct, kList, kMap, kVariant };
  std::string_view name;
  std::optional<int32_t> field_id;
  Kind kind = Kind::kLeaf;
  std::vector<FileField> children;  // struct: its fields; list: the element; map: key and value
  std::string type_text;            // for errors
  std::function<bool(const spec::Type& type)>
      can_read_as;  // of a leaf: whether its values can become that without loss
};

struct FileColumns {
  struct Column {
    std::string_view name;
    std::optional<int32_t> field_id;
  };
  std::vector<Column> columns;
  bool has_ids = false;  // any field of the file, at any level, carries one
  // All of a column. Asked for those alone that are read: others may be what cannot be.
  std::function<FileField(size_t column)> open;
};

struct ColumnSource {
  enum class Kind : uint8_t {
    kConstant,
    kWhole,  // a leaf or a variant, decoded as the table's type
    kStruct,
    kList,
    kMap,
  };
  Kind kind = Kind::kConstant;
  // Unless it is a constant: its index among the file's columns, or the fields of the file's struct; and its place among
  // those of them that are decoded. 0 in lists, 0 and 1 in maps.
  size_t file_index = 0;
  size_t place = 0;
  spec::Literal constant;
  // One a field of the table's struct; the element; key and value. A struct may have constants alone: where it is null
  // is the file's all the same.
  std::vector<ColumnSource> children;

  bool is_constant() const { return kind == Kind::kConstant; }
};

// What the table says about a data file's columns.
struct FileContext {
  const spec::Schema& table_schema;  // whole: the schema that the scan selects from
  const spec::PartitionSpec& spec;   // the file's
  const std::vector<spec::Literal>& partition;
  const spec::NameMapping* name_mapping = nullptr;
};

// One a column of `columns`. Throws CorruptError for a file type that cannot become the table's, a missing required
// field, or a file none of whose columns gets an id of the table.
std::vector<ColumnSource> resolve_columns(const FileColumns& file, const spec::Schema& columns,
                                          const FileContext& context);

// The sources of a part of the fields: `part` has fields of `columns` alone, by id, in any order. Places stay.
std::vector<ColumnSource> restrict_sources(std::span<const ColumnSource> sources, const spec::Schema& columns,
                                           const spec::Schema& part);
// Numbers the places anew, for a reader that decodes just these.
void number_places(std::vector<ColumnSource>& sources);

}  // namespace frazil::scan
