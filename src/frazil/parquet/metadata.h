// The footer of a Parquet file (format/README.md "File format"; parquet.thrift, FileMetaData).
//
//   file   := "PAR1" column chunks, indexes ... footer length:u32 "PAR1"
//   footer := FileMetaData in Thrift's compact protocol
//   A file that ends in "PARE" has an encrypted footer.
//
// What is kept: the schema tree, and for each row group and column chunk where its bytes are, how they are encoded and
// its statistics as slices of the footer, parsed when somebody asks. Memory: the footer's bytes and some 200 bytes a
// column chunk, all from the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/io/file_system.h"
#include "frazil/memory/arena.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/format.h"
#include "frazil/parquet/schema.h"

namespace frazil::parquet {

struct KeyValue {
  std::string_view key;
  std::string_view value;
  bool has_value = false;
};

// How min_value and max_value of a column compare.
enum class ColumnOrder : uint8_t { kUnknown, kTypeOrder, kIeee754TotalOrder };

// Bounds and counts of a column chunk or page. What a writer left out is absent, never zero.
struct Statistics {
  std::optional<std::span<const std::byte>> min;  // deprecated pair: signed comparison of whatever the type is
  std::optional<std::span<const std::byte>> max;
  std::optional<std::span<const std::byte>> min_value;  // in the column's order
  std::optional<std::span<const std::byte>> max_value;
  std::optional<int64_t> null_count;
  std::optional<int64_t> distinct_count;
  std::optional<int64_t> nan_count;
  bool is_min_value_exact = false;
  bool is_max_value_exact = false;
};

struct FileRange {
  int64_t offset = 0;
  int64_t length = 0;
  bool present() const { return offset > 0; }
};

struct ColumnChunk {
  PhysicalType type = PhysicalType::kBoolean;
  CompressionCodec codec = CompressionCodec::kUncompressed;
  bool encrypted = false;      // its bytes, or its metadata: nothing below is known then
  bool in_other_file = false;  // file_path is set
  uint16_t encodings = 0;      // bit i: Encoding(i) is declared
  int64_t value_count = 0;     // nulls included
  int64_t total_uncompressed_size = 0;
  int64_t total_compressed_size = 0;
  int64_t data_page_offset = 0;
  int64_t dictionary_page_offset = 0;  // 0: absent (some writers say 0 where they mean none)
  FileRange bloom_filter;              // length 0: not told
  FileRange offset_index;
  FileRange column_index;
  // Thrift structs, unparsed slices of the footer; empty if absent.
  std::span<const std::byte> statistics;
  std::span<const std::byte> encoding_stats;  // the list, with its header
  std::span<const std::byte> size_statistics;
  std::span<const std::byte> geospatial_statistics;

  bool declares(Encoding encoding) const { return (encodings >> static_cast<int>(encoding)) & 1; }
  // Where its pages start: the dictionary page, if it stands before the data.
  int64_t start_offset() const {
    return dictionary_page_offset > 0 && dictionary_page_offset < data_page_offset ? dictionary_page_offset
                                                                                   : data_page_offset;
  }
};

struct RowGroup {
  int64_t row_count = 0;
  int64_t total_byte_size = 0;
  int64_t total_compressed_size = 0;     // 0: not told
  std::span<const ColumnChunk> columns;  // one a leaf of the schema, in its order
};

// Immutable; shared by all readers of the file. Everything it hands out lives as long as it does.
class FileMetadata {
 public:
  // Parses `footer`, the Thrift bytes alone, which it keeps. `footer_offset` is their place in the file, for errors.
  // Throws CorruptError, MemoryLimitError.
  static std::shared_ptr<const FileMetadata> parse(Buffer footer, uint64_t footer_offset, MemoryPool& pool);

  int32_t version() const { return version_; }
  int64_t row_count() const { return row_count_; }  // as declared
  std::string_view created_by() const { return created_by_; }
  const FileSchema& schema() const { return schema_; }
  std::span<const RowGroup> row_groups() const { return row_groups_; }
  std::span<const KeyValue> key_values() const { return key_values_; }
  std::optional<std::string_view> find_key_value(std::string_view key) const;
  // One a leaf. Empty: the file declares no orders, so min_value and max_value of its statistics mean nothing.
  std::span<const ColumnOrder> column_orders() const { return column_orders_; }
  size_t footer_bytes() const { return footer_.size(); }
  // What it keeps: the footer's bytes and what was made of them.
  size_t memory_bytes() const { return footer_.size() + arena_.used_bytes(); }

  explicit FileMetadata(Buffer footer, MemoryPool& pool);

 private:
  friend class FooterParser;
  Buffer footer_;
  Arena arena_;
  int32_t version_ = 0;
  int64_t row_count_ = 0;
  std::string_view created_by_;
  FileSchema schema_;
  std::span<const RowGroup> row_groups_;
  std::span<const KeyValue> key_values_;
  std::span<const ColumnOrder> column_orders_;
};

// Parses ColumnChunk::statistics. Throws CorruptError.
Statistics parse_statistics(std::span<const std::byte> bytes);

// Reads the footer with one read of the file's last 64 KiB, and a second one if the footer is longer. Throws
// CorruptError (with the path in its context) for what is no Parquet file or damaged, Error(kUnsupported) for an
// encrypted footer, MemoryLimitError, IoError.
std::shared_ptr<const FileMetadata> read_metadata(const InputFile& file, MemoryPool& pool);

}  // namespace frazil::parquet
