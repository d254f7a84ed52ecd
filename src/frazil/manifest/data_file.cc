#include "frazil/manifest/data_file.h"

#include <algorithm>

#include "frazil/base/error.h"

namespace frazil::manifest {

namespace {

std::optional<CountMap> counts_of(const Entry& entry, CountKind kind) {
  if (!entry.has_counts(kind)) return std::nullopt;
  return entry.counts(kind);
}

std::optional<BoundMap> bounds_of(const Entry& entry, BoundKind kind) {
  if (!entry.has_bounds(kind)) return std::nullopt;
  BoundMap map;
  for (const auto& [field_id, bytes] : entry.bounds(kind)) map.emplace_back(field_id, bytes);
  return map;
}

std::optional<std::string> text_of(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::vector<spec::Literal> partition_of(const Entry& entry, const spec::Type& wanted) {
  const auto fields = entry.manifest().partition_type()->fields();
  std::vector<spec::Literal> values;
  values.reserve(wanted.fields().size());
  for (const spec::NestedField& field : wanted.fields()) {
    size_t at = values.size();  // where it is, but in odd manifests
    if (at >= fields.size() || fields[at].id != field.id) {
      const auto has_id = [&](const spec::NestedField& other) { return other.id == field.id; };
      at = static_cast<size_t>(std::find_if(fields.begin(), fields.end(), has_id) - fields.begin());
    }
    values.push_back(at < fields.size() ? entry.partition_value(at) : spec::Literal::null(field.type));
  }
  return values;
}

}  // namespace

std::string file_format_text(const DataFile& file) {
  if (file.format == FileFormat::kOther) return file.other_format;
  std::string text(to_string(file.format));
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

DataFile data_file_of(const Entry& entry) {
  return data_file_of(entry, *entry.manifest().partition_type());
}

DataFile data_file_of(const Entry& entry, const spec::Type& partition_type) {
  if (!entry.manifest().has_metrics()) {
    throw_error(ErrorKind::kInvalidArgument, "manifest {} was read without metrics", entry.manifest().file().path);
  }
  DataFile file;
  file.content = entry.content();
  file.path = entry.file_path();
  file.format = entry.file_format();
  if (file.format == FileFormat::kOther) file.other_format = entry.file_format_text();
  file.spec_id = entry.manifest().file().partition_spec_id;
  file.partition = partition_of(entry, partition_type);
  file.record_count = entry.record_count();
  file.file_size_bytes = entry.file_size_bytes();
  file.column_sizes = counts_of(entry, CountKind::kColumnSize);
  file.value_counts = counts_of(entry, CountKind::kValueCount);
  file.null_value_counts = counts_of(entry, CountKind::kNullValueCount);
  file.nan_value_counts = counts_of(entry, CountKind::kNanValueCount);
  file.lower_bounds = bounds_of(entry, BoundKind::kLower);
  file.upper_bounds = bounds_of(entry, BoundKind::kUpper);
  file.key_metadata = text_of(entry.key_metadata());
  file.split_offsets = entry.split_offsets();
  file.equality_ids = entry.equality_ids();
  file.sort_order_id = entry.sort_order_id();
  file.first_row_id = entry.first_row_id();
  file.referenced_data_file = text_of(entry.referenced_data_file());
  file.content_offset = entry.content_offset();
  file.content_size_bytes = entry.content_size_bytes();
  return file;
}

}  // namespace frazil::manifest
