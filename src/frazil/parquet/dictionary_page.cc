#include "frazil/parquet/dictionary_page.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/convert.h"
#include "frazil/parquet/memory_source.h"
#include "frazil/parquet/thrift.h"
#include "frazil/parquet/value_decoder.h"

namespace frazil::parquet {

namespace {

bool is_dictionary(int32_t encoding) {
  return encoding == static_cast<int32_t>(Encoding::kPlainDictionary) ||
         encoding == static_cast<int32_t>(Encoding::kRleDictionary);
}

// PageEncodingStats := {1 page_type, 2 encoding, 3 count}
struct DataPageCounts {
  int64_t dictionary = 0;  // that refer to the dictionary
  int64_t others = 0;
};

DataPageCounts count_data_pages(std::span<const std::byte> encoding_stats) {
  ThriftReader reader(encoding_stats);
  const ThriftReader::List list = reader.read_list(ThriftType::kStruct);
  DataPageCounts counts;
  for (uint32_t i = 0; i < list.size; ++i) {
    int32_t page_type = -1;
    int32_t encoding = -1;
    int32_t count = -1;
    for (ThriftFields fields(reader); fields.next();) {
      switch (fields.id()) {
        case 1:
          page_type = fields.i32();
          break;
        case 2:
          encoding = fields.i32();
          break;
        case 3:
          count = fields.i32();
          break;
        default:
          fields.skip();
      }
    }
    const bool is_data =
        page_type == static_cast<int32_t>(PageType::kData) || page_type == static_cast<int32_t>(PageType::kDataV2);
    if (!is_data) continue;
    (is_dictionary(encoding) ? counts.dictionary : counts.others) += count;
  }
  return counts;
}

// Decodes `count` plain values. Throws CorruptError.
ArrayPtr decode_values(const SchemaNode& leaf, DataTypePtr type, std::span<const std::byte> page, size_t count,
                       MemoryPool& pool) {
  const std::optional<Conversion> conversion = find_conversion(leaf, *type);
  if (!conversion) return nullptr;
  // A value takes at least so much of the page: nothing is allocated for a forged count.
  const size_t value_bytes = conversion->source_width > 0 ? static_cast<size_t>(conversion->source_width) : 4;
  if (count > page.size() / value_bytes) return nullptr;

  ValueDecoder decoder(*conversion, leaf.type, false);
  if (!decoder.start(Encoding::kPlain, page)) return nullptr;
  auto array = std::make_shared<Array>();
  array->type = std::move(type);
  array->length = static_cast<int64_t>(count);
  array->null_count = 0;
  switch (conversion->form) {
    case ValueForm::kFixed: {
      const size_t size = count * static_cast<size_t>(conversion->target_width);
      MutableBuffer values = pool.allocate(size);
      values.set_size(size);
      decoder.decode_fixed(count, values.data());
      array->buffers[1] = std::move(values).freeze();
      return array;
    }
    case ValueForm::kBytes: {
      if (page.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) return nullptr;
      MutableBuffer offsets = pool.allocate((count + 1) * sizeof(int32_t));
      offsets.set_size((count + 1) * sizeof(int32_t));
      MutableBuffer data = pool.allocate(page.size());
      offsets.as<int32_t>()[0] = 0;
      size_t used = 0;
      data.set_size(page.size());
      if (decoder.decode_bytes(count, offsets.as<int32_t>() + 1, data.data(), page.size(), used) != count) {
        return nullptr;
      }
      data.set_size(used);
      array->buffers[1] = std::move(offsets).freeze();
      array->buffers[2] = std::move(data).freeze();
      return array;
    }
    default:
      return nullptr;
  }
}

}  // namespace

bool is_wholly_dictionary(const ColumnChunk& chunk) {
  if (chunk.dictionary_page_offset <= 0 || chunk.dictionary_page_offset >= chunk.data_page_offset) return false;
  if (!chunk.encoding_stats.empty()) {
    try {
      const DataPageCounts counts = count_data_pages(chunk.encoding_stats);
      return counts.dictionary != 0 && counts.others == 0;
    } catch (const CorruptError&) {
      return false;
    }
  }
  // Before encoding_stats data pages said PLAIN_DICTIONARY, and so did dictionary pages.
  constexpr uint16_t kLevels =
      (1U << static_cast<int>(Encoding::kRle)) | (1U << static_cast<int>(Encoding::kBitPacked));
  constexpr uint16_t kPlainDictionary = 1U << static_cast<int>(Encoding::kPlainDictionary);
  return (chunk.encodings & ~kLevels) == kPlainDictionary;
}

std::optional<int64_t> count_dictionary_pages(const ColumnChunk& chunk) {
  if (chunk.encoding_stats.empty()) return std::nullopt;
  try {
    return count_data_pages(chunk.encoding_stats).dictionary;
  } catch (const CorruptError&) {
    return std::nullopt;
  }
}

ArrayPtr read_distinct_values(const InputFile& file, const FileMetadata& metadata, size_t row_group, size_t leaf,
                              const DataTypePtr& type, size_t bytes_max, Decompressor& decompressor, MemoryPool& pool,
                              uint64_t& bytes_read) {
  const ColumnChunk& chunk = metadata.row_groups()[row_group].columns[leaf];
  const SchemaNode& node = metadata.schema().leaf(leaf);
  if (chunk.encrypted || chunk.in_other_file || !is_wholly_dictionary(chunk)) return nullptr;
  const auto begin = static_cast<uint64_t>(chunk.dictionary_page_offset);
  const auto size = static_cast<uint64_t>(chunk.data_page_offset) - begin;
  if (size > bytes_max || begin + size > file.size()) return nullptr;

  Reservation reservation = pool.reserve(0);
  MemorySource memory(reservation);
  // The page alone is read, and no more than it.
  ChunkPages pages(file, decompressor, {.window_bytes = std::max<size_t>(static_cast<size_t>(size), 1)});
  pages.open(chunk, {begin, begin + size});
  bytes_read += size;
  try {
    if (pages.load(memory) != ChunkPages::Status::kPage) return nullptr;
    const Page& page = pages.page();
    if (page.header.type != PageType::kDictionary || page.values.size() > bytes_max) return nullptr;
    const bool is_plain =
        page.header.encoding == Encoding::kPlain || page.header.encoding == Encoding::kPlainDictionary;
    if (!is_plain) return nullptr;
    const DataTypePtr& target =
        node.type == PhysicalType::kByteArray && is_bytes(type->id()) ? primitive(TypeId::kBinary) : type;
    return decode_values(node, target, page.values, static_cast<size_t>(page.header.value_count), pool);
  } catch (const CorruptError&) {
    return nullptr;
  }
}

}  // namespace frazil::parquet
