#include "frazil/manifest/written_schema.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/manifest/container.h"
#include "frazil/manifest/partition_values.h"

namespace frazil::manifest {

namespace {

using avro::Kind;
using spec::TypeKind;

avro::Field required(std::string name, int32_t field_id, avro::NodePtr type) {
  return reader_field(std::move(name), field_id, std::move(type));
}

avro::Field required(std::string name, int32_t field_id, Kind kind) {
  return required(std::move(name), field_id, avro::primitive(kind));
}

avro::Field optional(std::string name, int32_t field_id, avro::NodePtr type) {
  avro::Field field = reader_field(std::move(name), field_id, avro::optional_of(std::move(type)));
  field.default_value = json::Value();
  return field;
}

avro::Field optional(std::string name, int32_t field_id, Kind kind) {
  return optional(std::move(name), field_id, avro::primitive(kind));
}

avro::Field metric_map(std::string name, int32_t field_id, int32_t key_id, int32_t value_id, Kind value) {
  auto entry = avro::record("k" + std::to_string(key_id) + "_v" + std::to_string(value_id),
                            {required("key", key_id, Kind::kInt), required("value", value_id, value)});
  auto map = std::make_shared<avro::Node>(*avro::array_of(std::move(entry)));
  map->logical = avro::Logical::kMap;
  return optional(std::move(name), field_id, std::move(map));
}

avro::NodePtr partition_record(const spec::Type& partition_type) {
  std::vector<avro::Field> fields;
  for (const spec::NestedField& field : partition_type.fields()) {
    avro::NodePtr type = written_type_of(*field.type);
    if (type == nullptr) {
      throw_error(ErrorKind::kUnsupported, "partition field '{}' is a {}, which manifests cannot hold", field.name,
                  field.type->to_string());
    }
    std::string name = avro_name(field.name);
    // "a b" beside "a_x20b".
    const auto is_taken = [&](const avro::Field& other) { return other.name == name; };
    if (std::any_of(fields.begin(), fields.end(), is_taken)) name += "_" + std::to_string(field.id);
    const bool is_renamed = name != field.name;
    fields.push_back(type->kind == Kind::kNull ? required(std::move(name), field.id, std::move(type))
                                               : optional(std::move(name), field.id, std::move(type)));
    if (is_renamed) fields.back().original_name = field.name;
  }
  return avro::record("r102", std::move(fields));
}

}  // namespace

int32_t decimal_fixed_bytes(int32_t precision) {
  int32_t bytes = 1;
  while (bytes < 16 && (Int128{1} << (8 * bytes - 1)) - 1 < power_of_ten(precision) - 1) ++bytes;
  return bytes;
}

avro::NodePtr written_type_of(const spec::Type& type) {
  const avro::NodePtr read = avro_type_of(type);
  const auto named = [&](std::string name) {
    auto node = std::make_shared<avro::Node>(*read);
    node->kind = Kind::kFixed;
    node->name = std::move(name);
    return node;
  };
  switch (type.kind()) {
    case TypeKind::kDecimal: {
      auto node = named("decimal_" + std::to_string(type.precision()) + "_" + std::to_string(type.scale()));
      node->fixed_size = decimal_fixed_bytes(type.precision());
      return node;
    }
    case TypeKind::kUuid:
      return named("uuid_fixed");
    case TypeKind::kFixed:
      return named("fixed_" + std::to_string(type.length()));
    default:
      return read;
  }
}

std::string avro_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  const auto append_unit = [&](uint32_t unit) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string hex;
    for (; unit != 0 || hex.empty(); unit >>= 4) hex.insert(hex.begin(), kDigits[unit & 15]);
    out += "_x" + hex;
  };
  for (size_t position = 0; position < name.size();) {
    const char c = name[position];
    if (is_letter(c) || is_digit(c)) {
      if (position == 0 && is_digit(c)) out += '_';
      out += c;
      ++position;
      continue;
    }
    const auto code_point = next_code_point(name, position);
    if (!code_point) {
      append_unit(static_cast<unsigned char>(name[position++]));
    } else if (*code_point < 0x10000) {
      append_unit(*code_point);
    } else {  // in UTF-16, as Java sees it
      append_unit(0xD800 + ((*code_point - 0x10000) >> 10));
      append_unit(0xDC00 + ((*code_point - 0x10000) & 0x3FF));
    }
  }
  return out.empty() ? "_" : out;
}

avro::NodePtr written_entry_schema(int32_t format_version, const spec::Type& partition_type) {
  const bool has_v2 = format_version >= 2;
  const bool has_v3 = format_version >= 3;
  std::vector<avro::Field> file;
  if (has_v2) file.push_back(required("content", 134, Kind::kInt));
  file.push_back(required("file_path", 100, Kind::kString));
  file.push_back(required("file_format", 101, Kind::kString));
  file.push_back(required("partition", 102, partition_record(partition_type)));
  file.push_back(required("record_count", 103, Kind::kLong));
  file.push_back(required("file_size_in_bytes", 104, Kind::kLong));
  if (!has_v2) file.push_back(required("block_size_in_bytes", 105, Kind::kLong));
  file.push_back(metric_map("column_sizes", 108, 117, 118, Kind::kLong));
  file.push_back(metric_map("value_counts", 109, 119, 120, Kind::kLong));
  file.push_back(metric_map("null_value_counts", 110, 121, 122, Kind::kLong));
  file.push_back(metric_map("nan_value_counts", 137, 138, 139, Kind::kLong));
  file.push_back(metric_map("lower_bounds", 125, 126, 127, Kind::kBytes));
  file.push_back(metric_map("upper_bounds", 128, 129, 130, Kind::kBytes));
  file.push_back(optional("key_metadata", 131, Kind::kBytes));
  file.push_back(optional("split_offsets", 132, avro::array_of(avro::primitive(Kind::kLong), 133)));
  if (has_v2) file.push_back(optional("equality_ids", 135, avro::array_of(avro::primitive(Kind::kInt), 136)));
  file.push_back(optional("sort_order_id", 140, Kind::kInt));
  if (has_v3) file.push_back(optional("first_row_id", 142, Kind::kLong));
  if (has_v2) file.push_back(optional("referenced_data_file", 143, Kind::kString));
  if (has_v3) file.push_back(optional("content_offset", 144, Kind::kLong));
  if (has_v3) file.push_back(optional("content_size_in_bytes", 145, Kind::kLong));

  std::vector<avro::Field> entry = {required("status", 0, Kind::kInt)};
  entry.push_back(has_v2 ? optional("snapshot_id", 1, Kind::kLong) : required("snapshot_id", 1, Kind::kLong));
  if (has_v2) entry.push_back(optional("sequence_number", 3, Kind::kLong));
  if (has_v2) entry.push_back(optional("file_sequence_number", 4, Kind::kLong));
  entry.push_back(required("data_file", 2, avro::record("r2", std::move(file))));
  return avro::record("manifest_entry", std::move(entry));
}

avro::NodePtr written_list_schema(int32_t format_version) {
  const bool has_v2 = format_version >= 2;
  // v1 may leave counts out.
  const auto count = [&](std::string name, int32_t field_id, Kind kind) {
    return has_v2 ? required(std::move(name), field_id, kind) : optional(std::move(name), field_id, kind);
  };
  auto partitions = optional("partitions", 507,
                             avro::array_of(avro::record("r508", {required("contains_null", 509, Kind::kBoolean),
                                                                  optional("contains_nan", 518, Kind::kBoolean),
                                                                  optional("lower_bound", 510, Kind::kBytes),
                                                                  optional("upper_bound", 511, Kind::kBytes)}),
                                            508));
  std::vector<avro::Field> file = {required("manifest_path", 500, Kind::kString),
                                   required("manifest_length", 501, Kind::kLong),
                                   required("partition_spec_id", 502, Kind::kInt)};
  if (has_v2) {
    file.push_back(required("content", 517, Kind::kInt));
    file.push_back(required("sequence_number", 515, Kind::kLong));
    file.push_back(required("min_sequence_number", 516, Kind::kLong));
  }
  file.push_back(required("added_snapshot_id", 503, Kind::kLong));
  file.push_back(count("added_files_count", 504, Kind::kInt));
  file.push_back(count("existing_files_count", 505, Kind::kInt));
  file.push_back(count("deleted_files_count", 506, Kind::kInt));
  if (!has_v2) file.push_back(partitions);
  file.push_back(count("added_rows_count", 512, Kind::kLong));
  file.push_back(count("existing_rows_count", 513, Kind::kLong));
  file.push_back(count("deleted_rows_count", 514, Kind::kLong));
  if (has_v2) file.push_back(partitions);
  file.push_back(optional("key_metadata", 519, Kind::kBytes));
  if (format_version >= 3) file.push_back(optional("first_row_id", 520, Kind::kLong));
  return avro::record("manifest_file", std::move(file));
}

}  // namespace frazil::manifest
