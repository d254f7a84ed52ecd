#include "frazil/io/local_file_system.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/base/percent_encoding.h"
#include "frazil/io/local_output_file.h"
#include "frazil/io/posix_calls.h"
#include "frazil/io/uri.h"

namespace frazil {

namespace {

bool is_missing(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR;
}

std::string local_path(std::string_view text) {
  Location location = parse_location(text);
  if (!location.is_local()) {
    throw_error(ErrorKind::kUnsupported, "'{}' is not a local file: its scheme is {}", text, location.scheme);
  }
  return std::move(location.path);
}

// Calls `attempt(path)`, which returns an errno or 0, with the literal path of a location and, if nothing is there and
// it is a URI with escapes, with the decoded one. Returns the literal path's errno if neither is there.
template <typename Attempt>
int attempt_both_names(std::string_view text, Attempt attempt) {
  const std::string path = local_path(text);
  const int literal = attempt(path);
  if (!is_missing(literal) || path.find('%') == std::string::npos || !parse_location(text).is_uri) return literal;
  const std::optional<std::string> decoded = decode_percent(path);
  if (!decoded || *decoded == path || decoded->find('\0') != std::string::npos) return literal;
  const int second = attempt(*decoded);
  return is_missing(second) ? literal : second;
}

class LocalInputFile final : public InputFile {
 public:
  // Takes over `descriptor`.
  LocalInputFile(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  LocalInputFile(const LocalInputFile&) = delete;
  LocalInputFile& operator=(const LocalInputFile&) = delete;
  ~LocalInputFile() override { ::close(descriptor_); }

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }

  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset) throw_short(size_, offset, out.size());
    const auto read = [&](void* data, size_t size, off_t at) { return ::pread(descriptor_, data, size, at); };
    const size_t done = read_fully(read, offset, out);
    if (done == out.size()) return;
    if (errno == 0) throw_short(offset + done, offset, out.size());
    throw_system_error("read", path_);
  }

  // Ranges that lie one behind the other are one call of the system.
  void read_ranges(std::span<const uint64_t> offsets, std::span<const std::span<std::byte>> outs) const override {
    for (size_t i = 0; i < outs.size();) {
      std::array<iovec, 8> vectors;
      size_t count = 0;
      uint64_t end = offsets[i];
      while (count < vectors.size() && i + count < outs.size() && offsets[i + count] == end) {
        const std::span<std::byte> out = outs[i + count];
        if (end > size_ || out.size() > size_ - end) throw_short(size_, end, out.size());
        vectors[count++] = {out.data(), out.size()};
        end += out.size();
      }
      // What does not succeed at once is done again range by range: that is rare, and says what is wrong.
      if (count < 2 || !read_pieces(std::span(vectors).first(count), offsets[i], end - offsets[i])) {
        for (size_t k = i; k < i + count; ++k) read_at(offsets[k], outs[k]);
      }
      i += count;
    }
  }

  std::optional<Buffer> map() const override {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) throw_system_error("stat", path_);
    // Pages past the real end cannot be touched; read_at reports such a file.
    if (!S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) < size_) return std::nullopt;
    if (size_ == 0) return Buffer();
    const size_t size = static_cast<size_t>(size_);
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (data == MAP_FAILED) {
      if (errno == ENODEV || errno == EINVAL) return std::nullopt;  // a file system without mappings
      throw_system_error("map", path_);
    }
    return Buffer::foreign(data, size, [data, size] { ::munmap(data, size); });
  }

 private:
  // One call, without a look at what went wrong.
  bool read_pieces(std::span<const iovec> pieces, uint64_t offset, uint64_t size) const noexcept {
    const ssize_t got =
        ::preadv(descriptor_, pieces.data(), static_cast<int>(pieces.size()), static_cast<off_t>(offset));
    return got >= 0 && static_cast<uint64_t>(got) == size;
  }

  [[noreturn]] void throw_short(uint64_t end, uint64_t offset, uint64_t length) const {
    throw_corrupt(offset, "'{}' ends at byte {}, but {} bytes from {} on are needed", path_, end, length, offset);
  }

  const std::string path_;
  const int descriptor_;
  const uint64_t size_;
};

FileInfo make_info(std::string path, const struct stat& status) {
  FileInfo info;
  info.path = std::move(path);
  info.is_folder = S_ISDIR(status.st_mode);
  info.size = info.is_folder ? 0 : static_cast<uint64_t>(status.st_size);
  info.modified_ms = int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1000000;
  return info;
}

struct FolderId {
  dev_t device;
  ino_t inode;
  bool operator==(const FolderId&) const = default;
};

struct Folder {
  FolderId id;
  std::vector<std::string> names;  // sorted
  std::vector<struct stat> statuses;
};

// What is in the folder at `path`, the targets of links included; entries that vanish meanwhile are passed over.
// Returns an errno.
int read_folder(const std::string& path, Folder& folder) {
  struct CloseFolder {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
  };
  const std::unique_ptr<DIR, CloseFolder> stream(::opendir(path.c_str()));
  if (stream == nullptr) return errno;
  struct stat status;
  if (::fstat(::dirfd(stream.get()), &status) != 0) return errno;
  folder.id = {status.st_dev, status.st_ino};
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") folder.names.emplace_back(name);
  }
  if (errno != 0) return errno;
  std::sort(folder.names.begin(), folder.names.end());
  std::erase_if(folder.names, [&](const std::string& name) {
    // A link that leads nowhere is listed as itself.
    if (::fstatat(::dirfd(stream.get()), name.c_str(), &status, 0) != 0 &&
        ::fstatat(::dirfd(stream.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return true;
    }
    folder.statuses.push_back(status);
    return false;
  });
  return 0;
}

class Walk {
 public:
  explicit Walk(const std::function<void(const FileInfo&)>& visit) : visit_(visit) {}

  // `location` is how the folder at `path` is called in what is visited. Returns an errno if it cannot be read.
  int walk_folder(const std::string& location, const std::string& path) {
    Folder folder;
    if (const int error_number = read_folder(path, folder)) return error_number;
    if (std::find(open_.begin(), open_.end(), folder.id) != open_.end()) return 0;
    if (open_.size() == kDepthMax) throw_error(ErrorKind::kIo, "'{}' is nested too deep", location);
    open_.push_back(folder.id);
    for (size_t index = 0; index < folder.names.size(); ++index) {
      const std::string inner = join_location(location, folder.names[index]);
      if (!S_ISDIR(folder.statuses[index].st_mode)) {
        visit_(make_info(inner, folder.statuses[index]));
        continue;
      }
      const int error_number = walk_folder(inner, path + "/" + folder.names[index]);
      if (error_number != 0 && !is_missing(error_number)) {
        errno = error_number;
        throw_system_error("list", inner);
      }
    }
    open_.pop_back();
    return 0;
  }

 private:
  // Linux opens no path that nests much deeper than PATH_MAX / 2 anyway.
  static constexpr size_t kDepthMax = 1000;
  const std::function<void(const FileInfo&)>& visit_;
  std::vector<FolderId> open_;  // the folders that the walk is in, against links that lead back up
};

}  // namespace

void throw_system_error(std::string_view verb, std::string_view path) {
  const int error_number = errno;
  throw IoError(error_number, message("cannot {} '{}': {}", verb, path, std::generic_category().message(error_number)));
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryPrefix);
}

std::shared_ptr<InputFile> LocalFileSystem::open_input(std::string_view path, std::optional<uint64_t> size) {
  int descriptor = -1;
  const int error_number = attempt_both_names(path, [&](const std::string& name) {
    // Not blocking: opening a named pipe would wait for its writer.
    do {
      descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? errno : 0;
  });
  errno = error_number;
  if (error_number != 0) throw_system_error("open", path);
  if (!size) {
    struct stat status;
    int failure = ::fstat(descriptor, &status) != 0 ? errno : 0;
    if (failure == 0 && S_ISDIR(status.st_mode)) failure = EISDIR;
    if (failure == 0 && !S_ISREG(status.st_mode)) failure = EINVAL;  // a pipe or a device
    if (failure != 0) {
      ::close(descriptor);
      errno = failure;
      throw_system_error("read", path);
    }
    size = static_cast<uint64_t>(status.st_size);
  }
  return std::make_shared<LocalInputFile>(std::string(path), descriptor, *size);
}

std::unique_ptr<OutputFile> LocalFileSystem::open_output(std::string_view path) {
  return open_local_output(std::string(path), local_path(path));
}

std::vector<FileInfo> LocalFileSystem::list(std::string_view folder) {
  Folder found;
  errno = attempt_both_names(folder, [&](const std::string& path) { return read_folder(path, found); });
  if (errno != 0) throw_system_error("list", folder);
  std::vector<FileInfo> infos;
  infos.reserve(found.names.size());
  for (size_t index = 0; index < found.names.size(); ++index) {
    infos.push_back(make_info(join_location(folder, found.names[index]), found.statuses[index]));
  }
  return infos;
}

void LocalFileSystem::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  Walk walk(visit);
  errno =
      attempt_both_names(folder, [&](const std::string& path) { return walk.walk_folder(std::string(folder), path); });
  if (errno != 0) throw_system_error("list", folder);
}

std::optional<FileInfo> LocalFileSystem::stat(std::string_view path) {
  struct stat status;
  errno =
      attempt_both_names(path, [&](const std::string& name) { return ::stat(name.c_str(), &status) == 0 ? 0 : errno; });
  if (errno == 0) return make_info(std::string(path), status);
  if (is_missing(errno)) return std::nullopt;
  throw_system_error("stat", path);
}

bool LocalFileSystem::remove(std::string_view path) {
  errno = attempt_both_names(path, [&](const std::string& name) {
    if (::unlink(name.c_str()) == 0) return 0;
    // Linux says EISDIR for a folder, POSIX EPERM.
    if (errno != EISDIR && errno != EPERM) return errno;
    const int error_number = errno;
    if (::rmdir(name.c_str()) == 0) return 0;
    return errno == ENOTDIR ? error_number : errno;
  });
  if (errno == 0) return true;
  if (is_missing(errno)) return false;
  throw_system_error("remove", path);
}

}  // namespace frazil
