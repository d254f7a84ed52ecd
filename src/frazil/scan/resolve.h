// Where each column of a scan comes from in one data file (spec, "Column Projection"). The result drives the reading;
// nothing else looks at the file's names and ids.
//
//   1. the file's field with the same id
//   2. a file without any ids: the ids of the table's name mapping; without a mapping, by name if every column of the
//      file has the name of one of the table's (Hive's files lack the partition columns, so positions would be wrong),
//      else by position, as Iceberg Java does
//   3. the partition value, if the file's spec has an identity transform of the column
//   4. the column's initial default, else null, else (required) an error
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/name_mapping.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::scan {

// A top-level column of a data file, whatever its format.
struct FileColumn {
  std::string_view name;
  std::optional<int32_t> field_id;
  bool is_nested = false;
  std::string type_text;                                  // for errors
  std::function<bool(const DataType& type)> can_read_as;  // whether its values can become that type without loss
};

struct ColumnSource {
  // The index of a column of the file, decoded as the table's type; or else the constant.
  std::optional<size_t> column;
  spec::Literal constant;
};

// What the table says about a data file's columns.
struct FileContext {
  const spec::Schema& table_schema;  // whole: the schema that the scan selects from
  const spec::PartitionSpec& spec;   // the file's
  const std::vector<spec::Literal>& partition;
  const spec::NameMapping* name_mapping = nullptr;
};

// One a column of `columns`. `has_ids`: any field of the file, at any level, carries an id. Throws Error(kUnsupported)
// for nested columns that the file has, CorruptError for a file type that cannot become the table's, a missing required
// column, or a file none of whose columns gets an id of the table.
std::vector<ColumnSource> resolve_columns(const std::vector<FileColumn>& file, bool has_ids,
                                          const spec::Schema& columns, const FileContext& context);

}  // namespace frazil::scan
