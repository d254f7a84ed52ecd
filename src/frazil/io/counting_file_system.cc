#include "frazil/io/counting_file_system.h"

#include <utility>

namespace frazil {

namespace {

// Each counter stands alone: nobody concludes from one to another.
void add(std::atomic<uint64_t>& counter, uint64_t value) {
  counter.fetch_add(value, std::memory_order_relaxed);
}

class CountingInputFile final : public InputFile {
 public:
  CountingInputFile(std::shared_ptr<InputFile> inner, std::shared_ptr<IoCounters> counters)
      : inner_(std::move(inner)), counters_(std::move(counters)) {
    add(counters_->files_opened, 1);
    add(counters_->files_open, 1);
  }
  CountingInputFile(const CountingInputFile&) = delete;
  CountingInputFile& operator=(const CountingInputFile&) = delete;
  ~CountingInputFile() override { counters_->files_open.fetch_sub(1, std::memory_order_relaxed); }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size() const override { return inner_->size(); }

  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    inner_->read_at(offset, out);
    add(counters_->reads, 1);
    add(counters_->bytes_read, out.size());
  }

  void read_ranges(std::span<const uint64_t> offsets, std::span<const std::span<std::byte>> outs) const override {
    inner_->read_ranges(offsets, outs);
    add(counters_->reads, outs.size());
    for (std::span<std::byte> out : outs) add(counters_->bytes_read, out.size());
  }

  std::optional<Buffer> map() const override {
    std::optional<Buffer> buffer = inner_->map();
    if (buffer) add(counters_->bytes_read, buffer->size());
    return buffer;
  }

 private:
  const std::shared_ptr<InputFile> inner_;
  const std::shared_ptr<IoCounters> counters_;
};

class CountingOutputFile final : public OutputFile {
 public:
  CountingOutputFile(std::unique_ptr<OutputFile> inner, std::shared_ptr<IoCounters> counters)
      : inner_(std::move(inner)), counters_(std::move(counters)) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t bytes_written() const override { return inner_->bytes_written(); }
  void write(std::span<const std::byte> bytes) override {
    inner_->write(bytes);
    add(counters_->bytes_written, bytes.size());
  }
  void publish(PublishOptions options) override {
    inner_->publish(options);
    add(counters_->files_published, 1);
  }
  void abort() noexcept override { inner_->abort(); }

 private:
  const std::unique_ptr<OutputFile> inner_;
  const std::shared_ptr<IoCounters> counters_;
};

}  // namespace

std::shared_ptr<InputFile> CountingFileSystem::open_input(std::string_view path, std::optional<uint64_t> size) {
  return std::make_shared<CountingInputFile>(inner_->open_input(path, size), counters_);
}

std::unique_ptr<OutputFile> CountingFileSystem::open_output(std::string_view path) {
  return std::make_unique<CountingOutputFile>(inner_->open_output(path), counters_);
}

std::vector<FileInfo> CountingFileSystem::list(std::string_view folder) {
  return inner_->list(folder);
}

void CountingFileSystem::walk(std::string_view folder, const std::function<void(const FileInfo&)>& visit) {
  inner_->walk(folder, visit);
}

std::optional<FileInfo> CountingFileSystem::stat(std::string_view path) {
  return inner_->stat(path);
}

bool CountingFileSystem::remove(std::string_view path) {
  return inner_->remove(path);
}

}  // namespace frazil
