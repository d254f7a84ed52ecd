// The header before each page (parquet.thrift, PageHeader).
//
//   page       := PageHeader payload[compressed_page_size]
//   v1 payload := compressed( levels values ), with  levels := (length:u32 hybrid)?    // absent if the max level is 0
//   v2 payload := repetition levels, definition levels: hybrid without lengths, never compressed; then the values,
//                 compressed if is_compressed
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "frazil/parquet/format.h"

namespace frazil::parquet {

// Larger ones are refused; statistics make a header large.
inline constexpr size_t kPageHeaderBytesMax = size_t{16} << 20;

// Which pages with a checksum are held against it (see ReadOptions::verify_checksums).
enum class ChecksumPolicy : uint8_t {
  kNever,
  kSmallPages,  // of at most kSmallPageBytes, levels included, as they lie in the file: 4.5 us for the largest
  kAlways,
};
inline constexpr int32_t kSmallPageBytes = 64 << 10;

struct PageHeader {
  PageType type = PageType::kUnknown;
  int32_t uncompressed_size = 0;  // levels included; not negative
  int32_t compressed_size = 0;    // of the payload; not negative
  std::optional<uint32_t> crc;
  int32_t value_count = 0;  // nulls included; not negative
  Encoding encoding = Encoding::kPlain;
  Encoding definition_encoding = Encoding::kRle;  // v1
  Encoding repetition_encoding = Encoding::kRle;  // v1
  // v2:
  int32_t null_count = 0;
  int32_t row_count = 0;
  int32_t definition_size = 0;  // bytes; repetition_size + definition_size <= both sizes of the page
  int32_t repetition_size = 0;
  bool is_compressed = true;
  size_t header_size = 0;
};

// Parses the header at the start of `bytes`, which may go on behind it. Throws CorruptError, also if it is cut.
PageHeader parse_page_header(std::span<const std::byte> bytes, uint64_t offset);

}  // namespace frazil::parquet
