#include "frazil/ipc/reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/format.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::ipc {
namespace {

class FileStream final : public BatchStream {
 public:
  explicit FileStream(FileReader reader) : reader_(std::move(reader)) {}

  const SchemaPtr& schema() const override { return reader_.schema(); }
  std::optional<RecordBatch> next() override {
    if (closed_.load(std::memory_order_relaxed) || next_ == reader_.batch_count()) return std::nullopt;
    return reader_.batch(next_++);
  }
  void close() noexcept override { closed_.store(true, std::memory_order_relaxed); }

 private:
  FileReader reader_;
  size_t next_ = 0;
  std::atomic<bool> closed_ = false;
};

// A source of which the beginning was read.
class ResumedSource final : public ByteSource {
 public:
  ResumedSource(std::span<const std::byte> beginning, std::unique_ptr<ByteSource> rest) : rest_(std::move(rest)) {
    std::ranges::copy(beginning, beginning_.begin());
    end_ = beginning.size();
  }

  const std::string& name() const override { return rest_->name(); }
  uint64_t bytes_read() const override { return rest_->bytes_read(); }
  size_t read(std::span<std::byte> out) override {
    if (begin_ == end_) return rest_->read(out);
    const size_t size = std::min(out.size(), end_ - begin_);
    std::copy_n(beginning_.data() + begin_, size, out.data());
    begin_ += size;
    return size;
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::array<std::byte, kMagicBytes> beginning_{};
  size_t begin_ = 0;
  size_t end_ = 0;
};

Buffer read_all(ByteSource& source, MemoryPool& pool) {
  static constexpr size_t kFirstBytes = size_t{64} << 10;
  MutableBuffer bytes = pool.allocate(kFirstBytes);
  size_t size = 0;
  while (true) {
    bytes.set_size(bytes.capacity());
    const size_t got = source.read(bytes.span().subspan(size));
    size += got;
    if (got == 0) break;
    if (size < bytes.capacity()) continue;
    MutableBuffer larger = pool.allocate(2 * size);
    std::copy_n(bytes.data(), size, larger.data());
    bytes = std::move(larger);
  }
  bytes.set_size(size);
  return std::move(bytes).freeze();
}

}  // namespace

void throw_feather_v1() {
  throw_error(ErrorKind::kUnsupported,
              "Feather V1 is not read: write the file anew in Feather V2, which is Arrow's own format");
}

Format detect_format(std::span<const std::byte> beginning) {
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (text.starts_with(kMagic)) return Format::kFile;
  if (text.starts_with(kFeatherV1Magic)) return Format::kFeatherV1;
  return Format::kStream;
}

std::unique_ptr<BatchStream> batches_of(FileReader reader) {
  return std::make_unique<FileStream>(std::move(reader));
}

std::unique_ptr<BatchStream> open(Buffer bytes, MemoryPool& pool, ReadOptions options) {
  switch (detect_format(bytes.span())) {
    case Format::kFile:
      return batches_of(FileReader(std::move(bytes), pool, std::move(options)));
    case Format::kFeatherV1:
      throw_feather_v1();
    case Format::kStream:
      break;
  }
  return std::make_unique<StreamReader>(std::move(bytes), pool, std::move(options));
}

std::unique_ptr<BatchStream> open(std::shared_ptr<const InputFile> file, MemoryPool& pool, ReadOptions options) {
  std::array<std::byte, kMagicBytes> beginning;
  const size_t size = std::min<uint64_t>(beginning.size(), file->size());
  file->read_at(0, std::span(beginning).first(size));
  if (detect_format(std::span(beginning).first(size)) == Format::kFile) {
    return batches_of(FileReader(std::move(file), pool, std::move(options)));
  }
  std::optional<Buffer> mapped;
  if (options.map_files) mapped = file->map();
  if (mapped) return open(*std::move(mapped), pool, std::move(options));
  return open(file_source(std::move(file)), pool, std::move(options));
}

std::unique_ptr<BatchStream> open(std::unique_ptr<ByteSource> source, MemoryPool& pool, ReadOptions options) {
  std::array<std::byte, kMagicBytes> beginning;
  size_t size = 0;
  while (size < beginning.size()) {
    const size_t got = source->read(std::span(beginning).subspan(size));
    if (got == 0) break;
    size += got;
  }
  const std::span<const std::byte> read = std::span(beginning).first(size);
  const Format format = detect_format(read);
  const std::string name = source->name();
  auto resumed = std::make_unique<ResumedSource>(read, std::move(source));
  if (format == Format::kStream) return std::make_unique<StreamReader>(std::move(resumed), pool, std::move(options));
  try {
    return open(read_all(*resumed, pool), pool, std::move(options));
  } catch (Error& error) {
    error.add_context(message("reading {}", name));
    throw;
  }
}

}  // namespace frazil::ipc
