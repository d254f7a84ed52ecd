#include "frazil/scan/planner.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/file_system.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/task_group.h"
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

}  // namespace

Planner::Planner(const Source& source, const Options& options, MemoryPool& pool) : source_(source), pool_(pool) {
  const auto selected = spec::select_snapshot(*source_.metadata, options.snapshot);
  target_.snapshot = selected.snapshot;
  target_.table_schema = selected.schema;
  target_.schema = options.no_columns       ? spec::select_fields(*selected.schema, {})
                   : options.select.empty() ? selected.schema
                                            : spec::select_columns(*selected.schema, options.select);
  target_.arrow_schema = spec::to_arrow_schema(*target_.schema);
  if (target_.snapshot == nullptr) return;
  for (auto& file : list_manifests(*target_.snapshot, *source_.files, pool_)) {
    if (!file.may_have_live_files()) continue;
    if (file.content == ManifestContent::kDeletes) {
      read(file);
    } else {
      manifests_.push_back(std::move(file));
    }
  }
}

std::vector<Task> Planner::read_manifest(size_t index) const {
  return read(manifests_[index]);
}

std::vector<Task> Planner::read(const ManifestFile& file) const {
  manifest::ManifestOptions options;
  options.cache = &cache_;
  if (const auto* spec = source_.metadata->find_spec(file.partition_spec_id))
    options.partition_type = spec->partition_type(*target_.table_schema);
  const auto entries = manifest::read_manifest(source_.files->open_input(file.path), file, pool_, options);
  std::vector<Task> tasks;
  tasks.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto entry = entries[i];
    if (!entry.is_live()) continue;
    // A delete file in a manifest of data files is a writer's error, and no less a delete for that.
    if (file.content == ManifestContent::kDeletes || entry.content() != manifest::FileContent::kData)
      throw_has_deletes(*target_.snapshot, entry.file_path());
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

Plan plan_scan(Context& context, const Source& source, const Options& options, MemoryPool& pool) {
  const Planner planner(source, options, pool);
  std::vector<std::vector<Task>> parts(planner.manifest_count());
  TaskGroup group(context.thread_pool());
  for (size_t i = 0; i < parts.size(); ++i) {
    group.run([&planner, &parts, i] { parts[i] = planner.read_manifest(i); });
  }
  group.wait();
  Plan plan{planner.target(), {}};
  for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(plan.tasks));
  return plan;
}

}  // namespace frazil::scan
