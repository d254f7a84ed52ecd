// Bloom filters of column chunks (format/BloomFilter.md): split-block filters over XXH64 (seed 0) of the values as
// PLAIN writes them, BYTE_ARRAY without its length.
//
//   filter := BloomFilterHeader block*              // in the file at ColumnChunk::bloom_filter
//   header := {1 numBytes:i32, 2 algorithm: {1 BLOCK {}}, 3 hash: {1 XXHASH {}}, 4 compression: {1 UNCOMPRESSED {}}}
//   block  := word:u32 * 8                          // 256 bits
//
//   block of a hash  = (hash >> 32) * block_count >> 32
//   bit in word i    = (u32(hash) * salt[i]) >> 27  // all eight must be set
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frazil/io/file_system.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {

inline constexpr size_t kBloomBlockBytes = 32;
// parquet.thrift: "at most 128 MiB".
inline constexpr uint32_t kBloomFilterBytesMax = uint32_t{128} << 20;
// Larger filters are not read whole: a probe then reads its block.
inline constexpr size_t kBloomFilterWholeBytesMax = size_t{1} << 20;

struct BloomFilterHeader {
  uint32_t byte_size = 0;  // of the blocks: a multiple of 32, 32..kBloomFilterBytesMax
  size_t header_size = 0;
};

// Parses the header at the start of `bytes`, which may go on behind it. Nothing if the filter is of a kind that is not
// known: no filter then. Throws CorruptError, also if it is cut.
std::optional<BloomFilterHeader> parse_bloom_filter_header(std::span<const std::byte> bytes, uint64_t offset);

uint64_t bloom_hash(std::span<const std::byte> value) noexcept;

class BloomFilter {
 public:
  // The filter of a chunk; nothing if it has none, or one that is damaged or not known: it is an aid. Throws IoError,
  // MemoryLimitError. Borrows `file`.
  static std::optional<BloomFilter> open(const InputFile& file, const ColumnChunk& chunk, MemoryPool& pool);
  // Blocks in memory. Requires a multiple of 32 bytes, at least 32.
  explicit BloomFilter(Buffer blocks);

  // Whether a value of that hash may be in the chunk; false is certain. May read 32 bytes of the file.
  bool may_contain(uint64_t hash) const;
  bool may_contain(std::span<const std::byte> value) const { return may_contain(bloom_hash(value)); }
  uint64_t bytes_read() const { return bytes_read_; }
  uint32_t byte_size() const { return byte_size_; }

 private:
  BloomFilter() = default;

  const InputFile* file_ = nullptr;  // of a filter that is not held whole
  uint64_t offset_ = 0;              // of the blocks
  uint32_t byte_size_ = 0;
  Buffer blocks_;
  mutable uint64_t bytes_read_ = 0;
};

}  // namespace frazil::parquet
