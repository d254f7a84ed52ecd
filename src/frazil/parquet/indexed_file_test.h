// Files of random columns with everything that pruning reads, for property tests: statistics, page indexes, Bloom
// filters, dictionaries, each there or not. What is written is right by slow and obvious code. Not compressed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/predicate/random_predicates_test.h"
#include "frazil/predicate/value.h"

namespace frazil::parquet::testing {

// A column type of Parquet and the Arrow type that it is read as.
struct LeafKind {
  PhysicalType type;
  int32_t type_length = 0;
  int32_t converted = -1;
  int32_t precision = 0;
  int32_t scale = 0;
  DataTypePtr arrow;
};

inline std::vector<LeafKind> leaf_kinds() {
  using P = PhysicalType;
  return {
      {.type = P::kBoolean, .arrow = primitive(TypeId::kBool)},
      {.type = P::kInt32, .arrow = primitive(TypeId::kInt32)},
      {.type = P::kInt32, .converted = 15, .arrow = primitive(TypeId::kInt8)},
      {.type = P::kInt32, .converted = 13, .arrow = primitive(TypeId::kUInt32)},
      {.type = P::kInt32, .converted = 6, .arrow = primitive(TypeId::kDate32)},
      {.type = P::kInt64, .arrow = primitive(TypeId::kInt64)},
      {.type = P::kInt64, .converted = 14, .arrow = primitive(TypeId::kUInt64)},
      {.type = P::kInt64, .converted = 10, .arrow = timestamp(TimeUnit::kMicro, "UTC")},
      {.type = P::kFloat, .arrow = primitive(TypeId::kFloat)},
      {.type = P::kDouble, .arrow = primitive(TypeId::kDouble)},
      {.type = P::kByteArray, .converted = 0, .arrow = primitive(TypeId::kUtf8)},
      {.type = P::kByteArray, .arrow = primitive(TypeId::kBinary)},
      {.type = P::kFixedLenByteArray, .type_length = 3, .arrow = fixed_size_binary(3)},
      {.type = P::kFixedLenByteArray,
       .type_length = 16,
       .converted = 5,
       .precision = 38,
       .scale = 2,
       .arrow = decimal(38, 2)},
  };
}

// The PLAIN bytes of a value that is not null, BYTE_ARRAY without its length.
inline std::string plain_bytes(const LeafKind& kind, const Array& array, int64_t index) {
  if (kind.type == PhysicalType::kBoolean) return std::string(1, array.bool_value(index) ? '\1' : '\0');
  if (is_bytes(array.type->id()) || array.type->id() == TypeId::kFixedSizeBinary) {
    return std::string(array.bytes_value(index));
  }
  const std::byte* place = array.buffers[1].data() + (array.offset + index) * array.type->byte_width();
  std::string bytes(reinterpret_cast<const char*>(place), static_cast<size_t>(array.type->byte_width()));
  if (kind.type == PhysicalType::kFixedLenByteArray) {  // decimal, highest byte first
    std::reverse(bytes.begin(), bytes.end());
  } else if (kind.type == PhysicalType::kInt64) {
    bytes.resize(8, '\0');
  } else if (kind.type == PhysicalType::kInt32) {
    const bool is_negative = kind.converted == 15 && (bytes.back() & 0x80) != 0;
    bytes.resize(4, is_negative ? '\xFF' : '\0');
  }
  return bytes;
}

// Bounds and counts of some rows, as a writer that keeps the rules makes them.
struct Bounds {
  std::optional<std::string> min;
  std::optional<std::string> max;
  int64_t null_count = 0;
  int64_t nan_count = 0;
};

class IndexedFile {
 public:
  // `rows` rows in `group_count` row groups.
  IndexedFile(uint64_t seed, int64_t rows, size_t column_count, size_t group_count) : random_(seed) {
    for (size_t i = 0; i < column_count; ++i) kinds_.push_back(random_.pick(leaf_kinds()));
    for (size_t i = 0; i < column_count; ++i) is_optional_.push_back(!random_.coin(4));
    for (size_t group = 0; group < group_count; ++group) {
      const int64_t begin = rows * static_cast<int64_t>(group) / static_cast<int64_t>(group_count);
      const int64_t end = rows * static_cast<int64_t>(group + 1) / static_cast<int64_t>(group_count);
      write_group(end - begin);
    }
  }

  std::string finish() const {
    std::vector<ThriftWriter> schema;
    schema.push_back(ThriftWriter().binary(4, "schema").i32(5, static_cast<int64_t>(kinds_.size())));
    std::vector<ThriftWriter> orders;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      ThriftWriter element;
      element.i32(1, static_cast<int>(kinds_[i].type));
      if (kinds_[i].type_length != 0) element.i32(2, kinds_[i].type_length);
      element.i32(3, is_optional_[i] ? 1 : 0).binary(4, name(i));
      if (kinds_[i].converted >= 0) {
        element.i32(6, kinds_[i].converted).i32(7, kinds_[i].scale).i32(8, kinds_[i].precision);
      }
      schema.push_back(element);
      orders.push_back(ThriftWriter().structure(1, ThriftWriter()));
    }
    ThriftWriter footer;
    footer.i32(1, 1).structs(2, schema).i64(3, row_count_).structs(4, groups_).binary(6, "test version 1.0.0");
    footer.structs(7, orders);
    return FileBuilder::with_footer(bytes_, footer.finish());
  }

  static std::string name(size_t column) { return std::string(1, static_cast<char>('a' + column)); }
  // What the file holds, in one batch.
  RecordBatch rows() {
    std::vector<Field> fields;
    std::vector<ArrayPtr> columns;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      std::vector<ArrayPtr> parts;
      for (const auto& group : group_columns_) parts.push_back(group[i]);
      fields.push_back({.name = name(i), .type = kinds_[i].arrow, .nullable = is_optional_[i]});
      columns.push_back(concatenate(parts, pool_));
    }
    return {Schema::make(std::move(fields)), row_count_, std::move(columns)};
  }
  predicate::test::RandomPredicates& random() { return random_; }

 private:
  // Pages of different lengths in each column, each of few different values.
  ArrayPtr random_column(const LeafKind& kind, bool is_optional, int64_t rows, std::vector<int64_t>& page_ends) {
    const ArrayPtr palette = random_.array(kind.arrow, 60);
    auto builder = make_builder(kind.arrow, pool_);
    const int64_t page_rows_max = 1 + random_.below(40);
    while (builder->length() < rows) {
      const int64_t count = std::min<int64_t>(rows - builder->length(), 1 + random_.below(page_rows_max));
      const int64_t first = random_.below(60);
      const int64_t spread = 1 + random_.below(3);
      for (int64_t i = 0; i < count; ++i) {
        int64_t index = (first + random_.below(spread)) % 60;
        while (!is_optional && palette->is_null(index)) index = (index + 1) % 60;
        builder->append_from(*palette, index);
      }
      page_ends.push_back(builder->length());
    }
    return builder->finish();
  }

  Bounds bounds_of(const LeafKind& kind, const Array& array, int64_t begin, int64_t end, bool cut_off) const {
    Bounds bounds;
    std::optional<predicate::Value> min;
    std::optional<predicate::Value> max;
    for (int64_t i = begin; i < end; ++i) {
      const std::optional<predicate::Value> value = predicate::value_at(array, i);
      if (!value) {
        ++bounds.null_count;
      } else if (predicate::is_nan(*value)) {
        ++bounds.nan_count;
      } else {
        if (!min || predicate::compare(*value, *min) < 0) {
          min = value;
          bounds.min = plain_bytes(kind, array, i);
        }
        if (!max || predicate::compare(*value, *max) > 0) {
          max = value;
          bounds.max = plain_bytes(kind, array, i);
        }
      }
    }
    if (cut_off && bounds.max && kind.type == PhysicalType::kByteArray) {
      bounds.min = bounds.min->substr(0, 1);
      if (bounds.max->size() > 1 && static_cast<uint8_t>((*bounds.max)[0]) < 0x7E) {
        bounds.max = std::string(1, static_cast<char>((*bounds.max)[0] + 1));
      }
    }
    return bounds;
  }

  void write_group(int64_t rows) {
    std::vector<ThriftWriter> columns;
    group_columns_.emplace_back();
    for (size_t i = 0; i < kinds_.size(); ++i) {
      std::vector<int64_t> page_ends;
      const ArrayPtr column = random_column(kinds_[i], is_optional_[i], rows, page_ends);
      columns.push_back(write_chunk(i, *column, page_ends));
      group_columns_.back().push_back(column);
    }
    groups_.push_back(ThriftWriter().structs(1, columns).i64(2, 0).i64(3, rows));
    row_count_ += rows;
  }

  ThriftWriter statistics(const Bounds& bounds, bool is_floating) const {
    ThriftWriter writer;
    writer.i64(3, bounds.null_count);
    if (bounds.max) writer.binary(5, *bounds.max).binary(6, *bounds.min);
    if (is_floating && knows_nans_) writer.i64(9, bounds.nan_count);
    return writer;
  }

  ThriftWriter write_chunk(size_t index, const Array& array, const std::vector<int64_t>& page_ends) {
    const LeafKind& kind = kinds_[index];
    const bool is_floating = kind.type == PhysicalType::kFloat || kind.type == PhysicalType::kDouble;
    const bool with_dictionary = kind.type != PhysicalType::kBoolean && random_.coin(2);
    const bool falls_back = with_dictionary && random_.coin(4);  // to PLAIN, after some pages
    const bool cut_off = random_.coin(2);
    knows_nans_ = random_.coin(2);

    std::vector<std::string> dictionary;
    std::vector<uint32_t> ids(static_cast<size_t>(array.length));
    std::set<std::string> distinct;
    for (int64_t i = 0; i < array.length; ++i) {
      if (array.is_null(i)) continue;
      const std::string value = plain_bytes(kind, array, i);
      distinct.insert(value);
      const auto found = std::find(dictionary.begin(), dictionary.end(), value);
      ids[static_cast<size_t>(i)] = static_cast<uint32_t>(found - dictionary.begin());
      if (found == dictionary.end()) dictionary.push_back(value);
    }
    const auto start = static_cast<int64_t>(bytes_.size());
    if (with_dictionary) {
      std::string payload;
      for (const std::string& value : dictionary) append_plain(payload, kind, value);
      bytes_ += page_bytes(dictionary_page(payload, static_cast<int32_t>(dictionary.size())));
    }
    const auto data_start = static_cast<int64_t>(bytes_.size());

    std::vector<ThriftWriter> locations;
    std::vector<bool> null_pages;
    std::vector<std::string> min_values;
    std::vector<std::string> max_values;
    std::vector<int64_t> null_counts;
    std::vector<int64_t> nan_counts;
    bool has_bounds = true;
    int64_t plain_pages = 0;
    int64_t dictionary_pages = 0;
    int64_t begin = 0;
    for (size_t page = 0; page < page_ends.size(); ++page) {
      const int64_t end = page_ends[page];
      const bool by_dictionary = with_dictionary && !(falls_back && page >= page_ends.size() / 2);
      ++(by_dictionary ? dictionary_pages : plain_pages);
      std::string payload;
      if (is_optional_[index]) {
        std::vector<uint32_t> levels;
        for (int64_t i = begin; i < end; ++i) levels.push_back(array.is_valid(i));
        payload += with_length(hybrid(levels, 1));
      }
      payload += by_dictionary ? dictionary_values(array, ids, dictionary.size(), begin, end)
                               : plain_values(kind, array, begin, end);
      const auto offset = static_cast<int64_t>(bytes_.size());
      bytes_ += page_bytes(data_page(payload, static_cast<int32_t>(end - begin),
                                     by_dictionary ? Encoding::kRleDictionary : Encoding::kPlain));
      const auto size = static_cast<int64_t>(bytes_.size()) - offset;
      locations.push_back(ThriftWriter().i64(1, offset).i32(2, size).i64(3, begin));
      const Bounds bounds = bounds_of(kind, array, begin, end, cut_off);
      null_pages.push_back(bounds.null_count == end - begin);
      if (!bounds.max && !null_pages.back()) has_bounds = false;  // of NaN alone: no column index under TYPE_ORDER
      min_values.push_back(bounds.min.value_or(""));
      max_values.push_back(bounds.max.value_or(""));
      null_counts.push_back(bounds.null_count);
      nan_counts.push_back(bounds.nan_count);
      begin = end;
    }
    const auto size = static_cast<int64_t>(bytes_.size()) - start;

    ThriftWriter metadata;
    std::vector<int32_t> encodings = {3, 0};
    if (with_dictionary) encodings.push_back(8);
    metadata.i32(1, static_cast<int>(kind.type)).i32s(2, encodings).binaries(3, {name(index)}).i32(4, 0);
    metadata.i64(5, array.length).i64(6, size).i64(7, size).i64(9, data_start);
    if (with_dictionary) metadata.i64(11, start);
    if (!random_.coin(4)) {
      metadata.structure(12, statistics(bounds_of(kind, array, 0, array.length, cut_off), is_floating));
    }
    if (with_dictionary && !random_.coin(5)) {
      std::vector<ThriftWriter> stats = {ThriftWriter().i32(1, 2).i32(2, 0).i32(3, 1)};
      if (dictionary_pages > 0) stats.push_back(ThriftWriter().i32(1, 0).i32(2, 8).i32(3, dictionary_pages));
      if (plain_pages > 0) stats.push_back(ThriftWriter().i32(1, 0).i32(2, 0).i32(3, plain_pages));
      metadata.structs(13, stats);
    }
    if (kind.type != PhysicalType::kBoolean && random_.coin(2)) write_bloom_filter(distinct, metadata);

    ThriftWriter chunk;
    chunk.i64(2, start).structure(3, metadata);
    if (!random_.coin(4)) {
      const std::string offsets = ThriftWriter().structs(1, locations).finish();
      chunk.i64(4, static_cast<int64_t>(bytes_.size())).i32(5, static_cast<int64_t>(offsets.size()));
      bytes_ += offsets;
      if (has_bounds && !random_.coin(4)) {
        ThriftWriter index_writer;
        index_writer.booleans(1, null_pages).binaries(2, min_values).binaries(3, max_values).i32(4, 0);
        index_writer.i64s(5, null_counts);
        if (is_floating && knows_nans_) index_writer.i64s(8, nan_counts);
        const std::string written = index_writer.finish();
        chunk.i64(6, static_cast<int64_t>(bytes_.size())).i32(7, static_cast<int64_t>(written.size()));
        bytes_ += written;
      }
    }
    return chunk;
  }

  static void append_plain(std::string& payload, const LeafKind& kind, const std::string& value) {
    if (kind.type == PhysicalType::kByteArray) append(payload, static_cast<uint32_t>(value.size()));
    payload += value;
  }

  static std::string plain_values(const LeafKind& kind, const Array& array, int64_t begin, int64_t end) {
    std::string payload;
    size_t bit = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (array.is_null(i)) continue;
      const std::string value = plain_bytes(kind, array, i);
      if (kind.type != PhysicalType::kBoolean) {
        append_plain(payload, kind, value);
        continue;
      }
      if (bit % 8 == 0) payload += '\0';
      if (value[0] != 0) payload.back() = static_cast<char>(payload.back() | 1 << (bit % 8));
      ++bit;
    }
    return payload;
  }

  static std::string dictionary_values(const Array& array, const std::vector<uint32_t>& ids, size_t dictionary_size,
                                       int64_t begin, int64_t end) {
    std::vector<uint32_t> values;
    for (int64_t i = begin; i < end; ++i) {
      if (array.is_valid(i)) values.push_back(ids[static_cast<size_t>(i)]);
    }
    int width = 0;
    while (dictionary_size > size_t{1} << width) ++width;
    return std::string(1, static_cast<char>(width)) + hybrid(values, width);
  }

  void write_bloom_filter(const std::set<std::string>& values, ThriftWriter& metadata) {
    static constexpr uint32_t kSalt[] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                         0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    const auto block_count = static_cast<uint64_t>(1 + random_.below(8));
    std::vector<uint32_t> words(block_count * 8);
    for (const std::string& value : values) {
      const uint64_t hash = bloom_hash(std::as_bytes(std::span(value)));
      const uint64_t block = ((hash >> 32) * block_count) >> 32;
      for (size_t i = 0; i < 8; ++i) words[block * 8 + i] |= 1U << ((static_cast<uint32_t>(hash) * kSalt[i]) >> 27);
    }
    const ThriftWriter first = ThriftWriter().structure(1, ThriftWriter());
    std::string filter = ThriftWriter()
                             .i32(1, static_cast<int64_t>(block_count) * 32)
                             .structure(2, first)
                             .structure(3, first)
                             .structure(4, first)
                             .finish();
    filter.append(reinterpret_cast<const char*>(words.data()), words.size() * 4);
    metadata.i64(14, static_cast<int64_t>(bytes_.size()));
    if (random_.coin(2)) metadata.i32(15, static_cast<int64_t>(filter.size()));
    bytes_ += filter;
  }

  predicate::test::RandomPredicates random_;
  MemoryPool pool_;
  std::vector<LeafKind> kinds_;
  std::vector<bool> is_optional_;
  std::string bytes_ = "PAR1";
  std::vector<ThriftWriter> groups_;
  std::vector<std::vector<ArrayPtr>> group_columns_;
  int64_t row_count_ = 0;
  bool knows_nans_ = false;
};

}  // namespace frazil::parquet::testing
