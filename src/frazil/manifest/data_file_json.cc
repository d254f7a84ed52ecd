#include "frazil/manifest/data_file_json.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/spec/json_object.h"

namespace frazil::manifest {

namespace {

constexpr auto kNoOffset = CorruptError::kNoOffset;

std::string bytes_of(std::string_view key, const json::Value& value) {
  auto bytes = decode_hex(value.as_string());
  if (!bytes) throw_corrupt(kNoOffset, "'{}' is not in hex", key);
  return *std::move(bytes);
}

json::Value to_json(int64_t count) {
  return json::Value(count);
}
json::Value to_json(const std::string& bound) {
  return json::Value(encode_hex(bound));
}

template <typename Map>
void append_map(json::Object& object, std::string_view key, const std::optional<Map>& map) {
  if (!map) return;
  json::Array keys;
  json::Array values;
  for (const auto& [field_id, value] : *map) {
    keys.emplace_back(field_id);
    values.push_back(to_json(value));
  }
  json::Object lists;
  lists.emplace_back("keys", json::Value(std::move(keys)));
  lists.emplace_back("values", json::Value(std::move(values)));
  object.emplace_back(key, json::Value(std::move(lists)));
}

template <typename T>
void append_list(json::Object& object, std::string_view key, const std::vector<T>& values) {
  if (values.empty()) return;
  json::Array array;
  for (const T value : values) array.emplace_back(value);
  object.emplace_back(key, json::Value(std::move(array)));
}

template <typename T>
void append_number(json::Object& object, std::string_view key, std::optional<T> value) {
  if (value) object.emplace_back(key, json::Value(*value));
}

void from_json(std::string_view, const json::Value& value, int64_t& count) {
  count = value.as_int64();
}
void from_json(std::string_view key, const json::Value& value, std::string& bound) {
  bound = bytes_of(key, value);
}

template <typename Map>
void read_map(spec::ObjectReader& reader, std::string_view key, std::optional<Map>& map) {
  const json::Value* value = reader.optional(key);
  if (value == nullptr) return;
  spec::ObjectReader lists(*value, key);
  const json::Array& keys = lists.required_array("keys");
  const json::Array& values = lists.required_array("values");
  if (keys.size() != values.size())
    throw_corrupt(kNoOffset, "'{}' has {} keys and {} values", key, keys.size(), values.size());
  map.emplace();
  map->reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    map->emplace_back();
    map->back().first = keys[i].as_int32();
    from_json(key, values[i], map->back().second);
  }
}

FileContent read_content(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto content : {FileContent::kData, FileContent::kPositionDeletes, FileContent::kEqualityDeletes}) {
    if (lower == to_string(content)) return content;
  }
  throw_corrupt(kNoOffset, "'content' is '{}'", text);
}

std::vector<spec::Literal> read_partition(const json::Value* value, const spec::Type& type) {
  std::vector<spec::Literal> partition;
  const auto fields = type.fields();
  const bool by_id = value != nullptr && value->is_object();
  const size_t size = value == nullptr || by_id ? fields.size() : value->as_array().size();
  // Java leaves the tuple of an unpartitioned file out; a null field is left out of an object.
  if (size != fields.size() || (value == nullptr && !fields.empty()))
    throw_corrupt(kNoOffset, "'partition' has not the {} values of its spec", fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const json::Value* item = by_id ? value->find(std::to_string(fields[i].id)) : &value->as_array()[i];
    if (item == nullptr || item->is_null()) {
      partition.push_back(spec::Literal::null(fields[i].type));
    } else {
      partition.push_back(spec::literal_from_json(fields[i].type, *item));
    }
  }
  return partition;
}

}  // namespace

json::Value data_file_to_json(const DataFile& file) {
  json::Object object;
  object.emplace_back("spec-id", json::Value(file.spec_id));
  object.emplace_back("content", json::Value(to_string(file.content)));
  object.emplace_back("file-path", json::Value(file.path));
  object.emplace_back(
      "file-format",
      json::Value(file.format == FileFormat::kOther ? file.other_format : std::string(to_string(file.format))));
  json::Array partition;
  for (const spec::Literal& value : file.partition) {
    partition.push_back(value.is_null() ? json::Value() : spec::literal_to_json(value));
  }
  object.emplace_back("partition", json::Value(std::move(partition)));
  object.emplace_back("file-size-in-bytes", json::Value(file.file_size_bytes));
  object.emplace_back("record-count", json::Value(file.record_count));
  append_map(object, "column-sizes", file.column_sizes);
  append_map(object, "value-counts", file.value_counts);
  append_map(object, "null-value-counts", file.null_value_counts);
  append_map(object, "nan-value-counts", file.nan_value_counts);
  append_map(object, "lower-bounds", file.lower_bounds);
  append_map(object, "upper-bounds", file.upper_bounds);
  if (file.key_metadata) object.emplace_back("key-metadata", json::Value(encode_hex(*file.key_metadata)));
  append_list(object, "split-offsets", file.split_offsets);
  append_list(object, "equality-ids", file.equality_ids);
  append_number(object, "sort-order-id", file.sort_order_id);
  append_number(object, "first-row-id", file.first_row_id);
  if (file.referenced_data_file) object.emplace_back("referenced-data-file", json::Value(*file.referenced_data_file));
  append_number(object, "content-offset", file.content_offset);
  append_number(object, "content-size-in-bytes", file.content_size_bytes);
  return json::Value(std::move(object));
}

DataFile data_file_from_json(const json::Value& value, const spec::Type& partition_type) {
  spec::ObjectReader reader(value, "data file");
  DataFile file;
  file.spec_id = reader.required_int("spec-id");
  file.content = read_content(reader.required_string("content"));
  file.path = reader.required_string("file-path");
  const std::string format = reader.required_string("file-format");
  file.format = parse_file_format(format);
  if (file.format == FileFormat::kOther) file.other_format = format;
  file.partition = read_partition(reader.optional("partition"), partition_type);
  file.file_size_bytes = reader.required_long("file-size-in-bytes");
  file.record_count = reader.required_long("record-count");
  read_map(reader, "column-sizes", file.column_sizes);
  read_map(reader, "value-counts", file.value_counts);
  read_map(reader, "null-value-counts", file.null_value_counts);
  read_map(reader, "nan-value-counts", file.nan_value_counts);
  read_map(reader, "lower-bounds", file.lower_bounds);
  read_map(reader, "upper-bounds", file.upper_bounds);
  if (const json::Value* key = reader.optional("key-metadata")) file.key_metadata = bytes_of("key-metadata", *key);
  if (const json::Array* offsets = reader.optional_array("split-offsets")) {
    for (const json::Value& offset : *offsets) file.split_offsets.push_back(offset.as_int64());
  }
  if (const json::Array* ids = reader.optional_array("equality-ids")) {
    for (const json::Value& id : *ids) file.equality_ids.push_back(id.as_int32());
  }
  file.sort_order_id = reader.optional_int("sort-order-id");
  file.first_row_id = reader.optional_long("first-row-id");
  file.referenced_data_file = reader.optional_string("referenced-data-file");
  file.content_offset = reader.optional_long("content-offset");
  file.content_size_bytes = reader.optional_long("content-size-in-bytes");
  return file;
}

}  // namespace frazil::manifest
