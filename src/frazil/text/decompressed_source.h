// Bytes in order out of a compressed file or pipe.
#pragma once

#include <memory>

#include "frazil/io/byte_source.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::text {

// What `source` holds, decompressed if its first bytes are those of gzip or zstd. Memory comes from `pool`, which
// outlives it.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, MemoryPool& pool);

}  // namespace frazil::text
