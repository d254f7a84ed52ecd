// Which columns of a file to read, by names and for predicates.
#pragma once

#include <cstddef>
#include <optional>
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
// `predicate` is bound to a schema that has arrow_field() of each of `columns`, in any types that they can be read as.
PredicateColumns request_predicate(std::span<const ColumnRequest> columns, const predicate::BoundPredicate& predicate);
// The leaf that each column of the predicate is; nothing for structs, lists and what lies in lists.
std::vector<std::optional<size_t>> requested_predicate_leaves(const FileSchema& schema,
                                                              const PredicateColumns& columns);

// The request with one leaf alone, which tells where it is null: one outside of lists if there is any.
ColumnRequest request_nulls(ColumnRequest request);

// The leaves that requests read, ascending, each once.
std::vector<size_t> requested_leaves(const FileSchema& schema, std::span<const ColumnRequest> requests);

}  // namespace frazil::parquet
