// The first bytes of what is compressed, without the rest (codec.h, Decompressor::decompress_front).
#pragma once

#include <cstddef>
#include <span>

#include "frazil/codec/attempt.h"

struct ZSTD_DCtx_s;

namespace frazil {

// What zstd decompresses at once, at most (RFC 8878, 3.1.1.2.4).
inline constexpr size_t kFrontBlockBytes = size_t{128} << 10;

// Both stop where the input does.
// Of the first frame, block by block as long as another one fits.
size_t zstd_front(ZSTD_DCtx_s* context, Bytes input, std::span<std::byte> output);
// Of a raw block (google/snappy, format_description.txt): a varint, then
//   element := tag(length - 1, 0) bytes                              // literal; lengths above 60 take 1 to 4 bytes more
//            | tag(..., 1..3) offset                                 // copy of what came before
// A byte at a time where copies overlap: for a few hundred KiB.
size_t snappy_front(Bytes input, std::span<std::byte> output);

}  // namespace frazil
