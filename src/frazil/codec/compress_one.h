// One encoder each, with one rule for sizes, as attempt.h has for decoders.
//
// compress_*(): compresses all of `input` into the start of `output` and returns how many bytes that gave; nothing if
// they do not fit. Levels are checked. No pointer is null; the input may be empty.
//
// *_bound(): the most bytes that so many compress to.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "frazil/codec/attempt.h"

struct libdeflate_compressor;

namespace frazil {

class MemoryPool;

// brotli.cc. Throws MemoryLimitError too.
std::optional<size_t> compress_brotli(MemoryPool& pool, int level, Bytes input, std::span<std::byte> output);
size_t brotli_bound(size_t input_size);

// lz4_compress.cc. `state` has lz4_state_bytes(level) bytes, aligned to 8.
size_t lz4_state_bytes(int level);
inline constexpr int kLz4LevelMax = 12;
std::optional<size_t> compress_lz4_raw(std::byte* state, int level, Bytes input, std::span<std::byte> output);
std::optional<size_t> compress_lz4_frame(std::byte* state, int level, Bytes input, std::span<std::byte> output);
std::optional<size_t> compress_lz4_hadoop(std::byte* state, int level, Bytes input, std::span<std::byte> output);
size_t lz4_raw_bound(size_t input_size);  // 0: longer than a block can be
size_t lz4_frame_bound(size_t input_size);
size_t lz4_hadoop_bound(size_t input_size);

}  // namespace frazil
