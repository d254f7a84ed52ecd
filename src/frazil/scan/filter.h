// The filter of a scan: bound once to the table, and for each file to what is decoded of it.
//
//   a field that the file has             its place among what is decoded
//   one that it lacks                     a constant: the test is decided here; within a struct of the file it depends on
//                                         whether the struct is null
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/predicate.h"
#include "frazil/scan/resolve.h"
#include "frazil/spec/schema.h"

namespace frazil::scan {

struct Filter {
  spec::SchemaPtr columns;              // what is read of the table: for the rows that are given out, and for the tests
  predicate::BoundPredicate predicate;  // on to_arrow_schema(*columns)
};

// Nothing if `where` is always true: `selected` is what is read then. Throws as bind_predicate(), Error(kInvalidArgument)
// for a name that leads into a variant.
std::optional<Filter> bind_filter(const predicate::Predicate& where, const spec::Schema& table,
                                  const spec::Schema& selected);

// The predicate on batches of `decoded`, which has a column for each source that is no constant, in their order and with
// their places. `sources` are of filter.columns. Memory for a few values comes from `pool`.
predicate::BoundPredicate bind_to_file(const Filter& filter, std::span<const ColumnSource> sources, SchemaPtr decoded,
                                       MemoryPool& pool);

}  // namespace frazil::scan
