#include "frazil/commit/append.h"

#include <algorithm>
#include <exception>
#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/retry.h"
#include "frazil/commit/snapshot_manifests.h"
#include "frazil/commit/snapshot_summary.h"
#include "frazil/commit/written_files.h"
#include "frazil/manifest/data_file.h"
#include "frazil/manifest/manifest_list_writer.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/stop.h"
#include "frazil/spec/new_table.h"
#include "frazil/spec/table_properties.h"
#include "frazil/spec/table_update.h"

namespace frazil::commit {
namespace {

// 63 random bits, as Iceberg Java makes them.
int64_t new_snapshot_id(Random& random, const spec::TableMetadata& metadata) {
  while (true) {
    const auto id = static_cast<int64_t>(random.next() & INT64_MAX);
    if (id != 0 && metadata.find_snapshot(id) == nullptr) return id;
  }
}

void check_files(std::span<const manifest::DataFile> files, const spec::TableMetadata& metadata) {
  std::unordered_set<std::string_view> paths;
  for (const manifest::DataFile& file : files) {
    const auto refuse = [&](std::string_view why) {
      throw_error(ErrorKind::kInvalidArgument, "file {} cannot be appended: {}", file.path, why);
    };
    if (file.path.empty()) refuse("it has no path");
    if (!paths.insert(file.path).second) refuse("it is there twice");
    if (file.content != manifest::FileContent::kData) refuse("it is a delete file");
    if (file.record_count < 0 || file.file_size_bytes < 0) refuse("its counts are negative");
    const spec::PartitionSpec* spec = metadata.find_spec(file.spec_id);
    if (spec == nullptr) refuse("its partition spec does not exist");
    if (spec->fields.size() != file.partition.size()) refuse("its partition values are not those of its spec");
  }
}

class Append {
 public:
  Append(Context& context, const catalog::LoadedTable& base, std::vector<manifest::DataFile> files,
         const AppendOptions& options)
      : context_(context),
        options_(options),
        table_(base),
        files_(std::move(files)),
        names_(to_string(context.random().uuid_v4())),
        added_(base.files),
        attempt_(base.files) {}

  catalog::LoadedTable run() {
    if (table_.store == nullptr) throw_error(ErrorKind::kUnsupported, "table {} can only be read", table_.name);
    check_files(files_, *table_.metadata);
    snapshot_id_ = new_snapshot_id(context_.random(), *table_.metadata);
    const AppendedFiles appended(files_, *table_.metadata);
    catalog::Backoff backoff(context_, catalog::retry_policy(table_.metadata->properties));
    while (true) {
      throw_if_stopped(options_.stop);
      try {
        catalog::LoadedTable committed = try_once(appended, backoff.retries());
        keep_named_files();
        return committed;
      } catch (ConflictError& error) {
        attempt_.remove_all();
        if (!backoff.wait(options_.stop)) {
          error.add_context(
              message("committing to table {}: gave up after {} attempts", table_.name, backoff.retries() + 1));
          error.set_hint("others commit to it at the same time: try again, or raise commit.retry.num-retries");
          throw;
        }
      }
      refresh();
    }
  }

  // Everything that was written for a commit that did not happen.
  void clean_up() noexcept {
    attempt_.remove_all();
    added_.remove_all();
    WrittenFiles data(table_.files);
    for (manifest::DataFile& file : files_) data.add(std::move(file.path));
    data.remove_all();
  }

  std::string describe_left_behind() const {
    return message("appending snapshot {} with {} data files to table {}; its manifest list is {}", snapshot_id_,
                   files_.size(), table_.name, attempt_.paths().empty() ? "none" : attempt_.paths().back());
  }

 private:
  ManifestWriting writing_to(WrittenFiles& written) {
    return {.files = *table_.files,
            .pool = context_.memory_pool(),
            .names = names_,
            .written = written,
            .snapshot_id = snapshot_id_,
            .publish = publish_options()};
  }

  OutputFile::PublishOptions publish_options() const {
    return {.if_exists = OutputFile::IfExists::kFail, .sync = options_.durability == catalog::Durability::kFull};
  }

  catalog::LoadedTable try_once(const AppendedFiles& appended, int64_t attempt) {
    const spec::TableMetadata& metadata = *table_.metadata;
    const spec::SnapshotRef* branch = metadata.find_ref(options_.branch);
    if (branch == nullptr && options_.branch != spec::kMainBranch) {
      throw_error(ErrorKind::kNotFound, "table {} has no branch '{}'", table_.name, options_.branch);
    }
    if (branch != nullptr && branch->type != spec::RefType::kBranch) {
      throw_error(ErrorKind::kInvalidArgument, "'{}' of table {} is a tag: nothing can be appended to it",
                  options_.branch, table_.name);
    }
    const spec::Snapshot* parent = branch == nullptr ? nullptr : metadata.find_snapshot(branch->snapshot_id);

    spec::Snapshot snapshot;
    snapshot.snapshot_id = snapshot_id_;
    if (parent != nullptr) snapshot.parent_snapshot_id = parent->snapshot_id;
    snapshot.sequence_number = metadata.format_version >= 2 ? metadata.last_sequence_number + 1 : 0;
    snapshot.timestamp_ms = std::max(context_.clock().system_ms(), metadata.last_updated_ms);
    snapshot.schema_id = metadata.current_schema_id;

    ManifestCounts counts;
    const std::vector<manifest::ManifestFile> manifests = gather_manifests(parent, counts);
    snapshot.summary = appended.summary(parent, counts, options_.summary);
    snapshot.manifest_list = message("{}/snap-{}-{}-{}.avro", spec::metadata_folder(metadata), snapshot_id_,
                                     attempt + 1, names_.commit_uuid());
    write_list(manifests, snapshot);

    spec::SnapshotRef ref;
    if (branch != nullptr) ref = *branch;
    ref.name = options_.branch;
    ref.snapshot_id = snapshot_id_;
    std::vector<spec::TableRequirement> requirements;
    if (metadata.table_uuid) requirements.push_back(spec::AssertTableUuid{*metadata.table_uuid});
    requirements.push_back(spec::AssertRefSnapshotId{options_.branch, snapshot.parent_snapshot_id});
    named_ = std::move(*snapshot.manifest_list);
    snapshot.manifest_list = named_;
    const spec::TableUpdate updates[] = {spec::AddSnapshot{std::move(snapshot)}, spec::SetSnapshotRef{std::move(ref)}};
    named_manifests_.clear();
    for (const manifest::ManifestFile& file : manifests) named_manifests_.insert(file.path);
    return table_.store->commit(context_, table_, requirements, updates, {.durability = options_.durability});
  }

  // The branch's manifests and the new files', these in front.
  std::vector<manifest::ManifestFile> gather_manifests(const spec::Snapshot* parent, ManifestCounts& counts) {
    const spec::TableMetadata& metadata = *table_.metadata;
    if (added_version_ != metadata.format_version) {
      added_.remove_all();
      added_manifests_ = write_added(files_, metadata, writing_to(added_));
      added_version_ = metadata.format_version;
    }
    std::vector<manifest::ManifestFile> manifests = added_manifests_;
    if (parent != nullptr) {
      std::vector<manifest::ManifestFile> old = manifests_of(*parent, metadata, *table_.files, context_.memory_pool());
      manifests.insert(manifests.end(), std::make_move_iterator(old.begin()), std::make_move_iterator(old.end()));
    }
    const bool merges = options_.merge_manifests
                            ? *options_.merge_manifests
                            : spec::property_bool(metadata.properties, "commit.manifest-merge.enabled", true);
    if (merges) {
      MergedManifests merged = merge_manifests(manifests, metadata, writing_to(attempt_));
      manifests = std::move(merged.manifests);
      counts.replaced = merged.replaced;
    }
    for (const manifest::ManifestFile& file : manifests) {
      ++(file.added_snapshot_id == snapshot_id_ ? counts.created : counts.kept);
    }
    return manifests;
  }

  void write_list(std::span<const manifest::ManifestFile> manifests, spec::Snapshot& snapshot) {
    const spec::TableMetadata& metadata = *table_.metadata;
    manifest::ManifestListOptions list;
    list.format_version = metadata.format_version;
    list.snapshot_id = snapshot_id_;
    list.parent_snapshot_id = snapshot.parent_snapshot_id;
    list.sequence_number = snapshot.sequence_number;
    list.first_row_id = metadata.next_row_id;
    list.container = manifest_container(metadata);
    list.publish = publish_options();
    attempt_.add(*snapshot.manifest_list);
    const int64_t next_row_id = manifest::write_manifest_list(table_.files->open_output(*snapshot.manifest_list), list,
                                                              manifests, context_.memory_pool());
    if (metadata.format_version >= 3) {
      snapshot.first_row_id = metadata.next_row_id;
      snapshot.added_rows = next_row_id - metadata.next_row_id;
    }
  }

  void refresh() {
    catalog::LoadedTable now = table_.store->load();
    if (now.metadata->table_uuid != table_.metadata->table_uuid) {
      throw_error(ErrorKind::kInvalidArgument, "table {} was replaced by another one while it was appended to",
                  table_.name);
    }
    table_ = std::move(now);
    check_files(files_, *table_.metadata);
  }

  // Merging may have put the new files' manifests into others.
  void keep_named_files() noexcept {
    const auto is_named = [&](const std::string& path) { return path == named_ || named_manifests_.contains(path); };
    added_.remove_unless(is_named);
    attempt_.remove_unless(is_named);
  }

  Context& context_;
  const AppendOptions& options_;
  catalog::LoadedTable table_;  // what the current attempt begins from
  std::vector<manifest::DataFile> files_;
  int64_t snapshot_id_ = 0;
  ManifestNames names_;
  WrittenFiles added_;    // manifests of the new files, for all attempts
  WrittenFiles attempt_;  // merged manifests and the list of this attempt
  std::vector<manifest::ManifestFile> added_manifests_;
  int added_version_ = 0;
  std::string named_;  // by the snapshot: its list, and the list's manifests
  std::unordered_set<std::string> named_manifests_;
};

}  // namespace

catalog::LoadedTable append(Context& context, const catalog::LoadedTable& base, std::vector<manifest::DataFile> files,
                            const AppendOptions& options) {
  Append action(context, base, std::move(files), options);
  try {
    return action.run();
  } catch (CommitStateUnknownError& error) {
    error.add_context(action.describe_left_behind());
    throw;
  } catch (...) {
    action.clean_up();
    throw;
  }
}

}  // namespace frazil::commit
