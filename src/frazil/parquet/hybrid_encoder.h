// Writes the RLE / bit-packed hybrid, whose grammar hybrid.h has: levels, dictionary indices, booleans.
//
// A run of 16 equal values or more that begins at a multiple of 8 from the start of the packed run before it becomes a
// repeated run: shorter ones cost more in headers than they save. Whole groups are packed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frazil/parquet/encode_buffer.h"

namespace frazil::parquet {

// Values fit `width`, 0..32; of width 0 all are 0 and still written as a run. Throws MemoryLimitError.
void append_hybrid(std::span<const uint32_t> values, int width, EncodeBuffer& out);
// The same of bytes; width 0..8.
void append_hybrid(std::span<const uint8_t> values, int width, EncodeBuffer& out);
// One run of `count` times `value`; nothing of none.
void append_hybrid_run(uint64_t count, uint32_t value, int width, EncodeBuffer& out);

}  // namespace frazil::parquet
