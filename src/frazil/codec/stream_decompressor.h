// Decompression of a stream piece by piece, for input that is never whole in memory: text files and pipes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "frazil/codec/codec.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

// kGzip for 1f 8b, kZstd for 28 b5 2f fd (and skippable frames), nothing for anything else. Needs the first four bytes.
std::optional<Codec> detect_stream_codec(std::span<const std::byte> start);

// kGzip (members concatenated) or kZstd (frames concatenated). One thread at a time.
class StreamDecompressor {
 public:
  // What its context takes is charged to `pool`, which outlives it; zstd's window, up to 128 MiB as in its own program, counts.
  // Throws Error(kUnsupported) for another codec, MemoryLimitError.
  StreamDecompressor(Codec codec, MemoryPool& pool);
  ~StreamDecompressor();
  StreamDecompressor(StreamDecompressor&&) noexcept;
  StreamDecompressor& operator=(StreamDecompressor&&) noexcept;

  struct Progress {
    size_t consumed = 0;  // bytes of the input
    size_t produced = 0;  // bytes of the output
  };
  // Takes what it can of `input` and fills what it can of `output`, at least a byte of one of them if both have some.
  // Throws CorruptError (no offset), MemoryLimitError.
  Progress step(std::span<const std::byte> input, std::span<std::byte> output);
  // Between two members or frames: the input may end here.
  bool at_boundary() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace frazil
