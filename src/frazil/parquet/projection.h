// Which columns of a file to read, by names and for predicates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "frazil/parquet/column_request.h"
#include "frazil/parquet/schema.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/predicate.h"

namespace frazil::parquet {

// The columns of these names, in their order. {"a", "b"} is field b of the struct a alone: a struct of one field;
// several paths into one column make one column with those fields, in the file's order, where its first name stands.
// Throws Error(kNotFound) for a name that does not exist or leads into a list or map; names that differ in case alone
// are the same unless `case_sensitive`, an exact match first.
std::vector<ColumnRequest> request_named(const FileSchema& schema, std::span<const predicate::ColumnName> names,
                                         bool case_sensitive = true, const ArrowTypeOptions& options = {});

// The columns that a predicate reads, cut to the fields that it tests (to one leaf where only nulls are asked for), and
// the predicate on batches of them.
struct PredicateColumns {
  std::vector<ColumnRequest> requests;
  predicate::BoundPredicate predicate;
};
// `predicate` is bound to arrow_schema(schema, options).
PredicateColumns request_predicate(const FileSchema& schema, const predicate::BoundPredicate& predicate,
                                   const ArrowTypeOptions& options = {});

// The leaves that requests read, ascending, each once.
std::vector<size_t> requested_leaves(const FileSchema& schema, std::span<const ColumnRequest> requests);

}  // namespace frazil::parquet
