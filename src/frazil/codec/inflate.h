// Deflate and its wrappers by libdeflate, which decodes whole buffers two to three times as fast as zlib.
#pragma once

#include <memory>

#include "frazil/codec/attempt.h"

struct libdeflate_decompressor;

namespace frazil {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const noexcept;
};
using InflateContext = std::unique_ptr<libdeflate_decompressor, FreeDecompressor>;

// What libdeflate allocates for one: its tables, 11.6 KiB in 1.14 and 1.19.
inline constexpr size_t kInflateContextBytes = 16 << 10;

// Throws std::bad_alloc.
InflateContext make_inflate_context();

std::optional<size_t> attempt_deflate(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output);
std::optional<size_t> attempt_zlib(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output);
std::optional<size_t> attempt_gzip(libdeflate_decompressor* context, Bytes input, std::span<std::byte> output);
// The last four bytes of a gzip member are its size, modulo 2^32; of several members, the last one's.
std::optional<uint64_t> gzip_stated_size(Bytes input);
// Deflate gives at most 258 bytes for 2 bits.
inline constexpr uint64_t kDeflateRatioMax = 1032;

}  // namespace frazil
