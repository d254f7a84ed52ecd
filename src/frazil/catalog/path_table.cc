#include "frazil/catalog/path_table.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/path_table_store.h"
#include "frazil/catalog/path_table_versions.h"
#include "frazil/catalog/relocated_files.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/uri.h"
#include "frazil/runtime/context.h"

namespace frazil::catalog {
namespace {

// Files of one version that are read to find the latest. Failed commits leave a few; more is not a table.
constexpr size_t kMaxCandidates = 1000;

// What the hint names, of the files that are there.
const Candidate* find_hinted(const std::vector<Candidate>& candidates, const std::string& hint) {
  std::optional<uint64_t> number = parse_version(hint);
  const Candidate* found = nullptr;
  for (const Candidate& candidate : candidates) {
    std::string_view stem = *metadata_stem(candidate.name);
    bool named = number ? stem.starts_with('v') && candidate.version == number : stem == hint || candidate.name == hint;
    // One version in two forms is one version: the shorter name, plain JSON, is as good as the other.
    if (named && (found == nullptr || candidate.name.size() < found->name.size())) found = &candidate;
  }
  return found;
}

std::vector<Candidate> newest_of(const std::vector<Candidate>& candidates) {
  std::optional<uint64_t> highest;
  for (const Candidate& candidate : candidates) {
    if (candidate.version && (!highest || *candidate.version > *highest)) highest = candidate.version;
  }
  std::vector<Candidate> newest;
  for (const Candidate& candidate : candidates) {
    if (!candidate.version || candidate.version == highest) newest.push_back(candidate);
  }
  return newest;
}

const Candidate& latest_updated(FileSystem& files, const std::vector<Candidate>& candidates, MemoryPool& pool,
                                size_t max_bytes) {
  if (candidates.size() > kMaxCandidates) {
    Error error(ErrorKind::kCorrupt, message("{} metadata files could be the newest one", candidates.size()));
    throw error.set_hint("name the metadata file itself");
  }
  const Candidate* latest = nullptr;
  int64_t latest_ms = 0;
  std::exception_ptr first_failure;
  for (const Candidate& candidate : candidates) {
    try {
      int64_t updated_ms = read_table_metadata(files, candidate.location, pool, max_bytes)->last_updated_ms;
      bool later = latest == nullptr || updated_ms > latest_ms ||
                   (updated_ms == latest_ms && candidate.version.has_value() && !latest->version.has_value());
      if (later) {
        latest = &candidate;
        latest_ms = updated_ms;
      }
    } catch (const CorruptError&) {
      // Half of a file that a writer left behind is no table; if nothing else is there, it is what is wrong.
      if (!first_failure) first_failure = std::current_exception();
    }
  }
  if (latest == nullptr) std::rethrow_exception(first_failure);
  return *latest;
}

// The table's folder: the one that holds "metadata/".
std::string table_folder_of(std::string_view metadata_location) {
  std::string_view folder = parent_location(metadata_location);
  std::string_view name = location_name(folder);
  if (name == "metadata") {
    std::string_view above = parent_location(folder);
    return above.empty() ? "." : std::string(above);
  }
  return folder.empty() ? "." : std::string(folder);
}

bool is_same_place(std::string_view left, std::string_view right) {
  try {
    if (canonical_location(left) == canonical_location(right)) return true;
  } catch (const Error&) {
    return false;  // "file://data/x", which some writers record for a relative path, has no canonical form
  }
  Location a = parse_location(left);
  Location b = parse_location(right);
  std::error_code ignored;  // what does not exist is not the same
  return a.is_local() && b.is_local() && std::filesystem::equivalent(a.path, b.path, ignored);
}

// write.metadata.path can put the metadata beside or far from the table.
bool keeps_metadata_elsewhere(const spec::TableMetadata& metadata, std::string_view metadata_location) {
  auto folder = metadata.property("write.metadata.path");
  return folder && is_same_place(*folder, parent_location(metadata_location));
}

}  // namespace

std::string find_current_metadata(FileSystem& files, std::string_view folder, MemoryPool& pool, size_t max_bytes,
                                  std::vector<std::string>& notices) {
  FoundVersions found = list_versions(files, folder);
  const std::vector<Candidate>& candidates = found.candidates;
  if (candidates.empty()) {
    Error error(ErrorKind::kNotFound,
                message("{} is not an Iceberg table: no metadata files in {}", folder, found.folder));
    throw error.set_hint("name a folder that holds metadata/*.metadata.json, or a metadata file");
  }

  std::vector<Candidate> newest = newest_of(candidates);
  if (found.hint) {
    const std::string& hint = *found.hint;
    const Candidate* hinted = find_hinted(candidates, hint);
    if (hinted == nullptr) {
      // Old versions are deleted, perhaps while a slow writer was telling of one. What is newer than the hint is no
      // older state of the table.
      const std::optional<uint64_t> version = parse_version(hint);
      const Candidate* newer = version ? newest_after(found, *version) : nullptr;
      if (newer != nullptr) {
        notices.push_back(message("version-hint.text says {}, which is gone: reading {}", hint, newer->name));
        return newer->location;
      }
      // Taking another version instead could be an older state of the table: nobody would notice.
      Error error(ErrorKind::kNotFound,
                  message("{} says '{}', but there is no such metadata file", join_location(found.folder, kHintName),
                          hint.size() > 100 ? hint.substr(0, 100) + "..." : hint));
      throw error.set_hint(message("name the metadata file itself; the newest is {}", newest.back().location));
    }
    for (const Candidate& candidate : newest) {
      if (hinted->version && candidate.version && *candidate.version > *hinted->version) {
        notices.push_back(message("reading {}, as version-hint.text says; {} is newer", hinted->name, candidate.name));
        break;
      }
    }
    return hinted->location;
  }
  if (newest.size() == 1) return newest.front().location;
  return latest_updated(files, newest, pool, max_bytes).location;
}

namespace {

PathTable place_of(std::string_view path, const FileSystems& files, MemoryPool& pool, const PathTableOptions& options) {
  auto own_files = std::make_shared<FileSystems>(files);
  for (const std::string& rule : options.location_rules) own_files->location_map().add_rule(rule);
  return {std::string(path), std::move(own_files), &pool, options.metadata_max_bytes};
}

}  // namespace

LoadedTable open_path_table(const PathTable& place, PathVersion which) {
  LoadedTable table;
  table.name = place.path;
  auto info = place.files->stat(place.path);
  if (!info) {
    Error error(ErrorKind::kNotFound, message("there is no file or folder {}", place.path));
    throw error.set_hint("a table is named by its folder, by a metadata file, or as namespace.table");
  }
  std::string why_read_only;
  if (!info->is_folder) {
    table.metadata_location = place.path;
    why_read_only = "it was opened by a metadata file: open the table's folder";
  } else {
    table.metadata_location =
        find_current_metadata(*place.files, place.path, *place.pool, place.metadata_max_bytes, table.notices);
    if (which == PathVersion::kNewest) {
      std::string newest = find_version_after(*place.files, place.path, table.metadata_location);
      if (newest != table.metadata_location) table.notices.clear();
      table.metadata_location = std::move(newest);
    }
    if (!path_version(location_name(table.metadata_location))) {
      why_read_only = "its metadata files are named as a catalog's, which would not see the change";
    }
  }
  table.metadata = read_table_metadata(*place.files, table.metadata_location, *place.pool, place.metadata_max_bytes);
  table.store = make_path_table_store(place, std::move(why_read_only));

  const std::string& recorded = table.metadata->location;
  if (recorded.find('\0') != std::string::npos) {
    throw_error(ErrorKind::kCorrupt, "the location in {} holds a NUL character", table.metadata_location);
  }
  std::string found = table_folder_of(table.metadata_location);
  std::string mapped = place.files->location_map().apply(recorded);
  // A rule of the user's that covers the table says where it is, also if that is not where its metadata was found.
  bool user_says = mapped != recorded;
  if (recorded.empty() || user_says || is_same_place(recorded, found) ||
      keeps_metadata_elsewhere(*table.metadata, table.metadata_location)) {
    table.files = place.files;
    return table;
  }
  table.notices.push_back(message("the table was recorded at {} and found at {}: its files are looked for there",
                                  recorded, canonical_location(found)));
  table.files = std::make_shared<RelocatedFiles>(place.files, recorded, std::move(found));
  return table;
}

LoadedTable open_table_by_path(std::string_view path, const FileSystems& files, MemoryPool& pool,
                               const PathTableOptions& options) {
  return open_path_table(place_of(path, files, pool, options), PathVersion::kHinted);
}

LoadedTable create_table_by_path(Context& context, std::string_view path, const FileSystems& files, MemoryPool& pool,
                                 const spec::NewTable& table, const PathTableOptions& options,
                                 const CommitOptions& commit) {
  const LoadedTable staged = stage_table_by_path(context, path, files, pool, table, options);
  return staged.store->commit(context, staged, {}, {}, commit);
}

LoadedTable stage_table_by_path(Context& context, std::string_view path, const FileSystems& files, MemoryPool& pool,
                                const spec::NewTable& table, const PathTableOptions& options) {
  spec::NewTable located = table;
  located.location = canonical_location(path);
  return stage_path_table(place_of(path, files, pool, options),
                          std::make_shared<const spec::TableMetadata>(spec::new_table_metadata(
                              located, context.random().uuid_v4(), context.clock().system_ms())));
}

}  // namespace frazil::catalog
