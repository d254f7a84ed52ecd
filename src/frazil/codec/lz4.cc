// LZ4 blocks, frames, and Hadoop's framing. Blocks are liblz4's; the frames are ours because LZ4F keeps buffers of up
// to 8 MiB that nobody charges, and copies through them.
//
//   frame  := 0x184D2204 FLG BD [content_size u64] header_checksum block* 0x00000000 [content_checksum u32]
//             FLG = 01 independent block_checksum content_size content_checksum 0 dictionary   (from bit 7 to bit 0)
//             BD  = 0 size(3) 0000         blocks hold at most 64 KiB, 256 KiB, 1 MiB, 4 MiB for size 4, 5, 6, 7
//   block  := size u32, top bit = stored uncompressed; bytes; [block_checksum u32]
//   skip   := 0x184D2A5x size u32 bytes
//   hadoop := (uncompressed u32be (compressed u32be block)+ )+      blocks until `uncompressed` bytes are there
// All little-endian but Hadoop's. (LZ4 Frame Format 1.6.4; Hadoop BlockCompressorStream.)
#include <algorithm>
#include <bit>
#include <climits>

#include <lz4.h>
#include <xxhash.h>

#include "frazil/base/byte_reader.h"
#include "frazil/codec/attempt.h"

namespace frazil {

namespace {

constexpr uint32_t kFrameMagic = 0x184D2204;
constexpr uint32_t kSkippableMagic = 0x184D2A50;  // to ...5F
constexpr std::string_view kFrameName = "lz4 frame";

// One block into the start of `output`. `history` bytes right before it may be referred to. Nothing if the block is
// damaged or gives more than `output` holds: liblz4 does not tell which.
std::optional<size_t> decode_block(Bytes block, std::span<std::byte> output, size_t history = 0) {
  // liblz4 counts in int. No block that a writer makes is that long.
  if (block.size() > LZ4_MAX_INPUT_SIZE) return std::nullopt;
  const int capacity = static_cast<int>(std::min<size_t>(output.size(), INT_MAX));
  const int dictionary = static_cast<int>(std::min<size_t>(history, 64 << 10));
  char* const target = reinterpret_cast<char*>(output.data());
  const int size =
      LZ4_decompress_safe_usingDict(reinterpret_cast<const char*>(block.data()), target, static_cast<int>(block.size()),
                                    capacity, target - dictionary, dictionary);
  if (size < 0) return std::nullopt;
  return static_cast<size_t>(size);
}

struct FrameHeader {
  bool independent = false;
  bool block_checksums = false;
  bool content_checksum = false;
  std::optional<uint64_t> content_size;
  size_t block_bytes_max = 0;
};

// After the magic.
FrameHeader read_frame_header(ByteReader& reader) {
  const std::byte* const start = reader.cursor();
  const auto flags = reader.read<uint8_t>("lz4 frame flags");
  const auto sizes = reader.read<uint8_t>("lz4 frame block size");
  if (flags >> 6 != 1) throw_damaged(kFrameName, "unknown version");
  if ((flags & 2) != 0 || (sizes & 0x8F) != 0) throw_damaged(kFrameName, "reserved bits are set");
  if ((flags & 1) != 0) throw_damaged(kFrameName, "it needs a dictionary");
  const int size_code = sizes >> 4;
  if (size_code < 4) throw_damaged(kFrameName, "unknown block size");
  FrameHeader header;
  header.independent = (flags & 0x20) != 0;
  header.block_checksums = (flags & 0x10) != 0;
  header.content_checksum = (flags & 4) != 0;
  header.block_bytes_max = size_t{1} << (2 * size_code + 8);
  if ((flags & 8) != 0) header.content_size = reader.read<uint64_t>("lz4 content size");
  const uint32_t hash = XXH32(start, static_cast<size_t>(reader.cursor() - start), 0);
  if (reader.read<uint8_t>("lz4 header checksum") != (hash >> 8 & 0xFF)) {
    throw_damaged(kFrameName, "its header's checksum is wrong");
  }
  return header;
}

void skip_skippable(ByteReader& reader) {
  const auto size = reader.read<uint32_t>("lz4 skippable frame size");
  reader.skip(size, "lz4 skippable frame");
}

void check_hash(ByteReader& reader, Bytes data) {
  if (reader.read<uint32_t>("lz4 checksum") != XXH32(data.data(), data.size(), 0))
    throw_damaged(kFrameName, "a checksum is wrong");
}

// The blocks of one frame into the start of `output`.
std::optional<size_t> read_frame(ByteReader& reader, std::span<std::byte> output) {
  const FrameHeader header = read_frame_header(reader);
  size_t filled = 0;
  for (;;) {
    const auto coded_size = reader.read<uint32_t>("lz4 block size");
    if (coded_size == 0) break;
    const bool stored = coded_size >> 31 != 0;
    const uint32_t size = coded_size & 0x7FFFFFFF;
    if (size > header.block_bytes_max) throw_damaged(kFrameName, "a block is larger than its header allows");
    const Bytes block = reader.read_bytes(size, "lz4 block");
    if (header.block_checksums) check_hash(reader, block);
    const std::span<std::byte> room = output.subspan(filled, std::min(output.size() - filled, header.block_bytes_max));
    if (stored) {
      if (size > room.size()) return std::nullopt;
      std::copy(block.begin(), block.end(), room.begin());
      filled += size;
    } else if (const auto decoded = decode_block(block, room, header.independent ? 0 : filled)) {
      filled += *decoded;
    } else if (room.size() < header.block_bytes_max) {
      return std::nullopt;
    } else {
      throw_damaged(kFrameName, "a block is damaged");
    }
  }
  if (header.content_checksum) check_hash(reader, output.first(filled));
  if (header.content_size && *header.content_size != filled) throw_damaged(kFrameName, "its content size is wrong");
  return filled;
}

// The exact framing, or nothing if it does not hold to the last byte.
std::optional<size_t> read_hadoop(Bytes input, std::span<std::byte> output) {
  ByteReader reader(input);
  const auto read_size = [&]() -> std::optional<uint32_t> {
    if (reader.remaining() < 4) return std::nullopt;
    return __builtin_bswap32(reader.read<uint32_t>());
  };
  size_t filled = 0;
  while (!reader.at_end()) {
    const auto uncompressed = read_size();
    if (!uncompressed || *uncompressed > output.size() - filled) return std::nullopt;
    const std::span<std::byte> target = output.subspan(filled, *uncompressed);
    size_t done = 0;
    do {
      const auto compressed = read_size();
      if (!compressed || *compressed == 0 || *compressed > reader.remaining()) return std::nullopt;
      const auto decoded = decode_block(reader.read_bytes(*compressed), target.subspan(done));
      if (!decoded) return std::nullopt;
      done += *decoded;
    } while (done < target.size());
    filled += done;
  }
  return filled;
}

bool starts_with_frame(Bytes input) {
  return input.size() >= 4 && (load<uint32_t>(input.data()) == kFrameMagic ||
                               (load<uint32_t>(input.data()) & ~uint32_t{15}) == kSkippableMagic);
}

// Whether a failure at this output size proves damage: no block of this input could give more.
bool could_give_more(Bytes input, std::span<std::byte> output) {
  return output.size() < input.size() * kLz4RatioMax && output.size() < INT_MAX;
}

}  // namespace

std::optional<size_t> attempt_lz4_raw(Bytes input, std::span<std::byte> output) {
  if (const auto size = decode_block(input, output)) return size;
  if (could_give_more(input, output)) return std::nullopt;
  throw_damaged("lz4", "the block is damaged");
}

std::optional<size_t> attempt_lz4_frames(Bytes input, std::span<std::byte> output) {
  ByteReader reader(input);
  size_t filled = 0;
  while (!reader.at_end()) {
    const auto magic = reader.read<uint32_t>("lz4 frame magic");
    if (magic == kFrameMagic) {
      const auto size = read_frame(reader, output.subspan(filled));
      if (!size) return std::nullopt;
      filled += *size;
    } else if ((magic & ~uint32_t{15}) == kSkippableMagic) {
      skip_skippable(reader);
    } else {
      throw_damaged(kFrameName, "its magic number is wrong");
    }
  }
  return filled;
}

// Only of the first frame when there is only one: that is what Arrow writes.
std::optional<uint64_t> lz4_frames_stated_size(Bytes input) {
  ByteReader reader(input);
  if (reader.remaining() < 4 || reader.read<uint32_t>() != kFrameMagic) return std::nullopt;
  return read_frame_header(reader).content_size;
}

std::optional<size_t> attempt_lz4_hadoop(Bytes input, std::span<std::byte> output) {
  if (const auto size = read_hadoop(input, output)) return size;
  if (const auto size = decode_block(input, output)) return size;
  if (starts_with_frame(input)) return attempt_lz4_frames(input, output);
  if (could_give_more(input, output)) return std::nullopt;
  throw_damaged("lz4", "neither Hadoop's framing, nor a block, nor a frame");
}

}  // namespace frazil
