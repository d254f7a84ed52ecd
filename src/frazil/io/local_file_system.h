// Files of this machine, through POSIX calls.
#pragma once

#include "frazil/io/file_system.h"

namespace frazil {

// The start of the names under which files are written before they are published. What a killed process leaves behind
// is recognised by it.
inline constexpr std::string_view kTemporaryPrefix = ".frazil-tmp-";

// Understands paths and `file:` URIs in all forms of uri.h. Listings give paths in the form of the folder asked for.
//
// Reading: pread, or a mapping by InputFile::map(). A `file:` URI that does not exist literally is tried once more
// percent-decoded (open_input, list, walk, stat, remove). An InputFile holds one descriptor.
//
// Writing: into "<folder>/.frazil-tmp-<16 hex>", published by rename (kReplace), or by renameat2(RENAME_NOREPLACE) or
// link where the file system lacks it (kFail), so that of several publishers exactly one wins. With `sync`, the file
// is synced before it gets its name, and the folder and each folder created for it after. An IoError after the file
// got its name (syncing the folder failed) means that it is there but may not survive a crash.
//
// Thread-safe; no state.
class LocalFileSystem final : public FileSystem {
 public:
  std::shared_ptr<InputFile> open_input(std::string_view path, std::optional<uint64_t> size = std::nullopt) override;
  std::unique_ptr<OutputFile> open_output(std::string_view path) override;
  std::vector<FileInfo> list(std::string_view folder) override;
  // Follows symbolic links to folders; a link back up is passed over. Each folder is sorted.
  void walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) override;
  std::optional<FileInfo> stat(std::string_view path) override;
  bool remove(std::string_view path) override;
};

// True for the last segment of a path that LocalFileSystem makes while writing.
bool is_temporary_name(std::string_view name);

}  // namespace frazil
