// Definition and repetition levels (format/README.md "Nested Encoding"): decoded as bytes, and as bitmaps of those that
// reach a level. Runs become fills, packed levels are spread eight at a time, and levels of one bit are the bitmap itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frazil/parquet/hybrid.h"

namespace frazil::parquet {

// Whether the next `count` levels are one run of `max_level`: then no bitmap is needed. Does not move the reader.
bool all_at_max(HybridReader levels, uint32_t max_level, size_t count);

// Reads `count` levels and sets bits [bit_offset, bit_offset + count) of `bits`: 1 where the level is `threshold` (1 at
// least) or more. Bits behind them, up to the end of their last byte, become 0. Returns how many are 1. Throws CorruptError
// if there are fewer levels, or one above `max_level`.
size_t read_validity(HybridReader& levels, uint32_t max_level, uint32_t threshold, size_t count, uint8_t* bits,
                     size_t bit_offset);

// Passes over `count` levels and returns how many are `max_level`.
size_t skip_levels(HybridReader& levels, uint32_t max_level, size_t count);

// Reads `count` levels as bytes. `target` has room for 64 more. Throws CorruptError as above.
void read_levels(HybridReader& levels, uint32_t max_level, size_t count, uint8_t* target);

}  // namespace frazil::parquet
