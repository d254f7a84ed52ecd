// Writes DELTA_BINARY_PACKED, whose grammar delta.h has: blocks of 128 values, 4 miniblocks, as every writer does.
// The last miniblock is filled with zeros; absent ones have width 0.
#pragma once

#include <cstdint>
#include <span>

#include "frazil/parquet/encode_buffer.h"

namespace frazil::parquet {

// Differences wrap around, modulo 2^32 or 2^64. Throws MemoryLimitError.
void append_delta(std::span<const uint32_t> values, EncodeBuffer& out);
void append_delta(std::span<const uint64_t> values, EncodeBuffer& out);

}  // namespace frazil::parquet
