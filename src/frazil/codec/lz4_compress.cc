// LZ4 blocks, frames and Hadoop's framing, written; lz4.cc has their grammar.
//
// Frames: independent blocks, the content's size, no checksum of the content (the formats around have theirs), and the
// smallest block size that holds all of it, up to 256 KiB: readers allocate by it.
#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include <lz4.h>
#include <lz4hc.h>
#include <xxhash.h>

#include "frazil/base/byte_reader.h"
#include "frazil/codec/compress_one.h"

namespace frazil {

namespace {

constexpr int kFirstHighLevel = 2;  // LZ4HC from here on

constexpr size_t kFrameHeaderBytes = 4 + 1 + 1 + 8 + 1;
constexpr size_t kFrameEndBytes = 4;
constexpr uint32_t kStored = 0x80000000;

// Hadoop's default buffer, in which the reader must find room for the compressed block: its writer leaves the most that
// a block can grow.
constexpr size_t kHadoopBufferBytes = 256 << 10;
constexpr size_t kHadoopBlockBytes = kHadoopBufferBytes - kHadoopBufferBytes / 255 - 16;

uint32_t big_endian(size_t value) {
  const auto word = static_cast<uint32_t>(value);
  return word >> 24 | (word >> 8 & 0xFF00) | (word << 8 & 0xFF0000) | word << 24;
}

// 4, 5: 64 KiB, 256 KiB.
int block_size_code(size_t input_size) {
  return input_size <= (64 << 10) ? 4 : 5;
}

size_t block_count(size_t input_size, size_t block_bytes) {
  return input_size / block_bytes + (input_size % block_bytes != 0);
}

}  // namespace

size_t lz4_state_bytes(int level) {
  return static_cast<size_t>(level < kFirstHighLevel ? LZ4_sizeofState() : LZ4_sizeofStateHC());
}

size_t lz4_raw_bound(size_t input_size) {
  return input_size > LZ4_MAX_INPUT_SIZE ? 0 : static_cast<size_t>(LZ4_compressBound(static_cast<int>(input_size)));
}

std::optional<size_t> compress_lz4_raw(std::byte* state, int level, Bytes input, std::span<std::byte> output) {
  const char* const source = reinterpret_cast<const char*>(input.data());
  char* const target = reinterpret_cast<char*>(output.data());
  const int size = static_cast<int>(input.size());
  const int capacity = static_cast<int>(std::min<size_t>(output.size(), INT_MAX));
  const int written = level < kFirstHighLevel
                          ? LZ4_compress_fast_extState(state, source, target, size, capacity, 1)
                          : LZ4_compress_HC_extStateHC(state, source, target, size, capacity, level);
  if (written <= 0) return std::nullopt;
  return static_cast<size_t>(written);
}

size_t lz4_frame_bound(size_t input_size) {
  // A block that does not shrink is stored.
  const size_t block_bytes = size_t{1} << (2 * block_size_code(input_size) + 8);
  return kFrameHeaderBytes + input_size + 4 * block_count(input_size, block_bytes) + kFrameEndBytes;
}

std::optional<size_t> compress_lz4_frame(std::byte* state, int level, Bytes input, std::span<std::byte> output) {
  if (output.size() < kFrameHeaderBytes + kFrameEndBytes) return std::nullopt;
  const int size_code = block_size_code(input.size());
  const size_t block_bytes = size_t{1} << (2 * size_code + 8);
  std::byte* cursor = output.data();
  std::byte* const end = output.data() + output.size();
  store(cursor, uint32_t{0x184D2204});
  cursor[4] = std::byte{0x68};  // version 1, independent blocks, content size
  cursor[5] = static_cast<std::byte>(size_code << 4);
  store(cursor + 6, static_cast<uint64_t>(input.size()));
  cursor[14] = static_cast<std::byte>(XXH32(cursor + 4, 10, 0) >> 8);
  cursor += kFrameHeaderBytes;
  for (size_t at = 0; at < input.size(); at += block_bytes) {
    const Bytes block = input.subspan(at, std::min(block_bytes, input.size() - at));
    if (static_cast<size_t>(end - cursor) < 4 + kFrameEndBytes) return std::nullopt;
    const size_t room = static_cast<size_t>(end - cursor) - 4 - kFrameEndBytes;
    // One byte less than the block, so that what does not shrink is stored.
    const auto size = compress_lz4_raw(state, level, block, {cursor + 4, std::min(room, block.size() - 1)});
    if (size) {
      store(cursor, static_cast<uint32_t>(*size));
      cursor += 4 + *size;
      continue;
    }
    if (room < block.size()) return std::nullopt;
    store(cursor, static_cast<uint32_t>(block.size()) | kStored);
    std::memcpy(cursor + 4, block.data(), block.size());
    cursor += 4 + block.size();
  }
  store(cursor, uint32_t{0});
  return static_cast<size_t>(cursor + kFrameEndBytes - output.data());
}

size_t lz4_hadoop_bound(size_t input_size) {
  const size_t full = input_size / kHadoopBlockBytes;
  return full * (8 + lz4_raw_bound(kHadoopBlockBytes)) + 8 + lz4_raw_bound(input_size % kHadoopBlockBytes);
}

std::optional<size_t> compress_lz4_hadoop(std::byte* state, int level, Bytes input, std::span<std::byte> output) {
  size_t filled = 0;
  for (size_t at = 0; at < input.size(); at += kHadoopBlockBytes) {
    const Bytes block = input.subspan(at, std::min(kHadoopBlockBytes, input.size() - at));
    if (output.size() - filled < 8) return std::nullopt;
    const auto size = compress_lz4_raw(state, level, block, output.subspan(filled + 8));
    if (!size) return std::nullopt;
    store(output.data() + filled, big_endian(block.size()));
    store(output.data() + filled + 4, big_endian(*size));
    filled += 8 + *size;
  }
  return filled;
}

}  // namespace frazil
