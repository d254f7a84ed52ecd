#include "frazil/parquet/bloom_filter_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "frazil/base/error.h"
#include "frazil/parquet/bloom_filter.h"

namespace frazil::parquet {

namespace {

constexpr uint32_t kSalt[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                               0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

// Distinct hashes are kept like the values of an INT64 column.
LeafType hash_type() {
  LeafType type;
  type.physical = PhysicalType::kInt64;
  return type;
}

// format/BloomFilter.md, "Sizing": m = -8 n / ln(1 - fpp^(1/8)) bits.
double bits_of_one(double fpp) {
  return -8 / std::log(1 - std::pow(fpp, 1.0 / 8));
}

}  // namespace

size_t bloom_filter_bytes(uint64_t ndv, double fpp, size_t bytes_max) {
  const size_t most = std::bit_floor(std::clamp<size_t>(bytes_max, kBloomBlockBytes, kBloomFilterBytesMax));
  const double wanted = std::ceil(static_cast<double>(ndv) * bits_of_one(fpp) / 8);
  if (wanted >= static_cast<double>(most)) return most;
  return std::clamp<size_t>(std::bit_ceil(static_cast<size_t>(wanted)), kBloomBlockBytes, most);
}

BloomFilterBuilder::BloomFilterBuilder(uint64_t ndv, double fpp, size_t bytes_max, MemoryPool& pool)
    : pool_(&pool), fpp_(fpp), bytes_max_(bytes_max) {
  if (!(fpp > 0 && fpp < 1)) {
    throw_error(ErrorKind::kInvalidArgument, "a Bloom filter's false positive probability is between 0 and 1, not {}",
                fpp);
  }
  ndv_max_ =
      static_cast<uint64_t>(static_cast<double>(bloom_filter_bytes(UINT64_MAX, fpp, bytes_max)) * 8 / bits_of_one(fpp));
  if (ndv != 0) {
    begin_blocks(bloom_filter_bytes(ndv, fpp, bytes_max));
  } else {
    hashes_.emplace(hash_type(), pool);
  }
}

void BloomFilterBuilder::begin_blocks(size_t bytes) {
  blocks_ = pool_->allocate_zeroed(bytes);
}

void BloomFilterBuilder::set(uint64_t hash) {
  const uint64_t block_count = blocks_.size() / kBloomBlockBytes;
  uint32_t* const block = blocks_.as<uint32_t>() + ((hash >> 32) * block_count >> 32) * 8;
  for (int i = 0; i < 8; ++i) block[i] |= uint32_t{1} << ((static_cast<uint32_t>(hash) * kSalt[i]) >> 27);
}

void BloomFilterBuilder::add_hash(uint64_t hash) {
  is_empty_ = false;
  if (!hashes_) return set(hash);
  hashes_->number_of({reinterpret_cast<const char*>(&hash), sizeof(hash)});
  if (hashes_->size() <= ndv_max_) return;
  begin_blocks(bloom_filter_bytes(UINT64_MAX, fpp_, bytes_max_));
  for (uint32_t i = 0; i < hashes_->size(); ++i) {
    uint64_t kept = 0;
    std::memcpy(&kept, hashes_->value(i).data(), sizeof(kept));
    set(kept);
  }
  hashes_.reset();
}

void BloomFilterBuilder::add(const FixedValues& values) {
  for (size_t i = 0; i < values.count; ++i) add_hash(bloom_hash({values.data + i * values.width, values.width}));
}

void BloomFilterBuilder::add(const BytesValues& values) {
  for (size_t i = 0; i < values.count; ++i) add_hash(bloom_hash(std::as_bytes(std::span(values.value(i)))));
}

void BloomFilterBuilder::add(const ValueDictionary& dictionary) {
  for (uint32_t i = 0; i < dictionary.size(); ++i) add_hash(bloom_hash(std::as_bytes(std::span(dictionary.value(i)))));
}

size_t BloomFilterBuilder::memory_bytes() const {
  return blocks_.size() + (hashes_ ? hashes_->memory_bytes() : 0);
}

Buffer BloomFilterBuilder::finish() {
  if (is_empty_) return {};
  if (hashes_) {
    begin_blocks(bloom_filter_bytes(hashes_->size(), fpp_, bytes_max_));
    for (uint32_t i = 0; i < hashes_->size(); ++i) {
      uint64_t kept = 0;
      std::memcpy(&kept, hashes_->value(i).data(), sizeof(kept));
      set(kept);
    }
    hashes_.reset();
  }
  return std::move(blocks_).freeze();
}

}  // namespace frazil::parquet
