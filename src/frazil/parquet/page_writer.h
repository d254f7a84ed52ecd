// Turns encoded pages into the bytes of a chunk: compression, header, checksum, and the decision whether compression pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frazil/codec/compressor.h"
#include "frazil/parquet/chunk_bytes.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/encode_buffer.h"
#include "frazil/parquet/format.h"

namespace frazil::parquet {

// A page before compression. Its body is, in version 1, levels with their lengths and values; in version 2 levels
// without lengths and values.
struct RawPage {
  PageType type = PageType::kData;
  Encoding encoding = Encoding::kPlain;
  uint32_t value_count = 0;  // nulls included
  uint32_t null_count = 0;
  uint32_t row_count = 0;
  uint32_t repetition_size = 0;  // version 2: bytes
  uint32_t definition_size = 0;
};

struct PageScratch {
  Compressor& compressor;
  EncodeBuffer& compressed;
};

// The codec is fixed when the first kDecisionBytes of bodies are there, from how far they shrink; data pages before are
// kept as they are. So many chunks of next to nothing (a constant) never see the codec.
class PageWriter {
 public:
  static constexpr size_t kDecisionBytes = 1 << 10;

  PageWriter(const ChunkOptions& options, MemoryPool& pool);

  // `page`'s offset and compressed size are filled when it is written, here or at a later call; it must stay where it is
  // by its index in `pages`. `dictionary_bytes`: PLAIN bytes of the dictionary so far, which the codec also sees.
  // `is_last`: flush() comes next. Throws Error(kInvalidArgument) for a page of 2 GiB.
  void write(const RawPage& raw, std::span<const std::byte> body, size_t page_index, std::vector<EncodedPage>& pages,
             size_t dictionary_bytes, bool is_last, PageScratch scratch);
  // Writes what is kept.
  void flush(std::vector<EncodedPage>& pages, size_t dictionary_bytes, PageScratch scratch);
  // The dictionary page, apart: it stands before the others. After flush().
  void write_dictionary(const RawPage& raw, std::span<const std::byte> body, ChunkBytes& out, PageScratch scratch);

  CompressionCodec codec() const { return codec_; }
  // With headers: written, and before compression.
  size_t byte_size() const { return bytes_.size(); }
  size_t kept_bytes() const { return kept_bytes_.size(); }
  size_t uncompressed_size() const { return uncompressed_size_; }
  size_t memory_bytes() const { return bytes_.memory_bytes() + kept_bytes_.capacity(); }
  void finish(std::vector<Buffer>& out) { bytes_.finish(out); }

 private:
  struct KeptPage {
    RawPage raw;
    size_t page_index;
    size_t body_offset;
    size_t body_size;
  };

  std::optional<size_t> decide(std::span<const std::byte> sample, size_t dictionary_bytes, PageScratch scratch);
  // Into scratch.compressed.
  size_t compress(std::span<const std::byte> payload, PageScratch scratch);
  // Header and payload; returns their size. `compressed`: bytes of scratch.compressed that the payload gave already.
  size_t emit(const RawPage& raw, std::span<const std::byte> body, std::optional<size_t> compressed, ChunkBytes& out,
              PageScratch scratch);

  const ChunkOptions* options_;
  MemoryPool* pool_;
  ChunkBytes bytes_;
  CompressionCodec codec_;
  bool is_decided_;
  std::vector<KeptPage> kept_;
  EncodeBuffer kept_bytes_;
  size_t uncompressed_size_ = 0;
};

}  // namespace frazil::parquet
