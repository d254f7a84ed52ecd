// Files in memory: for tests and for small tables that never touch a disk.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "frazil/base/mutex.h"
#include "frazil/io/file_system.h"

namespace frazil {

// An open file whose bytes somebody has read already.
std::shared_ptr<InputFile> make_input_file(std::string path, Buffer content);

// Any location is understood; the forms of one local path are one file. Folders are the prefixes of the files in them:
// they come and go with their files. Thread-safe. A file that is replaced or removed stays whole for those who have it
// open. Its bytes live on the heap and count in no budget.
class MemoryFileSystem final : public FileSystem {
 public:
  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;

  // Puts a whole file there, replacing what was.
  void put(std::string_view path, std::string content);
  // The whole content. Throws IoError of kind kNotFound.
  Buffer get(std::string_view path);
  size_t file_count();

 private:
  class Output;
  struct File {
    Buffer content;
    int64_t modified_ms = 0;
  };
  void publish(const std::string& path, File file, OutputFile::IfExists if_exists) EXCLUDES(mutex_);
  bool has_below(const std::string& prefix) REQUIRES(mutex_);

  Mutex mutex_;
  std::map<std::string, File> files_ GUARDED_BY(mutex_);  // by location_key
};

}  // namespace frazil
