// Writes a table's manifests and manifest lists again: tests/interop/manifests.py holds what others read from them
// against what they read from the original.
//
//   frazil_rewrite_metadata METADATA OUT       prints the path of the new metadata file
//
// METADATA is a metadata file below TABLE/metadata. Each manifest and list of each snapshot is written below OUT/metadata
// in the version of the table, entry by entry; data and delete files stay where they are, named by where they are now.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/catalog/relocated_files.h"
#include "frazil/io/local_file_system.h"
#include "frazil/json/value.h"
#include "frazil/manifest/manifest_list_writer.h"
#include "frazil/manifest/manifest_writer.h"
#include "frazil/spec/table_metadata.h"

namespace frazil {
namespace {

class Rewriter {
 public:
  Rewriter(const std::string& metadata_path, std::string out) : out_(std::move(out)) {
    auto local = std::make_shared<LocalFileSystem>();
    const Buffer text = read_file(*local, metadata_path, pool_, 1 << 30);
    metadata_ = *spec::parse_metadata_file(text.span(), pool_);
    const std::string folder = std::filesystem::path(metadata_path).parent_path().parent_path();
    files_ = std::make_shared<catalog::RelocatedFiles>(local, metadata_.location, folder);
  }

  std::string run() {
    for (spec::Snapshot& snapshot : metadata_.snapshots) rewrite_snapshot(snapshot);
    metadata_.location = "file://" + out_;
    metadata_.metadata_log.clear();
    metadata_.statistics.clear();
    metadata_.partition_statistics.clear();
    const std::string path = out_ + "/metadata/v1.metadata.json";
    const std::string text = json::write(spec::table_metadata_to_json(metadata_));
    write_file(*files_, path, std::as_bytes(std::span(text.data(), text.size())), {});
    return path;
  }

 private:
  std::string file_here(std::string_view location) {
    const std::string path = files_->locate(location);
    return path.starts_with("/") ? "file://" + path : path;
  }

  void rewrite_snapshot(spec::Snapshot& snapshot) {
    std::vector<manifest::ManifestFile> old;
    if (snapshot.manifest_list) {
      old = manifest::read_manifest_list(files_->open_input(*snapshot.manifest_list), pool_);
    } else {
      for (const std::string& path : snapshot.manifests.value_or(std::vector<std::string>()))
        old.push_back(
            manifest::manifest_file_without_list(files_->open_input(path), path, snapshot.snapshot_id, pool_));
    }
    std::vector<manifest::ManifestFile> manifests;
    for (const manifest::ManifestFile& file : old) manifests.push_back(rewritten(file));
    manifest::ManifestListOptions options;
    options.format_version = metadata_.format_version;
    options.snapshot_id = snapshot.snapshot_id;
    options.parent_snapshot_id = snapshot.parent_snapshot_id;
    options.sequence_number = snapshot.sequence_number;
    options.first_row_id = snapshot.first_row_id.value_or(0);
    const std::string path = out_ + "/metadata/snap-" + std::to_string(snapshot.snapshot_id) + ".avro";
    manifest::write_manifest_list(files_->open_output("file://" + path), options, manifests, pool_);
    snapshot.manifest_list = "file://" + path;
    snapshot.manifests.reset();
  }

  const manifest::ManifestFile& rewritten(const manifest::ManifestFile& file) {
    auto& known = rewritten_[file.path];
    if (!known) known = rewrite_manifest(file);
    return *known;
  }

  manifest::ManifestFile rewrite_manifest(const manifest::ManifestFile& file) {
    manifest::ManifestOptions read_options;
    read_options.with_metrics = true;
    const auto input = files_->open_input(file.path);
    const manifest::Manifest original = manifest::read_manifest(input, file, pool_, read_options);

    manifest::ManifestWriterOptions options;
    // A table of version 2 may have manifests that version 1 wrote, and keeps them.
    options.format_version = std::max(original.header().format_version, 1);
    options.content = file.content;
    options.schema = original.header().schema();
    if (options.schema == nullptr) options.schema = metadata_.current_schema();
    const spec::PartitionSpec* spec = metadata_.find_spec(file.partition_spec_id);
    if (spec == nullptr) throw_error(ErrorKind::kNotFound, "partition spec {}", file.partition_spec_id);
    options.spec = *spec;
    options.partition_type = manifest::partition_type_for(*spec, *options.schema, original);
    options.snapshot_id = file.added_snapshot_id.value_or(0);
    const std::string path = "file://" + out_ + "/metadata/m" + std::to_string(rewritten_.size()) + ".avro";
    manifest::ManifestWriter writer(files_->open_output(path), options, pool_);
    for (size_t i = 0; i < original.size(); ++i) {
      const manifest::Entry entry = original[i];
      manifest::DataFile data_file = manifest::data_file_of(entry, *options.partition_type);
      data_file.path = file_here(data_file.path);
      if (data_file.referenced_data_file) data_file.referenced_data_file = file_here(*data_file.referenced_data_file);
      const manifest::EntryOrigin origin = {.snapshot_id = entry.snapshot_id(),
                                            .sequence_number = entry.sequence_number(),
                                            .file_sequence_number = entry.file_sequence_number()};
      if (entry.status() == manifest::EntryStatus::kAdded) {
        writer.add(data_file, origin);
      } else if (entry.status() == manifest::EntryStatus::kExisting) {
        writer.existing(data_file, origin);
      } else {
        writer.deleted(data_file, origin);
      }
    }
    // Counts and summaries are the writer's; the rest is of the commit, long ago.
    manifest::ManifestFile listed = writer.finish();
    listed.sequence_number = file.sequence_number;
    listed.min_sequence_number = file.min_sequence_number;
    listed.key_metadata = file.key_metadata;
    listed.first_row_id = file.first_row_id;
    return listed;
  }

  MemoryPool pool_;
  const std::string out_;
  spec::TableMetadata metadata_;
  std::shared_ptr<catalog::RelocatedFiles> files_;
  std::map<std::string, std::optional<manifest::ManifestFile>> rewritten_;  // by the old path
};

}  // namespace
}  // namespace frazil

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: frazil_rewrite_metadata METADATA OUT\n");
    return 2;
  }
  try {
    std::puts(frazil::Rewriter(argv[1], argv[2]).run().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
