// Partition specs and sort orders that become part of a table: what the specification asks of new ones. (Those that a
// table has already are only read: table_metadata_rules.h.)
#pragma once

#include <cstdint>
#include <span>

#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/sort_order.h"

namespace frazil::spec {

// Both throw Error(kInvalidArgument), with the field, for a source that is missing, not primitive or inside of a list or
// map, a transform that is not known, of several columns or does not take the source's type, and a name or term that
// occurs twice. A partition field must not have the name of a column, unless it is identity or void of that column.
void check_new_spec(const PartitionSpec& spec, const Schema& schema);
void check_new_sort_order(const SortOrder& order, const Schema& schema);

// Gives each field without an id (kUnassignedFieldId) that of the same field (source, transform and name) of `older`, or
// the next after `last_id`; v1 numbers by place from 1000 on instead, since its manifests know fields by place alone.
// Returns the new last id. Throws Error(kInvalidArgument) for an id that two fields have or that was given to a field of
// another source, and in v1 for ids that are not by place.
int32_t assign_field_ids(PartitionSpec& spec, std::span<const PartitionSpec> older, int32_t last_id,
                         int format_version);

}  // namespace frazil::spec
