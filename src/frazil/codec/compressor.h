// Compression behind one interface, the mirror of Decompressor; the libraries' headers stay in the .cc files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frazil/codec/codec.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

// The levels that a codec has. Codecs without levels (none, snappy) have 0 alone.
//
//   codec                    levels     default
//   none, snappy             0          0
//   deflate, zlib, gzip      0..12      6         libdeflate's: 10 and up are slow searches for the best
//   brotli                   0..11      5         quality
//   zstd                     -131072..22  3       negative ones are fast, 0 is 3; 20 and up take hundreds of MiB
//   lz4 raw, frame, hadoop   1..12      1         1 is fast LZ4; 2 and up are LZ4HC, where 2 is 3
struct LevelRange {
  int min = 0;
  int max = 0;
  int standard = 0;
};
LevelRange compression_levels(Codec codec);

// Throws Error(kInvalidArgument), which names codec and range, for a level that the codec does not have.
void check_compression_level(Codec codec, int level);

// Compresses for one thread at a time and keeps the libraries' contexts from call to call (making one of zstd costs
// 12 us and its tables megabytes of fresh pages). Their bytes are charged to the pool while it lives; brotli's, which
// keeps none, for the call and as an upper bound.
//
// The same input, codec, level and library version give the same bytes.
class Compressor {
 public:
  // `pool` outlives it.
  explicit Compressor(MemoryPool& pool);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  // The most bytes that `input_size` bytes compress to at any level. Throws Error(kUnsupported) for an input that the
  // codec cannot take: 2 GiB of LZ4's, 4 GiB of snappy's.
  static size_t bound(Codec codec, size_t input_size);

  // Compresses all of `input` into the start of `output` and returns how many bytes that gave; nothing if they do not
  // fit, which with bound() bytes does not happen. So an output shorter than the input asks whether it pays. Of an empty
  // input: a valid empty stream (nothing for none). No level: the codec's standard. Throws Error(kInvalidArgument) for
  // a level that the codec does not have, Error(kUnsupported) as bound(), MemoryLimitError if the pool has no room for
  // a context.
  [[nodiscard]] std::optional<size_t> compress(Codec codec, std::optional<int> level, std::span<const std::byte> input,
                                               std::span<std::byte> output);

  // The same into a block of the pool, at most bound() bytes long.
  MutableBuffer compress(Codec codec, std::optional<int> level, std::span<const std::byte> input);

  // What its contexts take of the pool now.
  size_t charged_bytes() const;
  // Frees the contexts. A next call makes new ones.
  void release_contexts() noexcept;

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace frazil
