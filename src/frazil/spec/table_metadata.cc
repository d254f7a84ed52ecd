#include "frazil/spec/table_metadata.h"

#include <algorithm>
#include <map>
#include <utility>

#include "frazil/base/civil_time.h"
#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::spec {

namespace {

template <typename Item, typename Id, typename Key>
const Item* find_by(const std::vector<Item>& items, Id Item::* id, const Key& key) {
  for (const Item& item : items) {
    if (item.*id == key) return &item;
  }
  return nullptr;
}

// An object of type struct is three levels of JSON: the type, its "fields", a field.
constexpr size_t kMaxJsonDepth = 3 * kMaxTypeDepth + 32;

json::ParseOptions json_options(MemoryPool& pool, const MetadataParseOptions& options) {
  json::ParseOptions result;
  result.max_depth = kMaxJsonDepth;
  result.max_bytes = options.max_bytes;
  result.pool = &pool;
  return result;
}

bool starts_with(std::span<const std::byte> bytes, std::initializer_list<uint8_t> magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](uint8_t a, std::byte b) { return a == std::to_integer<uint8_t>(b); });
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The schema of the time when the snapshot was made.
SchemaPtr own_schema(const TableMetadata& metadata, const Snapshot& snapshot) {
  if (!snapshot.schema_id) return metadata.current_schema();
  SchemaPtr schema = metadata.find_schema(*snapshot.schema_id);
  if (schema == nullptr) {
    throw_corrupt(CorruptError::kNoOffset, "snapshot {} has the schema id {}, which is not among the schemas",
                  snapshot.snapshot_id, *snapshot.schema_id);
  }
  return schema;
}

SelectedSnapshot select_current(const TableMetadata& metadata) {
  return {metadata.current_snapshot(), metadata.current_schema()};
}

SelectedSnapshot select_id(const TableMetadata& metadata, int64_t snapshot_id) {
  const Snapshot* snapshot = metadata.find_snapshot(snapshot_id);
  if (snapshot == nullptr) throw_error(ErrorKind::kNotFound, "snapshot {} does not exist", snapshot_id);
  return {snapshot, own_schema(metadata, *snapshot)};
}

SelectedSnapshot select_ref(const TableMetadata& metadata, const std::string& name) {
  const SnapshotRef* ref = metadata.find_ref(name);
  if (ref == nullptr) {
    // A table without snapshots still has its main branch: nothing is on it yet.
    if (name == kMainBranch) return select_current(metadata);
    throw_error(ErrorKind::kNotFound, "there is no branch or tag '{}'", name);
  }
  if (ref->type == RefType::kTag) return select_id(metadata, ref->snapshot_id);
  return {metadata.find_snapshot(ref->snapshot_id), metadata.current_schema()};
}

SelectedSnapshot select_time(const TableMetadata& metadata, int64_t timestamp_ms) {
  const SnapshotLogEntry* last = nullptr;
  for (const SnapshotLogEntry& entry : metadata.snapshot_log) {
    if (entry.timestamp_ms <= timestamp_ms) last = &entry;
  }
  std::string time = timestamp_to_string(timestamp_ms, TimeUnit::kMilli, {.zone = "+00:00"});
  if (last == nullptr) {
    if (metadata.snapshot_log.empty()) {
      throw_error(ErrorKind::kNotFound, "no snapshot as of {}: the table's snapshot-log is empty", time);
    }
    throw_error(ErrorKind::kNotFound, "no snapshot as of {}: the table's snapshot-log starts at {}", time,
                timestamp_to_string(metadata.snapshot_log.front().timestamp_ms, TimeUnit::kMilli, {.zone = "+00:00"}));
  }
  const Snapshot* snapshot = metadata.find_snapshot(last->snapshot_id);
  if (snapshot == nullptr) {
    throw_error(ErrorKind::kNotFound, "snapshot {}, current as of {}, has been expired", last->snapshot_id, time);
  }
  return {snapshot, own_schema(metadata, *snapshot)};
}

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

const SchemaPtr& TableMetadata::current_schema() const {
  for (const SchemaPtr& schema : schemas) {
    if (schema->schema_id() == current_schema_id) return schema;
  }
  throw_error(ErrorKind::kNotFound, "schema {} does not exist", current_schema_id);
}

const PartitionSpec& TableMetadata::default_spec() const {
  const PartitionSpec* spec = find_spec(default_spec_id);
  if (spec == nullptr) throw_error(ErrorKind::kNotFound, "partition spec {} does not exist", default_spec_id);
  return *spec;
}

const SortOrder& TableMetadata::default_sort_order() const {
  static const SortOrder kUnsorted;  // order 0 is reserved: it need not be listed
  const SortOrder* order = find_sort_order(default_sort_order_id);
  if (order != nullptr) return *order;
  if (default_sort_order_id == 0) return kUnsorted;
  throw_error(ErrorKind::kNotFound, "sort order {} does not exist", default_sort_order_id);
}

SchemaPtr TableMetadata::find_schema(int32_t schema_id) const {
  for (const SchemaPtr& schema : schemas) {
    if (schema->schema_id() == schema_id) return schema;
  }
  return nullptr;
}

const PartitionSpec* TableMetadata::find_spec(int32_t spec_id) const {
  return find_by(partition_specs, &PartitionSpec::spec_id, spec_id);
}

const SortOrder* TableMetadata::find_sort_order(int32_t order_id) const {
  return find_by(sort_orders, &SortOrder::order_id, order_id);
}

const Snapshot* TableMetadata::find_snapshot(int64_t snapshot_id) const {
  return find_by(snapshots, &Snapshot::snapshot_id, snapshot_id);
}

const SnapshotRef* TableMetadata::find_ref(std::string_view name) const {
  return find_by(refs, &SnapshotRef::name, name);
}

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id ? find_snapshot(*current_snapshot_id) : nullptr;
}

std::optional<std::string_view> TableMetadata::property(std::string_view key) const {
  for (const auto& [name, value] : properties) {
    if (name == key) return value;
  }
  return std::nullopt;
}

TypePtr TableMetadata::all_partition_fields() const {
  std::vector<const PartitionSpec*> by_age;
  for (const PartitionSpec& spec : partition_specs) by_age.push_back(&spec);
  std::sort(by_age.begin(), by_age.end(), [](const auto* a, const auto* b) { return a->spec_id < b->spec_id; });

  // The current schema knows most columns, older ones what was dropped since.
  std::vector<SchemaPtr> by_use = {current_schema()};
  by_use.insert(by_use.end(), schemas.rbegin(), schemas.rend());

  std::map<int32_t, NestedField> merged;
  for (const PartitionSpec* spec : by_age) {
    for (const PartitionField& field : spec->fields) {
      NestedField& target = merged[field.field_id];
      target.id = field.field_id;
      // v1 tables drop a field by making it void: then its old name and type stand.
      if (target.type != nullptr && field.transform.is_void()) continue;
      target.name = field.name;
      TypePtr type = primitive(TypeKind::kUnknown);
      for (const SchemaPtr& schema : by_use) {
        const NestedField* source = field.is_opaque() ? nullptr : schema->find(field.source_id());
        if (source == nullptr) continue;
        type = field.transform.result_type(source->type);
        break;
      }
      if (target.type == nullptr || type->kind() != TypeKind::kUnknown) target.type = std::move(type);
    }
  }
  std::vector<NestedField> fields;
  fields.reserve(merged.size());
  for (auto& [id, field] : merged) fields.push_back(std::move(field));
  return struct_(std::move(fields));
}

TableMetadataPtr parse_metadata_file(std::span<const std::byte> bytes, MemoryPool& pool,
                                     const MetadataParseOptions& options) {
  Codec codec = Codec::kNone;
  if (starts_with(bytes, {0x1f, 0x8b})) codec = Codec::kGzip;
  if (starts_with(bytes, {0x28, 0xb5, 0x2f, 0xfd})) codec = Codec::kZstd;

  json::Value tree;
  if (codec == Codec::kNone) {
    tree = json::parse(text_of(bytes), json_options(pool, options));
  } else {
    MutableBuffer text = Decompressor(pool).decompress_unsized(codec, bytes, options.max_bytes);
    tree = json::parse(text_of(text.span()), json_options(pool, options));
  }
  return std::make_shared<const TableMetadata>(table_metadata_from_json(tree));
}

SelectedSnapshot select_snapshot(const TableMetadata& metadata, const SnapshotSelection& selection) {
  return std::visit(Overloaded{
                        [&](const CurrentSnapshot&) { return select_current(metadata); },
                        [&](const SnapshotById& by) { return select_id(metadata, by.snapshot_id); },
                        [&](const SnapshotByRef& by) { return select_ref(metadata, by.name); },
                        [&](const SnapshotAsOf& by) { return select_time(metadata, by.timestamp_ms); },
                    },
                    selection);
}

}  // namespace frazil::spec
