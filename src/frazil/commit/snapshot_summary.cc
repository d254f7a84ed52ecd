#include "frazil/commit/snapshot_summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "frazil/base/checked.h"
#include "frazil/base/number_text.h"
#include "frazil/spec/table_properties.h"

namespace frazil::commit {
namespace {

struct PartitionCounts {
  int64_t files = 0;
  int64_t records = 0;
  int64_t bytes = 0;
};

// Nothing if the parent does not say, or says nonsense: a wrong total would be carried on for ever.
std::optional<int64_t> total_after(const spec::Snapshot* parent, std::string_view key, int64_t added) {
  if (parent == nullptr) return added;
  const std::optional<std::string_view> text = parent->summary_value(key);
  const std::optional<int64_t> before = text ? parse_int64(*text) : std::nullopt;
  if (!before || *before < 0) return std::nullopt;
  return checked_add(*before, added);
}

}  // namespace

AppendedFiles::AppendedFiles(std::span<const manifest::DataFile> files, const spec::TableMetadata& metadata) {
  std::map<std::string, PartitionCounts, std::less<>> partitions;
  for (const manifest::DataFile& file : files) {
    ++file_count_;
    record_count_ += file.record_count;
    file_bytes_ += file.file_size_bytes;
    const spec::PartitionSpec* spec = metadata.find_spec(file.spec_id);
    PartitionCounts& counts = partitions[spec::partition_path(*spec, file.partition)];
    ++counts.files;
    counts.records += file.record_count;
    counts.bytes += file.file_size_bytes;
  }
  partition_count_ = static_cast<int64_t>(partitions.size());
  const int64_t limit = spec::property_int(metadata.properties, "write.summary.partition-limit", 0, INT64_MIN);
  if (partition_count_ == 0 || partition_count_ > limit) return;
  partitions_.emplace_back("partition-summaries-included", "true");
  for (const auto& [path, counts] : partitions) {
    if (path.empty()) continue;
    partitions_.emplace_back("partitions." + path, message("added-data-files={},added-records={},added-files-size={}",
                                                           counts.files, counts.records, counts.bytes));
  }
}

spec::Summary AppendedFiles::summary(const spec::Snapshot* parent, const ManifestCounts& manifests,
                                     const spec::Summary& extra) const {
  spec::Summary own;
  const auto put = [&](std::string_view key, int64_t value) { own.emplace_back(key, std::to_string(value)); };
  const auto put_positive = [&](std::string_view key, int64_t value) {
    if (value > 0) put(key, value);
  };
  const auto put_total = [&](std::string_view key, int64_t added) {
    if (const std::optional<int64_t> total = total_after(parent, key, added)) put(key, *total);
  };
  put_positive("added-data-files", file_count_);
  put_positive("added-records", record_count_);
  put_positive("added-files-size", file_bytes_);
  put("changed-partition-count", partition_count_);
  own.insert(own.end(), partitions_.begin(), partitions_.end());
  put("manifests-created", manifests.created);
  put("manifests-kept", manifests.kept);
  put("manifests-replaced", manifests.replaced);
  put_total("total-records", record_count_);
  put_total("total-files-size", file_bytes_);
  put_total("total-data-files", file_count_);
  put_total("total-delete-files", 0);
  put_total("total-position-deletes", 0);
  put_total("total-equality-deletes", 0);

  spec::Summary summary = {{"operation", "append"}};
  const auto is_written = [&](const std::string& key) {
    const auto has_key = [&](const auto& entry) { return entry.first == key; };
    return std::any_of(summary.begin(), summary.end(), has_key) || std::any_of(own.begin(), own.end(), has_key) ||
           key.starts_with("total-");
  };
  for (const auto& entry : extra) {
    if (!is_written(entry.first)) summary.push_back(entry);
  }
  summary.insert(summary.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return summary;
}

}  // namespace frazil::commit
