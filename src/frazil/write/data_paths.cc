#include "frazil/write/data_paths.h"

#include <optional>
#include <string_view>
#include <utility>

#include "frazil/base/message.h"
#include "frazil/base/murmur3.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/table_properties.h"

namespace frazil::write {

namespace {

std::string without_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/') && !path.ends_with("://")) path.remove_suffix(1);
  return std::string(path);
}

// "<parent>/<table>" of a table's location.
std::string path_context(std::string_view location) {
  const size_t scheme = location.find("://");
  std::string_view path = scheme == std::string_view::npos ? location : location.substr(scheme + 3);
  const size_t last = path.rfind('/');
  if (last == std::string_view::npos) return std::string(path);
  const size_t before = last == 0 ? std::string_view::npos : path.rfind('/', last - 1);
  return std::string(before == std::string_view::npos ? path : path.substr(before + 1));
}

}  // namespace

std::string object_storage_hash(std::string_view text) {
  const uint32_t hash = static_cast<uint32_t>(murmur3_x86_32(text)) | 0x80000000U;
  std::string folders;
  for (int bit = 19; bit >= 0; --bit) {
    folders += (hash >> bit & 1) != 0 ? '1' : '0';
    if (bit == 16 || bit == 12 || bit == 8) folders += '/';
  }
  return folders;
}

DataPaths::DataPaths(const spec::TableMetadata& metadata, int64_t task_id, std::string operation_id)
    : spec_(&metadata.default_spec()), task_id_(task_id), operation_id_(std::move(operation_id)) {
  const std::string location = without_slash(metadata.location);
  is_object_storage_ = spec::property_bool(metadata.properties, "write.object-storage.enabled", false);
  has_partition_paths_ = spec::property_bool(metadata.properties, "write.object-storage.partitioned-paths", true);
  std::optional<std::string_view> folder = metadata.property("write.data.path");
  if (!folder && is_object_storage_) folder = metadata.property("write.object-storage.path");
  if (!folder) folder = metadata.property("write.folder-storage.path");
  folder_ = folder ? without_slash(*folder) : location + "/data";
  if (is_object_storage_ && !folder_.starts_with(location)) context_ = path_context(location);
}

std::string DataPaths::path(std::span<const spec::Literal> partition, uint64_t file_count) const {
  std::string name = message("00000-{}-{}-{:05}.parquet", task_id_, operation_id_, file_count);
  const bool is_partitioned = !spec_->is_unpartitioned();
  if (!is_object_storage_) {
    if (is_partitioned) name = spec::partition_path(*spec_, partition) + "/" + name;
    return folder_ + "/" + name;
  }
  if (is_partitioned && has_partition_paths_) name = spec::partition_path(*spec_, partition) + "/" + name;
  const std::string hash = object_storage_hash(name);
  if (!context_.empty()) return folder_ + "/" + hash + "/" + context_ + "/" + name;
  return folder_ + "/" + hash + (has_partition_paths_ ? "/" : "-") + name;
}

}  // namespace frazil::write
