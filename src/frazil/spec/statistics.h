// Entries of table metadata that point to statistics files (spec, "Table Statistics", "Partition Statistics").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frazil/json/value.h"

namespace frazil::spec {

using Properties = std::vector<std::pair<std::string, std::string>>;

struct BlobMetadata {
  std::string type;
  int64_t snapshot_id = 0;
  int64_t sequence_number = 0;
  std::vector<int32_t> fields;
  Properties properties;
  json::Object extra;
};

// A Puffin file.
struct StatisticsFile {
  int64_t snapshot_id = 0;
  std::string statistics_path;
  int64_t file_size_in_bytes = 0;
  int64_t file_footer_size_in_bytes = 0;
  std::optional<std::string> key_metadata;  // base64, as it stood
  std::vector<BlobMetadata> blob_metadata;
  json::Object extra;
};

struct PartitionStatisticsFile {
  int64_t snapshot_id = 0;
  std::string statistics_path;
  int64_t file_size_in_bytes = 0;
  json::Object extra;
};

StatisticsFile statistics_file_from_json(const json::Value& value);
json::Value statistics_file_to_json(const StatisticsFile& file);
PartitionStatisticsFile partition_statistics_file_from_json(const json::Value& value);
json::Value partition_statistics_file_to_json(const PartitionStatisticsFile& file);

}  // namespace frazil::spec
