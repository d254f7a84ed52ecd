#include "frazil/catalog/path_table.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/catalog/relocated_files.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/uri.h"

namespace frazil::catalog {
namespace {

constexpr uint64_t kMaxHintBytes = 1024;
// Files of one version that are read to find the latest. Failed commits leave a few; more is not a table.
constexpr size_t kMaxCandidates = 1000;

constexpr std::string_view kHintName = "version-hint.text";
constexpr std::string_view kSuffixes[] = {
    ".metadata.json",      ".gz.metadata.json",  ".metadata.json.gz",
    ".zstd.metadata.json", ".zst.metadata.json", ".metadata.json.zst",
};

// The name without its suffix, or nothing if it is not that of a metadata file.
std::optional<std::string_view> metadata_stem(std::string_view name) {
  std::optional<std::string_view> stem;
  for (std::string_view suffix : kSuffixes) {
    if (!name.ends_with(suffix) || name.size() == suffix.size()) continue;
    std::string_view rest = name.substr(0, name.size() - suffix.size());
    if (!stem || rest.size() < stem->size()) stem = rest;  // the longest suffix
  }
  return stem;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "v12" and "00012-<anything>" are version 12.
std::optional<uint64_t> version_of_stem(std::string_view stem) {
  if (stem.starts_with('v')) return parse_number(stem.substr(1));
  size_t dash = stem.find('-');
  return dash == std::string_view::npos ? std::nullopt : parse_number(stem.substr(0, dash));
}

struct Candidate {
  std::string name;
  std::string location;
  std::optional<uint64_t> version;
};

std::string read_hint(FileSystem& files, const FileInfo& hint) {
  if (hint.size > kMaxHintBytes) {
    throw_corrupt(0, "{} has {} bytes; it should hold a version or a file's name", hint.path, hint.size);
  }
  auto input = files.open_input(hint.path);
  std::string text(static_cast<size_t>(std::min<uint64_t>(input->size(), kMaxHintBytes)), '\0');
  input->read_at(0, std::as_writable_bytes(std::span(text)));
  auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  size_t begin = 0;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  return text.substr(begin);
}

// What the hint names, of the files that are there.
const Candidate* find_hinted(const std::vector<Candidate>& candidates, const std::string& hint) {
  std::optional<uint64_t> number = parse_number(hint);
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
  std::string metadata_folder = join_location(folder, "metadata");
  auto info = files.stat(metadata_folder);
  if (!info || !info->is_folder) {
    // Somebody may have named the folder "metadata" itself.
    metadata_folder = std::string(folder);
  }

  std::vector<Candidate> candidates;
  std::optional<FileInfo> hint_file;
  for (FileInfo& file : files.list(metadata_folder)) {
    if (file.is_folder) continue;
    std::string name(location_name(file.path));
    if (name == kHintName) {
      hint_file = std::move(file);
    } else if (auto stem = metadata_stem(name)) {
      candidates.push_back({name, file.path, version_of_stem(*stem)});
    }
  }
  if (candidates.empty()) {
    Error error(ErrorKind::kNotFound,
                message("{} is not an Iceberg table: no metadata files in {}", folder, metadata_folder));
    throw error.set_hint("name a folder that holds metadata/*.metadata.json, or a metadata file");
  }

  std::vector<Candidate> newest = newest_of(candidates);
  if (hint_file) {
    std::string hint = read_hint(files, *hint_file);
    const Candidate* hinted = find_hinted(candidates, hint);
    if (hinted == nullptr) {
      // Taking another version instead could be an older state of the table: nobody would notice.
      Error error(ErrorKind::kNotFound, message("{} says '{}', but there is no such metadata file", hint_file->path,
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

LoadedTable open_table_by_path(std::string_view path, const FileSystems& files, MemoryPool& pool,
                               const PathTableOptions& options) {
  auto own_files = std::make_shared<FileSystems>(files);
  for (const std::string& rule : options.location_rules) own_files->location_map().add_rule(rule);

  LoadedTable table;
  table.name = std::string(path);
  auto info = own_files->stat(path);
  if (!info) {
    Error error(ErrorKind::kNotFound, message("there is no file or folder {}", path));
    throw error.set_hint("a table is named by its folder, by a metadata file, or as namespace.table");
  }
  table.metadata_location =
      info->is_folder ? find_current_metadata(*own_files, path, pool, options.metadata_max_bytes, table.notices)
                      : std::string(path);
  table.metadata = read_table_metadata(*own_files, table.metadata_location, pool, options.metadata_max_bytes);

  const std::string& recorded = table.metadata->location;
  if (recorded.find('\0') != std::string::npos) {
    throw_error(ErrorKind::kCorrupt, "the location in {} holds a NUL character", table.metadata_location);
  }
  std::string found = table_folder_of(table.metadata_location);
  std::string mapped = own_files->location_map().apply(recorded);
  // A rule of the user's that covers the table says where it is, also if that is not where its metadata was found.
  bool user_says = mapped != recorded;
  if (recorded.empty() || user_says || is_same_place(recorded, found) ||
      keeps_metadata_elsewhere(*table.metadata, table.metadata_location)) {
    table.files = std::move(own_files);
    return table;
  }
  table.notices.push_back(message("the table was recorded at {} and found at {}: its files are looked for there",
                                  recorded, canonical_location(found)));
  table.files = std::make_shared<RelocatedFiles>(std::move(own_files), recorded, std::move(found));
  return table;
}

}  // namespace frazil::catalog
