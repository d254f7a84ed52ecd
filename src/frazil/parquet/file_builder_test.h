// Makes Parquet files byte by byte for tests: any page, right or wrong. Not compressed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/file_system.h"
#include "frazil/parquet/format.h"

namespace frazil::parquet::testing {

// Thrift's compact protocol, writing. Fields in rising order of ids.
class ThriftWriter {
 public:
  ThriftWriter& i32(int id, int64_t value) { return header(id, 5).zigzag(value); }
  ThriftWriter& i64(int id, int64_t value) { return header(id, 6).zigzag(value); }
  ThriftWriter& i8(int id, int8_t value) {
    header(id, 3);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  ThriftWriter& boolean(int id, bool value) { return header(id, value ? 1 : 2); }
  ThriftWriter& binary(int id, std::string_view value) {
    header(id, 8).varint(value.size());
    bytes_ += value;
    return *this;
  }
  ThriftWriter& structure(int id, const ThriftWriter& value) {
    header(id, 12);
    bytes_ += value.finish();
    return *this;
  }
  ThriftWriter& structs(int id, const std::vector<ThriftWriter>& values) {
    list(id, 12, values.size());
    for (const ThriftWriter& value : values) bytes_ += value.finish();
    return *this;
  }
  ThriftWriter& i32s(int id, const std::vector<int32_t>& values) {
    list(id, 5, values.size());
    for (int32_t value : values) zigzag(value);
    return *this;
  }
  ThriftWriter& i64s(int id, const std::vector<int64_t>& values) {
    list(id, 6, values.size());
    for (int64_t value : values) zigzag(value);
    return *this;
  }
  ThriftWriter& booleans(int id, const std::vector<bool>& values) {
    list(id, 1, values.size());
    for (bool value : values) bytes_ += static_cast<char>(value ? 1 : 2);
    return *this;
  }
  ThriftWriter& binaries(int id, const std::vector<std::string>& values) {
    list(id, 8, values.size());
    for (const std::string& value : values) {
      varint(value.size());
      bytes_ += value;
    }
    return *this;
  }
  ThriftWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  ThriftWriter& list(int id, int type, size_t size) {
    header(id, 9);
    if (size < 15) {
      bytes_ += static_cast<char>(size << 4 | static_cast<size_t>(type));
    } else {
      bytes_ += static_cast<char>(0xF0 | type);
      varint(size);
    }
    return *this;
  }
  std::string finish() const { return bytes_ + '\0'; }

 private:
  ThriftWriter& header(int id, int type) {
    const int delta = id - last_;
    last_ = id;
    bytes_ += static_cast<char>(delta < 16 ? delta << 4 | type : type);
    return delta < 16 ? *this : zigzag(id);
  }
  ThriftWriter& zigzag(int64_t value) {
    return varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  ThriftWriter& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }

  std::string bytes_;
  int last_ = 0;
};

template <typename T>
void append(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

inline void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <typename T>
std::string plain(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) append(out, value);
  return out;
}

inline std::string plain(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) {
    append(out, static_cast<uint32_t>(value.size()));
    out += value;
  }
  return out;
}

inline std::string repeated_run(uint64_t count, uint32_t value, int width) {
  std::string out;
  append_varint(out, count << 1);
  for (int bits = 0; bits < width; bits += 8) out += static_cast<char>(value >> bits);
  return out;
}

// One packed run; its last group is filled with zeros.
inline std::string packed_run(const std::vector<uint32_t>& values, int width) {
  std::string out;
  const size_t groups = (values.size() + 7) / 8;
  append_varint(out, groups << 1 | 1);
  std::string packed(groups * static_cast<size_t>(width), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    for (int bit = 0; bit < width; ++bit) {
      const size_t at = i * static_cast<size_t>(width) + static_cast<size_t>(bit);
      if (values[i] >> bit & 1) packed[at / 8] = static_cast<char>(packed[at / 8] | 1 << (at % 8));
    }
  }
  return out + packed;
}

// Runs of 8 and more equal values are repeated, the rest packed, as writers do.
inline std::string hybrid(const std::vector<uint32_t>& values, int width) {
  std::string out;
  std::vector<uint32_t> pending;
  for (size_t i = 0; i < values.size();) {
    size_t run = 1;
    while (i + run < values.size() && values[i + run] == values[i]) ++run;
    if (run >= 8 && pending.size() % 8 == 0) {
      if (!pending.empty()) out += packed_run(pending, width);
      pending.clear();
      out += repeated_run(run, values[i], width);
      i += run;
    } else {
      pending.push_back(values[i++]);
    }
  }
  if (!pending.empty()) out += packed_run(pending, width);
  return out;
}

inline std::string with_length(const std::string& bytes) {
  std::string out;
  append(out, static_cast<uint32_t>(bytes.size()));
  return out + bytes;
}

struct ColumnSpec {
  std::string name = "a";
  PhysicalType type = PhysicalType::kInt32;
  Repetition repetition = Repetition::kRequired;
  int32_t type_length = 0;
  int32_t converted = -1;
  int32_t scale = 0;
  int32_t precision = 0;
  int32_t field_id = -1;
  int32_t child_count = -1;  // a group with so many of the nodes that follow; -1: a leaf
};

struct PageSpec {
  std::string payload = {};  // dictionary, v1: all of it; v2: the values
  int32_t value_count = 0;
  Encoding encoding = Encoding::kPlain;
  PageType type = PageType::kData;
  std::string definition_levels = {};     // v2
  int32_t null_count = 0;                 // v2
  std::string repetition_levels = {};     // v2
  std::optional<int32_t> row_count = {};  // v2
  // What the header claims instead of the truth.
  std::optional<int32_t> uncompressed_size = {};
  std::optional<int32_t> compressed_size = {};
  std::optional<int32_t> crc = {};
  std::optional<int32_t> definition_size = {};
  std::string header = {};  // replaces the whole header
};

inline PageSpec dictionary_page(std::string payload, int32_t count) {
  return {.payload = std::move(payload), .value_count = count, .type = PageType::kDictionary};
}
inline PageSpec data_page(std::string payload, int32_t count, Encoding encoding = Encoding::kPlain) {
  return {.payload = std::move(payload), .value_count = count, .encoding = encoding};
}

inline std::string page_bytes(const PageSpec& page) {
  const auto size =
      static_cast<int32_t>(page.payload.size() + page.definition_levels.size() + page.repetition_levels.size());
  ThriftWriter header;
  header.i32(1, static_cast<int>(page.type));
  header.i32(2, page.uncompressed_size.value_or(size));
  header.i32(3, page.compressed_size.value_or(size));
  if (page.crc) header.i32(4, *page.crc);
  ThriftWriter description;
  description.i32(1, page.value_count);
  switch (page.type) {
    case PageType::kData:
      description.i32(2, static_cast<int>(page.encoding)).i32(3, 3).i32(4, 3);
      header.structure(5, description);
      break;
    case PageType::kDictionary:
      description.i32(2, static_cast<int>(page.encoding));
      header.structure(7, description);
      break;
    case PageType::kDataV2:
      description.i32(2, page.null_count).i32(3, page.row_count.value_or(page.value_count));
      description.i32(4, static_cast<int>(page.encoding));
      description.i32(5, page.definition_size.value_or(static_cast<int32_t>(page.definition_levels.size())));
      description.i32(6, static_cast<int32_t>(page.repetition_levels.size()));
      header.structure(8, description);
      break;
    default:
      break;
  }
  return (page.header.empty() ? header.finish() : page.header) + page.repetition_levels + page.definition_levels +
         page.payload;
}

// The nodes of the schema, depth first, then row groups with a list of pages for each leaf.
class FileBuilder {
 public:
  explicit FileBuilder(std::vector<ColumnSpec> nodes) : nodes_(std::move(nodes)) {
    for (const ColumnSpec& node : nodes_) {
      if (node.child_count < 0) columns_.push_back(node);
      is_flat_ = is_flat_ && node.child_count < 0 && node.repetition != Repetition::kRepeated;
    }
  }

  FileBuilder& row_group(int64_t rows, const std::vector<std::vector<PageSpec>>& chunks) {
    std::vector<ThriftWriter> columns;
    for (size_t i = 0; i < chunks.size(); ++i) {
      int64_t dictionary_offset = -1;
      int64_t data_offset = -1;
      const auto start = static_cast<int64_t>(bytes_.size());
      std::vector<int32_t> encodings;
      int64_t values = 0;
      for (const PageSpec& page : chunks[i]) {
        if (page.type != PageType::kDictionary) values += page.value_count;
        int64_t& offset = page.type == PageType::kDictionary ? dictionary_offset : data_offset;
        if (offset < 0) offset = static_cast<int64_t>(bytes_.size());
        encodings.push_back(static_cast<int32_t>(page.encoding));
        bytes_ += page_bytes(page);
      }
      if (data_offset < 0) data_offset = start;
      const auto size = static_cast<int64_t>(bytes_.size()) - start;
      ThriftWriter metadata;
      metadata.i32(1, static_cast<int>(columns_[i].type))
          .i32s(2, encodings)
          .binaries(3, {columns_[i].name})
          .i32(4, codec);
      metadata.i64(5, is_flat_ ? rows : values)
          .i64(6, size)
          .i64(7, size)
          .i64(9, data_page_offset.value_or(data_offset));
      if (dictionary_page_offset) {
        metadata.i64(11, *dictionary_page_offset);
      } else if (dictionary_offset >= 0) {
        metadata.i64(11, dictionary_offset);
      }
      if (encoding_stats) {
        std::vector<ThriftWriter> counts;
        for (const PageSpec& page : chunks[i]) {
          counts.push_back(
              ThriftWriter().i32(1, static_cast<int>(page.type)).i32(2, static_cast<int>(page.encoding)).i32(3, 1));
        }
        metadata.structs(13, counts);
      }
      if (!unencoded_bytes.empty()) metadata.structure(16, ThriftWriter().i64(1, unencoded_bytes[i]));
      columns.push_back(ThriftWriter().i64(2, start).structure(3, metadata));
    }
    row_groups_.push_back(ThriftWriter().structs(1, columns).i64(2, 0).i64(3, rows));
    row_count_ += rows;
    return *this;
  }

  std::string footer() const {
    std::vector<ThriftWriter> schema;
    int64_t root_children = static_cast<int64_t>(nodes_.size());
    for (const ColumnSpec& node : nodes_) root_children -= std::max(node.child_count, 0);
    schema.push_back(ThriftWriter().binary(4, "schema").i32(5, root_children));
    for (const ColumnSpec& column : nodes_) {
      ThriftWriter element;
      if (column.child_count < 0) element.i32(1, static_cast<int>(column.type));
      if (column.type_length != 0) element.i32(2, column.type_length);
      element.i32(3, static_cast<int>(column.repetition)).binary(4, column.name);
      if (column.child_count >= 0) element.i32(5, column.child_count);
      if (column.converted >= 0) element.i32(6, column.converted).i32(7, column.scale).i32(8, column.precision);
      if (column.field_id >= 0) element.i32(9, column.field_id);
      schema.push_back(element);
    }
    ThriftWriter metadata;
    metadata.i32(1, 1).structs(2, schema).i64(3, row_count_).structs(4, row_groups_);
    if (!key_values.empty()) {
      std::vector<ThriftWriter> pairs;
      for (const auto& [key, value] : key_values) pairs.push_back(ThriftWriter().binary(1, key).binary(2, value));
      metadata.structs(5, pairs);
    }
    return metadata.finish();
  }

  std::string finish() const { return with_footer(bytes_, footer()); }

  static std::string with_footer(std::string bytes, const std::string& footer) {
    bytes += footer;
    append(bytes, static_cast<uint32_t>(footer.size()));
    return bytes + "PAR1";
  }

  std::vector<std::pair<std::string, std::string>> key_values;
  // Whether the footer tells the encoding of each page.
  bool encoding_stats = false;
  // Of the values of each leaf, what the size statistics of the next row groups tell; empty: they have none.
  std::vector<int64_t> unencoded_bytes;
  // What the next row groups claim instead of the truth.
  int codec = 0;
  std::optional<int64_t> data_page_offset;
  std::optional<int64_t> dictionary_page_offset;

 private:
  std::vector<ColumnSpec> nodes_;
  std::vector<ColumnSpec> columns_;  // the leaves
  bool is_flat_ = true;
  std::string bytes_ = "PAR1";
  std::vector<ThriftWriter> row_groups_;
  int64_t row_count_ = 0;
};

// A file in memory whose reads end exactly where they are asked to, so that AddressSanitizer sees a read too far.
class StringFile final : public InputFile {
 public:
  explicit StringFile(std::string bytes, std::string path = "memory:test.parquet")
      : bytes_(std::move(bytes)), path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      throw_corrupt(offset, "{} ends before {} + {}", path_, offset, out.size());
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    ++read_count;
    read_bytes += out.size();
  }
  mutable std::atomic<uint64_t> read_count = 0;
  mutable std::atomic<uint64_t> read_bytes = 0;

 private:
  std::string bytes_;
  std::string path_;
};

}  // namespace frazil::parquet::testing
