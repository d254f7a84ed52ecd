// The first metadata of a table, and the names of its metadata files (spec, "Table Metadata", "Metadata Files").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/uuid.h"
#include "frazil/memory/buffer.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::spec {

inline constexpr int kDefaultFormatVersion = 2;

struct NewTable {
  // Its field ids are those that `spec` and `sort_order` use. The table gets ids of its own: columns first, from 1 on,
  // then what is nested in them, as Iceberg Java numbers; use the schema of the table that was made.
  SchemaPtr schema;
  PartitionSpec spec = {};    // its ids do not matter: fields are numbered from 1000 on, the spec is 0
  SortOrder sort_order = {};  // order 1, or 0 if unsorted
  std::string location = {};  // empty: the catalog's default
  // Reserved ones ("format-version" apart, which is the version if `format_version` is not given) are dropped.
  Properties properties = {};
  std::optional<int> format_version = std::nullopt;
};

// Valid metadata without snapshots. As Iceberg Java does, "write.parquet.compression-codec" = "zstd" is recorded unless
// the properties say something else: Java's writers take gzip where a table says nothing. Throws Error(kInvalidArgument)
// for a schema, spec or order that cannot be: types of a later format version, transforms that do not fit or are not
// known, partition fields named like another column.
TableMetadata new_table_metadata(const NewTable& table, const Uuid& uuid, int64_t now_ms);

// `schema` with ids from `first_id` on, identifier fields kept.
SchemaPtr with_fresh_ids(const Schema& schema, int32_t first_id = 1);

// Set by what the metadata itself says, never stored: "format-version", "uuid", "snapshot-count",
// "current-snapshot-id", "current-snapshot-summary", "current-snapshot-timestamp-ms", "current-schema",
// "default-partition-spec", "default-sort-order".
bool is_reserved_property(std::string_view key);

// The folder of a table's metadata files: write.metadata.path, else "<location>/metadata".
std::string metadata_folder(const TableMetadata& metadata);

// Of write.metadata.compression-codec: "none" or "gzip" (also "gz"), in any case. Throws Error(kInvalidArgument).
bool writes_gzip_metadata(const TableMetadata& metadata);
// Its text, compressed if asked. The bytes are the pool's, or the heap's if they are not compressed. Throws what
// validate() throws.
Buffer metadata_file_bytes(const TableMetadata& metadata, bool gzip, MemoryPool& pool);

}  // namespace frazil::spec
