#include <array>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/table_update.h"

namespace frazil::spec {

namespace {

// By the index in the variant.
constexpr std::array<std::string_view, std::variant_size_v<TableUpdate>> kActions = {
    "assign-uuid",
    "upgrade-format-version",
    "add-schema",
    "set-current-schema",
    "add-spec",
    "set-default-spec",
    "add-sort-order",
    "set-default-sort-order",
    "add-snapshot",
    "set-snapshot-ref",
    "remove-snapshots",
    "remove-snapshot-ref",
    "set-location",
    "set-properties",
    "remove-properties",
    "set-statistics",
    "remove-statistics",
    "set-partition-statistics",
    "remove-partition-statistics",
    "remove-partition-specs",
    "remove-schemas",
    "add-encryption-key",
    "remove-encryption-key",
};
constexpr std::array<std::string_view, std::variant_size_v<TableRequirement>> kRequirementTypes = {
    "assert-create",
    "assert-table-uuid",
    "assert-ref-snapshot-id",
    "assert-last-assigned-field-id",
    "assert-current-schema-id",
    "assert-last-assigned-partition-id",
    "assert-default-spec-id",
    "assert-default-sort-order-id",
};

// ---- Updates, read and written

AssignUuid read(ObjectReader& reader, const AssignUuid&) {
  return {reader.required_string("uuid")};
}
void write(json::Object& object, const AssignUuid& update) {
  object.emplace_back("uuid", json::Value(update.uuid));
}

UpgradeFormatVersion read(ObjectReader& reader, const UpgradeFormatVersion&) {
  return {reader.required_int("format-version")};
}
void write(json::Object& object, const UpgradeFormatVersion& update) {
  object.emplace_back("format-version", json::Value(update.format_version));
}

AddSchema read(ObjectReader& reader, const AddSchema&) {
  return {schema_from_json(reader.required("schema"))};
}
void write(json::Object& object, const AddSchema& update) {
  object.emplace_back("schema", schema_to_json(*update.schema));
  // Deprecated, but older servers ask for it.
  object.emplace_back("last-column-id", json::Value(update.schema->highest_field_id()));
}

SetCurrentSchema read(ObjectReader& reader, const SetCurrentSchema&) {
  return {reader.required_int("schema-id")};
}
void write(json::Object& object, const SetCurrentSchema& update) {
  object.emplace_back("schema-id", json::Value(update.schema_id));
}

// As in table metadata, but ids may be left to whoever applies it.
AddPartitionSpec read(ObjectReader& reader, const AddPartitionSpec&) {
  json::Value value = reader.required("spec");
  std::vector<size_t> unassigned;
  if (value.is_object()) {
    if (value.find("spec-id") == nullptr) value.set("spec-id", json::Value(0));
    json::Value* fields = value.find("fields");
    for (size_t i = 0; fields != nullptr && fields->is_array() && i < fields->as_array().size(); ++i) {
      json::Value& field = fields->as_array()[i];
      if (!field.is_object() || field.find("field-id") != nullptr) continue;
      // Negative while it is read: an id that no other field can have.
      field.set("field-id", json::Value(-1 - static_cast<int32_t>(i)));
      unassigned.push_back(i);
    }
  }
  AddPartitionSpec update{partition_spec_from_json(value)};
  for (size_t i : unassigned) update.spec.fields[i].field_id = kUnassignedFieldId;
  return update;
}
void write(json::Object& object, const AddPartitionSpec& update) {
  json::Value value = partition_spec_to_json(update.spec);
  for (json::Value& field : value.find("fields")->as_array()) {
    if (field.at("field-id").as_int32() == kUnassignedFieldId) field.erase("field-id");
  }
  object.emplace_back("spec", std::move(value));
}

SetDefaultSpec read(ObjectReader& reader, const SetDefaultSpec&) {
  return {reader.required_int("spec-id")};
}
void write(json::Object& object, const SetDefaultSpec& update) {
  object.emplace_back("spec-id", json::Value(update.spec_id));
}

AddSortOrder read(ObjectReader& reader, const AddSortOrder&) {
  return {sort_order_from_json(reader.required("sort-order"))};
}
void write(json::Object& object, const AddSortOrder& update) {
  object.emplace_back("sort-order", sort_order_to_json(update.order));
}

SetDefaultSortOrder read(ObjectReader& reader, const SetDefaultSortOrder&) {
  return {reader.required_int("sort-order-id")};
}
void write(json::Object& object, const SetDefaultSortOrder& update) {
  object.emplace_back("sort-order-id", json::Value(update.order_id));
}

AddSnapshot read(ObjectReader& reader, const AddSnapshot&) {
  return {snapshot_from_json(reader.required("snapshot"), kMaxFormatVersion)};
}
void write(json::Object& object, const AddSnapshot& update) {
  // The update does not say of which version the table is: what the snapshot has is what it writes. v1 has no sequence
  // number.
  const int version = update.snapshot.sequence_number == 0 && !update.snapshot.first_row_id ? 1 : kMaxFormatVersion;
  object.emplace_back("snapshot", snapshot_to_json(update.snapshot, version));
}

SetSnapshotRef read(ObjectReader& reader, const SetSnapshotRef&) {
  const std::string name = reader.required_string("ref-name");
  json::Object ref;
  for (const json::Member& member : reader.rest()) {
    if (member.first != "action") ref.push_back(member);
  }
  return {snapshot_ref_from_json(name, json::Value(std::move(ref)))};
}
void write(json::Object& object, const SetSnapshotRef& update) {
  object.emplace_back("ref-name", json::Value(update.ref.name));
  json::Value ref = snapshot_ref_to_json(update.ref);
  for (json::Member& member : ref.as_object()) object.push_back(std::move(member));
}

template <typename Number>
json::Value numbers_to_json(const std::vector<Number>& numbers) {
  json::Array array;
  for (Number number : numbers) array.emplace_back(number);
  return json::Value(std::move(array));
}

json::Value strings_to_json(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return json::Value(std::move(array));
}

RemoveSnapshots read(ObjectReader& reader, const RemoveSnapshots&) {
  RemoveSnapshots update;
  for (const json::Value& id : reader.required_array("snapshot-ids")) update.snapshot_ids.push_back(id.as_int64());
  return update;
}
void write(json::Object& object, const RemoveSnapshots& update) {
  object.emplace_back("snapshot-ids", numbers_to_json(update.snapshot_ids));
}

RemoveSnapshotRef read(ObjectReader& reader, const RemoveSnapshotRef&) {
  return {reader.required_string("ref-name")};
}
void write(json::Object& object, const RemoveSnapshotRef& update) {
  object.emplace_back("ref-name", json::Value(update.name));
}

SetLocation read(ObjectReader& reader, const SetLocation&) {
  return {reader.required_string("location")};
}
void write(json::Object& object, const SetLocation& update) {
  object.emplace_back("location", json::Value(update.location));
}

SetProperties read(ObjectReader& reader, const SetProperties&) {
  // "updated" and "removed": as the specification had it before 1.0.
  const std::string_view key = reader.has("updates") || !reader.has("updated") ? "updates" : "updated";
  reader.required(key);
  return {reader.optional_texts(key)};
}
void write(json::Object& object, const SetProperties& update) {
  object.emplace_back("updates", texts_to_json(update.updates));
}

RemoveProperties read(ObjectReader& reader, const RemoveProperties&) {
  RemoveProperties update;
  const std::string_view key = reader.has("removals") || !reader.has("removed") ? "removals" : "removed";
  for (const json::Value& name : reader.required_array(key)) update.keys.push_back(name.as_string());
  return update;
}
void write(json::Object& object, const RemoveProperties& update) {
  object.emplace_back("removals", strings_to_json(update.keys));
}

SetStatistics read(ObjectReader& reader, const SetStatistics&) {
  reader.optional("snapshot-id");  // deprecated: the statistics say it
  return {statistics_file_from_json(reader.required("statistics"))};
}
void write(json::Object& object, const SetStatistics& update) {
  object.emplace_back("snapshot-id", json::Value(update.statistics.snapshot_id));
  object.emplace_back("statistics", statistics_file_to_json(update.statistics));
}

RemoveStatistics read(ObjectReader& reader, const RemoveStatistics&) {
  return {reader.required_id("snapshot-id")};
}
void write(json::Object& object, const RemoveStatistics& update) {
  object.emplace_back("snapshot-id", json::Value(update.snapshot_id));
}

SetPartitionStatistics read(ObjectReader& reader, const SetPartitionStatistics&) {
  return {partition_statistics_file_from_json(reader.required("partition-statistics"))};
}
void write(json::Object& object, const SetPartitionStatistics& update) {
  object.emplace_back("partition-statistics", partition_statistics_file_to_json(update.statistics));
}

RemovePartitionStatistics read(ObjectReader& reader, const RemovePartitionStatistics&) {
  return {reader.required_id("snapshot-id")};
}
void write(json::Object& object, const RemovePartitionStatistics& update) {
  object.emplace_back("snapshot-id", json::Value(update.snapshot_id));
}

RemovePartitionSpecs read(ObjectReader& reader, const RemovePartitionSpecs&) {
  return {reader.int_list(reader.required("spec-ids"), "spec-ids")};
}
void write(json::Object& object, const RemovePartitionSpecs& update) {
  object.emplace_back("spec-ids", ints_to_json(update.spec_ids));
}

RemoveSchemas read(ObjectReader& reader, const RemoveSchemas&) {
  return {reader.int_list(reader.required("schema-ids"), "schema-ids")};
}
void write(json::Object& object, const RemoveSchemas& update) {
  object.emplace_back("schema-ids", ints_to_json(update.schema_ids));
}

AddEncryptionKey read(ObjectReader& reader, const AddEncryptionKey&) {
  return {encrypted_key_from_json(reader.required("encryption-key"))};
}
void write(json::Object& object, const AddEncryptionKey& update) {
  object.emplace_back("encryption-key", encrypted_key_to_json(update.key));
}

RemoveEncryptionKey read(ObjectReader& reader, const RemoveEncryptionKey&) {
  return {reader.required_string("key-id")};
}
void write(json::Object& object, const RemoveEncryptionKey& update) {
  object.emplace_back("key-id", json::Value(update.key_id));
}

// ---- Requirements

AssertCreate read(ObjectReader&, const AssertCreate&) {
  return {};
}
void write(json::Object&, const AssertCreate&) {}

AssertTableUuid read(ObjectReader& reader, const AssertTableUuid&) {
  return {reader.required_string("uuid")};
}
void write(json::Object& object, const AssertTableUuid& requirement) {
  object.emplace_back("uuid", json::Value(requirement.uuid));
}

AssertRefSnapshotId read(ObjectReader& reader, const AssertRefSnapshotId&) {
  AssertRefSnapshotId requirement;
  requirement.ref = reader.required_string("ref");
  requirement.snapshot_id = reader.optional_id("snapshot-id");
  return requirement;
}
void write(json::Object& object, const AssertRefSnapshotId& requirement) {
  object.emplace_back("ref", json::Value(requirement.ref));
  object.emplace_back("snapshot-id", requirement.snapshot_id ? json::Value(*requirement.snapshot_id) : json::Value());
}

AssertLastAssignedFieldId read(ObjectReader& reader, const AssertLastAssignedFieldId&) {
  return {reader.required_int("last-assigned-field-id")};
}
void write(json::Object& object, const AssertLastAssignedFieldId& requirement) {
  object.emplace_back("last-assigned-field-id", json::Value(requirement.id));
}

AssertCurrentSchemaId read(ObjectReader& reader, const AssertCurrentSchemaId&) {
  return {reader.required_int("current-schema-id")};
}
void write(json::Object& object, const AssertCurrentSchemaId& requirement) {
  object.emplace_back("current-schema-id", json::Value(requirement.id));
}

AssertLastAssignedPartitionId read(ObjectReader& reader, const AssertLastAssignedPartitionId&) {
  return {reader.required_int("last-assigned-partition-id")};
}
void write(json::Object& object, const AssertLastAssignedPartitionId& requirement) {
  object.emplace_back("last-assigned-partition-id", json::Value(requirement.id));
}

AssertDefaultSpecId read(ObjectReader& reader, const AssertDefaultSpecId&) {
  return {reader.required_int("default-spec-id")};
}
void write(json::Object& object, const AssertDefaultSpecId& requirement) {
  object.emplace_back("default-spec-id", json::Value(requirement.id));
}

AssertDefaultSortOrderId read(ObjectReader& reader, const AssertDefaultSortOrderId&) {
  return {reader.required_int("default-sort-order-id")};
}
void write(json::Object& object, const AssertDefaultSortOrderId& requirement) {
  object.emplace_back("default-sort-order-id", json::Value(requirement.id));
}

// The alternative of `Variant` that `names` has at the index of `name`.
template <typename Variant, size_t kIndex = 0>
Variant read_alternative(ObjectReader& reader, size_t index) {
  if constexpr (kIndex < std::variant_size_v<Variant>) {
    using Alternative = std::variant_alternative_t<kIndex, Variant>;
    if (index == kIndex) return read(reader, Alternative());
    return read_alternative<Variant, kIndex + 1>(reader, index);
  } else {
    throw_error(ErrorKind::kInternal, "alternative {} does not exist", index);
  }
}

template <size_t kCount>
std::optional<size_t> index_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string_view action_of(const TableUpdate& update) {
  return kActions[update.index()];
}

std::string_view type_of(const TableRequirement& requirement) {
  return kRequirementTypes[requirement.index()];
}

TableUpdate table_update_from_json(const json::Value& value) {
  ObjectReader reader(value, "table update");
  const std::string action = reader.required_string("action");
  try {
    const std::optional<size_t> index = index_of(kActions, action);
    if (!index) throw_error(ErrorKind::kUnsupported, "the table update '{}' is not known", excerpt(action));
    return read_alternative<TableUpdate>(reader, *index);
  } catch (Error& error) {
    error.add_context(message("reading the table update '{}'", excerpt(action)));
    throw;
  }
}

json::Value table_update_to_json(const TableUpdate& update) {
  json::Object object;
  object.emplace_back("action", json::Value(action_of(update)));
  std::visit([&](const auto& each) { write(object, each); }, update);
  return json::Value(std::move(object));
}

TableRequirement table_requirement_from_json(const json::Value& value) {
  ObjectReader reader(value, "table requirement");
  const std::string type = reader.required_string("type");
  const std::optional<size_t> index = index_of(kRequirementTypes, type);
  if (!index) throw_error(ErrorKind::kUnsupported, "the table requirement '{}' is not known", excerpt(type));
  try {
    return read_alternative<TableRequirement>(reader, *index);
  } catch (Error& error) {
    error.add_context(message("reading the table requirement '{}'", type));
    throw;
  }
}

json::Value table_requirement_to_json(const TableRequirement& requirement) {
  json::Object object;
  object.emplace_back("type", json::Value(type_of(requirement)));
  std::visit([&](const auto& each) { write(object, each); }, requirement);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
