#include "frazil/parquet/encoding_choice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/encode_kernels.h"
#include "frazil/parquet/hybrid_encoder.h"

namespace frazil::parquet {

namespace {

constexpr double kBytesPerNanosecond = 0.1;
// A sample is a quarter of a page, but not less or more than this, so that small chunks are not mostly sampled.
constexpr size_t kSampleValuesMin = 512;
constexpr size_t kSampleValuesMax = 2048;
constexpr size_t kPartBytes = 16 << 10;
// zstd's level in samples: higher ones cost more than the choice is worth, and rank encodings alike.
constexpr int kSampleLevelMax = 3;

// Of an uncompressed byte, one core.
double decompression_nanoseconds(CompressionCodec codec) {
  switch (codec) {
    case CompressionCodec::kSnappy:
      return 0.5;
    case CompressionCodec::kLz4:
    case CompressionCodec::kLz4Raw:
      return 0.4;
    case CompressionCodec::kZstd:
      return 0.7;
    case CompressionCodec::kGzip:
      return 2.5;
    case CompressionCodec::kBrotli:
      return 3;
    default:
      return 0;
  }
}

// Of a value.
double decoding_nanoseconds(Encoding encoding, bool is_bytes) {
  switch (encoding) {
    case Encoding::kDeltaBinaryPacked:
      return 0.8;
    case Encoding::kByteStreamSplit:
      return 0.6;
    case Encoding::kDeltaLengthByteArray:
      return 8;
    case Encoding::kDeltaByteArray:
      // Ours take 7, parquet-cpp 30, DuckDB 50, Polars 100: files are for all of them.
      return 20;
    case Encoding::kRleDictionary:
      return is_bytes ? 2.5 : 0.4;
    default:
      return is_bytes ? 3.5 : 0.3;
  }
}

// Up to two parts of the page, each of values that follow one another, and all of a short page.
struct Sample {
  std::array<PageView, 2> parts;
  size_t count = 0;
};

size_t sample_size(size_t count) {
  return std::clamp(count / 4, kSampleValuesMin, kSampleValuesMax);
}

size_t part_size(const PageView& page, size_t from) {
  const size_t most = std::min(sample_size(page.count()) / 2, page.count() - from);
  if (!page.is_bytes) return most;
  size_t size = 0;
  while (size < most && page.slice(from, size + 1).plain_bytes() <= kPartBytes) ++size;
  return std::max<size_t>(size, 1);
}

Sample sample_of(const PageView& page) {
  Sample sample;
  sample.parts[0] = page.slice(0, part_size(page, 0));
  const size_t middle = std::max(sample.parts[0].count(), page.count() / 2);
  sample.parts[1] = middle < page.count() ? page.slice(middle, part_size(page, middle)) : page.slice(0, 0);
  sample.count = sample.parts[0].count() + sample.parts[1].count();
  return sample;
}

// What `bytes` encoded bytes of `count` values cost, compressed if that is cheaper or asked for.
double cost_of(const ChunkOptions& options, std::span<const std::byte> bytes, size_t count, double nanoseconds,
               ChoiceScratch scratch) {
  const auto values = static_cast<double>(count);
  const double raw = static_cast<double>(bytes.size()) / values + kBytesPerNanosecond * nanoseconds;
  if (options.codec == CompressionCodec::kUncompressed) return raw;
  const Codec codec = compressor_codec(options.codec);
  std::optional<int> level = options.level;
  if (codec == Codec::kZstd || codec == Codec::kBrotli) {
    level = std::min(level.value_or(compression_levels(codec).standard), kSampleLevelMax);
  }
  const size_t bound = Compressor::bound(codec, bytes.size());
  scratch.compressed.clear();
  const auto size =
      scratch.compressor.compress(codec, level, bytes, {scratch.compressed.reserve(bound), bound}).value_or(bound);
  const double reading =
      nanoseconds + decompression_nanoseconds(options.codec) * static_cast<double>(bytes.size()) / values;
  const double compressed = static_cast<double>(size) / values + kBytesPerNanosecond * reading;
  return options.may_skip_compression ? std::min(raw, compressed) : compressed;
}

std::span<const Encoding> candidates(PhysicalType type, bool plain_only) {
  static constexpr Encoding kPlainOnly[] = {Encoding::kPlain};
  static constexpr Encoding kIntegers[] = {Encoding::kPlain, Encoding::kDeltaBinaryPacked};
  static constexpr Encoding kFloats[] = {Encoding::kPlain, Encoding::kByteStreamSplit};
  static constexpr Encoding kBytes[] = {Encoding::kPlain, Encoding::kDeltaLengthByteArray, Encoding::kDeltaByteArray};
  if (plain_only) return kPlainOnly;
  switch (type) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return kIntegers;
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return kFloats;
    case PhysicalType::kByteArray:
      return kBytes;
    default:
      return kPlainOnly;
  }
}

// One difference between all neighbours.
bool is_even(const PageView& page) {
  const EncodeKernels& kernels = encode_kernels();
  uint64_t rests[128];
  for (size_t at = 1; at < page.fixed.count; at += std::size(rests)) {
    const size_t count = std::min(std::size(rests), page.fixed.count - at);
    uint64_t bits = 0;
    if (page.fixed.width == 8) {
      kernels.deltas8(page.fixed.as<uint64_t>() + at, count, rests);
      bits = kernels.or8(rests, count);
    } else {
      auto* const narrow = reinterpret_cast<uint32_t*>(rests);
      kernels.deltas4(page.fixed.as<uint32_t>() + at, count, narrow);
      bits = kernels.or4(narrow, count);
    }
    if (bits != 0) return false;
  }
  return true;
}

bool is_integer_type(PhysicalType type) {
  return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
}

}  // namespace

Codec compressor_codec(CompressionCodec codec) {
  if (codec == CompressionCodec::kLzo || codec == CompressionCodec::kUnknown) {
    throw_error(ErrorKind::kUnsupported, "{} is not written", to_string(codec));
  }
  return to_codec(codec);
}

Choice choose_direct(PhysicalType type, const ChunkOptions& options, bool plain_only, const PageView& page,
                     ChoiceScratch scratch) {
  const std::span<const Encoding> all = candidates(type, plain_only);
  if (!plain_only && is_integer_type(type) && page.count() > 1 && is_even(page))
    return {Encoding::kDeltaBinaryPacked, 0};
  const Sample sample = sample_of(page);
  Choice best;
  for (Encoding encoding : all) {
    scratch.encoded.clear();
    for (const PageView& part : sample.parts) {
      if (part.count() == 0) continue;
      if (part.is_bytes) {
        append_values(encoding, part.bytes, scratch.lengths, scratch.encoded);
      } else {
        append_values(type, encoding, part.fixed, scratch.lengths, scratch.encoded);
      }
    }
    const double cost =
        cost_of(options, scratch.encoded.span(), sample.count, decoding_nanoseconds(encoding, page.is_bytes), scratch);
    if (encoding == Encoding::kPlain || cost < best.cost) best = {encoding, cost};
  }
  return best;
}

bool may_have_dictionary(PhysicalType type, const PageView& page) {
  if (type == PhysicalType::kBoolean || page.count() == 0) return false;
  if (!is_integer_type(type) || page.count() < 3) return true;
  // A constant is even too, and the best dictionary there is.
  const std::byte* const data = page.fixed.data;
  const bool is_constant = std::equal(data, data + page.fixed.width, data + page.fixed.width);
  return is_constant || !is_even(page);
}

bool is_mostly_distinct(const FixedValues& values, EncodeBuffer& marks) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  const size_t count = values.count;
  if ((values.width != 4 && values.width != 8) || count < 2) return false;
  // 8 to 16 bits a value, so that few share one; whole words of them.
  const int bits = std::max(6, bit_width_of(8 * count - 1));
  const size_t size = size_t{1} << bits;
  marks.clear();
  auto* const words = reinterpret_cast<uint64_t*>(marks.extend(size / 8));
  std::memset(words, 0, size / 8);
  const auto mark = [&](uint64_t value) {
    const uint64_t place = ((value ^ value >> 32) * kMultiplier) >> (64 - bits);
    words[place / 64] |= uint64_t{1} << place % 64;
  };
  if (values.width == 8) {
    for (size_t i = 0; i < count; ++i) mark(values.as<uint64_t>()[i]);
  } else {
    for (size_t i = 0; i < count; ++i) mark(values.as<uint32_t>()[i]);
  }
  size_t marked = 0;
  for (size_t i = 0; i < size / 64; ++i) marked += static_cast<size_t>(std::popcount(words[i]));
  // As many marks as random values would leave, half of all and a tenth of that more.
  const double wanted = 0.55 * static_cast<double>(count) / static_cast<double>(size);
  return static_cast<double>(size - marked) < static_cast<double>(size) * std::exp(-wanted);
}

bool is_small_dictionary(size_t entries, size_t values) {
  constexpr size_t kEntries = 16;
  constexpr size_t kUses = 32;  // of an entry
  return entries == 1 || (entries <= kEntries && entries * kUses <= values);
}

double dictionary_cost(const ChunkOptions& options, std::span<const uint32_t> numbers, size_t entries_before,
                       const ValueDictionary& dictionary, bool is_bytes, ChoiceScratch scratch) {
  // How many pages share the entries that are there; more than a few are not counted on.
  constexpr double kPagesShared = 4;
  const size_t entries = dictionary.size();
  const int width = std::max(1, bit_width_of(entries - 1));
  scratch.encoded.clear();
  const size_t part = std::min(sample_size(numbers.size()), numbers.size());
  append_hybrid(numbers.subspan(numbers.size() - part), width, scratch.encoded);
  const double reading = decoding_nanoseconds(Encoding::kRleDictionary, is_bytes);
  const double index_cost = cost_of(options, scratch.encoded.span(), part, reading, scratch);
  const double entry_bytes = static_cast<double>(dictionary.plain_bytes()) / static_cast<double>(entries);
  const auto count = static_cast<double>(numbers.size());
  const double growth = static_cast<double>(entries - entries_before) / (count / 4);
  return index_cost + entry_bytes * (growth + static_cast<double>(entries) / (count * kPagesShared));
}

}  // namespace frazil::parquet
