// StreamReader: batches of the streaming format, pulled from memory, a file, a pipe or a socket; a PushDecoder and what
// feeds it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "frazil/columnar/array.h"
#include "frazil/io/byte_source.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/read_options.h"

namespace frazil::ipc {

// One thread at a time, but for close(). Errors as PushDecoder's, and IoError; they name the source.
class StreamReader final : public BatchStream {
 public:
  // Of a whole stream (memory, a mapped file, a foreign buffer), which batches share. Reads the schema. `pool` outlives
  // the reader and its batches.
  StreamReader(Buffer stream, MemoryPool& pool, ReadOptions options = {});
  // Reads the schema. Takes no more bytes than it needs for a batch but for PushDecoder::kReadAheadBytes, in blocks of
  // the pool that grow with what has come, whatever length is claimed.
  StreamReader(std::unique_ptr<ByteSource> source, MemoryPool& pool, ReadOptions options = {});

  const SchemaPtr& schema() const override { return decoder_.schema(); }
  std::optional<RecordBatch> next() override;
  // Does not wake a next() that waits for a pipe.
  void close() noexcept override { closed_.store(true, std::memory_order_relaxed); }
  // Custom metadata of the message of the last batch.
  Metadata custom_metadata() const { return decoder_.custom_metadata(); }

 private:
  // Brings the decoder more bytes, or to its end.
  void fill();

  std::unique_ptr<ByteSource> source_;
  PushDecoder decoder_;
  std::atomic<bool> closed_ = false;
};

}  // namespace frazil::ipc
