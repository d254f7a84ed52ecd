// Writes the page index of a column chunk: the mirror of page_index.h, which has the grammar. Level histograms of pages
// are there if the pages have them; those of the chunk are in its size statistics.
#pragma once

#include <cstdint>

#include "frazil/columnar/builders.h"
#include "frazil/parquet/chunk_encoder.h"

namespace frazil::parquet {

// Append the struct to `out` and return its size. Throw MemoryLimitError, and Error(kUnsupported) past 2 GiB.
uint32_t write_offset_index(GrowingBuffer& out, const EncodedChunk& chunk, uint64_t chunk_offset, bool is_byte_array);
// Requires has_column_index.
uint32_t write_column_index(GrowingBuffer& out, const EncodedChunk& chunk);

}  // namespace frazil::parquet
