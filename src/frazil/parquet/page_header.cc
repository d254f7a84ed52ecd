#include "frazil/parquet/page_header.h"

#include "frazil/base/error.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

namespace {

Encoding to_encoding(int32_t number) {
  return number >= 0 && number <= 10 && number != 1 ? static_cast<Encoding>(number) : Encoding::kUnknown;
}

int32_t not_negative(ThriftFields& fields, uint64_t offset, std::string_view what) {
  const int32_t value = fields.i32();
  if (value < 0) throw_corrupt(offset, "page header: {} is {}", what, value);
  return value;
}

void read_data_header(ThriftReader& reader, PageHeader& header, uint64_t offset) {
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        header.value_count = not_negative(fields, offset, "num_values");
        break;
      case 2:
        header.encoding = to_encoding(fields.i32());
        break;
      case 3:
        header.definition_encoding = to_encoding(fields.i32());
        break;
      case 4:
        header.repetition_encoding = to_encoding(fields.i32());
        break;
      default:
        fields.skip();
    }
  }
}

void read_dictionary_header(ThriftReader& reader, PageHeader& header, uint64_t offset) {
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        header.value_count = not_negative(fields, offset, "num_values of the dictionary");
        break;
      case 2:
        header.encoding = to_encoding(fields.i32());
        break;
      default:
        fields.skip();
    }
  }
}

void read_data_header_v2(ThriftReader& reader, PageHeader& header, uint64_t offset) {
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        header.value_count = not_negative(fields, offset, "num_values");
        break;
      case 2:
        header.null_count = not_negative(fields, offset, "num_nulls");
        break;
      case 3:
        header.row_count = not_negative(fields, offset, "num_rows");
        break;
      case 4:
        header.encoding = to_encoding(fields.i32());
        break;
      case 5:
        header.definition_size = not_negative(fields, offset, "definition_levels_byte_length");
        break;
      case 6:
        header.repetition_size = not_negative(fields, offset, "repetition_levels_byte_length");
        break;
      case 7:
        header.is_compressed = fields.boolean();
        break;
      default:
        fields.skip();
    }
  }
}

}  // namespace

PageHeader parse_page_header(std::span<const std::byte> bytes, uint64_t offset) {
  PageHeader header;
  ThriftReader reader(bytes, offset);
  int32_t type = -1;
  PageType described = PageType::kUnknown;  // whose struct is there
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        type = fields.i32();
        break;
      case 2:
        header.uncompressed_size = not_negative(fields, offset, "uncompressed_page_size");
        break;
      case 3:
        header.compressed_size = not_negative(fields, offset, "compressed_page_size");
        break;
      case 4:
        header.crc = static_cast<uint32_t>(fields.i32());
        break;
      case 5:
        fields.expect_struct();
        read_data_header(reader, header, offset);
        described = PageType::kData;
        break;
      case 7:
        fields.expect_struct();
        read_dictionary_header(reader, header, offset);
        described = PageType::kDictionary;
        break;
      case 8:
        fields.expect_struct();
        read_data_header_v2(reader, header, offset);
        described = PageType::kDataV2;
        break;
      default:
        fields.skip();
    }
  }
  header.header_size = reader.position();
  if (type < 0) throw_corrupt(offset, "page header: the page type is missing");
  header.type = type <= 3 ? static_cast<PageType>(type) : PageType::kUnknown;
  const bool needs_description =
      header.type == PageType::kData || header.type == PageType::kDictionary || header.type == PageType::kDataV2;
  if (needs_description && described != header.type) {
    throw_corrupt(offset, "page header: the header of page type {} is missing", type);
  }
  if (header.type == PageType::kDataV2) {
    const int64_t levels = int64_t{header.definition_size} + header.repetition_size;
    if (levels > header.compressed_size || levels > header.uncompressed_size) {
      throw_corrupt(offset, "page header: levels of {} bytes in a page of {}", levels, header.compressed_size);
    }
  }
  return header;
}

}  // namespace frazil::parquet
