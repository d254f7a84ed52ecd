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
  kDeflate,    // RFC 1951, no header (Avro); up to 4 bytes after the end are passed over, see inflate.cc
  kBrotli,     // RFC 7932
  kZstd,       // RFC 8878, several frames concatenated
  kLz4Raw,     // one block (Parquet LZ4_RAW)
  kLz4Frame,   // Arrow; several frames concatenated
  kLz4Hadoop,  // Parquet's deprecated LZ4: Hadoop framing, or a raw block, or a frame: found out by trying
};

std::string_view to_string(Codec codec);

// Decompresses for one thread at a time and keeps the libraries' contexts from call to call (making one costs 11 us).
// Their bytes are charged to the pool while it lives; brotli's, which has none to keep, for the call.
//
// Whatever the codec, nothing decompresses to nothing: writers of empty pages leave the codec out. Never reads outside
// of the input or writes outside of the output. What is in the output after an error is undefined.
class Decompressor {
 public:
  // `pool` outlives it.
  explicit Decompressor(MemoryPool& pool);
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Decompresses all of `input` into `output`, whose size must be exactly the uncompressed size. Throws CorruptError
  // (no offset) if the data is damaged, or longer or shorter than `output`, or bytes follow its end. MemoryLimitError
  // if the pool has no room for a context. `promised`, if it is not nullptr, is a way into a reservation of the pool
  // (see MemoryPool), which a context is then charged to.
  void decompress(Codec codec, std::span<const std::byte> input, std::span<std::byte> output,
                  MemoryPool* promised = nullptr);

  // For formats that do not tell the size (Avro blocks, compressed metadata): the output comes from the pool, up to
  // `max_bytes`. Throws CorruptError past it, MemoryLimitError when the pool is at its end.
  //
  // Sizes that the data itself states are believed as far as its length makes them possible; otherwise the block
  // starts at four times the input and is doubled until the output fits, each time from the start: for one-shot
  // decoders that is faster than streaming, needs no window, and no two blocks are held at once. The block's capacity
  // may be up to twice the output.
  MutableBuffer decompress_unsized(Codec codec, std::span<const std::byte> input, size_t max_bytes);

  // Whether decompress_front() is for this codec.
  static bool has_front(Codec codec);
  // Decompresses as much of the beginning as fits in `output`, less up to kFrontSlackBytes, and returns how much that is.
  // `input` may be cut: where it ends, or the first frame, is the end. kFrontSlackBytes more than the output are enough
  // for what other libraries write. Nothing tells that the rest is whole. Throws CorruptError, MemoryLimitError.
  static constexpr size_t kFrontSlackBytes = size_t{128} << 10;
  size_t decompress_front(Codec codec, std::span<const std::byte> input, std::span<std::byte> output,
                          MemoryPool* promised = nullptr);

  // What its contexts take of the pool now.
  size_t charged_bytes() const;

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace frazil
