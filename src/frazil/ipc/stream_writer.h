// The IPC streaming format (Columnar format, "IPC Streaming Format").
//
//   stream := schema (dictionary | record_batch)* 0xFFFFFFFF:u32 0:u32
#pragma once

#include <memory>

#include "frazil/ipc/batch_writer.h"
#include "frazil/ipc/write_options.h"

namespace frazil::ipc {

// A batch of plain columns costs one gathered write of its buffers where they lie; what must be shifted, rebased or
// compressed, and the metadata, is in blocks of the pool that are kept from batch to batch.
class StreamWriter final : public BatchWriter {
 public:
  // `sink`, where borrowed, and `pool` outlive it. Throws Error(kInvalidArgument) for options that cannot be. The schema goes out with
  // the first batch, flush() or finish(), in one write.
  StreamWriter(ByteSink& sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options = {});
  StreamWriter(std::unique_ptr<ByteSink> sink, SchemaPtr schema, MemoryPool& pool, WriteOptions options = {});

  // Hands the schema over if no batch has done it: who waits at the other end of a pipe can begin.
  void flush();
};

}  // namespace frazil::ipc
