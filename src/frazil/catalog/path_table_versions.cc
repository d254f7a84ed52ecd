#include "frazil/catalog/path_table_versions.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/io/uri.h"

namespace frazil::catalog {
namespace {

constexpr uint64_t kMaxHintBytes = 1024;
constexpr std::string_view kSuffixes[] = {
    ".metadata.json",      ".gz.metadata.json",  ".metadata.json.gz",
    ".zstd.metadata.json", ".zst.metadata.json", ".metadata.json.zst",
};

// "v12" and "00012-<anything>" are version 12.
std::optional<uint64_t> version_of_stem(std::string_view stem) {
  if (stem.starts_with('v')) return parse_version(stem.substr(1));
  size_t dash = stem.find('-');
  return dash == std::string_view::npos ? std::nullopt : parse_version(stem.substr(0, dash));
}

// Nothing if there is none.
std::optional<std::string> read_hint(FileSystem& files, const std::string& location) {
  const std::optional<FileInfo> info = files.stat(location);
  if (!info || info->is_folder) return std::nullopt;
  if (info->size > kMaxHintBytes) {
    throw_corrupt(0, "{} has {} bytes; it should hold a version or a file's name", location, info->size);
  }
  std::shared_ptr<InputFile> input;
  try {
    input = files.open_input(location);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return std::nullopt;
    throw;
  }
  std::string text(static_cast<size_t>(std::min<uint64_t>(input->size(), kMaxHintBytes)), '\0');
  input->read_at(0, std::as_writable_bytes(std::span(text)));
  auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  size_t begin = 0;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace

std::optional<uint64_t> parse_version(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string_view> metadata_stem(std::string_view name) {
  std::optional<std::string_view> stem;
  for (std::string_view suffix : kSuffixes) {
    if (!name.ends_with(suffix) || name.size() == suffix.size()) continue;
    std::string_view rest = name.substr(0, name.size() - suffix.size());
    if (!stem || rest.size() < stem->size()) stem = rest;  // the longest suffix
  }
  return stem;
}

std::optional<uint64_t> path_version(std::string_view name) {
  const std::optional<std::string_view> stem = metadata_stem(name);
  return stem && stem->starts_with('v') ? parse_version(stem->substr(1)) : std::nullopt;
}

FoundVersions list_versions(FileSystem& files, std::string_view folder) {
  FoundVersions found;
  found.folder = join_location(folder, "metadata");
  auto info = files.stat(found.folder);
  if (!info || !info->is_folder) {
    // Somebody may have named the folder "metadata" itself.
    found.folder = std::string(folder);
  }
  // The hint first: what it names is in the listing then, also while others write.
  found.hint = read_hint(files, join_location(found.folder, kHintName));
  for (const FileInfo& file : files.list(found.folder)) {
    if (file.is_folder) continue;
    std::string name(location_name(file.path));
    if (auto stem = metadata_stem(name)) {
      std::optional<uint64_t> version = version_of_stem(*stem);
      found.candidates.push_back({std::move(name), file.path, version});
    }
  }
  return found;
}

const Candidate* newest_after(const FoundVersions& found, uint64_t version) {
  std::map<uint64_t, const Candidate*> by_version;
  for (const Candidate& candidate : found.candidates) {
    const std::optional<uint64_t> number = path_version(candidate.name);
    if (number && *number >= version) by_version.emplace(*number, &candidate);
  }
  if (by_version.empty()) return nullptr;
  if (by_version.begin()->first != version) return by_version.rbegin()->second;
  const Candidate* newest = nullptr;
  uint64_t expected = version;
  for (const auto& [number, candidate] : by_version) {
    if (number != expected++) break;
    newest = candidate;
  }
  return newest;
}

}  // namespace frazil::catalog
