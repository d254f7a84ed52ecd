// What the tests of this layer share: a table on any file system, data files for it, and what a reader finds in it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/catalog/catalog.h"
#include "frazil/catalog/path_table.h"
#include "frazil/commit/append.h"
#include "frazil/commit/snapshot_manifests.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/manifest/manifest.h"
#include "frazil/runtime/context.h"
#include "frazil/runtime/fake_clock.h"

namespace frazil::commit::test {

// A FileSystem that somebody else owns, for FileSystems::add.
inline std::shared_ptr<FileSystem> borrow(FileSystem& files) {
  return {std::shared_ptr<void>(), &files};
}

inline FileSystems over_memory(FileSystem& memory) {
  FileSystems files;
  files.add("memory", borrow(memory));
  return files;
}

// id long, name string; partitioned by bucket[4](id) if asked.
inline spec::NewTable new_table(int format_version = 2, bool partitioned = false, spec::Properties properties = {}) {
  std::vector<spec::NestedField> fields(2);
  fields[0].id = 1;
  fields[0].name = "id";
  fields[0].type = spec::primitive(spec::TypeKind::kLong);
  fields[0].required = true;
  fields[1].id = 2;
  fields[1].name = "name";
  fields[1].type = spec::primitive(spec::TypeKind::kString);
  spec::NewTable table;
  table.schema = std::make_shared<const spec::Schema>(std::move(fields));
  if (partitioned) {
    spec::PartitionField field;
    field.source_ids = {1};
    field.name = "id_bucket";
    field.transform = spec::Transform::bucket(4);
    table.spec.fields.push_back(field);
  }
  table.format_version = format_version;
  table.properties = std::move(properties);
  return table;
}

// A file of `rows` rows below the table's folder: named, and there.
inline manifest::DataFile data_file(const catalog::LoadedTable& table, const std::string& name, int64_t rows,
                                    int32_t bucket = -1) {
  manifest::DataFile file;
  file.path = table.metadata->location + "/data/" + name;
  file.record_count = rows;
  file.file_size_bytes = static_cast<int64_t>(name.size());
  file.spec_id = table.metadata->default_spec_id;
  if (bucket >= 0) file.partition = {spec::Literal::int_(bucket)};
  write_file(*table.files, file.path, std::as_bytes(std::span(name)), {});
  return file;
}

// The live files of a snapshot with their rows; each must exist.
inline std::map<std::string, int64_t> live_files(const catalog::LoadedTable& table, MemoryPool& pool,
                                                 std::string_view branch = spec::kMainBranch) {
  std::map<std::string, int64_t> rows;
  const spec::SnapshotRef* ref = table.metadata->find_ref(branch);
  if (ref == nullptr) return rows;
  const spec::Snapshot& snapshot = *table.metadata->find_snapshot(ref->snapshot_id);
  for (const manifest::ManifestFile& file : manifests_of(snapshot, *table.metadata, *table.files, pool)) {
    const manifest::Manifest read =
        manifest::read_manifest(table.files->open_input(file.path, static_cast<uint64_t>(file.length)), file, pool);
    for (size_t i = 0; i < read.size(); ++i) {
      if (!read[i].is_live()) continue;
      const std::string path(read[i].file_path());
      EXPECT_TRUE(rows.emplace(path, read[i].record_count()).second) << path << " is there twice";
      EXPECT_TRUE(table.files->stat(path).has_value()) << path;
    }
  }
  return rows;
}

inline int64_t row_count(const std::map<std::string, int64_t>& files) {
  int64_t rows = 0;
  for (const auto& [path, count] : files) rows += count;
  return rows;
}

// All files below a folder.
inline std::vector<std::string> files_below(FileSystem& files, std::string_view folder) {
  std::vector<std::string> paths;
  files.walk(folder, [&](const FileInfo& info) { paths.push_back(info.path); });
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace frazil::commit::test
