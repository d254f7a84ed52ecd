#include "frazil/parquet/writer_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/parquet/embedded_schema.h"

namespace frazil::parquet {

namespace {

using Property = std::pair<std::string, std::string>;

[[noreturn]] void throw_property(const Property& property, std::string_view wanted) {
  throw_error(ErrorKind::kInvalidArgument, "property '{}' is '{}', which is not {}", property.first, property.second,
              wanted);
}

template <typename T>
T number(const Property& property, T least, T most, std::string_view wanted) {
  T value{};
  const char* end = property.second.data() + property.second.size();
  const auto [at, error] = std::from_chars(property.second.data(), end, value);
  if (error != std::errc() || at != end || !(value >= least && value <= most)) throw_property(property, wanted);
  return value;
}

bool boolean(const Property& property) {
  std::string text = property.second;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "true") return true;
  if (text == "false") return false;
  throw_property(property, "true or false");
}

CompressionCodec codec(const Property& property) {
  std::string text = property.second;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "zstd") return CompressionCodec::kZstd;
  if (text == "gzip") return CompressionCodec::kGzip;
  if (text == "snappy") return CompressionCodec::kSnappy;
  if (text == "brotli") return CompressionCodec::kBrotli;
  if (text == "lz4" || text == "lz4_raw") return CompressionCodec::kLz4Raw;  // the framing of the other is deprecated
  if (text == "uncompressed" || text == "none") return CompressionCodec::kUncompressed;
  throw_property(property, "a codec: zstd, gzip, snappy, brotli, lz4 or uncompressed");
}

bool has_levels(CompressionCodec codec) {
  return codec == CompressionCodec::kZstd || codec == CompressionCodec::kGzip || codec == CompressionCodec::kBrotli;
}

ColumnOptions& override_of(WriterOptions& options, std::string_view path) {
  for (ColumnOptions& column : options.overrides) {
    if (column.path == path) return column;
  }
  ColumnOptions& made = options.overrides.emplace_back();
  made.path = std::string(path);
  made.may_be_absent = true;
  return made;
}

// `name`: without the prefix.
void apply(const Property& property, std::string_view name, WriterOptions& options) {
  constexpr std::string_view kBytes = "a number of bytes from 1 on";
  constexpr std::string_view kRows = "a number of rows from 1 on";
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kPageMost = std::numeric_limits<int32_t>::max();
  ChunkOptions& columns = options.columns;
  if (name == "row-group-size-bytes") {
    options.row_group_bytes = static_cast<uint64_t>(number<int64_t>(property, 1, kMost, kBytes));
  } else if (name == "row-group-limit") {
    options.row_group_rows = number<int64_t>(property, 1, kMost, kRows);
  } else if (name == "page-size-bytes") {
    columns.page_bytes = static_cast<size_t>(number<int64_t>(property, 1, kPageMost, kBytes));
  } else if (name == "page-row-limit") {
    columns.page_rows = static_cast<size_t>(number<int64_t>(property, 1, kPageMost, kRows));
  } else if (name == "dict-size-bytes") {
    columns.dictionary_bytes = static_cast<size_t>(number<int64_t>(property, 1, kPageMost, kBytes));
  } else if (name == "compression-codec") {
    columns.codec = codec(property);
  } else if (name == "compression-level") {
    columns.level = number<int>(property, -200'000, 100, "a compression level");
  } else if (name == "page-version") {
    if (property.second != "v1" && property.second != "v2") throw_property(property, "v1 or v2");
    columns.page_v2 = property.second == "v2";
  } else if (name == "bloom-filter-max-bytes") {
    columns.bloom_bytes_max = static_cast<size_t>(number<int64_t>(property, 1, kPageMost, kBytes));
  } else if (const size_t at = name.find(".column."); at != std::string_view::npos) {
    const std::string_view kind = name.substr(0, at);
    const std::string_view column = name.substr(at + 8);
    if (kind == "bloom-filter-enabled") {
      override_of(options, column).bloom_filter = boolean(property);
    } else if (kind == "bloom-filter-fpp") {
      const double fpp = number<double>(property, 0, 1, "a probability between 0 and 1");
      if (fpp <= 0 || fpp >= 1) throw_property(property, "a probability between 0 and 1");
      override_of(options, column).bloom_fpp = fpp;
    } else if (kind == "bloom-filter-ndv") {
      override_of(options, column).bloom_ndv =
          static_cast<uint64_t>(number<int64_t>(property, 1, kMost, "a number of values from 1 on"));
    } else if (kind == "stats-enabled") {
      override_of(options, column).statistics = boolean(property);
    } else if (kind == "dict-encoding-enabled") {
      override_of(options, column).dictionary = boolean(property);
    }
  }
}

void apply_all(std::span<const Property> properties, std::string_view prefix, WriterOptions& options) {
  for (const Property& property : properties) {
    if (property.first.starts_with(prefix)) {
      apply(property, std::string_view(property.first).substr(prefix.size()), options);
    }
  }
}

ChunkOptions resolve(const ChunkOptions& all, const ColumnOptions& column) {
  ChunkOptions options = all;
  if (column.codec && *column.codec != all.codec) {
    options.codec = *column.codec;
    options.level = std::nullopt;  // that of another codec means nothing
  }
  if (column.level) options.level = column.level;
  if (column.encoding) options.encoding = column.encoding;
  if (column.dictionary) options.dictionary = *column.dictionary;
  if (column.statistics) options.statistics = *column.statistics;
  if (column.statistics_length) options.statistics_length = *column.statistics_length;
  if (column.bloom_filter) options.bloom_filter = *column.bloom_filter;
  if (column.bloom_ndv) options.bloom_ndv = *column.bloom_ndv;
  if (column.bloom_fpp) options.bloom_fpp = *column.bloom_fpp;
  return options;
}

}  // namespace

WriterOptions options_from_properties(std::span<const Property> properties, WriterOptions base,
                                      std::string_view prefix) {
  constexpr std::string_view kPrefix = "write.parquet.";
  apply_all(properties, kPrefix, base);
  if (prefix != kPrefix) apply_all(properties, prefix, base);
  // As Java: a level stays in a table's properties when its codec changes to one without levels.
  if (!has_levels(base.columns.codec)) base.columns.level = std::nullopt;
  return base;
}

WritePlan::WritePlan(SchemaPtr arrow_schema, WriterOptions options)
    : schema_(std::move(arrow_schema)), options_(std::move(options)) {
  if (options_.row_group_bytes == 0 || options_.row_group_rows < 1) {
    throw_error(ErrorKind::kInvalidArgument, "row groups of {} bytes and {} rows", options_.row_group_bytes,
                options_.row_group_rows);
  }
  if (options_.created_by.empty()) options_.created_by = "frazil version " FRAZIL_VERSION;
  if (options_.embed_arrow_schema && !find_metadata(options_.key_values, kEmbeddedSchemaKey)) {
    options_.key_values.emplace_back(kEmbeddedSchemaKey, embedded_schema_text(*schema_.arrow_schema()));
  }
  chunk_options_.assign(schema_.leaves().size(), options_.columns);
  for (const ColumnOptions& column : options_.overrides) {
    const std::optional<size_t> leaf = schema_.find_leaf(column.path);
    if (leaf) {
      chunk_options_[*leaf] = resolve(chunk_options_[*leaf], column);
    } else if (!column.may_be_absent) {
      throw_error(ErrorKind::kInvalidArgument, "options for column '{}', which the schema does not have", column.path);
    }
  }
  for (const SortingColumn& column : options_.sorting_columns) {
    const std::optional<size_t> leaf = schema_.find_leaf(column.path);
    if (!leaf) {
      throw_error(ErrorKind::kInvalidArgument, "sorted by column '{}', which the schema does not have", column.path);
    }
    sorting_leaves_.push_back(static_cast<uint32_t>(*leaf));
  }
}

}  // namespace frazil::parquet
