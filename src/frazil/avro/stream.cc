#include <algorithm>
#include <atomic>

#include "frazil/avro/decoder.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

class FileStream final : public BatchStream {
 public:
  FileStream(std::shared_ptr<const InputFile> file, MemoryPool& pool, StreamOptions options)
      : options_(std::move(options)),
        container_(std::move(file), pool, options_.container),
        decompressor_(make_decompressor(pool)),
        program_(make_program(pool)),
        decoder_(program_, pool, options_.decode) {
    if (options_.batch_rows == 0) throw_error(ErrorKind::kInvalidArgument, "batch_rows is 0");
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
  // Errors in the constructor name the file as those of the container do.
  template <typename Make>
  auto with_path(Make make) {
    try {
      return make();
    } catch (Error& error) {
      error.add_context(message("reading Avro file {}", container_.file().path()));
      throw;
    }
  }
  BlockDecompressor make_decompressor(MemoryPool& pool) {
    return with_path(
        [&] { return BlockDecompressor(container_.header().codec(), pool, options_.container.max_block_bytes); });
  }
  std::shared_ptr<const Program> make_program(MemoryPool& pool) {
    return with_path([&] {
      return Program::compile(parse_schema(container_.header().schema_text(), &pool), options_.reader_schema);
    });
  }

  std::optional<RecordBatch> next_batch() {
    size_t bytes = 0;
    while (decoder_.row_count() < options_.batch_rows && bytes < options_.batch_bytes) {
      if (block_.record_count == 0 && !next_block()) {
        done_ = true;
        break;
      }
      const size_t position = block_.position;
      try {
        decoder_.decode(block_, options_.batch_rows - decoder_.row_count(), options_.batch_bytes - bytes);
      } catch (Error& error) {
        error.add_context(
            message("decoding the block at byte {} of Avro file {}", block_.file_offset, container_.file().path()));
        throw;
      }
      bytes += block_.position - position;
    }
    if (decoder_.row_count() == 0) return std::nullopt;
    return with_path([&] { return decoder_.finish(); });
  }

  bool next_block() {
    block_ = Block();
    while (auto raw = container_.next()) {
      block_ = with_path([&] { return decompressor_.decompress(std::move(*raw)); });
      if (block_.record_count != 0) return true;
      if (block_.data.size() != 0) {
        with_path([&]() -> int {
          throw_corrupt(block_.file_offset, "block has no records and {} bytes", block_.data.size());
        });
      }
    }
    return false;
  }

  StreamOptions options_;
  ContainerReader container_;
  BlockDecompressor decompressor_;
  std::shared_ptr<const Program> program_;
  BatchDecoder decoder_;
  Block block_;
  bool done_ = false;
  std::atomic<bool> closed_{false};
};

}  // namespace

std::unique_ptr<BatchStream> open_stream(std::shared_ptr<const InputFile> file, MemoryPool& pool,
                                         StreamOptions options) {
  return std::make_unique<FileStream>(std::move(file), pool, std::move(options));
}

}  // namespace frazil::avro
