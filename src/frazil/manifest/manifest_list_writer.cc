#include "frazil/manifest/manifest_list_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/manifest/manifest_writer.h"
#include "frazil/manifest/written_schema.h"

namespace frazil::manifest {

namespace {

using avro::ValueEncoder;

template <typename... Args>
[[noreturn]] void throw_invalid(const ManifestFile& file, std::string_view format, const Args&... args) {
  throw_error(ErrorKind::kInvalidArgument, "manifest {} {}", file.path, message(format, args...));
}

template <typename T>
int64_t require(const ManifestFile& file, std::optional<T> value, std::string_view what) {
  if (!value) throw_invalid(file, "has no {}, which format versions 2 and 3 demand", what);
  if (*value < 0) throw_invalid(file, "has {} as {}", *value, what);
  return *value;
}

// Everything that the list will say, checked.
class ListedManifests {
 public:
  ListedManifests(const ManifestListOptions& options, std::span<const ManifestFile> manifests)
      : options_(options), next_row_id_(options.first_row_id) {
    if (options.format_version < 1 || options.format_version > 3)
      throw_error(ErrorKind::kUnsupported, "manifest lists of format version {}", options.format_version);
    files_.reserve(manifests.size());
    for (const ManifestFile& manifest : manifests) files_.push_back(listed(manifest));
  }

  const std::vector<ManifestFile>& files() const { return files_; }
  int64_t next_row_id() const { return next_row_id_; }

 private:
  ManifestFile listed(const ManifestFile& manifest) {
    ManifestFile file = manifest;
    if (file.path.empty() || !is_valid_utf8(file.path)) throw_invalid(file, "has a path that is no text");
    if (file.length < 0) throw_invalid(file, "has a length of {}", file.length);
    if (!file.added_snapshot_id) throw_invalid(file, "has no snapshot id");
    if (options_.format_version == 1) {
      if (file.content == ManifestContent::kDeletes) throw_invalid(file, "has deletes, which format version 1 has not");
      return file;
    }
    assign_sequence_number(file, file.sequence_number);
    assign_sequence_number(file, file.min_sequence_number);
    require(file, file.added_files_count, "count of added files");
    require(file, file.existing_files_count, "count of existing files");
    require(file, file.deleted_files_count, "count of deleted files");
    const int64_t added = require(file, file.added_rows_count, "count of added rows");
    const int64_t existing = require(file, file.existing_rows_count, "count of existing rows");
    require(file, file.deleted_rows_count, "count of deleted rows");
    if (options_.format_version >= 3) assign_first_row_id(file, added, existing);
    return file;
  }

  // Only what this commit wrote gets its number; a manifest of another attempt or table does not.
  void assign_sequence_number(const ManifestFile& file, int64_t& number) const {
    if (number != kUnassignedSequenceNumber) return;
    if (file.added_snapshot_id != options_.snapshot_id)
      throw_invalid(file, "was to get its sequence number from snapshot {}", *file.added_snapshot_id);
    number = options_.sequence_number;
  }

  void assign_first_row_id(ManifestFile& file, int64_t added, int64_t existing) {
    if (file.content != ManifestContent::kData) {
      if (file.first_row_id) throw_invalid(file, "has deletes and a first row id");
      return;
    }
    if (file.first_row_id) return;
    file.first_row_id = next_row_id_;
    int64_t rows = 0;
    if (__builtin_add_overflow(added, existing, &rows) || __builtin_add_overflow(next_row_id_, rows, &next_row_id_))
      throw_invalid(file, "would get row ids over 2^63");
  }

  const ManifestListOptions& options_;
  int64_t next_row_id_;
  std::vector<ManifestFile> files_;
};

std::vector<std::pair<std::string, std::string>> list_header(const ManifestListOptions& options) {
  std::vector<std::pair<std::string, std::string>> header = {
      {"snapshot-id", std::to_string(options.snapshot_id)},
      {"parent-snapshot-id", options.parent_snapshot_id ? std::to_string(*options.parent_snapshot_id) : "null"}};
  if (options.format_version >= 2) header.emplace_back("sequence-number", std::to_string(options.sequence_number));
  if (options.format_version >= 3) header.emplace_back("first-row-id", std::to_string(options.first_row_id));
  header.emplace_back("format-version", std::to_string(options.format_version));
  return header;
}

void write_summaries(ValueEncoder& out, const std::optional<std::vector<FieldSummary>>& summaries) {
  out.write_branch(summaries ? 1 : 0);
  if (!summaries) return;
  if (!summaries->empty()) out.write_long(static_cast<int64_t>(summaries->size()));
  for (const FieldSummary& summary : *summaries) {
    out.write_boolean(summary.contains_null);
    out.write_optional_boolean(summary.contains_nan);
    out.write_optional_bytes(summary.lower_bound);
    out.write_optional_bytes(summary.upper_bound);
  }
  out.write_block_end();
}

void write_v1(ValueEncoder& out, const ManifestFile& file) {
  out.write_long(*file.added_snapshot_id);
  out.write_optional_long(file.added_files_count);
  out.write_optional_long(file.existing_files_count);
  out.write_optional_long(file.deleted_files_count);
  write_summaries(out, file.partitions);
  out.write_optional_long(file.added_rows_count);
  out.write_optional_long(file.existing_rows_count);
  out.write_optional_long(file.deleted_rows_count);
}

void write_v2(ValueEncoder& out, const ManifestFile& file) {
  out.write_int(static_cast<int32_t>(file.content));
  out.write_long(file.sequence_number);
  out.write_long(file.min_sequence_number);
  out.write_long(*file.added_snapshot_id);
  out.write_int(*file.added_files_count);
  out.write_int(*file.existing_files_count);
  out.write_int(*file.deleted_files_count);
  out.write_long(*file.added_rows_count);
  out.write_long(*file.existing_rows_count);
  out.write_long(*file.deleted_rows_count);
  write_summaries(out, file.partitions);
}

}  // namespace

int64_t write_manifest_list(std::unique_ptr<OutputFile> file, const ManifestListOptions& options,
                            std::span<const ManifestFile> manifests, MemoryPool& pool) {
  const std::string path = file->path();
  try {
    const ListedManifests listed(options, manifests);
    avro::ContainerWriter writer(std::move(file), *written_list_schema(options.format_version), list_header(options),
                                 pool, options.container);
    for (const ManifestFile& manifest : listed.files()) {
      ValueEncoder& out = writer.values();
      out.write_bytes(manifest.path);
      out.write_long(manifest.length);
      out.write_int(manifest.partition_spec_id);
      if (options.format_version == 1) {
        write_v1(out, manifest);
      } else {
        write_v2(out, manifest);
      }
      out.write_optional_bytes(manifest.key_metadata);
      if (options.format_version >= 3) out.write_optional_long(manifest.first_row_id);
      writer.end_record();
    }
    writer.finish(options.publish);
    return listed.next_row_id();
  } catch (Error& error) {
    error.add_context(message("writing manifest list {}", path));
    throw;
  }
}

}  // namespace frazil::manifest
