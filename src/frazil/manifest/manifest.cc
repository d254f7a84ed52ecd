#include "frazil/manifest/manifest.h"

#include <algorithm>
#include <array>
#include <limits>

#include "frazil/avro/decoder.h"
#include "frazil/base/error.h"
#include "frazil/json/value.h"
#include "frazil/manifest/container.h"
#include "frazil/manifest/manifest_layout.h"
#include "frazil/manifest/partition_values.h"

namespace frazil::manifest {

namespace {

// Batches end after this much of encoded entries: columns of 32-bit offsets stay far from their end.
constexpr size_t kBatchBytes = 64 << 20;
constexpr size_t kBatchRows = 65536;

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

ManifestHeader read_header(const avro::Header& header, const avro::Node* entry) {
  ManifestHeader out;
  // Hive and others write no format-version; sequence numbers came with version 2.
  const bool has_sequence = entry != nullptr && find_field(*entry, 3, "sequence_number") != nullptr;
  out.format_version = static_cast<int32_t>(
      std::clamp<int64_t>(header_integer(header, "format-version").value_or(has_sequence ? 2 : 1), 0, 99));
  if (header.find("content").value_or("data") == "deletes") out.content = ManifestContent::kDeletes;
  const auto narrow = [](std::optional<int64_t> value) -> std::optional<int32_t> {
    if (!value || *value != static_cast<int32_t>(*value)) return std::nullopt;
    return static_cast<int32_t>(*value);
  };
  out.partition_spec_id = narrow(header_integer(header, "partition-spec-id"));
  out.schema_id = narrow(header_integer(header, "schema-id"));
  out.schema_json = header.find("schema").value_or("");
  out.partition_spec_json = header.find("partition-spec").value_or("");
  return out;
}

size_t owned_bytes(const Array& array) {
  size_t bytes = 0;
  for (const Buffer& buffer : array.buffers)
    bytes += MemoryPool::block_bytes(buffer.size()) * (buffer.owner() != nullptr ? 1 : 0);
  for (const ArrayPtr& child : array.children) bytes += owned_bytes(*child);
  return bytes;
}

}  // namespace

std::string_view to_string(FileFormat format) {
  constexpr std::string_view kNames[] = {"parquet", "avro", "orc", "puffin", "other"};
  return kNames[static_cast<size_t>(format)];
}

FileFormat parse_file_format(std::string_view text) {
  for (const FileFormat format : {FileFormat::kParquet, FileFormat::kAvro, FileFormat::kOrc, FileFormat::kPuffin}) {
    if (equals_ignoring_case(text, to_string(format))) return format;
  }
  return FileFormat::kOther;
}

std::string_view to_string(EntryStatus status) {
  constexpr std::string_view kNames[] = {"existing", "added", "deleted"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view to_string(FileContent content) {
  constexpr std::string_view kNames[] = {"data", "position-deletes", "equality-deletes"};
  return kNames[static_cast<size_t>(content)];
}

std::optional<spec::PartitionSpec> ManifestHeader::partition_spec() const {
  if (partition_spec_json.empty()) return std::nullopt;
  try {
    const json::Value value = json::parse(partition_spec_json);
    if (value.kind() == json::Value::Kind::kArray)
      return spec::partition_spec_from_fields_json(value, partition_spec_id.value_or(0));
    return spec::partition_spec_from_json(value);
  } catch (const Error&) {
    return std::nullopt;
  }
}

spec::SchemaPtr ManifestHeader::schema() const {
  if (schema_json.empty()) return nullptr;
  try {
    return spec::schema_from_json(json::parse(schema_json));
  } catch (const Error&) {
    return nullptr;
  }
}

// The columns of one batch; borrowed from it.
struct EntryColumns {
  std::array<const Array*, kEntryColumnCount> entry{};
  std::array<const Array*, kFileColumnCount> file{};
  size_t first = 0;  // index of the batch's first entry
};

// A map of metrics as it stands in the block.
struct EncodedMap {
  std::string_view bytes;
  const MapShape* shape;
};

struct Manifest::State {
  ManifestFile file;
  ManifestHeader header;
  std::shared_ptr<const ManifestLayout> layout;
  std::vector<RecordBatch> batches;
  std::vector<EntryColumns> chunks;
  size_t size = 0;
  bool has_metrics = false;
  Buffer first_row_ids;  // int64, one an entry: stored or inherited; kNoRowId: none
  size_t memory_bytes = 0;
};

namespace {

constexpr int64_t kNoRowId = std::numeric_limits<int64_t>::min();

EntryColumns make_chunk(const RecordBatch& batch, size_t first) {
  EntryColumns chunk;
  chunk.first = first;
  for (size_t i = 0; i < kEntryColumnCount; ++i) chunk.entry[i] = batch.column(i).get();
  const Array& data_file = *batch.column(kDataFile);
  for (size_t i = 0; i < data_file.children.size(); ++i) chunk.file[i] = data_file.children[i].get();
  return chunk;
}

// What getters rely on.
void check_chunk(const EntryColumns& chunk, size_t rows, ManifestContent content) {
  const auto* status = chunk.entry[kStatus]->values<int32_t>();
  const Array& file_content = *chunk.file[kContent];
  const auto* records = chunk.file[kRecordCount]->values<int64_t>();
  const auto* sizes = chunk.file[kFileSize]->values<int64_t>();
  for (size_t i = 0; i < rows; ++i) {
    const size_t index = chunk.first + i;
    if (status[i] < 0 || status[i] > 2)
      throw_corrupt(CorruptError::kNoOffset, "entry {} has status {}", index, status[i]);
    if (records[i] < 0 || sizes[i] < 0) {
      throw_corrupt(CorruptError::kNoOffset, "entry {} has {} records in {} bytes", index, records[i], sizes[i]);
    }
    const auto row = static_cast<int64_t>(i);
    if (file_content.is_null(row)) {
      if (content == ManifestContent::kDeletes)
        throw_corrupt(CorruptError::kNoOffset, "entry {} of a delete manifest does not say what it deletes by", index);
      continue;
    }
    const int32_t value = file_content.values<int32_t>()[i];
    if (value < 0 || value > 2) throw_corrupt(CorruptError::kNoOffset, "entry {} has content {}", index, value);
    // Never read a delete file as rows.
    if ((value != 0) != (content == ManifestContent::kDeletes)) {
      throw_corrupt(CorruptError::kNoOffset, "entry {} has content {} in a {} manifest", index, value,
                    content == ManifestContent::kData ? "data" : "delete");
    }
  }
}

Buffer inherit_first_row_ids(const Manifest::State& state, MemoryPool& pool) {
  if (!state.file.first_row_id || state.file.content != ManifestContent::kData) return Buffer();
  MutableBuffer ids = pool.allocate(state.size * sizeof(int64_t));
  ids.set_size(state.size * sizeof(int64_t));
  auto* out = ids.as<int64_t>();
  int64_t next = *state.file.first_row_id;
  for (size_t c = 0; c < state.chunks.size(); ++c) {
    const EntryColumns& chunk = state.chunks[c];
    const auto* status = chunk.entry[kStatus]->values<int32_t>();
    const auto* records = chunk.file[kRecordCount]->values<int64_t>();
    const Array& stored = *chunk.file[kFirstRowId];
    for (int64_t row = 0; row < state.batches[c].row_count(); ++row) {
      if (stored.is_valid(row)) {
        *out++ = stored.values<int64_t>()[row];
      } else if (status[row] == static_cast<int32_t>(EntryStatus::kDeleted)) {
        *out++ = kNoRowId;
      } else {
        *out++ = next;
        if (__builtin_add_overflow(next, records[row], &next))
          throw_corrupt(CorruptError::kNoOffset, "row ids are over 2^63");
      }
    }
  }
  return std::move(ids).freeze();
}

template <typename T>
std::optional<T> get(const Array* array, uint32_t row) {
  if (array->is_null(row)) return std::nullopt;
  return array->values<T>()[row];
}

std::optional<std::string_view> get_text(const Array* array, uint32_t row) {
  if (array == nullptr || array->is_null(row)) return std::nullopt;
  return array->bytes_value(row);
}

template <typename T>
std::vector<T> get_list(const Array* array, uint32_t row) {
  if (array->is_null(row)) return {};
  const auto [first, count] = array->list_range(row);
  const T* values = array->children[0]->values<T>() + first;
  return std::vector<T>(values, values + count);
}

Manifest::State read_state(const std::shared_ptr<const InputFile>& file, ManifestFile list_entry, MemoryPool& pool,
                           const ManifestOptions& options) {
  Manifest::State state;
  state.file = std::move(list_entry);
  state.has_metrics = options.with_metrics;
  auto container = open_container(file, pool);
  const std::string_view schema_text = container->header().schema_text();
  state.header = read_header(container->header(), nullptr);
  state.layout = find_layout(schema_text, state.header, options, pool);
  state.header = read_header(container->header(), state.layout->program->writer().get());
  auto stream = avro::open_stream(
      std::move(container), state.layout->program, pool,
      {.reader_schema = nullptr, .batch_rows = kBatchRows, .batch_bytes = kBatchBytes, .container = {}, .decode = {}});
  while (auto batch = stream->next()) {
    state.chunks.push_back(make_chunk(*batch, state.size));
    check_chunk(state.chunks.back(), static_cast<size_t>(batch->row_count()), state.file.content);
    state.size += static_cast<size_t>(batch->row_count());
    for (const ArrayPtr& column : batch->columns()) state.memory_bytes += owned_bytes(*column);
    if (options.with_metrics) {
      for (const Buffer& block : state.chunks.back().file[kFilePath]->variadic_buffers)
        state.memory_bytes += block.size();
    }
    state.batches.push_back(std::move(*batch));
  }
  state.first_row_ids = inherit_first_row_ids(state, pool);
  state.memory_bytes += state.first_row_ids.size();
  return state;
}

}  // namespace

Manifest read_manifest(const std::shared_ptr<const InputFile>& file, ManifestFile list_entry, MemoryPool& pool,
                       const ManifestOptions& options) {
  try {
    return Manifest(std::make_unique<Manifest::State>(read_state(file, std::move(list_entry), pool, options)));
  } catch (Error& error) {
    error.add_context(message("reading manifest {}", file->path()));
    throw;
  }
}

Manifest::Manifest(std::unique_ptr<State> state) : state_(std::move(state)) {}
Manifest::Manifest(Manifest&&) noexcept = default;
Manifest& Manifest::operator=(Manifest&&) noexcept = default;
Manifest::~Manifest() = default;

const ManifestFile& Manifest::file() const {
  return state_->file;
}
const ManifestHeader& Manifest::header() const {
  return state_->header;
}
const spec::TypePtr& Manifest::partition_type() const {
  return state_->layout->partition_type;
}
size_t Manifest::size() const {
  return state_->size;
}
bool Manifest::has_metrics() const {
  return state_->has_metrics;
}
std::span<const RecordBatch> Manifest::batches() const {
  return state_->batches;
}
size_t Manifest::memory_bytes() const {
  return state_->memory_bytes;
}

Entry Manifest::operator[](size_t index) const {
  const auto after = std::upper_bound(state_->chunks.begin(), state_->chunks.end(), index,
                                      [](size_t wanted, const EntryColumns& chunk) { return wanted < chunk.first; });
  const auto chunk = static_cast<size_t>(after - state_->chunks.begin()) - 1;
  return {this, index, static_cast<uint32_t>(chunk), static_cast<uint32_t>(index - state_->chunks[chunk].first)};
}

// --- Entries -------------------------------------------------------------------------------------------------------

const EntryColumns& Entry::columns() const {
  return manifest_->state().chunks[chunk_];
}

EntryStatus Entry::status() const {
  return static_cast<EntryStatus>(columns().entry[kStatus]->values<int32_t>()[row_]);
}

std::optional<int64_t> Entry::snapshot_id() const {
  const auto stored = get<int64_t>(columns().entry[kSnapshotId], row_);
  return stored ? stored : manifest_->file().added_snapshot_id;
}

namespace {

// Only what a commit added has the number of that commit; a manifest of number 0 was written by a v1 table.
std::optional<int64_t> inherit_sequence(std::optional<int64_t> stored, EntryStatus status, int64_t manifest_number) {
  if (stored) return stored;
  if (status == EntryStatus::kAdded || manifest_number == 0) return manifest_number;
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> Entry::sequence_number() const {
  return inherit_sequence(get<int64_t>(columns().entry[kSequenceNumber], row_), status(),
                          manifest_->file().sequence_number);
}

std::optional<int64_t> Entry::file_sequence_number() const {
  return inherit_sequence(get<int64_t>(columns().entry[kFileSequenceNumber], row_), status(),
                          manifest_->file().sequence_number);
}

FileContent Entry::content() const {
  return static_cast<FileContent>(get<int32_t>(columns().file[kContent], row_).value_or(0));
}

std::string_view Entry::file_path() const {
  return columns().file[kFilePath]->bytes_value(row_);
}

std::string_view Entry::file_format_text() const {
  return columns().file[kFileFormat]->bytes_value(row_);
}

FileFormat Entry::file_format() const {
  return parse_file_format(file_format_text());
}

int64_t Entry::record_count() const {
  return columns().file[kRecordCount]->values<int64_t>()[row_];
}

int64_t Entry::file_size_bytes() const {
  return columns().file[kFileSize]->values<int64_t>()[row_];
}

std::optional<int32_t> Entry::sort_order_id() const {
  return get<int32_t>(columns().file[kSortOrderId], row_);
}

std::optional<int64_t> Entry::first_row_id() const {
  const Buffer& ids = manifest_->state().first_row_ids;
  if (ids.empty()) return std::nullopt;
  const int64_t id = ids.as<int64_t>()[index_];
  return id == kNoRowId ? std::nullopt : std::optional(id);
}

std::optional<std::string_view> Entry::key_metadata() const {
  return get_text(columns().file[kKeyMetadata], row_);
}

std::optional<std::string_view> Entry::referenced_data_file() const {
  return get_text(columns().file[kReferencedDataFile], row_);
}

std::optional<int64_t> Entry::content_offset() const {
  return get<int64_t>(columns().file[kContentOffset], row_);
}

std::optional<int64_t> Entry::content_size_bytes() const {
  return get<int64_t>(columns().file[kContentSize], row_);
}

spec::Literal Entry::partition_value(size_t field) const {
  const Array& partition = *columns().file[kPartition];
  const spec::NestedField& type = manifest_->partition_type()->fields()[field];
  if (partition.is_null(row_)) return spec::Literal::null(type.type);
  return literal_at(type.type, *partition.children[field], row_);
}

std::vector<spec::Literal> Entry::partition() const {
  std::vector<spec::Literal> values;
  const size_t count = manifest_->partition_type()->fields().size();
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(partition_value(i));
  return values;
}

std::vector<int64_t> Entry::split_offsets() const {
  auto offsets = get_list<int64_t>(columns().file[kSplitOffsets], row_);
  int64_t last = -1;
  for (const int64_t offset : offsets) {
    if (offset <= last || offset >= file_size_bytes()) return {};
    last = offset;
  }
  return offsets;
}

std::vector<int32_t> Entry::equality_ids() const {
  std::vector<int32_t> ids;
  for (const int64_t id : get_list<int64_t>(columns().file[kEqualityIds], row_)) {
    if (id != static_cast<int32_t>(id))
      throw_corrupt(CorruptError::kNoOffset, "entry {} has equality id {}", index_, id);
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

std::optional<EncodedMap> Entry::find_map(size_t metric) const {
  const std::optional<MapShape>& shape = manifest_->state().layout->maps[metric];
  if (!shape) return std::nullopt;
  const auto bytes = get_text(columns().file[kFirstMetric + metric], row_);
  if (!bytes) return std::nullopt;
  return EncodedMap{*bytes, &*shape};
}

std::optional<EncodedMap> Entry::find_map(CountKind kind) const {
  return find_map(static_cast<size_t>(kind));
}

std::optional<EncodedMap> Entry::find_map(BoundKind kind) const {
  return find_map(kLowerBounds - kFirstMetric + static_cast<size_t>(kind));
}

std::optional<int64_t> Entry::count(CountKind kind, int32_t field_id) const {
  const auto map = find_map(kind);
  std::optional<int64_t> found;
  if (!map) return found;
  walk_map(map->bytes, *map->shape, [&](int32_t key, int64_t integer, std::string_view) {
    if (key == field_id) found = integer;
    return !found;
  });
  return found;
}

std::optional<std::string_view> Entry::bound(BoundKind kind, int32_t field_id) const {
  const auto map = find_map(kind);
  std::optional<std::string_view> found;
  if (!map) return found;
  walk_map(map->bytes, *map->shape, [&](int32_t key, int64_t, std::string_view bytes) {
    if (key == field_id) found = bytes;
    return !found;
  });
  return found;
}

std::vector<std::pair<int32_t, int64_t>> Entry::counts(CountKind kind) const {
  const auto map = find_map(kind);
  std::vector<std::pair<int32_t, int64_t>> all;
  if (!map) return all;
  walk_map(map->bytes, *map->shape, [&](int32_t key, int64_t integer, std::string_view) {
    all.emplace_back(key, integer);
    return true;
  });
  return all;
}

std::vector<std::pair<int32_t, std::string_view>> Entry::bounds(BoundKind kind) const {
  const auto map = find_map(kind);
  std::vector<std::pair<int32_t, std::string_view>> all;
  if (!map) return all;
  walk_map(map->bytes, *map->shape, [&](int32_t key, int64_t, std::string_view bytes) {
    all.emplace_back(key, bytes);
    return true;
  });
  return all;
}

bool Entry::has_counts(CountKind kind) const {
  const auto map = find_map(kind);
  return map.has_value();
}

bool Entry::has_bounds(BoundKind kind) const {
  const auto map = find_map(kind);
  return map.has_value();
}

}  // namespace frazil::manifest
