#include "frazil/spec/statistics.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/spec/json_object.h"

namespace frazil::spec {

namespace {

int64_t size_of(ObjectReader& reader, std::string_view key) {
  int64_t size = reader.required_long(key);
  if (size < 0) throw_corrupt(CorruptError::kNoOffset, "statistics file: '{}' must not be negative: {}", key, size);
  return size;
}

BlobMetadata blob_from_json(const json::Value& value) {
  ObjectReader reader(value, "statistics blob");
  BlobMetadata blob;
  blob.type = reader.required_string("type");
  blob.snapshot_id = reader.required_id("snapshot-id");
  blob.sequence_number = reader.required_long("sequence-number");
  blob.fields = reader.int_list(reader.required("fields"), "fields");
  blob.properties = reader.optional_texts("properties");
  blob.extra = reader.rest();
  return blob;
}

json::Value blob_to_json(const BlobMetadata& blob) {
  json::Object object;
  object.emplace_back("type", json::Value(blob.type));
  object.emplace_back("snapshot-id", json::Value(blob.snapshot_id));
  object.emplace_back("sequence-number", json::Value(blob.sequence_number));
  object.emplace_back("fields", ints_to_json(blob.fields));
  if (!blob.properties.empty()) object.emplace_back("properties", texts_to_json(blob.properties));
  append_extra(object, blob.extra);
  return json::Value(std::move(object));
}

}  // namespace

StatisticsFile statistics_file_from_json(const json::Value& value) {
  ObjectReader reader(value, "statistics file");
  StatisticsFile file;
  file.snapshot_id = reader.required_id("snapshot-id");
  file.statistics_path = reader.required_string("statistics-path");
  file.file_size_in_bytes = size_of(reader, "file-size-in-bytes");
  file.file_footer_size_in_bytes = size_of(reader, "file-footer-size-in-bytes");
  file.key_metadata = reader.optional_string("key-metadata");
  for (const json::Value& blob : reader.required_array("blob-metadata")) {
    file.blob_metadata.push_back(blob_from_json(blob));
  }
  file.extra = reader.rest();
  return file;
}

json::Value statistics_file_to_json(const StatisticsFile& file) {
  json::Object object;
  object.emplace_back("snapshot-id", json::Value(file.snapshot_id));
  object.emplace_back("statistics-path", json::Value(file.statistics_path));
  object.emplace_back("file-size-in-bytes", json::Value(file.file_size_in_bytes));
  object.emplace_back("file-footer-size-in-bytes", json::Value(file.file_footer_size_in_bytes));
  if (file.key_metadata) object.emplace_back("key-metadata", json::Value(*file.key_metadata));
  json::Array blobs;
  for (const BlobMetadata& blob : file.blob_metadata) blobs.push_back(blob_to_json(blob));
  object.emplace_back("blob-metadata", json::Value(std::move(blobs)));
  append_extra(object, file.extra);
  return json::Value(std::move(object));
}

PartitionStatisticsFile partition_statistics_file_from_json(const json::Value& value) {
  ObjectReader reader(value, "partition statistics file");
  PartitionStatisticsFile file;
  file.snapshot_id = reader.required_id("snapshot-id");
  file.statistics_path = reader.required_string("statistics-path");
  file.file_size_in_bytes = size_of(reader, "file-size-in-bytes");
  file.extra = reader.rest();
  return file;
}

json::Value partition_statistics_file_to_json(const PartitionStatisticsFile& file) {
  json::Object object;
  object.emplace_back("snapshot-id", json::Value(file.snapshot_id));
  object.emplace_back("statistics-path", json::Value(file.statistics_path));
  object.emplace_back("file-size-in-bytes", json::Value(file.file_size_in_bytes));
  append_extra(object, file.extra);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
