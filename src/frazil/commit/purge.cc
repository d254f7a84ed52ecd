#include "frazil/commit/purge.h"

#include <unordered_set>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/commit/snapshot_manifests.h"
#include "frazil/manifest/manifest.h"
#include "frazil/runtime/context.h"
#include "frazil/spec/table_properties.h"

namespace frazil::commit {
namespace {

constexpr size_t kMaxFailuresNamed = 100;

class Purge {
 public:
  Purge(Context& context, const catalog::LoadedTable& table) : context_(context), table_(table) {}

  // A snapshot's list tells where its manifests are, they tell where the data is: from the leaves up.
  PurgeResult run() {
    const spec::TableMetadata& metadata = *table_.metadata;
    for (const spec::Snapshot& snapshot : metadata.snapshots) {
      try_to("read the manifests of snapshot " + std::to_string(snapshot.snapshot_id), [&] {
        for (manifest::ManifestFile& file : manifests_of(snapshot, metadata, *table_.files, context_.memory_pool())) {
          if (manifests_.insert(file.path).second) remove_files_of(std::move(file));
        }
      });
    }
    for (const std::string& path : manifests_) remove(path);
    for (const spec::Snapshot& snapshot : metadata.snapshots) {
      if (snapshot.manifest_list) remove(*snapshot.manifest_list);
    }
    for (const spec::StatisticsFile& file : metadata.statistics) remove(file.statistics_path);
    for (const spec::PartitionStatisticsFile& file : metadata.partition_statistics) remove(file.statistics_path);
    for (const spec::MetadataLogEntry& entry : metadata.metadata_log) remove(entry.metadata_file);
    remove(table_.metadata_location);
    return std::move(result_);
  }

 private:
  void remove_files_of(manifest::ManifestFile file) {
    const std::string path = file.path;
    const auto length = static_cast<uint64_t>(file.length);
    const manifest::Manifest read =
        manifest::read_manifest(table_.files->open_input(path, length), std::move(file), context_.memory_pool());
    for (size_t i = 0; i < read.size(); ++i) remove(std::string(read[i].file_path()));
  }

  void remove(const std::string& path) {
    try_to("delete " + path, [&] {
      if (table_.files->remove(path)) ++result_.deleted_files;
    });
  }

  template <typename Work>
  void try_to(const std::string& what, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      ++result_.failure_count;
      if (result_.failures.size() < kMaxFailuresNamed) {
        result_.failures.push_back(message("cannot {}: {}", what, error.what()));
      }
    }
  }

  Context& context_;
  const catalog::LoadedTable& table_;
  std::unordered_set<std::string> manifests_;
  PurgeResult result_;
};

}  // namespace

PurgeResult drop_and_purge(Context& context, catalog::Catalog& catalog, const catalog::TableIdentifier& identifier) {
  const catalog::LoadedTable table = catalog.load_table(identifier);
  if (!spec::property_bool(table.metadata->properties, "gc.enabled", true)) {
    Error error(ErrorKind::kInvalidArgument,
                message("table '{}' has gc.enabled=false: its files may belong to other tables", table.name));
    throw error.set_hint("drop it without purge; its files stay");
  }
  catalog.drop_table(identifier);
  return Purge(context, table).run();
}

}  // namespace frazil::commit
