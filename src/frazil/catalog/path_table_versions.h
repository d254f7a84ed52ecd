// What is in the metadata folder of a table by its path: versions and the hint. Names: path_table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/io/file_system.h"

namespace frazil::catalog {

inline constexpr std::string_view kHintName = "version-hint.text";

// All of it are digits.
std::optional<uint64_t> parse_version(std::string_view text);
// The name without its suffix, or nothing if it is not that of a metadata file.
std::optional<std::string_view> metadata_stem(std::string_view name);
// N of "v<N>", with any suffix: the names that are written to.
std::optional<uint64_t> path_version(std::string_view name);

struct Candidate {
  std::string name;
  std::string location;
  std::optional<uint64_t> version;  // "v12" and "00012-<anything>" are version 12
};

struct FoundVersions {
  std::string folder;  // where they are
  std::vector<Candidate> candidates;
  std::optional<std::string> hint;  // its text without spaces around it
};

// `folder`: the table's, or its folder "metadata".
FoundVersions list_versions(FileSystem& files, std::string_view folder);

// The newest v<N> from `version` on: what follows it one by one. If that version is gone itself, which happens to old
// ones alone, the highest. nullptr if there is none.
const Candidate* newest_after(const FoundVersions& found, uint64_t version);

}  // namespace frazil::catalog
