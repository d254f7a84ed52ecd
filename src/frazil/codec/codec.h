// Decompression behind one interface; the libraries' headers stay in the .cc files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "frazil/memory/memory_pool.h"

namespace frazil {

enum class Codec : uint8_t {
  kNone,
  kSnappy,     // raw block
  kGzip,       // gzip or zlib by its header, several members concatenated
  kZlib,       // RFC 1950
  kDeflate,    // RFC 1951, no header (Avro)
  kBrotli,
  kZstd,       // several frames concatenated
  kLz4Raw,     // one block (Parquet LZ4_RAW)
  kLz4Frame,   // Arrow
  kLz4Hadoop,  // Parquet's deprecated LZ4: Hadoop framing, or a raw block, or a frame: found out by trying
};

std::string_view to_string(Codec codec);

// Decompresses for one thread at a time and keeps the libraries' contexts from call to call (making one costs 11 us).
// Their bytes are charged to the pool while it lives.
class Decompressor {
 public:
  explicit Decompressor(MemoryPool& pool);
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Decompresses all of `input` into `output`, whose size must be exactly the uncompressed size. Throws CorruptError
  // (no offset) if the data is damaged, or longer or shorter than `output`.
  void decompress(Codec codec, std::span<const std::byte> input, std::span<std::byte> output);

  // For formats that do not tell the size (Avro blocks, compressed metadata): the output comes from the pool and grows
  // with the data, up to `max_bytes`. Throws CorruptError past it, MemoryLimitError when the pool is at its end.
  MutableBuffer decompress_unsized(Codec codec, std::span<const std::byte> input, size_t max_bytes);

 private:
  struct Contexts;
  MemoryPool* pool_;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace frazil
