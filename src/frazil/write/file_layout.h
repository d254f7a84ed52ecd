// What all data files of one writer have in common: which of the table's columns they have, in which types, and the options
// that the table's properties ask for.
#pragma once

#include <cstddef>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/parquet/writer_options.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/write/metrics_config.h"

namespace frazil::write {

// Immutable.
class FileLayout {
 public:
  // Of the metadata's current schema and properties (write.parquet.*). Statistics are as long as the bounds that `metrics`
  // wants. `is_sorted`: rows of files are in the table's order, and footers say so. Throws Error(kUnsupported) for data in
  // another format than Parquet, Error(kInvalidArgument) for properties that cannot be.
  FileLayout(const spec::TableMetadata& metadata, const MetricsConfig& metrics, bool is_sorted);

  const parquet::WritePlanPtr& plan() const { return plan_; }
  // Columns of the files, in their order: places, up to column_count().
  size_t column_count() const { return columns_.size(); }
  // Their place in the table's schema.
  size_t column(size_t place) const { return columns_[place]; }
  // What files have of an array of the table's type; nullptr: all of it.
  ArrayPtr cut(size_t place, const Array& array) const;

 private:
  // As far as the order is of columns themselves.
  std::vector<parquet::SortingColumn> sorting_columns(const spec::SortOrder& order) const;
  void keep_bounds(const spec::Type& type, const MetricsConfig& metrics, parquet::WriterOptions& options) const;

  spec::SchemaPtr schema_;
  std::vector<size_t> columns_;
  std::vector<DataTypePtr> stored_types_;  // by place; nullptr: the table's
  parquet::WritePlanPtr plan_;
};

}  // namespace frazil::write
