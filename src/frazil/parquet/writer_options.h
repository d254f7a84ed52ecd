// How Parquet files are written: options by name, from an Iceberg table's properties, and resolved for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/parquet/chunk_encoder.h"
#include "frazil/parquet/write_schema.h"

namespace frazil::parquet {

// What is set stands above WriterOptions::columns.
struct ColumnOptions {
  std::string path;            // see WriteSchema::find_leaf()
  bool may_be_absent = false;  // false: a path that the schema does not have is an error
  std::optional<CompressionCodec> codec = std::nullopt;
  std::optional<int> level = std::nullopt;
  std::optional<Encoding> encoding = std::nullopt;
  std::optional<bool> dictionary = std::nullopt;
  std::optional<bool> statistics = std::nullopt;
  std::optional<size_t> statistics_length = std::nullopt;
  std::optional<bool> bloom_filter = std::nullopt;
  std::optional<uint64_t> bloom_ndv = std::nullopt;
  std::optional<double> bloom_fpp = std::nullopt;
};

// Recorded, not checked: the rows of each row group are in that order.
struct SortingColumn {
  std::string path;
  bool descending = false;
  bool nulls_first = false;
};

struct WriterOptions {
  ChunkOptions columns = {};  // of every column, if `overrides` say nothing else
  std::vector<ColumnOptions> overrides = {};
  uint64_t row_group_bytes = uint64_t{128} << 20;  // encoded; a row group ends when its pages pass it
  int64_t row_group_rows = 1'048'576;
  bool page_index = true;
  std::vector<SortingColumn> sorting_columns = {};
  Metadata key_values = {};
  // The Arrow schema among them (embedded_schema.h), so that readers restore what Parquet has no word for: dictionaries, large and
  // view forms, time zones, durations, extensions, metadata. A key of that name in `key_values` stands.
  bool embed_arrow_schema = false;
  std::string created_by = {};  // empty: "frazil version X"
};

// The options that Iceberg table properties ask for; others keep what `base` has. `prefix` is "write.parquet." or
// "write.delete.parquet.", whose keys stand above the former's.
//
//   row-group-size-bytes      row_group_bytes             compression-codec        zstd, gzip, snappy, brotli, lz4
//   row-group-limit           row_group_rows (PyIceberg)                           (LZ4_RAW), uncompressed, none
//   page-size-bytes           columns.page_bytes          compression-level        columns.level
//   page-row-limit            columns.page_rows           page-version             v1, v2
//   dict-size-bytes           columns.dictionary_bytes    bloom-filter-max-bytes   columns.bloom_bytes_max
//   bloom-filter-enabled.column.X, bloom-filter-fpp.column.X, bloom-filter-ndv.column.X, stats-enabled.column.X,
//   dict-encoding-enabled.column.X                        overrides; a column that is not there is no error, as in Java
//
// Properties that only say when to look at sizes (row-group-check-*), and those of variants, change nothing. Throws
// Error(kInvalidArgument), which names the property, for a value that cannot be.
WriterOptions options_from_properties(std::span<const std::pair<std::string, std::string>> properties,
                                      WriterOptions base = {}, std::string_view prefix = "write.parquet.");

// A schema and options, made for each other: what all files of one table have in common. Immutable, shared.
class WritePlan {
 public:
  // Throws as WriteSchema; Error(kInvalidArgument) for an override or sorting column that the schema does not have, and
  // for sizes of 0.
  WritePlan(SchemaPtr arrow_schema, WriterOptions options);

  const WriteSchema& schema() const { return schema_; }
  const WriterOptions& options() const { return options_; }
  std::span<const LeafDescription> leaves() const { return schema_.leaves(); }
  // One a leaf.
  std::span<const ChunkOptions> chunk_options() const { return chunk_options_; }
  // The leaves of WriterOptions::sorting_columns.
  std::span<const uint32_t> sorting_leaves() const { return sorting_leaves_; }

 private:
  WriteSchema schema_;
  WriterOptions options_;
  std::vector<ChunkOptions> chunk_options_;
  std::vector<uint32_t> sorting_leaves_;
};

using WritePlanPtr = std::shared_ptr<const WritePlan>;

}  // namespace frazil::parquet
