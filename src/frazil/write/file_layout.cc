#include "frazil/write/file_layout.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/stored_fields.h"

namespace frazil::write {

namespace {

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void check_format(const spec::TableMetadata& metadata) {
  const std::optional<std::string_view> format = metadata.property("write.format.default");
  if (ascii_lower(format.value_or("parquet")) == "parquet") return;
  throw_error(ErrorKind::kUnsupported,
              "the table wants its data as {} (write.format.default); Frazil writes Parquet alone", *format);
}

// Whoever set a key would find plain files beside encrypted ones.
void check_encryption(const spec::TableMetadata& metadata) {
  const std::optional<std::string_view> key = metadata.property("encryption.key-id");
  if (!key) return;
  throw_error(ErrorKind::kUnsupported,
              "the table wants its files encrypted (encryption.key-id={}), which Frazil does not do", *key);
}

// In every mode all rows of a partition go to its files, wherever they come from: there is nothing to shuffle.
void check_distribution(const spec::TableMetadata& metadata) {
  const std::string mode = ascii_lower(metadata.property("write.distribution-mode").value_or("none"));
  if (mode == "none" || mode == "hash" || mode == "range") return;
  throw_error(ErrorKind::kInvalidArgument, "property 'write.distribution-mode' is '{}': none, hash or range", mode);
}

}  // namespace

FileLayout::FileLayout(const spec::TableMetadata& metadata, const MetricsConfig& metrics, bool is_sorted)
    : schema_(metadata.current_schema()) {
  check_format(metadata);
  check_encryption(metadata);
  check_distribution(metadata);
  std::vector<Field> fields;
  for (size_t i = 0; i < schema_->fields().size(); ++i) {
    const spec::NestedField& field = schema_->fields()[i];
    if (field.type->kind() == spec::TypeKind::kUnknown) continue;  // not stored
    spec::NestedField stored = field;
    stored.type = stored_type(field.type);
    fields.push_back(spec::to_arrow_field(stored));
    columns_.push_back(i);
    stored_types_.push_back(stored.type == field.type ? nullptr : fields.back().type);
  }
  parquet::WriterOptions options = parquet::options_from_properties(metadata.properties);
  keep_bounds(*schema_->as_struct(), metrics, options);
  if (is_sorted) options.sorting_columns = sorting_columns(metadata.default_sort_order());
  plan_ = std::make_shared<const parquet::WritePlan>(frazil::Schema::make(std::move(fields)), std::move(options));
}

std::vector<parquet::SortingColumn> FileLayout::sorting_columns(const spec::SortOrder& order) const {
  std::vector<parquet::SortingColumn> columns;
  for (const spec::SortField& field : order.fields) {
    if (field.transform != spec::Transform::identity()) break;
    columns.push_back({.path = schema_->full_name(field.source_ids.front()),
                       .descending = field.direction == spec::SortDirection::kDescending,
                       .nulls_first = field.null_order == spec::NullOrder::kNullsFirst});
  }
  return columns;
}

void FileLayout::keep_bounds(const spec::Type& type, const MetricsConfig& metrics,
                             parquet::WriterOptions& options) const {
  for (const spec::NestedField& field : type.fields()) {
    keep_bounds(*field.type, metrics, options);
    const spec::TypeKind kind = field.type->kind();
    if (kind != spec::TypeKind::kString && kind != spec::TypeKind::kBinary) continue;
    const size_t length = metrics.mode(field.id).bound_bytes();
    if (length <= options.columns.statistics_length) continue;
    parquet::ColumnOptions& column = options.overrides.emplace_back();
    column.path = schema_->full_name(field.id);
    column.may_be_absent = true;
    column.statistics_length = length;
  }
}

ArrayPtr FileLayout::cut(size_t place, const Array& array) const {
  if (stored_types_[place] == nullptr) return nullptr;
  return stored_array(array, *schema_->fields()[columns_[place]].type, stored_types_[place]);
}

}  // namespace frazil::write
