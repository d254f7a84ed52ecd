// Every distinct value of a column chunk, where its dictionary page tells them: for pruning by = and IN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/metadata.h"

namespace frazil {
class Decompressor;
}

namespace frazil::parquet {

// Whether each data page of the chunk is dictionary-encoded, by its encoding_stats, or by its encodings where they
// leave no doubt (PLAIN is also the encoding of dictionary pages, so with RLE_DICTIONARY they do not).
bool is_wholly_dictionary(const ColumnChunk& chunk);

// How many data pages refer to the dictionary, if encoding_stats tell.
std::optional<int64_t> count_dictionary_pages(const ColumnChunk& chunk);

// The dictionary's values as `type` (BYTE_ARRAY values of every text and binary type: as binary), read without the data
// pages; some may be values of no row. nullptr if the chunk is not wholly dictionary-encoded, its page would take more
// than `bytes_max` in the file or in memory, the pool has no room for the page, or it is damaged (whoever reads the data
// will say so). Throws IoError, and MemoryLimitError where there is no room for the values. `bytes_read` grows by what
// was read.
ArrayPtr read_distinct_values(const InputFile& file, const FileMetadata& metadata, size_t row_group, size_t leaf,
                              const DataTypePtr& type, size_t bytes_max, Decompressor& decompressor, MemoryPool& pool,
                              uint64_t& bytes_read);

}  // namespace frazil::parquet
