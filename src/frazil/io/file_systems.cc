#include "frazil/io/file_systems.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/uri.h"

namespace frazil {

namespace {

// Calls a listing by the name that its folder was asked for under.
class Renamed {
 public:
  Renamed(std::string_view asked, std::string_view found) : asked_(asked), found_(found) {
    while (found_.ends_with('/')) found_.remove_suffix(1);
  }
  void rename(FileInfo& info) const { info.path = join_location(asked_, info.path.substr(found_.size())); }

 private:
  std::string_view asked_;
  std::string_view found_;
};

}  // namespace

FileSystems::FileSystems() {
  add("file", std::make_shared<LocalFileSystem>());
}

void FileSystems::add(std::string_view scheme, std::shared_ptr<FileSystem> file_system) {
  by_scheme_.insert_or_assign(std::string(scheme), std::move(file_system));
}

FileSystem& FileSystems::resolve(std::string_view location) const {
  const std::string scheme = parse_location(location).scheme;
  const auto found = by_scheme_.find(scheme);
  if (found != by_scheme_.end()) return *found->second;
  Error error(ErrorKind::kUnsupported, message("no file system for '{}:' is built in: '{}'", scheme, location));
  error.set_hint("a copy of the table on disk can be read with --map-location OLD=NEW");
  throw error;
}

std::shared_ptr<InputFile> FileSystems::open_input(std::string_view path, std::optional<uint64_t> size) {
  const std::string mapped = map_.apply(path);
  return resolve(mapped).open_input(mapped, size);
}

std::unique_ptr<OutputFile> FileSystems::open_output(std::string_view path) {
  const std::string mapped = map_.apply(path);
  return resolve(mapped).open_output(mapped);
}

std::vector<FileInfo> FileSystems::list(std::string_view folder) {
  const std::string mapped = map_.apply(folder);
  std::vector<FileInfo> infos = resolve(mapped).list(mapped);
  if (mapped == folder) return infos;
  const Renamed renamed(folder, mapped);
  for (FileInfo& info : infos) renamed.rename(info);
  return infos;
}

void FileSystems::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  const std::string mapped = map_.apply(folder);
  if (mapped == folder) return resolve(mapped).walk(mapped, visit);
  const Renamed renamed(folder, mapped);
  resolve(mapped).walk(mapped, [&](const FileInfo& found) {
    FileInfo info = found;
    renamed.rename(info);
    visit(info);
  });
}

std::optional<FileInfo> FileSystems::stat(std::string_view path) {
  const std::string mapped = map_.apply(path);
  std::optional<FileInfo> info = resolve(mapped).stat(mapped);
  if (info) info->path = path;
  return info;
}

bool FileSystems::remove(std::string_view path) {
  const std::string mapped = map_.apply(path);
  return resolve(mapped).remove(mapped);
}

}  // namespace frazil
