#include "frazil/catalog/relocated_files.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/io/uri.h"

namespace frazil::catalog {
namespace {

// More segments than any real path has: bounds the number of places that are looked at.
constexpr int kMaxTails = 64;

// What follows `folder` and its slash in `location`, which is_below(location, folder). They may differ in form
// ("file:/a", "/a"), so segments are taken from the end until what remains is the folder itself.
std::string_view rest_below(std::string_view location, std::string_view folder) {
  std::string_view above = location;
  while (true) {
    std::string_view next = parent_location(above);
    if (next.empty() || next.size() >= above.size() || !is_below(next, folder)) break;
    above = next;
  }
  std::string_view rest = location.substr(above.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return rest;
}

bool is_relative(std::string_view location) {
  Location parsed = parse_location(location);
  return !parsed.is_uri && !parsed.path.starts_with('/');
}

}  // namespace

RelocatedFiles::RelocatedFiles(std::shared_ptr<FileSystem> files, std::string recorded, std::string found)
    : files_(std::move(files)), recorded_(std::move(recorded)), found_(std::move(found)) {
  std::string_view recorded_root = recorded_;
  std::string_view found_root = found_;
  bool alike = false;
  while (!recorded_root.empty() && !found_root.empty()) {
    std::string_view name = location_name(recorded_root);
    if (name.empty() || name == "." || name == ".." || name != location_name(found_root)) break;
    std::string_view recorded_parent = parent_location(recorded_root);
    std::string_view found_parent = parent_location(found_root);
    if (recorded_parent.size() >= recorded_root.size() || found_parent.size() >= found_root.size()) break;
    recorded_root = recorded_parent;
    found_root = found_parent;
    alike = true;
  }
  if (alike) {
    recorded_root_ = recorded_root.empty() ? "." : std::string(recorded_root);
    found_root_ = found_root.empty() ? "." : std::string(found_root);
  }
}

std::string RelocatedFiles::below_found(std::string_view location) const {
  if (!is_below(location, recorded_)) return {};
  std::string_view rest = rest_below(location, recorded_);
  return rest.empty() ? found_ : join_location(found_, rest);
}

bool RelocatedFiles::exists(std::string_view location) {
  try {
    return files_->stat(location).has_value();
  } catch (const Error& error) {
    // The table was recorded in a store that cannot be reached from here: that is why it was copied.
    if (error.kind() == ErrorKind::kUnsupported) return false;
    throw;
  }
}

std::string RelocatedFiles::locate(std::string_view location) {
  std::string moved = below_found(location);
  if (!moved.empty() && exists(moved)) return moved;
  if (exists(location)) return std::string(location);

  if (!recorded_root_.empty()) {
    std::string place;
    if (recorded_root_ == "." && is_relative(location)) {
      place = join_location(found_root_, location);
    } else if (is_below(location, recorded_root_)) {
      place = join_location(found_root_, rest_below(location, recorded_root_));
    }
    if (!place.empty() && exists(place)) return place;
  }

  std::string_view tail = location;
  for (int i = 0; i < kMaxTails && !tail.empty(); ++i) {
    while (tail.starts_with('/')) tail.remove_prefix(1);
    // ".." would leave the table's folder.
    if (!tail.empty() && tail.find("..") == std::string_view::npos) {
      std::string place = join_location(found_, tail);
      if (exists(place)) return place;
    }
    size_t slash = tail.find('/');
    tail = slash == std::string_view::npos ? std::string_view() : tail.substr(slash + 1);
  }
  return moved.empty() ? std::string(location) : moved;
}

std::shared_ptr<InputFile> RelocatedFiles::open_input(std::string_view path, std::optional<uint64_t> size) {
  return files_->open_input(locate(path), size);
}

std::unique_ptr<OutputFile> RelocatedFiles::open_output(std::string_view path) {
  std::string moved = below_found(path);
  return files_->open_output(moved.empty() ? std::string(path) : moved);
}

std::vector<FileInfo> RelocatedFiles::list(std::string_view folder) {
  return files_->list(locate(folder));
}

void RelocatedFiles::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  files_->walk(locate(folder), visit);
}

std::optional<FileInfo> RelocatedFiles::stat(std::string_view path) {
  return files_->stat(locate(path));
}

// Only what stands in the moved table itself: a tail that fits by chance must never delete a file.
bool RelocatedFiles::remove(std::string_view path) {
  std::string moved = below_found(path);
  return files_->remove(moved.empty() ? std::string(path) : moved);
}

}  // namespace frazil::catalog
