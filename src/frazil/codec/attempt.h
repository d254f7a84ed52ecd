// One decoder each, with one rule for sizes, so that sized and unsized decompression share them.
//
// attempt_*(): decompresses all of `input` into the start of `output` and returns how many bytes that gave; nothing if
// `output` may be too small (decoders that cannot tell this from damage say so as long as more output is possible);
// throws CorruptError if the input is damaged. No pointer is null and no input empty.
//
// stated_size(): the uncompressed size that the input claims, unchecked; nothing where it claims none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace frazil {

using Bytes = std::span<const std::byte>;

[[noreturn]] void throw_damaged(std::string_view codec_name, std::string_view reason);

// lz4.cc
std::optional<size_t> attempt_lz4_raw(Bytes input, std::span<std::byte> output);
std::optional<size_t> attempt_lz4_frames(Bytes input, std::span<std::byte> output);
std::optional<size_t> attempt_lz4_hadoop(Bytes input, std::span<std::byte> output);
std::optional<uint64_t> lz4_frames_stated_size(Bytes input);
// No LZ4 sequence gives more than 255 bytes for each of its own.
inline constexpr uint64_t kLz4RatioMax = 255;

}  // namespace frazil
