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

class FileBatches final : public Reader {
 public:
  explicit FileBatches(FileReader reader) : reader_(std::move(reader)) {}

  const SchemaPtr& schema() const override { return reader_.schema(); }
  std::optional<RecordBatch> next() override {
    if (closed_.load(std::memory_order_relaxed) || next_ == reader_.batch_count()) return std::nullopt;
    return reader_.batch(next_++);
  }
  void close() noexcept override { closed_.store(true, std::memory_order_relaxed); }
  Format format() const override { return Format::kFile; }
  Metadata custom_metadata() const override { return next_ == 0 ? Metadata() : reader_.batch_metadata(next_ - 1); }
  Metadata file_metadata() const override { return reader_.metadata(); }

 private:
  mutable FileReader reader_;  // looks a message up again
  size_t next_ = 0;
  std::atomic<bool> closed_ = false;
};

class StreamBatches final : public Reader {
 public:
  template <typename Input>
  StreamBatches(Input input, MemoryPool& pool, ReadOptions options)
      : reader_(std::move(input), pool, std::move(options)) {}
  const SchemaPtr& schema() const override { return reader_.schema(); }
  std::optional<RecordBatch> next() override { return reader_.next(); }
  void close() noexcept override { reader_.close(); }
  Format format() const override { return Format::kStream; }
  Metadata custom_metadata() const override { return reader_.custom_metadata(); }
  Metadata file_metadata() const override { return {}; }

 private:
  StreamReader reader_;
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

std::unique_ptr<Reader> batches_of(FileReader reader) {
  return std::make_unique<FileBatches>(std::move(reader));
}

std::unique_ptr<Reader> open(Buffer bytes, MemoryPool& pool, ReadOptions options) {
  switch (detect_format(bytes.span())) {
    case Format::kFile:
      return batches_of(FileReader(std::move(bytes), pool, std::move(options)));
    case Format::kFeatherV1:
      throw_feather_v1();
    case Format::kStream:
      break;
  }
  return std::make_unique<StreamBatches>(std::move(bytes), pool, std::move(options));
}

std::unique_ptr<Reader> open(std::shared_ptr<const InputFile> file, MemoryPool& pool, ReadOptions options) {
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

std::unique_ptr<Reader> open(std::unique_ptr<ByteSource> source, MemoryPool& pool, ReadOptions options) {
  std::array<std::byte, kMagicBytes> beginning;
  const size_t size = read_up_to(*source, beginning);
  const std::span<const std::byte> read = std::span(beginning).first(size);
  const Format format = detect_format(read);
  const std::string name = source->name();
  std::unique_ptr<ByteSource> resumed = resumed_source(pool.copy(read), std::move(source));
  if (format == Format::kStream) return std::make_unique<StreamBatches>(std::move(resumed), pool, std::move(options));
  try {
    return open(read_all(*resumed, pool), pool, std::move(options));
  } catch (Error& error) {
    error.add_context(message("reading {}", name));
    if (error.kind() == ErrorKind::kMemoryLimit) {
      error.set_hint(
          "an Arrow file that cannot be read at any place is held as a whole: give a path, a stream, more memory");
    }
    throw;
  }
}

}  // namespace frazil::ipc
