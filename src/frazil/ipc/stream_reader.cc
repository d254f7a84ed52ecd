#include "frazil/ipc/stream_reader.h"

#include <span>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::ipc {

StreamReader::StreamReader(Buffer stream, MemoryPool& pool, ReadOptions options) : decoder_(pool, std::move(options)) {
  decoder_.push(std::move(stream));
  if (decoder_.schema() == nullptr) decoder_.finish();
}

StreamReader::StreamReader(std::unique_ptr<ByteSource> source, MemoryPool& pool, ReadOptions options)
    : source_(std::move(source)), decoder_(pool, std::move(options)) {
  try {
    while (decoder_.schema() == nullptr && !decoder_.at_end()) fill();
  } catch (Error& error) {
    error.add_context(message("reading {}", source_->name()));
    throw;
  }
}

void StreamReader::fill() {
  const std::span<std::byte> room = decoder_.room();
  const size_t got = source_->read(room);
  if (got == 0) {
    decoder_.finish();
  } else {
    decoder_.filled(got);
  }
}

std::optional<RecordBatch> StreamReader::next() {
  if (closed_.load(std::memory_order_relaxed)) return std::nullopt;
  if (source_ == nullptr) {
    std::optional<RecordBatch> batch = decoder_.next();
    if (!batch) decoder_.finish();
    return batch;
  }
  try {
    while (true) {
      if (std::optional<RecordBatch> batch = decoder_.next()) return batch;
      if (decoder_.at_end()) return std::nullopt;
      fill();
    }
  } catch (Error& error) {
    error.add_context(message("reading {}", source_->name()));
    throw;
  }
}

}  // namespace frazil::ipc
