#include "frazil/io/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {}

  const std::string& name() const override { return file_->path(); }
  uint64_t bytes_read() const override { return at_; }
  size_t read(std::span<std::byte> out) override {
    const size_t size = static_cast<size_t>(std::min<uint64_t>(out.size(), file_->size() - at_));
    if (size > 0) file_->read_at(at_, out.first(size));
    at_ += size;
    return size;
  }

 private:
  std::shared_ptr<const InputFile> file_;
  uint64_t at_ = 0;
};

class DescriptorSource final : public ByteSource {
 public:
  DescriptorSource(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  uint64_t bytes_read() const override { return at_; }
  size_t read(std::span<std::byte> out) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, out.data(), out.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError(errno, message("cannot read {}", name_));
      at_ += static_cast<uint64_t>(got);
      if (!is_widened_ && at_ >= kPipeBytes) widen();
      return static_cast<size_t>(got);
    }
  }

 private:
  static constexpr uint64_t kPipeBytes = uint64_t{64} << 10;  // what a pipe holds if nobody asks for more
  static constexpr int kWidePipeBytes = 1 << 20;              // what everybody may ask for

  // A pipe that has given all that it holds gives more: in one of 64 KiB its two ends wait for each other all the time, which
  // takes half as long again. Nothing happens to what is no pipe, or where the system has a lower limit.
  void widen() {
    is_widened_ = true;
#ifdef F_SETPIPE_SZ
    if (::fcntl(descriptor_, F_GETPIPE_SZ) < kWidePipeBytes) ::fcntl(descriptor_, F_SETPIPE_SZ, kWidePipeBytes);
#endif
  }

  int descriptor_;
  bool is_widened_ = false;
  std::string name_;
  uint64_t at_ = 0;
};

class ResumedSource final : public ByteSource {
 public:
  ResumedSource(Buffer beginning, std::unique_ptr<ByteSource> rest)
      : beginning_(std::move(beginning)), rest_(std::move(rest)) {}
  const std::string& name() const override { return rest_->name(); }
  uint64_t bytes_read() const override { return rest_->bytes_read(); }
  size_t read(std::span<std::byte> out) override {
    if (beginning_.empty()) return rest_->read(out);
    const size_t size = std::min(out.size(), beginning_.size());
    std::copy_n(beginning_.data(), size, out.data());
    beginning_ = beginning_.slice(size);
    return size;
  }

 private:
  Buffer beginning_;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(std::shared_ptr<const InputFile> file) {
  return std::make_unique<FileSource>(std::move(file));
}

std::unique_ptr<ByteSource> descriptor_source(int descriptor, std::string name) {
  return std::make_unique<DescriptorSource>(descriptor, std::move(name));
}

std::unique_ptr<ByteSource> resumed_source(Buffer beginning, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<ResumedSource>(std::move(beginning), std::move(rest));
}

size_t read_up_to(ByteSource& source, std::span<std::byte> out) {
  size_t size = 0;
  while (size < out.size()) {
    const size_t got = source.read(out.subspan(size));
    if (got == 0) break;
    size += got;
  }
  return size;
}

}  // namespace frazil
