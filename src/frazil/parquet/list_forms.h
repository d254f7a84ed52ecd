// Lists in the forms that Parquet has no word for, made of the lists that a BatchReader gives.
//
//   ColumnRequest::list_form   of                      becomes
//   kView                      list, large_list        list_view, large_list_view: the sizes are new, the rest is shared
//   kFixedSize                 list                    fixed_size_list
//
// A Parquet file has no elements for a list that is null, a fixed_size_list has as many for it as for any other. If one is
// null, the elements are copied with nulls in those places; else they are shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/column_request.h"

namespace frazil::parquet {

// A column with such lists in it, or without.
class ListForms {
 public:
  // `stored`: of the arrays that convert() gets, arrow_field(request) but for variants, in which no form is looked for.
  ListForms(const ColumnRequest& request, Field stored);
  ~ListForms();
  ListForms(ListForms&&) noexcept;
  ListForms& operator=(ListForms&&) noexcept;

  bool has_forms() const { return root_ != nullptr; }
  const Field& field() const { return field_; }
  // Bytes that a null row takes in the fixed_size_lists of the column, lists around them not counted.
  uint64_t null_row_bytes() const { return null_row_bytes_; }
  // `stored` is a validated array. Memory comes from the pool: 4 bytes a list of a view; of a fixed_size_list with nulls the
  // elements twice and 4 bytes for each. Throws CorruptError if a list has another size.
  ArrayPtr convert(const ArrayPtr& stored, MemoryPool& pool) const;

 private:
  struct Node;
  static std::unique_ptr<Node> compile(const ColumnRequest& request, Field& field);

  std::unique_ptr<Node> root_;
  Field field_;
  uint64_t null_row_bytes_ = 0;
};

}  // namespace frazil::parquet
