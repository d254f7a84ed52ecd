#include "frazil/manifest/data_file.h"

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

}  // namespace

std::string file_format_text(const DataFile& file) {
  if (file.format == FileFormat::kOther) return file.other_format;
  std::string text(to_string(file.format));
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

DataFile data_file_of(const Entry& entry) {
  if (!entry.manifest().has_metrics()) {
    throw_error(ErrorKind::kInvalidArgument, "manifest {} was read without metrics", entry.manifest().file().path);
  }
  DataFile file;
  file.content = entry.content();
  file.path = entry.file_path();
  file.format = entry.file_format();
  if (file.format == FileFormat::kOther) file.other_format = entry.file_format_text();
  file.spec_id = entry.manifest().file().partition_spec_id;
  file.partition = entry.partition();
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
