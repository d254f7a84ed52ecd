// FileSystems: the one FileSystem that the layers above are given. It finds the file system of each location by its
// scheme, after applying the location map.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "frazil/io/file_system.h"
#include "frazil/io/location_map.h"

namespace frazil {

// Set up first, then shared: add() and location_map() are not for use while others read. Calls of FileSystem are as
// thread-safe as the file systems below.
//
// InputFile::path() and error messages name the place where a file was really looked for; listings give paths below
// the folder as it was asked for, so that they compare with what metadata says.
class FileSystems final : public FileSystem {
 public:
  // Knows `file:` and bare paths, through LocalFileSystem.
  FileSystems();

  // For locations with this scheme ("s3", "memory"; lower case). Replaces what was there; "file" can be replaced too.
  void add(std::string_view scheme, std::shared_ptr<FileSystem> file_system);
  LocationMap& location_map() { return map_; }

  // The file system for a location that is mapped already. Throws Error(kUnsupported) that names the scheme.
  FileSystem& resolve(std::string_view location) const;

  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;

 private:
  LocationMap map_;
  std::map<std::string, std::shared_ptr<FileSystem>, std::less<>> by_scheme_;
};

}  // namespace frazil
