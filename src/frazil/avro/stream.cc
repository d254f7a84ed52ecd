#include <algorithm>
#include <atomic>

#include "frazil/avro/decoder.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

// Errors name the file, as those of the container do.
template <typename Run>
auto with_path(const ContainerReader& container, Run run) {
  try {
    return run();
  } catch (Error& error) {
    error.add_context(message("reading Avro file {}", container.file().path()));
    throw;
  }
}

class FileStream final : public BatchStream {
 public:
  FileStream(std::unique_ptr<ContainerReader> container, std::shared_ptr<const Program> program, MemoryPool& pool,
             const StreamOptions& options)
      : batch_rows_(options.batch_rows),
        batch_bytes_(options.batch_bytes),
        container_(std::move(container)),
        decompressor_(with_path(*container_,
                                [&] {
                                  return BlockDecompressor(container_->header().codec(), pool,
                                                           container_->options().max_block_bytes);
                                })),
        program_(std::move(program)),
        decoder_(program_, pool, options.decode) {
    if (batch_rows_ == 0 || batch_bytes_ == 0)
      throw_error(ErrorKind::kInvalidArgument, "a batch of nothing is asked for");
  }
  ~FileStream() override { close(); }

  const SchemaPtr& schema() const override { return program_->arrow_schema(); }

  std::optional<RecordBatch> next() override {
    if (done_ || closed_.load(std::memory_order_relaxed)) return std::nullopt;
    try {
      return next_batch();
    } catch (...) {
      done_ = true;
      throw;
    }
  }

  void close() noexcept override { closed_.store(true, std::memory_order_relaxed); }

 private:
  std::optional<RecordBatch> next_batch() {
    size_t bytes = 0;
    while (decoder_.row_count() < batch_rows_ && bytes < batch_bytes_) {
      if (block_.record_count == 0 && !next_block()) {
        done_ = true;
        break;
      }
      const size_t position = block_.position;
      try {
        decoder_.decode(block_, batch_rows_ - decoder_.row_count(), batch_bytes_ - bytes);
      } catch (Error& error) {
        error.add_context(
            message("decoding the block at byte {} of Avro file {}", block_.file_offset, container_->file().path()));
        throw;
      }
      bytes += block_.position - position;
    }
    if (decoder_.row_count() == 0) return std::nullopt;
    return with_path(*container_, [&] { return decoder_.finish(); });
  }

  bool next_block() {
    block_ = Block();
    while (auto raw = container_->next()) {
      block_ = with_path(*container_, [&] { return decompressor_.decompress(std::move(*raw)); });
      if (block_.record_count != 0) return true;
      if (block_.data.size() != 0) {
        with_path(*container_, [&]() -> int {
          throw_corrupt(block_.file_offset, "block has no records and {} bytes", block_.data.size());
        });
      }
    }
    return false;
  }

  const size_t batch_rows_;
  const size_t batch_bytes_;
  std::unique_ptr<ContainerReader> container_;
  BlockDecompressor decompressor_;
  std::shared_ptr<const Program> program_;
  BatchDecoder decoder_;
  Block block_;
  bool done_ = false;
  std::atomic<bool> closed_{false};
};

}  // namespace

std::unique_ptr<BatchStream> open_stream(std::unique_ptr<ContainerReader> container,
                                         std::shared_ptr<const Program> program, MemoryPool& pool,
                                         const StreamOptions& options) {
  return std::make_unique<FileStream>(std::move(container), std::move(program), pool, options);
}

std::unique_ptr<BatchStream> open_stream(std::shared_ptr<const InputFile> file, MemoryPool& pool,
                                         StreamOptions options) {
  auto container = std::make_unique<ContainerReader>(std::move(file), pool, options.container);
  auto program = with_path(*container, [&] {
    return Program::compile(parse_schema(container->header().schema_text(), &pool), options.reader_schema);
  });
  return open_stream(std::move(container), std::move(program), pool, options);
}

}  // namespace frazil::avro
