#include "frazil/io/local_output_file.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/posix_calls.h"

namespace frazil {

namespace {

std::string parent_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Creates `folder` and what is missing above it. Adds the folders that got a new entry to `changed`, the outermost
// first. False with errno.
bool create_folders(const std::string& folder, std::vector<std::string>& changed) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    changed.push_back(parent_path(folder));
    return true;
  }
  if (errno == EEXIST || errno == EISDIR) {
    struct stat status;
    if (::stat(folder.c_str(), &status) != 0) return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
  }
  if (errno != ENOENT || folder == "/" || folder == ".") return false;
  if (!create_folders(parent_path(folder), changed)) return false;
  if (::mkdir(folder.c_str(), 0777) == 0) {
    changed.push_back(parent_path(folder));
    return true;
  }
  return errno == EEXIST;  // another thread was faster
}

bool sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  // Some file systems have nothing to sync in a folder and say so.
  const bool ok = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int error_number = errno;
  ::close(descriptor);
  errno = error_number;
  return ok;
}

// Gives `from` the name `to` if nothing has it. False with errno.
bool rename_without_replacing(const char* from, const char* to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return false;
#endif
  // A second name is as exclusive. File systems without either (FAT, some FUSE) cannot commit safely: an error.
  if (::link(from, to) != 0) return false;
  ::unlink(from);
  return true;
}

std::string temporary_path(const std::string& folder) {
  std::byte random[8];
  // The kernel's generator does not fail for so few bytes, and a collision would only make O_EXCL fail.
  if (::getrandom(random, sizeof(random), 0) != sizeof(random)) throw_system_error("name a temporary in", folder);
  return (folder == "/" ? "" : folder) + "/" + std::string(kTemporaryPrefix) + encode_hex(random);
}

class LocalOutputFile final : public OutputFile {
 public:
  LocalOutputFile(std::string location, std::string path, std::string temporary, int descriptor,
                  std::vector<std::string> changed_folders)
      : location_(std::move(location)),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        descriptor_(descriptor),
        changed_folders_(std::move(changed_folders)) {}
  LocalOutputFile(const LocalOutputFile&) = delete;
  LocalOutputFile& operator=(const LocalOutputFile&) = delete;
  ~LocalOutputFile() override { abort(); }

  const std::string& path() const override { return location_; }
  uint64_t bytes_written() const override { return bytes_written_; }

  void write(std::span<const std::byte> bytes) override {
    require_usable();
    // Until all is written the file is not usable, so that a caller who passes over an error cannot publish a part.
    usable_ = false;
    const auto write_some = [&](const void* data, size_t size) { return ::write(descriptor_, data, size); };
    if (!write_fully(write_some, bytes)) throw_system_error("write", location_);
    bytes_written_ += bytes.size();
    usable_ = true;
  }

  void write_pieces(std::span<const std::span<const std::byte>> pieces) override {
    require_usable();
    usable_ = false;
    const auto write_some = [&](const iovec* vectors, int count) { return ::writev(descriptor_, vectors, count); };
    if (!write_pieces_fully(write_some, pieces)) throw_system_error("write", location_);
    for (const auto piece : pieces) bytes_written_ += piece.size();
    usable_ = true;
  }

  void publish(PublishOptions options) override {
    require_usable();
    usable_ = false;
    if (options.sync && ::fsync(descriptor_) != 0) throw_system_error("sync", location_);
    // Network file systems report a full disk only here.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) throw_system_error("close", location_);
    const bool renamed = options.if_exists == IfExists::kReplace
                             ? ::rename(temporary_.c_str(), path_.c_str()) == 0
                             : rename_without_replacing(temporary_.c_str(), path_.c_str());
    if (!renamed) throw_system_error("create", location_);
    temporary_.clear();
    if (!options.sync) return;
    changed_folders_.push_back(parent_path(path_));
    for (size_t index = changed_folders_.size(); index-- > 0;) {
      if (!sync_folder(changed_folders_[index])) throw_system_error("sync the folder of", location_);
    }
  }

  void abort() noexcept override {
    usable_ = false;
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

 private:
  void require_usable() const {
    if (!usable_) throw_error(ErrorKind::kInternal, "'{}' is published, aborted or failed already", location_);
  }

  const std::string location_;
  const std::string path_;
  std::string temporary_;  // empty when there is none any more
  int descriptor_;
  std::vector<std::string> changed_folders_;
  uint64_t bytes_written_ = 0;
  bool usable_ = true;
};

}  // namespace

std::unique_ptr<OutputFile> open_local_output(std::string location, const std::string& path) {
  if (path.ends_with('/')) throw_error(ErrorKind::kInvalidArgument, "'{}' is the name of a folder", location);
  const std::string folder = parent_path(path);
  std::vector<std::string> changed_folders;
  if (!create_folders(folder, changed_folders)) throw_system_error("create the folder of", location);
  for (;;) {
    std::string temporary = temporary_path(folder);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      return std::make_unique<LocalOutputFile>(std::move(location), path, std::move(temporary), descriptor,
                                               std::move(changed_folders));
    }
    if (errno != EEXIST && errno != EINTR) throw_system_error("create", location);
  }
}

}  // namespace frazil
