#include "discarding_file_system.h"

#include <cerrno>
#include <string>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::cli {
namespace {

class DiscardedFile final : public OutputFile {
 public:
  explicit DiscardedFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  void write(std::span<const std::byte> bytes) override { bytes_written_ += bytes.size(); }
  uint64_t bytes_written() const override { return bytes_written_; }
  void publish(PublishOptions) override {}
  void abort() noexcept override {}

 private:
  std::string path_;
  uint64_t bytes_written_ = 0;
};

[[noreturn]] void throw_nothing_there(std::string_view path) {
  throw IoError(ENOENT, message("there is no {}", path));
}

}  // namespace

std::shared_ptr<InputFile> DiscardingFileSystem::open_input(std::string_view path, std::optional<uint64_t>) {
  throw_nothing_there(path);
}

std::unique_ptr<OutputFile> DiscardingFileSystem::open_output(std::string_view path) {
  return std::make_unique<DiscardedFile>(std::string(path));
}

std::vector<FileInfo> DiscardingFileSystem::list(std::string_view folder) {
  throw_nothing_there(folder);
}

void DiscardingFileSystem::walk(std::string_view folder, const std::function<void(const FileInfo&)>&) {
  throw_nothing_there(folder);
}

std::optional<FileInfo> DiscardingFileSystem::stat(std::string_view) {
  return std::nullopt;
}

bool DiscardingFileSystem::remove(std::string_view) {
  return false;
}

}  // namespace frazil::cli
