// The closed sets of the Parquet format (parquet.thrift), by their numbers in the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::parquet {

enum class PhysicalType : uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};

enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

enum class Encoding : uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
  kAlp = 10,
  kUnknown = 255,  // a number that this list does not have
};

enum class CompressionCodec : uint8_t {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4 = 5,  // deprecated: Hadoop framing, or what its writer took for it
  kZstd = 6,
  kLz4Raw = 7,
  kUnknown = 255,
};

enum class PageType : uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3, kUnknown = 255 };

// "INT32", "DELTA_BINARY_PACKED", "SNAPPY": as the specification spells them.
std::string_view to_string(PhysicalType type);
std::string_view to_string(Encoding encoding);
std::string_view to_string(CompressionCodec codec);

}  // namespace frazil::parquet
