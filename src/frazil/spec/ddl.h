// Schemas, partition specs and sort orders as people type them.
//
//   columns   := column (',' column)*
//   column    := name type ['not' 'null'] ['comment' text]
//   type      := Iceberg's names ("long", "decimal(9, 2)", "timestamptz", "fixed(16)" ...), SQL's for them ("bigint", "integer",
//                "varchar", "text", "boolean", "bool", "real", "numeric(9, 2)", "blob"), and
//              | 'struct' '<' name [':'] type ['not' 'null'] ['comment' text] (',' ...)* '>'
//              | ('list' | 'array') '<' type ['not' 'null'] '>'
//              | 'map' '<' type ',' type ['not' 'null'] '>'
//   partition := transform ['as' name] (',' transform ['as' name])*
//   sort      := transform ['asc' | 'desc'] ['nulls' ('first' | 'last')] (',' ...)*
//   transform := path | name '(' path ')' | ('bucket' | 'truncate') '(' number ',' path ')' | ... '(' path ',' number ')'
//              | ('bucket' | 'truncate') '[' number ']' '(' path ')'         as specs are printed
//   path      := name ('.' name)*
//   name      := letters, digits, '_', '$', '@', not a digit first; or anything in "..." or `...`, the quote doubled within
//   text      := '...', the quote doubled within
//
// Keywords, types and transforms in any case; transforms also in the plural ("days"). All functions throw
// Error(kInvalidArgument) that shows the place, or what is wrong with a name or type there.
#pragma once

#include <string_view>

#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/sort_order.h"

namespace frazil::spec {

// Ids from 1 on: columns first, then what is nested in them.
SchemaPtr parse_schema(std::string_view text);
// Fields are named as Iceberg Java does: "ts_day", "id_bucket", "name_trunc", "name" itself for identity; ids from 1000 on.
PartitionSpec parse_partition_spec(const Schema& schema, std::string_view text);
// Order 1. Nulls come first where ascending, last where descending, unless it is said.
SortOrder parse_sort_order(const Schema& schema, std::string_view text);

}  // namespace frazil::spec
