// Definition levels of columns without repetition: which rows have a value (format/README.md "Nested Encoding").
#pragma once

#include <cstddef>
#include <cstdint>

#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/kernels.h"

namespace frazil::parquet {

// Whether the next `count` levels are one run of `max_level`: then no bitmap is needed. Does not move the reader.
bool all_at_max(HybridReader levels, uint32_t max_level, size_t count);

// Reads `count` levels and sets bits [bit_offset, bit_offset + count) of `bits`: 1 where the level is `max_level`.
// Bits behind them, up to the end of their last byte, become 0. Returns how many are 1. Runs become fills, and packed levels of one bit are the bitmap itself. Throws CorruptError if
// there are fewer levels, or one above `max_level`.
size_t read_validity(HybridReader& levels, const Kernels& kernels, uint32_t max_level, size_t count, uint8_t* bits,
                     size_t bit_offset);

}  // namespace frazil::parquet
