// The page of a chunk that is being filled: levels of its entries and, of the entries that are not null, either values or
// the numbers that they have in the chunk's dictionary. Which of the two, EncodingSelector says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/leaf_description.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/page_levels.h"

namespace frazil::parquet {

// Owns its memory, of the pool, which outlives it; keeps it from page to page. One thread at a time.
struct OpenPage {
  OpenPage(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
      : is_bytes(leaf.file_type.physical == PhysicalType::kByteArray),
        width(physical_width(leaf.file_type)),
        rows_max(std::max<size_t>(options.page_rows, 1)),
        bytes_max(options.page_bytes),
        values(pool),
        numbers(pool),
        levels(leaf.max_definition, leaf.max_repetition, pool) {
    const auto expect_rows = [&](EncodeBuffer& buffer, size_t row_bytes) {
      buffer.expect(rows_max < bytes_max / row_bytes ? rows_max * row_bytes : bytes_max);
    };
    expect_rows(numbers, sizeof(uint32_t));
    expect_rows(is_bytes ? values.offsets : values.fixed, std::max<size_t>(width, 4));
  }

  // An entry at least, of a value or not.
  bool is_begun() const { return levels.size() > 0; }
  bool has_all_rows() const { return rows >= rows_max; }
  size_t room_rows() const { return rows_max - rows; }
  size_t room_bytes() const { return bytes_max - std::min(bytes_max, bytes); }

  // Of `values`, until they are added to.
  PageView view() const {
    if (is_bytes) return {{}, values.as_bytes(), true};
    return {{values.fixed.data(), width, values.count}, {}, false};
  }

  // What it will take of the file before compression, about, without a dictionary.
  size_t encoded_bytes_estimate() const { return values.fixed.size() + values.bytes.size() + numbers.size() / 2; }
  size_t memory_bytes() const { return values.capacity() + numbers.capacity() + levels.memory_bytes(); }

  // The next page.
  void clear() {
    values.clear();
    numbers.clear();
    levels.clear();
    rows = 0;
    bytes = 0;
    unencoded_bytes = 0;
  }
  void shrink() {
    values.shrink();
    numbers.shrink();
    levels.shrink();
  }

  const bool is_bytes;     // BYTE_ARRAY
  const size_t width;      // of a value; BYTE_ARRAY: 0
  const size_t rows_max;   // at least 1
  const size_t bytes_max;  // a single row may have more

  PageValues values;
  EncodeBuffer numbers;  // uint32_t
  PageLevels levels;
  size_t rows = 0;
  size_t bytes = 0;             // of its slots, null or not: as PLAIN, or as numbers of 4 bytes
  int64_t unencoded_bytes = 0;  // BYTE_ARRAY: of the values behind `numbers`, without lengths
};

}  // namespace frazil::parquet
