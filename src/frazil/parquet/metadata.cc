#include "frazil/parquet/metadata.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/parquet/thrift.h"

namespace frazil::parquet {

namespace {

constexpr size_t kTailBytes = size_t{64} << 10;
constexpr size_t kTrailerBytes = 8;  // length and magic

// The smallest that a required field leaves of these structs: forged list sizes are found before memory is taken.
constexpr size_t kSchemaElementBytesMin = 3;
constexpr size_t kRowGroupBytesMin = 3;
constexpr size_t kColumnChunkBytesMin = 3;

template <typename T>
std::span<T> make_array(Arena& arena, size_t count) {
  if (count == 0) return {};
  T* items = static_cast<T*>(arena.allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(items, count);
  return {items, count};
}

void check_list(ThriftReader& reader, ThriftReader::List list, size_t element_bytes, std::string_view what) {
  if (list.size > reader.bytes().remaining() / element_bytes) {
    throw_corrupt(reader.bytes().offset(), "list of {} {} in {} bytes", list.size, what, reader.bytes().remaining());
  }
}

// ---- Logical types ----

TimeUnit read_time_unit(ThriftFields& outer, ThriftReader& reader) {
  outer.expect_struct();
  TimeUnit unit = TimeUnit::kMicro;
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        unit = TimeUnit::kMilli;
        break;
      case 2:
        unit = TimeUnit::kMicro;
        break;
      case 3:
        unit = TimeUnit::kNano;
        break;
      default:
        break;
    }
    fields.skip();
  }
  return unit;
}

void read_logical_parameters(ThriftReader& reader, LogicalType& type) {
  for (ThriftFields fields(reader); fields.next();) {
    const int32_t id = fields.id();
    using Kind = LogicalType::Kind;
    if (type.kind == Kind::kDecimal && id == 1) {
      type.scale = fields.i32();
    } else if (type.kind == Kind::kDecimal && id == 2) {
      type.precision = fields.i32();
    } else if ((type.kind == Kind::kTime || type.kind == Kind::kTimestamp) && id == 1) {
      type.is_adjusted_to_utc = fields.boolean();
    } else if ((type.kind == Kind::kTime || type.kind == Kind::kTimestamp) && id == 2) {
      type.unit = read_time_unit(fields, reader);
    } else if (type.kind == Kind::kInteger && id == 1) {
      type.bit_width = fields.i8();
    } else if (type.kind == Kind::kInteger && id == 2) {
      type.is_signed = fields.boolean();
    } else if ((type.kind == Kind::kGeometry || type.kind == Kind::kGeography) && id == 1) {
      type.crs = fields.binary();
    } else if (type.kind == Kind::kGeography && id == 2) {
      const int32_t algorithm = fields.i32();
      type.edge_algorithm = algorithm >= 0 && algorithm <= 127 ? static_cast<int8_t>(algorithm) : int8_t{0};
    } else {
      fields.skip();
    }
  }
}

LogicalType::Kind logical_kind(int32_t union_id) {
  using Kind = LogicalType::Kind;
  switch (union_id) {
    case 1:
      return Kind::kString;
    case 2:
      return Kind::kMap;
    case 3:
      return Kind::kList;
    case 4:
      return Kind::kEnum;
    case 5:
      return Kind::kDecimal;
    case 6:
      return Kind::kDate;
    case 7:
      return Kind::kTime;
    case 8:
      return Kind::kTimestamp;
    case 10:
      return Kind::kInteger;
    case 11:
      return Kind::kUnknown;
    case 12:
      return Kind::kJson;
    case 13:
      return Kind::kBson;
    case 14:
      return Kind::kUuid;
    case 15:
      return Kind::kFloat16;
    case 16:
      return Kind::kVariant;
    case 17:
      return Kind::kGeometry;
    case 18:
      return Kind::kGeography;
    default:
      return Kind::kUnrecognized;
  }
}

LogicalType read_logical_type(ThriftReader& reader) {
  LogicalType type;
  for (ThriftFields fields(reader); fields.next();) {
    type.kind = logical_kind(fields.id());
    if (fields.type() == ThriftType::kStruct) {
      read_logical_parameters(reader, type);
    } else {
      fields.skip();
    }
  }
  return type;
}

LogicalType time_type(LogicalType::Kind kind, TimeUnit unit) {
  LogicalType type;
  type.kind = kind;
  type.unit = unit;
  type.is_adjusted_to_utc = true;  // what the old annotations mean (LogicalTypes.md)
  return type;
}

LogicalType integer_type(int8_t bit_width, bool is_signed) {
  LogicalType type;
  type.kind = LogicalType::Kind::kInteger;
  type.bit_width = bit_width;
  type.is_signed = is_signed;
  return type;
}

LogicalType from_converted(int32_t converted, int32_t precision, int32_t scale) {
  using Kind = LogicalType::Kind;
  static constexpr Kind kPlainKinds[] = {Kind::kString, Kind::kMap, Kind::kMapKeyValue, Kind::kList, Kind::kEnum};
  LogicalType type;
  if (converted >= 0 && converted <= 4) {
    type.kind = kPlainKinds[converted];
    return type;
  }
  switch (converted) {
    case 5:
      type.kind = Kind::kDecimal;
      type.precision = precision;
      type.scale = scale;
      return type;
    case 6:
      type.kind = Kind::kDate;
      return type;
    case 7:
      return time_type(Kind::kTime, TimeUnit::kMilli);
    case 8:
      return time_type(Kind::kTime, TimeUnit::kMicro);
    case 9:
      return time_type(Kind::kTimestamp, TimeUnit::kMilli);
    case 10:
      return time_type(Kind::kTimestamp, TimeUnit::kMicro);
    case 11:
    case 12:
    case 13:
    case 14:
      return integer_type(static_cast<int8_t>(8 << (converted - 11)), false);
    case 15:
    case 16:
    case 17:
    case 18:
      return integer_type(static_cast<int8_t>(8 << (converted - 15)), true);
    case 19:
      type.kind = Kind::kJson;
      return type;
    case 20:
      type.kind = Kind::kBson;
      return type;
    case 21:
      type.kind = Kind::kInterval;
      return type;
    default:
      type.kind = Kind::kUnrecognized;
      return type;
  }
}

// Whether the annotation says something about values of that physical type.
bool fits(const LogicalType& logical, PhysicalType type, int32_t type_length) {
  using Kind = LogicalType::Kind;
  const bool int32 = type == PhysicalType::kInt32;
  const bool int64 = type == PhysicalType::kInt64;
  const bool bytes = type == PhysicalType::kByteArray;
  const bool fixed = type == PhysicalType::kFixedLenByteArray;
  switch (logical.kind) {
    case Kind::kNone:
    case Kind::kUnknown:
    case Kind::kUnrecognized:
    case Kind::kMisplaced:
      return true;
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kJson:
    case Kind::kBson:
    case Kind::kGeometry:
    case Kind::kGeography:
      return bytes;
    case Kind::kDecimal:
      return int32 || int64 || bytes || fixed;
    case Kind::kDate:
      return int32;
    case Kind::kTime:
      return logical.unit == TimeUnit::kMilli ? int32 : int64;
    case Kind::kTimestamp:
      return int64;
    case Kind::kInteger:
      return (int32 && (logical.bit_width == 8 || logical.bit_width == 16 || logical.bit_width == 32)) ||
             (int64 && logical.bit_width == 64);
    case Kind::kUuid:
      return fixed && type_length == 16;
    case Kind::kFloat16:
      return fixed && type_length == 2;
    case Kind::kInterval:
      return fixed && type_length == 12;
    case Kind::kMap:
    case Kind::kMapKeyValue:
    case Kind::kList:
    case Kind::kVariant:
      return false;  // groups only
  }
  return false;
}

}  // namespace

// ---- The footer ----

class FooterParser {
 public:
  FooterParser(FileMetadata& metadata, std::span<const std::byte> footer, uint64_t footer_offset)
      : metadata_(metadata), reader_(footer, footer_offset) {}

  void parse() {
    bool has_schema = false;
    bool has_row_groups = false;
    for (ThriftFields fields(reader_); fields.next();) {
      switch (fields.id()) {
        case 1:
          metadata_.version_ = fields.i32();
          break;
        case 2:
          read_schema(fields.list(ThriftType::kStruct));
          has_schema = true;
          break;
        case 3:
          metadata_.row_count_ = fields.i64();
          break;
        case 4:
          // Row groups need the schema; it stands before them in every file that follows the order of fields.
          if (!has_schema) throw_corrupt(offset(), "footer: row groups before the schema");
          read_row_groups(fields.list(ThriftType::kStruct));
          has_row_groups = true;
          break;
        case 5:
          read_key_values(fields.list(ThriftType::kStruct));
          break;
        case 6:
          metadata_.created_by_ = fields.binary();
          break;
        case 7:
          read_column_orders(fields.list(ThriftType::kStruct));
          break;
        default:
          fields.skip();
      }
    }
    if (!has_schema || !has_row_groups)
      throw_corrupt(offset(), "footer: the {} is missing", !has_schema ? "schema" : "list of row groups");
    if (metadata_.row_count_ < 0) throw_corrupt(offset(), "footer: {} rows", metadata_.row_count_);
  }

 private:
  uint64_t offset() { return reader_.bytes().offset(); }
  Arena& arena() { return metadata_.arena_; }

  // ---- Schema ----

  void read_schema(ThriftReader::List list) {
    if (list.size == 0) throw_corrupt(offset(), "footer: the schema is empty");
    check_list(reader_, list, kSchemaElementBytesMin, "schema elements");
    auto nodes = make_array<SchemaNode>(arena(), list.size);
    uint32_t leaf_count = 0;
    for (uint32_t i = 0; i < list.size; ++i) {
      read_schema_element(nodes[i], i == 0);
      if (!nodes[i].is_group) ++leaf_count;
    }
    auto leaves = make_array<uint32_t>(arena(), leaf_count);
    link_nodes(nodes, leaves);
    metadata_.schema_ = FileSchema(nodes, leaves);
  }

  void read_schema_element(SchemaNode& node, bool is_root) {
    int32_t type = -1;
    int32_t repetition = 0;
    int32_t child_count = 0;
    int32_t converted = -1;
    int32_t scale = 0;
    int32_t precision = 0;
    bool has_name = false;
    bool has_logical = false;
    for (ThriftFields fields(reader_); fields.next();) {
      switch (fields.id()) {
        case 1:
          type = fields.i32();
          if (type < 0 || type > 7) throw_corrupt(offset(), "schema: unknown physical type {}", type);
          break;
        case 2:
          node.type_length = fields.i32();
          break;
        case 3:
          repetition = fields.i32();
          if (repetition < 0 || repetition > 2) throw_corrupt(offset(), "schema: unknown repetition {}", repetition);
          break;
        case 4:
          node.name = fields.binary();
          has_name = true;
          break;
        case 5:
          child_count = fields.i32();
          if (child_count < 0) throw_corrupt(offset(), "schema: {} children", child_count);
          break;
        case 6:
          converted = fields.i32();
          break;
        case 7:
          scale = fields.i32();
          break;
        case 8:
          precision = fields.i32();
          break;
        case 9:
          node.field_id = fields.i32();
          break;
        case 10:
          fields.expect_struct();
          node.logical = read_logical_type(reader_);
          // A newer annotation may come with an old one that says the most important part.
          has_logical =
              node.logical.kind != LogicalType::Kind::kNone && node.logical.kind != LogicalType::Kind::kUnrecognized;
          break;
        default:
          fields.skip();
      }
    }
    if (!has_name) throw_corrupt(offset(), "schema: an element has no name");
    node.child_count = static_cast<uint32_t>(child_count);
    node.repetition = is_root ? Repetition::kRequired : static_cast<Repetition>(repetition);
    node.is_group = is_root || child_count > 0 || type < 0;
    if (!has_logical && converted >= 0) node.logical = from_converted(converted, precision, scale);
    if (node.is_group) return;
    node.type = static_cast<PhysicalType>(type);
    if (node.type == PhysicalType::kFixedLenByteArray && node.type_length < 1) {
      throw_corrupt(offset(), "schema: column '{}' is FIXED_LEN_BYTE_ARRAY({})", node.name, node.type_length);
    }
    if (!fits(node.logical, node.type, node.type_length)) {
      const std::string_view name = to_string(node.logical.kind);
      node.logical = LogicalType{};
      node.logical.kind = LogicalType::Kind::kMisplaced;
      node.logical.misplaced = name;
    }
  }

  // Sets what follows from the tree: parents, levels, subtree sizes, leaves.
  void link_nodes(std::span<SchemaNode> nodes, std::span<uint32_t> leaves) {
    struct Open {
      uint32_t node;
      uint32_t children_left;
    };
    std::vector<Open> path;  // at most kMaxSchemaDepth
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      SchemaNode& node = nodes[i];
      node.first_leaf = leaf;
      if (i > 0) {
        if (path.empty()) throw_corrupt(offset(), "schema: {} elements follow the tree", nodes.size() - i);
        --path.back().children_left;
        node.parent = path.back().node;
        const SchemaNode& parent = nodes[node.parent];
        node.max_definition =
            static_cast<uint8_t>(parent.max_definition + (node.repetition != Repetition::kRequired ? 1 : 0));
        node.max_repetition =
            static_cast<uint8_t>(parent.max_repetition + (node.repetition == Repetition::kRepeated ? 1 : 0));
      }
      if (node.is_group) {
        if (path.size() >= kMaxSchemaDepth)
          throw_corrupt(offset(), "schema: nested more than {} levels", kMaxSchemaDepth);
        path.push_back({i, node.child_count});
      } else {
        leaves[leaf++] = i;
        node.leaf_count = 1;
      }
      while (!path.empty() && path.back().children_left == 0) {
        SchemaNode& done = nodes[path.back().node];
        done.subtree_size = i + 1 - path.back().node;
        done.leaf_count = leaf - done.first_leaf;
        path.pop_back();
      }
    }
    if (!path.empty()) throw_corrupt(offset(), "schema: group '{}' lacks children", nodes[path.back().node].name);
  }

  // ---- Row groups ----

  void read_row_groups(ThriftReader::List list) {
    check_list(reader_, list, kRowGroupBytesMin, "row groups");
    auto groups = make_array<RowGroup>(arena(), list.size);
    for (RowGroup& group : groups) read_row_group(group);
    metadata_.row_groups_ = groups;
  }

  void read_row_group(RowGroup& group) {
    bool has_columns = false;
    for (ThriftFields fields(reader_); fields.next();) {
      switch (fields.id()) {
        case 1: {
          const auto list = fields.list(ThriftType::kStruct);
          if (list.size != metadata_.schema_.leaf_count()) {
            throw_corrupt(offset(), "row group has {} column chunks, the schema has {} columns", list.size,
                          metadata_.schema_.leaf_count());
          }
          check_list(reader_, list, kColumnChunkBytesMin, "column chunks");
          auto columns = make_array<ColumnChunk>(arena(), list.size);
          for (uint32_t i = 0; i < list.size; ++i) read_column_chunk(columns[i], i);
          group.columns = columns;
          has_columns = true;
          break;
        }
        case 2:
          group.total_byte_size = fields.i64();
          break;
        case 3:
          group.row_count = fields.i64();
          if (group.row_count < 0) throw_corrupt(offset(), "row group has {} rows", group.row_count);
          break;
        case 6:
          group.total_compressed_size = fields.i64();
          break;
        default:
          fields.skip();
      }
    }
    if (!has_columns && metadata_.schema_.leaf_count() > 0) {
      throw_corrupt(offset(), "row group has no list of column chunks");
    }
  }

  void read_column_chunk(ColumnChunk& chunk, uint32_t leaf) {
    bool has_metadata = false;
    for (ThriftFields fields(reader_); fields.next();) {
      switch (fields.id()) {
        case 1:
          chunk.in_other_file = !fields.binary().empty();
          break;
        case 3:
          fields.expect_struct();
          read_column_metadata(chunk, leaf);
          has_metadata = true;
          break;
        case 4:
          chunk.offset_index.offset = fields.i64();
          break;
        case 5:
          chunk.offset_index.length = fields.i32();
          break;
        case 6:
          chunk.column_index.offset = fields.i64();
          break;
        case 7:
          chunk.column_index.length = fields.i32();
          break;
        case 8:
        case 9:
          chunk.encrypted = true;
          fields.skip();
          break;
        default:
          fields.skip();
      }
    }
    if (!has_metadata && !chunk.encrypted) throw_corrupt(offset(), "column chunk {} has no metadata", leaf);
  }

  void read_column_metadata(ColumnChunk& chunk, uint32_t leaf) {
    uint32_t seen = 0;
    for (ThriftFields fields(reader_); fields.next();) {
      const int32_t id = fields.id();
      if (id > 0 && id < 32) seen |= uint32_t{1} << id;
      switch (id) {
        case 1: {
          const int32_t type = fields.i32();
          if (type != static_cast<int32_t>(metadata_.schema_.leaf(leaf).type)) {
            throw_corrupt(offset(), "column chunk of '{}' has physical type {}, the schema says {}",
                          metadata_.schema_.leaf(leaf).name, type, to_string(metadata_.schema_.leaf(leaf).type));
          }
          chunk.type = static_cast<PhysicalType>(type);
          break;
        }
        case 2: {
          const auto list = fields.list(ThriftType::kI32);
          for (uint32_t i = 0; i < list.size; ++i) {
            const int32_t encoding = reader_.read_i32();
            if (encoding >= 0 && encoding < 16)
              chunk.encodings = static_cast<uint16_t>(chunk.encodings | (1U << encoding));
          }
          break;
        }
        case 4: {
          const int32_t codec = fields.i32();
          chunk.codec = codec >= 0 && codec <= 7 ? static_cast<CompressionCodec>(codec) : CompressionCodec::kUnknown;
          break;
        }
        case 5:
          chunk.value_count = fields.i64();
          break;
        case 6:
          chunk.total_uncompressed_size = fields.i64();
          break;
        case 7:
          chunk.total_compressed_size = fields.i64();
          break;
        case 9:
          chunk.data_page_offset = fields.i64();
          break;
        case 11:
          chunk.dictionary_page_offset = fields.i64();
          break;
        case 12:
          fields.expect_struct();
          chunk.statistics = fields.slice();
          break;
        case 13:
          chunk.encoding_stats = fields.slice();
          break;
        case 14:
          chunk.bloom_filter.offset = fields.i64();
          break;
        // Before the specification gave these numbers away, some writers used them for something else.
        case 15:
          if (fields.type() == ThriftType::kI32) {
            chunk.bloom_filter.length = fields.i32();
          } else {
            fields.skip();
          }
          break;
        case 16:
          if (fields.type() == ThriftType::kStruct) {
            chunk.size_statistics = fields.slice();
          } else {
            fields.skip();
          }
          break;
        case 17:
          if (fields.type() == ThriftType::kStruct) {
            chunk.geospatial_statistics = fields.slice();
          } else {
            fields.skip();
          }
          break;
        default:
          fields.skip();
      }
    }
    constexpr uint32_t kRequired = 1U << 1 | 1U << 4 | 1U << 5 | 1U << 7 | 1U << 9;
    if ((seen & kRequired) != kRequired) throw_corrupt(offset(), "column chunk {} lacks a required field", leaf);
  }

  // ---- The rest ----

  void read_key_values(ThriftReader::List list) {
    check_list(reader_, list, 3, "key-value pairs");
    auto pairs = make_array<KeyValue>(arena(), list.size);
    for (KeyValue& pair : pairs) {
      for (ThriftFields fields(reader_); fields.next();) {
        if (fields.id() == 1) {
          pair.key = fields.binary();
        } else if (fields.id() == 2) {
          pair.value = fields.binary();
          pair.has_value = true;
        } else {
          fields.skip();
        }
      }
    }
    metadata_.key_values_ = pairs;
  }

  void read_column_orders(ThriftReader::List list) {
    auto orders = make_array<ColumnOrder>(arena(), list.size);
    for (ColumnOrder& order : orders) {
      for (ThriftFields fields(reader_); fields.next();) {
        if (fields.id() == 1) order = ColumnOrder::kTypeOrder;
        if (fields.id() == 2) order = ColumnOrder::kIeee754TotalOrder;
        fields.skip();
      }
    }
    if (orders.size() == metadata_.schema_.leaf_count()) metadata_.column_orders_ = orders;
  }

  FileMetadata& metadata_;
  ThriftReader reader_;
};

FileMetadata::FileMetadata(Buffer footer, MemoryPool& pool)
    : footer_(std::move(footer)), arena_(pool, std::clamp<size_t>(footer_.size() * 2, 1024, size_t{64} << 10)) {}

std::shared_ptr<const FileMetadata> FileMetadata::parse(Buffer footer, uint64_t footer_offset, MemoryPool& pool) {
  auto metadata = std::make_shared<FileMetadata>(std::move(footer), pool);
  FooterParser(*metadata, metadata->footer_.span(), footer_offset).parse();
  return metadata;
}

std::optional<std::string_view> FileMetadata::find_key_value(std::string_view key) const {
  for (const KeyValue& pair : key_values_) {
    if (pair.key == key && pair.has_value) return pair.value;
  }
  return std::nullopt;
}

Statistics parse_statistics(std::span<const std::byte> bytes) {
  Statistics statistics;
  if (bytes.empty()) return statistics;
  const auto as_span = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  ThriftReader reader(bytes);
  for (ThriftFields fields(reader); fields.next();) {
    switch (fields.id()) {
      case 1:
        statistics.max = as_span(fields.binary());
        break;
      case 2:
        statistics.min = as_span(fields.binary());
        break;
      case 3:
        statistics.null_count = fields.i64();
        break;
      case 4:
        statistics.distinct_count = fields.i64();
        break;
      case 5:
        statistics.max_value = as_span(fields.binary());
        break;
      case 6:
        statistics.min_value = as_span(fields.binary());
        break;
      case 7:
        statistics.is_max_value_exact = fields.boolean();
        break;
      case 8:
        statistics.is_min_value_exact = fields.boolean();
        break;
      case 9:
        statistics.nan_count = fields.i64();
        break;
      default:
        fields.skip();
    }
  }
  return statistics;
}

// ---- Reading it from a file ----

namespace {

std::shared_ptr<const FileMetadata> read_footer(const InputFile& file, MemoryPool& pool) {
  const uint64_t file_size = file.size();
  if (file_size == 0) throw_corrupt(0, "not a Parquet file: it is empty");
  if (file_size < 4 + kTrailerBytes)
    throw_corrupt(0, "not a Parquet file: {} bytes are less than the smallest one has", file_size);

  const size_t tail_size = static_cast<size_t>(std::min<uint64_t>(file_size, kTailBytes));
  MutableBuffer tail = pool.allocate(tail_size);
  tail.set_size(tail_size);
  file.read_at(file_size - tail_size, tail.span());

  const std::byte* trailer = tail.data() + tail_size - kTrailerBytes;
  if (std::memcmp(trailer + 4, "PARE", 4) == 0) {
    throw_error(ErrorKind::kUnsupported, "the footer is encrypted, which is not read yet");
  }
  if (std::memcmp(trailer + 4, "PAR1", 4) != 0)
    throw_corrupt(file_size - 4, "not a Parquet file: it does not end in PAR1");
  const uint64_t footer_size = load<uint32_t>(trailer);
  if (footer_size > file_size - kTrailerBytes - 4) {
    throw_corrupt(file_size - kTrailerBytes, "footer of {} bytes in a file of {}", footer_size, file_size);
  }
  const uint64_t footer_offset = file_size - kTrailerBytes - footer_size;

  const size_t in_tail = tail_size - kTrailerBytes;
  if (footer_size <= in_tail) {
    // The copy frees the rest of the tail: metadata lives much longer than the call.
    Buffer footer = pool.copy({trailer - footer_size, static_cast<size_t>(footer_size)});
    tail = MutableBuffer();
    return FileMetadata::parse(std::move(footer), footer_offset, pool);
  }
  MutableBuffer footer = pool.allocate(footer_size);
  footer.set_size(footer_size);
  const size_t missing = static_cast<size_t>(footer_size) - in_tail;
  file.read_at(footer_offset, footer.span().first(missing));
  std::memcpy(footer.data() + missing, tail.data(), in_tail);
  tail = MutableBuffer();
  return FileMetadata::parse(std::move(footer).freeze(), footer_offset, pool);
}

}  // namespace

std::shared_ptr<const FileMetadata> read_metadata(const InputFile& file, MemoryPool& pool) {
  try {
    return read_footer(file, pool);
  } catch (Error& error) {
    error.add_context(message("reading the Parquet footer of {}", file.path()));
    throw;
  }
}

}  // namespace frazil::parquet
