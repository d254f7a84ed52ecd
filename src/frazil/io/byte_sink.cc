#include "frazil/io/byte_sink.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/io/local_output_file.h"
#include "frazil/io/posix_calls.h"

namespace frazil {

namespace {

class OutputFileSink final : public ByteSink {
 public:
  OutputFileSink(std::unique_ptr<OutputFile> file, OutputFile::PublishOptions options)
      : file_(std::move(file)), options_(options) {}
  const std::string& name() const override { return file_->path(); }
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>> pieces) override { file_->write_pieces(pieces); }
  void finish() override { file_->publish(options_); }

 private:
  std::unique_ptr<OutputFile> file_;
  OutputFile::PublishOptions options_;
};

class DescriptorSink final : public ByteSink {
 public:
  DescriptorSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>> pieces) override {
    const auto write_some = [&](const iovec* vectors, int count) {
      const ssize_t put = ::writev(descriptor_, vectors, count);
      if (put < 0 && errno == EAGAIN) return wait();
      return put;
    };
    if (!write_pieces_fully(write_some, pieces)) throw_system_error("write", name_);
  }
  void finish() override {}

 private:
  // For room in a pipe that another process made non-blocking. Nothing was written: to be tried again as after an interrupt.
  ssize_t wait() const {
    pollfd waited{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if (::poll(&waited, 1, -1) >= 0) errno = EINTR;
    return -1;
  }

  int descriptor_;
  std::string name_;
};

}  // namespace

const std::string& MemorySink::name() const {
  static const std::string name = "memory";
  return name;
}

void MemorySink::write(std::span<const std::span<const std::byte>> pieces) {
  size_t size = block_.size();
  const size_t written = size;
  for (const auto piece : pieces) size += piece.size();
  if (size > block_.capacity()) {
    // What comes behind a first write is mostly small: a few dictionaries, a footer.
    constexpr size_t kSlack = 4 << 10;
    MutableBuffer larger;
    try {
      larger = pool_.allocate(std::max(size + kSlack, 2 * block_.capacity()));
    } catch (const MemoryLimitError&) {
      larger = pool_.allocate(size);
    }
    larger.set_size(size);
    if (written != 0) std::memcpy(larger.data(), block_.data(), written);
    block_ = std::move(larger);
  } else {
    block_.set_size(size);
  }
  std::byte* target = block_.data() + written;
  for (const auto piece : pieces) {
    if (!piece.empty()) std::memcpy(target, piece.data(), piece.size());
    target += piece.size();
  }
}

Buffer MemorySink::take() {
  return std::exchange(block_, {}).freeze();
}

std::unique_ptr<ByteSink> output_file_sink(std::unique_ptr<OutputFile> file, OutputFile::PublishOptions options) {
  return std::make_unique<OutputFileSink>(std::move(file), options);
}

std::unique_ptr<ByteSink> descriptor_sink(int descriptor, std::string name) {
  return std::make_unique<DescriptorSink>(descriptor, std::move(name));
}

}  // namespace frazil
