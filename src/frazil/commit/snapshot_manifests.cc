#include "frazil/commit/snapshot_manifests.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/manifest/manifest.h"
#include "frazil/spec/new_table.h"
#include "frazil/spec/table_properties.h"

namespace frazil::commit {
namespace {

using manifest::ManifestFile;

constexpr int64_t kTargetBytes = int64_t{8} << 20;
constexpr int64_t kMinCountToMerge = 100;

int64_t target_bytes(const spec::TableMetadata& metadata) {
  return spec::property_int(metadata.properties, "commit.manifest.target-size-bytes", kTargetBytes, 1);
}

const spec::PartitionSpec& spec_of(const spec::TableMetadata& metadata, int32_t spec_id) {
  const spec::PartitionSpec* spec = metadata.find_spec(spec_id);
  if (spec == nullptr) throw_error(ErrorKind::kInvalidArgument, "partition spec {} does not exist", spec_id);
  return *spec;
}

manifest::ManifestWriter open_writer(const spec::TableMetadata& metadata, const spec::PartitionSpec& spec,
                                     spec::TypePtr partition_type, manifest::ManifestContent content,
                                     const ManifestWriting& writing) {
  manifest::ManifestWriterOptions options;
  options.content = content;
  options.format_version = metadata.format_version;
  options.schema = metadata.current_schema();
  options.spec = spec;
  options.snapshot_id = writing.snapshot_id;
  options.partition_type = std::move(partition_type);
  options.container = manifest_container(metadata);
  std::string path = writing.names.next(metadata);
  writing.written.add(path);
  return {writing.files.open_output(path), std::move(options), writing.pool};
}

bool has_counts(const ManifestFile& file) {
  return file.added_files_count && file.existing_files_count && file.deleted_files_count && file.added_rows_count &&
         file.existing_rows_count && file.deleted_rows_count && file.added_snapshot_id;
}

// v1 lists may leave counts out; later ones must have them.
void complete_counts(ManifestFile& file, FileSystem& files, MemoryPool& pool) {
  const manifest::Manifest read =
      manifest::read_manifest(files.open_input(file.path, static_cast<uint64_t>(file.length)), file, pool);
  struct Counts {
    int32_t files = 0;
    int64_t rows = 0;
  };
  Counts counts[3];
  for (size_t i = 0; i < read.size(); ++i) {
    const manifest::Entry entry = read[i];
    Counts& of_status = counts[static_cast<size_t>(entry.status())];
    ++of_status.files;
    of_status.rows += entry.record_count();
    if (!file.added_snapshot_id) file.added_snapshot_id = entry.snapshot_id();
  }
  const auto count_of = [&](manifest::EntryStatus status) { return counts[static_cast<size_t>(status)]; };
  file.added_files_count = count_of(manifest::EntryStatus::kAdded).files;
  file.added_rows_count = count_of(manifest::EntryStatus::kAdded).rows;
  file.existing_files_count = count_of(manifest::EntryStatus::kExisting).files;
  file.existing_rows_count = count_of(manifest::EntryStatus::kExisting).rows;
  file.deleted_files_count = count_of(manifest::EntryStatus::kDeleted).files;
  file.deleted_rows_count = count_of(manifest::EntryStatus::kDeleted).rows;
}

using Bin = std::vector<const ManifestFile*>;

// From the end, so that the bin that is not full is the newest, which is merged the next time. The order stays.
std::vector<Bin> pack_from_end(const std::vector<const ManifestFile*>& group, int64_t bin_bytes) {
  std::vector<Bin> bins;
  int64_t bytes = 0;
  for (size_t i = group.size(); i-- > 0;) {
    if (bins.empty() || bytes + group[i]->length > bin_bytes) {
      bins.emplace_back();
      bytes = 0;
    }
    bins.back().push_back(group[i]);
    bytes += group[i]->length;
  }
  for (Bin& bin : bins) std::reverse(bin.begin(), bin.end());
  std::reverse(bins.begin(), bins.end());
  return bins;
}

ManifestFile merge(const Bin& bin, const spec::PartitionSpec& spec, const spec::TableMetadata& metadata,
                   const ManifestWriting& writing) {
  // Columns of the partition whose source is gone have their type from the manifests.
  manifest::ManifestOptions options;
  options.with_metrics = true;
  options.partition_type = spec.partition_type(*metadata.current_schema());
  std::optional<manifest::ManifestWriter> writer;
  for (const ManifestFile* file : bin) {
    const manifest::Manifest read = manifest::read_manifest(
        writing.files.open_input(file->path, static_cast<uint64_t>(file->length)), *file, writing.pool, options);
    if (!writer) writer.emplace(open_writer(metadata, spec, read.partition_type(), bin.front()->content, writing));
    for (size_t i = 0; i < read.size(); ++i) {
      const manifest::Entry entry = read[i];
      const bool of_this_snapshot = entry.snapshot_id() == writing.snapshot_id;
      if (!entry.is_live()) {
        if (of_this_snapshot) writer->deleted(entry);
      } else if (entry.status() == manifest::EntryStatus::kAdded && of_this_snapshot) {
        writer->add(manifest::data_file_of(entry));
      } else {
        writer->existing(entry);
      }
    }
  }
  return writer->finish(writing.publish);
}

}  // namespace

std::string ManifestNames::next(const spec::TableMetadata& metadata) {
  return message("{}/{}-m{}.avro", spec::metadata_folder(metadata), commit_uuid_, count_++);
}

avro::ContainerWriterOptions manifest_container(const spec::TableMetadata& metadata) {
  avro::ContainerWriterOptions options;
  constexpr std::string_view kProperty = "write.manifest.compression-codec";
  try {
    options.codec = avro::codec_from_name(metadata.property(kProperty).value_or("gzip"));
  } catch (Error& error) {
    error.add_context(message("table property {}", kProperty));
    throw;
  }
  return options;
}

std::vector<ManifestFile> manifests_of(const spec::Snapshot& snapshot, const spec::TableMetadata& metadata,
                                       FileSystem& files, MemoryPool& pool) {
  std::vector<ManifestFile> manifests;
  if (snapshot.key_id) {
    throw_error(ErrorKind::kUnsupported, "snapshot {} is encrypted: its manifest list cannot be read",
                snapshot.snapshot_id);
  }
  if (snapshot.manifest_list) {
    manifests = manifest::read_manifest_list(files.open_input(*snapshot.manifest_list), pool);
  } else if (snapshot.manifests) {
    for (const std::string& path : *snapshot.manifests) {
      manifests.push_back(
          manifest::manifest_file_without_list(files.open_input(path), path, snapshot.snapshot_id, pool));
    }
  }
  for (ManifestFile& file : manifests) {
    if (metadata.format_version >= 2 && !has_counts(file)) complete_counts(file, files, pool);
  }
  return manifests;
}

std::vector<ManifestFile> write_added(std::span<const manifest::DataFile> files, const spec::TableMetadata& metadata,
                                      const ManifestWriting& writing) {
  // The newest spec first, as Iceberg Java orders them; files of one in their order.
  std::map<int32_t, std::vector<const manifest::DataFile*>, std::greater<>> by_spec;
  for (const manifest::DataFile& file : files) by_spec[file.spec_id].push_back(&file);
  const auto most_bytes = static_cast<uint64_t>(target_bytes(metadata));
  std::vector<ManifestFile> manifests;
  for (const auto& [spec_id, of_spec] : by_spec) {
    const spec::PartitionSpec& spec = spec_of(metadata, spec_id);
    std::optional<manifest::ManifestWriter> writer;
    for (const manifest::DataFile* file : of_spec) {
      if (writer && writer->estimated_bytes() >= most_bytes) {
        manifests.push_back(writer->finish(writing.publish));
        writer.reset();
      }
      if (!writer) writer.emplace(open_writer(metadata, spec, nullptr, manifest::ManifestContent::kData, writing));
      writer->add(*file);
    }
    manifests.push_back(writer->finish(writing.publish));
  }
  return manifests;
}

MergedManifests merge_manifests(const std::vector<ManifestFile>& manifests, const spec::TableMetadata& metadata,
                                const ManifestWriting& writing) {
  const int64_t bin_bytes = target_bytes(metadata);
  const int64_t min_count =
      spec::property_int(metadata.properties, "commit.manifest.min-count-to-merge", kMinCountToMerge);
  MergedManifests result;
  std::map<int32_t, std::vector<const ManifestFile*>, std::greater<>> by_spec[2];  // of data, of deletes
  const ManifestFile* newest[2] = {nullptr, nullptr};
  std::vector<const ManifestFile*> untouched;
  for (const ManifestFile& file : manifests) {
    const size_t content = file.content == manifest::ManifestContent::kData ? 0 : 1;
    if (newest[content] == nullptr) newest[content] = &file;
    if (file.key_metadata || metadata.find_spec(file.partition_spec_id) == nullptr) {
      untouched.push_back(&file);
    } else if (file.may_have_live_files() || file.added_snapshot_id == writing.snapshot_id) {
      by_spec[content][file.partition_spec_id].push_back(&file);
    } else {
      ++result.replaced;  // nothing in it is live
    }
  }
  for (size_t content = 0; content < 2; ++content) {
    for (const auto& [spec_id, group] : by_spec[content]) {
      for (const Bin& bin : pack_from_end(group, bin_bytes)) {
        const bool waits = std::find(bin.begin(), bin.end(), newest[content]) != bin.end() &&
                           static_cast<int64_t>(bin.size()) < min_count;
        if (bin.size() == 1 || waits) {
          for (const ManifestFile* file : bin) result.manifests.push_back(*file);
          continue;
        }
        result.manifests.push_back(merge(bin, spec_of(metadata, spec_id), metadata, writing));
        result.replaced += std::count_if(bin.begin(), bin.end(), [&](const ManifestFile* file) {
          return file->added_snapshot_id != writing.snapshot_id;
        });
      }
    }
  }
  for (const ManifestFile* file : untouched) result.manifests.push_back(*file);
  return result;
}

}  // namespace frazil::commit
