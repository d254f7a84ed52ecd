#include "frazil/io/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/io/uri.h"

namespace frazil {

namespace {

int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

[[noreturn]] void throw_missing(std::string_view path) {
  throw IoError(ENOENT, message("cannot open '{}': No such file or directory", path));
}

// What the keys of all files below a folder start with.
std::string folder_prefix(std::string_view folder) {
  std::string prefix = location_key(folder);
  if (!prefix.ends_with('/')) prefix += '/';
  return prefix;
}

class MemoryInputFile final : public InputFile {
 public:
  MemoryInputFile(std::string path, Buffer content, uint64_t size)
      : path_(std::move(path)), content_(std::move(content)), size_(size) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }

  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    const uint64_t end = std::min<uint64_t>(size_, content_.size());
    if (offset > end || out.size() > end - offset) {
      throw_corrupt(offset, "'{}' ends at byte {}, but {} bytes from {} on are needed", path_, end, out.size(), offset);
    }
    if (!out.empty()) std::memcpy(out.data(), content_.data() + offset, out.size());
  }

  std::optional<Buffer> map() const override {
    if (size_ > content_.size()) return std::nullopt;
    return content_.slice(0, static_cast<size_t>(size_));
  }

 private:
  const std::string path_;
  const Buffer content_;
  const uint64_t size_;  // as the caller said, or the real one
};

}  // namespace

std::shared_ptr<InputFile> make_input_file(std::string path, Buffer content) {
  const uint64_t size = content.size();
  return std::make_shared<MemoryInputFile>(std::move(path), std::move(content), size);
}

class MemoryFileSystem::Output final : public OutputFile {
 public:
  Output(MemoryFileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  uint64_t bytes_written() const override { return bytes_written_; }

  void write(std::span<const std::byte> bytes) override {
    require_usable();
    content_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bytes_written_ += bytes.size();
  }

  void publish(PublishOptions options) override {
    require_usable();
    usable_ = false;
    files_->publish(path_, {Buffer::from_string(std::move(content_)), now_ms()}, options.if_exists);
  }

  void abort() noexcept override {
    usable_ = false;
    content_.clear();
  }

 private:
  void require_usable() const {
    if (!usable_) throw_error(ErrorKind::kInternal, "'{}' is published, aborted or failed already", path_);
  }

  MemoryFileSystem* files_;
  const std::string path_;
  std::string content_;
  uint64_t bytes_written_ = 0;
  bool usable_ = true;
};

std::shared_ptr<InputFile> MemoryFileSystem::open_input(std::string_view path, std::optional<uint64_t> size) {
  Buffer content = get(path);
  const uint64_t known = size.value_or(content.size());
  return std::make_shared<MemoryInputFile>(std::string(path), std::move(content), known);
}

std::unique_ptr<OutputFile> MemoryFileSystem::open_output(std::string_view path) {
  if (path.ends_with('/')) throw_error(ErrorKind::kInvalidArgument, "'{}' is the name of a folder", path);
  static_cast<void>(location_key(path));  // throws for what is no location
  return std::make_unique<Output>(*this, std::string(path));
}

std::vector<FileInfo> MemoryFileSystem::list(std::string_view folder) {
  const std::string prefix = folder_prefix(folder);
  std::vector<FileInfo> infos;
  MutexLock lock(mutex_);
  for (auto file = files_.lower_bound(prefix); file != files_.end() && file->first.starts_with(prefix); ++file) {
    std::string_view name = std::string_view(file->first).substr(prefix.size());
    const size_t slash = name.find('/');
    FileInfo info;
    info.is_folder = slash != std::string_view::npos;
    info.path = join_location(folder, name.substr(0, slash));
    if (info.is_folder) {
      // Files below one folder follow each other in the map.
      if (!infos.empty() && infos.back().path == info.path) continue;
    } else {
      info.size = file->second.content.size();
      info.modified_ms = file->second.modified_ms;
    }
    infos.push_back(std::move(info));
  }
  if (infos.empty()) throw_missing(folder);
  std::sort(infos.begin(), infos.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return infos;
}

void MemoryFileSystem::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  for (const FileInfo& info : list(folder)) {
    if (!info.is_folder) {
      visit(info);
      continue;
    }
    try {
      walk(info.path, visit);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNotFound) throw;  // removed meanwhile
    }
  }
}

std::optional<FileInfo> MemoryFileSystem::stat(std::string_view path) {
  const std::string key = location_key(path);
  MutexLock lock(mutex_);
  FileInfo info;
  info.path = path;
  if (const auto file = files_.find(key); file != files_.end()) {
    info.size = file->second.content.size();
    info.modified_ms = file->second.modified_ms;
    return info;
  }
  if (!has_below(folder_prefix(path))) return std::nullopt;
  info.is_folder = true;
  return info;
}

bool MemoryFileSystem::remove(std::string_view path) {
  const std::string key = location_key(path);
  MutexLock lock(mutex_);
  if (files_.erase(key) > 0) return true;
  if (has_below(folder_prefix(path))) {
    throw IoError(ENOTEMPTY, message("cannot remove '{}': Directory not empty", path));
  }
  return false;
}

void MemoryFileSystem::put(std::string_view path, std::string content) {
  publish(std::string(path), {Buffer::from_string(std::move(content)), now_ms()}, OutputFile::IfExists::kReplace);
}

Buffer MemoryFileSystem::get(std::string_view path) {
  const std::string key = location_key(path);
  MutexLock lock(mutex_);
  const auto file = files_.find(key);
  if (file == files_.end()) throw_missing(path);
  return file->second.content;
}

size_t MemoryFileSystem::file_count() {
  MutexLock lock(mutex_);
  return files_.size();
}

void MemoryFileSystem::publish(const std::string& path, File file, OutputFile::IfExists if_exists) {
  const std::string key = location_key(path);
  MutexLock lock(mutex_);
  if (has_below(folder_prefix(path))) throw IoError(EISDIR, message("cannot create '{}': Is a directory", path));
  if (if_exists == OutputFile::IfExists::kReplace) {
    files_.insert_or_assign(key, std::move(file));
  } else if (!files_.emplace(key, std::move(file)).second) {
    throw IoError(EEXIST, message("cannot create '{}': File exists", path));
  }
}

bool MemoryFileSystem::has_below(const std::string& prefix) {
  const auto first = files_.lower_bound(prefix);
  return first != files_.end() && first->first.starts_with(prefix);
}

}  // namespace frazil
