// Planning: snapshot -> manifest list -> manifests, read in parallel -> one task a live data file.
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/file_system.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"
#include "frazil/scan/scan.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {

namespace {

using manifest::ManifestContent;
using manifest::ManifestFile;

std::vector<ManifestFile> list_manifests(const spec::Snapshot& snapshot, FileSystem& files, MemoryPool& pool) {
  if (snapshot.key_id) {
    throw_error(ErrorKind::kUnsupported, "snapshot {} is encrypted (key {}): encrypted tables are not read",
                snapshot.snapshot_id, *snapshot.key_id);
  }
  if (snapshot.manifest_list) return manifest::read_manifest_list(files.open_input(*snapshot.manifest_list), pool);
  std::vector<ManifestFile> manifests;
  if (snapshot.manifests) {
    for (const auto& path : *snapshot.manifests) {
      manifests.push_back(
          manifest::manifest_file_without_list(files.open_input(path), path, snapshot.snapshot_id, pool));
    }
  }
  return manifests;
}

[[noreturn]] void throw_has_deletes(const spec::Snapshot& snapshot, std::string_view path) {
  Error error(ErrorKind::kUnsupported,
              message("snapshot {} has delete files ({}): tables with row-level deletes are not read yet",
                      snapshot.snapshot_id, path));
  error.set_hint("compact the table with the engine that wrote it, or scan an older snapshot");
  throw error;
}

Task make_task(const manifest::Entry& entry, int32_t spec_id) {
  Task task;
  task.path = entry.file_path();
  task.format = manifest::to_string(entry.file_format());
  if (entry.file_format() == manifest::FileFormat::kOther) task.format = entry.file_format_text();
  task.record_count = entry.record_count();
  task.spec_id = spec_id;
  task.has_key_metadata = entry.key_metadata().has_value();
  task.partition = entry.partition();
  return task;
}

// Tasks of one manifest, in its order.
std::vector<Task> read_tasks(const ManifestFile& file, const spec::Snapshot& snapshot,
                             const spec::TableMetadata& metadata, const spec::Schema& schema, FileSystem& files,
                             MemoryPool& pool, manifest::ManifestSchemaCache& cache) {
  manifest::ManifestOptions options;
  options.cache = &cache;
  if (const auto* spec = metadata.find_spec(file.partition_spec_id))
    options.partition_type = spec->partition_type(schema);
  const auto entries = manifest::read_manifest(files.open_input(file.path), file, pool, options);
  std::vector<Task> tasks;
  tasks.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto entry = entries[i];
    if (!entry.is_live()) continue;
    // A delete file in a manifest of data files is a writer's error, and no less a delete for that.
    if (file.content == ManifestContent::kDeletes || entry.content() != manifest::FileContent::kData)
      throw_has_deletes(snapshot, entry.file_path());
    if (entry.file_size_bytes() < 0 || entry.record_count() < 0) {
      throw_corrupt(CorruptError::kNoOffset, "manifest {}: entry {} has a size of {} bytes and {} records", file.path,
                    i, entry.file_size_bytes(), entry.record_count());
    }
    tasks.push_back(make_task(entry, file.partition_spec_id));
  }
  return tasks;
}

size_t task_bytes(const Task& task) {
  size_t bytes = sizeof(Task) + task.path.capacity() + task.format.capacity();
  for (const auto& value : task.partition) {
    bytes += sizeof(value);
    if (const auto* text = std::get_if<std::string>(&value.value())) bytes += text->capacity();
  }
  return bytes;
}

}  // namespace

Plan plan_scan(Context& context, const Source& source, const Options& options, MemoryPool& pool) {
  const auto selected = spec::select_snapshot(*source.metadata, options.snapshot);
  Plan plan;
  plan.snapshot = selected.snapshot;
  plan.table_schema = selected.schema;
  plan.schema = options.select.empty() ? selected.schema : spec::select_columns(*selected.schema, options.select);
  plan.arrow_schema = spec::to_arrow_schema(*plan.schema);
  if (plan.snapshot == nullptr) return plan;

  std::vector<ManifestFile> manifests;
  for (auto& file : list_manifests(*plan.snapshot, *source.files, pool)) {
    if (file.may_have_live_files()) manifests.push_back(std::move(file));
  }
  manifest::ManifestSchemaCache cache;
  std::vector<std::vector<Task>> tasks(manifests.size());
  const auto read = [&](size_t i) {
    tasks[i] =
        read_tasks(manifests[i], *plan.snapshot, *source.metadata, *plan.table_schema, *source.files, pool, cache);
  };
  // Delete manifests first: a table that cannot be read says so before the rest is looked at.
  for (size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i].content == ManifestContent::kDeletes) read(i);
  }
  if (manifests.size() == 1 || context.thread_count() == 1) {
    for (size_t i = 0; i < manifests.size(); ++i) {
      if (manifests[i].content == ManifestContent::kData) read(i);
    }
  } else {
    TaskGroup group(context.thread_pool());
    for (size_t i = 0; i < manifests.size(); ++i) {
      if (manifests[i].content == ManifestContent::kData) group.run([&read, i] { read(i); });
    }
    group.wait();
  }
  for (auto& part : tasks) {
    for (auto& task : part) {
      plan.metadata_bytes += task_bytes(task);
      plan.tasks.push_back(std::move(task));
    }
  }
  return plan;
}

}  // namespace frazil::scan
