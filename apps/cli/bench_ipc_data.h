// Made-up batches of `frazil bench ipc`, as Arrow IPC.
#pragma once

#include <cstdint>

#include "frazil/codec/codec.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::cli {

// The columns of a public benchmark (apache/arrow#49545): even ones uint32 of random bits, odd ones binary of 0 to 9 random
// bytes, no nulls. `rows` are of all batches together.
struct IpcShape {
  int64_t columns = 100;
  int64_t rows = 10'000;
  int64_t batches = 1;
  bool file = true;  // the file format, else a stream
  Codec codec = Codec::kNone;
};

// A whole file or stream. The same bytes for the same shape. Throws Error(kInvalidArgument) for a shape that cannot be.
Buffer make_ipc(const IpcShape& shape, MemoryPool& pool);

}  // namespace frazil::cli
