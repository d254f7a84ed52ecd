// A data or delete file as tables know it, as a value: what writers hand to commits, and what manifests are written
// from (Iceberg spec, "Manifests", struct data_file). manifest::Entry is the same as it is read, without a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/manifest/manifest.h"
#include "frazil/spec/literal.h"

namespace frazil::manifest {

// By field id; rising in what Frazil makes, in the file's order in what was read.
using CountMap = std::vector<std::pair<int32_t, int64_t>>;
using BoundMap = std::vector<std::pair<int32_t, std::string>>;  // in the binary single-value form

struct DataFile {
  FileContent content = FileContent::kData;
  std::string path;
  FileFormat format = FileFormat::kParquet;
  std::string other_format;  // its text, if format is kOther
  int32_t spec_id = 0;
  // One value a field of the spec of that id, of its transform's result type (or of a type that promotes to it).
  std::vector<spec::Literal> partition;
  int64_t record_count = 0;
  int64_t file_size_bytes = 0;

  // Metrics. Absent and empty both say nothing; an absent map is written as null.
  std::optional<CountMap> column_sizes;  // bytes in the file
  std::optional<CountMap> value_counts;  // with nulls and NaN
  std::optional<CountMap> null_value_counts;
  std::optional<CountMap> nan_value_counts;
  std::optional<BoundMap> lower_bounds;
  std::optional<BoundMap> upper_bounds;

  std::optional<std::string> key_metadata;
  std::vector<int64_t> split_offsets;  // rising; empty: unknown
  std::vector<int32_t> equality_ids;   // equality deletes
  std::optional<int32_t> sort_order_id;
  std::optional<int64_t> first_row_id;              // v3; of files that a table already has
  std::optional<std::string> referenced_data_file;  // deletion vectors, position deletes of one file
  std::optional<int64_t> content_offset;            // deletion vectors: their blob
  std::optional<int64_t> content_size_bytes;

  bool operator==(const DataFile& other) const = default;
};

// "PARQUET", as manifests have it.
std::string file_format_text(const DataFile& file);

// All that the entry says about its file, row id inherited. `spec_id`: of the manifest's list entry. Throws
// Error(kInvalidArgument) if the manifest was read without metrics, which would be lost, and what the getters of Entry
// throw.
DataFile data_file_of(const Entry& entry);
// The same with the partition tuple in the fields of `partition_type`, a struct, found by their ids: null where the
// manifest has no such field. Values keep the manifest's types.
DataFile data_file_of(const Entry& entry, const spec::Type& partition_type);

}  // namespace frazil::manifest
