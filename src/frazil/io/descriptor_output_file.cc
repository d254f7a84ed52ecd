#include "frazil/io/descriptor_output_file.h"

#include <cerrno>
#include <utility>

#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/io/local_output_file.h"
#include "frazil/io/posix_calls.h"

namespace frazil {

namespace {

class DescriptorOutputFile final : public OutputFile {
 public:
  DescriptorOutputFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  const std::string& path() const override { return name_; }
  uint64_t bytes_written() const override { return bytes_written_; }

  void write(std::span<const std::byte> bytes) override {
    if (!usable_) throw_error(ErrorKind::kInternal, "'{}' is published, aborted or failed already", name_);
    usable_ = false;
    const auto write_some = [&](const void* data, size_t size) { return ::write(descriptor_, data, size); };
    if (!write_fully(write_some, bytes)) throw_system_error("write", name_);
    bytes_written_ += bytes.size();
    usable_ = true;
  }

  void publish(PublishOptions options) override {
    if (!usable_) throw_error(ErrorKind::kInternal, "'{}' is published, aborted or failed already", name_);
    usable_ = false;
    // Pipes and terminals have nothing to sync and say so.
    if (options.sync && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
      throw_system_error("sync", name_);
    }
  }

  void abort() noexcept override { usable_ = false; }

 private:
  const int descriptor_;
  const std::string name_;
  uint64_t bytes_written_ = 0;
  bool usable_ = true;
};

}  // namespace

std::unique_ptr<OutputFile> open_descriptor_output(int descriptor, std::string name) {
  return std::make_unique<DescriptorOutputFile>(descriptor, std::move(name));
}

}  // namespace frazil
