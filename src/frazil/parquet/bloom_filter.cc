#include "frazil/parquet/bloom_filter.h"

#include <algorithm>
#include <array>

#include <xxhash.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

namespace {

// format/BloomFilter.md, "Algorithm".
constexpr std::array<uint32_t, 8> kSalt = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                           0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

// A header is some 15 bytes; what comes behind it is wanted too.
constexpr uint64_t kHeaderBytesMax = 256;

// Whether a union of one empty struct has field `expected`.
bool read_choice(ThriftFields& fields, ThriftReader& reader, int32_t expected) {
  fields.expect_struct();
  bool found = false;
  for (ThriftFields choice(reader); choice.next();) {
    found = found || choice.id() == expected;
    choice.skip();
  }
  return found;
}

bool block_contains(const std::byte* block, uint64_t hash) noexcept {
  const auto key = static_cast<uint32_t>(hash);
  uint32_t missing = 0;
  for (size_t i = 0; i < kSalt.size(); ++i) {
    const uint32_t bit = uint32_t{1} << ((key * kSalt[i]) >> 27);
    missing |= ~load<uint32_t>(block + i * 4) & bit;
  }
  return missing == 0;
}

}  // namespace

std::optional<BloomFilterHeader> parse_bloom_filter_header(std::span<const std::byte> bytes, uint64_t offset) {
  ThriftReader reader(bytes, offset);
  int32_t byte_size = 0;
  bool is_block = false;
  bool is_xxhash = false;
  bool is_uncompressed = false;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        byte_size = fields.i32();
        break;
      case 2:
        is_block = read_choice(fields, reader, 1);
        break;
      case 3:
        is_xxhash = read_choice(fields, reader, 1);
        break;
      case 4:
        is_uncompressed = read_choice(fields, reader, 1);
        break;
      default:
        fields.skip();
    }
  }
  if (!is_block || !is_xxhash || !is_uncompressed) return std::nullopt;
  if (byte_size <= 0 || byte_size % static_cast<int32_t>(kBloomBlockBytes) != 0 ||
      static_cast<uint32_t>(byte_size) > kBloomFilterBytesMax) {
    throw_corrupt(offset, "Bloom filter of {} bytes", byte_size);
  }
  return BloomFilterHeader{static_cast<uint32_t>(byte_size), reader.position()};
}

uint64_t bloom_hash(std::span<const std::byte> value) noexcept {
  return XXH64(value.data(), value.size(), 0);
}

BloomFilter::BloomFilter(Buffer blocks) : byte_size_(static_cast<uint32_t>(blocks.size())), blocks_(std::move(blocks)) {
  if (byte_size_ == 0 || byte_size_ % kBloomBlockBytes != 0) {
    throw_error(ErrorKind::kInvalidArgument, "a Bloom filter of {} bytes", byte_size_);
  }
}

std::optional<BloomFilter> BloomFilter::open(const InputFile& file, const ColumnChunk& chunk, MemoryPool& pool) {
  const FileRange& range = chunk.bloom_filter;
  if (!range.present() || chunk.encrypted || chunk.in_other_file) return std::nullopt;
  const auto begin = static_cast<uint64_t>(range.offset);
  if (begin >= file.size()) return std::nullopt;
  const uint64_t rest = file.size() - begin;
  // With a known length one read brings header and blocks.
  const bool is_small = range.length > 0 && static_cast<uint64_t>(range.length) <= kBloomFilterWholeBytesMax;
  const uint64_t first = std::min(rest, is_small ? static_cast<uint64_t>(range.length) : kHeaderBytesMax);
  MutableBuffer head = pool.allocate(static_cast<size_t>(first));
  head.set_size(static_cast<size_t>(first));
  file.read_at(begin, head.span());
  const Buffer bytes = std::move(head).freeze();

  BloomFilter filter;
  filter.bytes_read_ = first;
  std::optional<BloomFilterHeader> header;
  try {
    header = parse_bloom_filter_header(bytes.span(), begin);
  } catch (const CorruptError&) {
    return std::nullopt;
  }
  if (!header || header->byte_size > rest - header->header_size) return std::nullopt;
  // Of two sizes that differ one is wrong, and the wrong one would find other blocks.
  if (range.length > 0 && static_cast<uint64_t>(range.length) != header->header_size + header->byte_size) {
    return std::nullopt;
  }
  filter.byte_size_ = header->byte_size;
  filter.offset_ = begin + header->header_size;
  if (header->byte_size <= bytes.size() - header->header_size) {
    filter.blocks_ = bytes.slice(header->header_size, header->byte_size);
  } else if (header->byte_size <= kBloomFilterWholeBytesMax) {
    MutableBuffer blocks = pool.allocate(header->byte_size);
    blocks.set_size(header->byte_size);
    file.read_at(filter.offset_, blocks.span());
    filter.bytes_read_ += header->byte_size;
    filter.blocks_ = std::move(blocks).freeze();
  } else {
    filter.file_ = &file;
  }
  return filter;
}

bool BloomFilter::may_contain(uint64_t hash) const {
  const uint64_t block_count = byte_size_ / kBloomBlockBytes;
  const uint64_t block = ((hash >> 32) * block_count) >> 32;
  if (file_ == nullptr) return block_contains(blocks_.data() + block * kBloomBlockBytes, hash);
  std::byte bytes[kBloomBlockBytes];
  file_->read_at(offset_ + block * kBloomBlockBytes, bytes);
  bytes_read_ += kBloomBlockBytes;
  return block_contains(bytes, hash);
}

}  // namespace frazil::parquet
