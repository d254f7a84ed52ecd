// What an EncoderScratch holds. Buffers are used again and lose what is in them: which one a function may use is told by
// what it is for.
#pragma once

#include <cstddef>

#include "frazil/codec/compressor.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/encoding_choice.h"
#include "frazil/parquet/leaf_source.h"
#include "frazil/parquet/page_writer.h"

namespace frazil::parquet {

// Owns its memory, of the pool, which outlives it. One thread at a time.
struct ScratchBuffers {
  explicit ScratchBuffers(MemoryPool& pool)
      : compressor(pool),
        body(pool),
        lengths(pool),
        encoded(pool),
        compressed(pool),
        valid(pool),
        marks(pool),
        values(pool),
        idle_numbers(pool),
        idle_values(pool) {}

  // Gives back what one huge page took.
  void trim() {
    constexpr size_t kKeptBytes = size_t{8} << 20;
    for (EncodeBuffer* buffer : {&body, &lengths, &encoded, &compressed, &values.bytes, &idle_values.bytes}) {
      if (buffer->capacity() > kKeptBytes) buffer->release();
    }
  }
  ChoiceScratch choice() { return {compressor, encoded, lengths, compressed}; }
  PageScratch page() { return {compressor, compressed}; }
  size_t memory_bytes() const {
    return compressor.charged_bytes() + body.capacity() + lengths.capacity() + encoded.capacity() +
           compressed.capacity() + valid.capacity() + marks.capacity() + values.capacity() + idle_numbers.capacity() +
           idle_values.capacity();
  }

  Compressor compressor;
  EncodeBuffer body;        // of a page before compression
  EncodeBuffer lengths;     // of byte arrays
  EncodeBuffer encoded;     // samples
  EncodeBuffer compressed;  // samples, pages
  EncodeBuffer valid;       // bits of a step's slots
  EncodeBuffer marks;       // of a dictionary's entries
  PageValues values;        // of a step
  // Of the open page of a chunk that is finished, for the next one that begins.
  EncodeBuffer idle_numbers;
  PageValues idle_values;
};

struct EncoderScratch::Parts : ScratchBuffers {
  using ScratchBuffers::ScratchBuffers;
};

}  // namespace frazil::parquet
