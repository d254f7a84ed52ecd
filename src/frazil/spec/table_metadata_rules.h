// The rules of table metadata that span several of its members.
#pragma once

#include "frazil/spec/table_metadata.h"

namespace frazil::spec {

// What reading needs to hold: ids are unique and references lead somewhere. Throws CorruptError with the rule that is
// broken. (validate() asks for what writers owe besides: counters that cover what they count, types of the version.)
void check_readable(const TableMetadata& metadata);

}  // namespace frazil::spec
