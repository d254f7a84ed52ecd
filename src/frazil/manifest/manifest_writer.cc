#include "frazil/manifest/manifest_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/json/value.h"
#include "frazil/manifest/partition_summary.h"
#include "frazil/manifest/partition_values.h"
#include "frazil/manifest/written_schema.h"
#include "frazil/spec/promotion.h"

namespace frazil::manifest {

namespace {

using avro::ValueEncoder;
using spec::Literal;
using spec::TypeKind;

// Branches of optional fields.
constexpr int64_t kNull = 0;
constexpr int64_t kPresent = 1;

template <typename... Args>
[[noreturn]] void throw_invalid(std::string_view format, const Args&... args) {
  throw_error(ErrorKind::kInvalidArgument, format, args...);
}

size_t encoded_bytes(int64_t value) {
  return avro::encoded_long_bytes(value);
}

size_t encoded_bytes(const std::string& value) {
  return avro::encoded_long_bytes(static_cast<int64_t>(value.size())) + value.size();
}

void write_item(ValueEncoder& out, int64_t value) {
  out.write_long(value);
}

void write_item(ValueEncoder& out, const std::string& value) {
  out.write_bytes(value);
}

template <typename Map>
void write_map(ValueEncoder& out, const std::optional<Map>& map) {
  out.write_branch(map ? kPresent : kNull);
  if (!map) return;
  if (!map->empty()) {
    size_t bytes = 0;
    for (const auto& [key, value] : *map) bytes += avro::encoded_long_bytes(key) + encoded_bytes(value);
    out.write_block_header(static_cast<int64_t>(map->size()), bytes);
    for (const auto& [key, value] : *map) {
      out.write_int(key);
      write_item(out, value);
    }
  }
  out.write_block_end();
}

// An empty list is null.
template <typename T>
void write_list(ValueEncoder& out, const std::vector<T>& values) {
  out.write_branch(values.empty() ? kNull : kPresent);
  if (values.empty()) return;
  size_t bytes = 0;
  for (const T value : values) bytes += avro::encoded_long_bytes(value);
  out.write_block_header(static_cast<int64_t>(values.size()), bytes);
  for (const T value : values) out.write_long(value);
  out.write_block_end();
}

bool is_deletion_vector(const DataFile& file) {
  return file.content_offset.has_value();
}

bool has_negative(const std::optional<CountMap>& map) {
  return map && std::any_of(map->begin(), map->end(), [](const auto& item) { return item.second < 0; });
}

void check_text(std::string_view what, std::string_view text) {
  if (!is_valid_utf8(text)) throw_invalid("{} is not UTF-8", what);
}

// Whether a value of the type is one of the column's as it stands.
bool is_same_form(const spec::Type& value, const spec::Type& column) {
  if (value.equals(column)) return true;
  switch (column.kind()) {
    case TypeKind::kDate:  // of days: int in the specification, date in Iceberg Java; both are stored alike
      return value.kind() == TypeKind::kInt;
    case TypeKind::kInt:
      return value.kind() == TypeKind::kDate;
    case TypeKind::kFixed:  // some writers have bytes for it; the length is checked
      return value.kind() == TypeKind::kBinary;
    case TypeKind::kBinary:
      return value.kind() == TypeKind::kFixed;
    default:
      return false;
  }
}

}  // namespace

struct ManifestWriter::State {
  State(std::unique_ptr<OutputFile> file, ManifestWriterOptions with, MemoryPool& pool)
      : options(std::move(with)),
        partition_type(options.partition_type != nullptr ? options.partition_type
                                                         : options.spec.partition_type(*options.schema)),
        summaries(*partition_type),
        container(std::move(file), *written_entry_schema(options.format_version, *partition_type), header(options),
                  pool, options.container) {}

  void require_whole() const {
    if (is_broken) throw_error(ErrorKind::kInternal, "manifest {} ended with an error before", container.path());
  }
  static std::vector<std::pair<std::string, std::string>> header(const ManifestWriterOptions& options);
  void check(const DataFile& file, EntryStatus status) const;
  std::span<const Literal> conform_partition(const DataFile& file);
  Literal conform(const Literal& value, const spec::NestedField& field) const;
  void write(const DataFile& file, EntryStatus status, const EntryOrigin& origin);
  void write_file(ValueEncoder& out, const DataFile& file, EntryStatus status, std::span<const Literal> partition);
  void count(const DataFile& file, EntryStatus status, std::optional<int64_t> sequence_number);

  const ManifestWriterOptions options;
  const spec::TypePtr partition_type;
  PartitionSummaries summaries;
  avro::ContainerWriter container;
  std::vector<Literal> promoted;  // the tuple at hand, where it had to be
  // By status.
  std::array<int32_t, 3> file_counts{};
  std::array<int64_t, 3> row_counts{};
  std::optional<int64_t> min_sequence_number;
  bool is_broken = false;  // an entry was begun and failed
};

std::vector<std::pair<std::string, std::string>> ManifestWriter::State::header(const ManifestWriterOptions& options) {
  std::vector<std::pair<std::string, std::string>> header = {
      {"schema", json::write(spec::schema_to_json(*options.schema))},
      {"schema-id", std::to_string(options.schema->schema_id())},
      {"partition-spec", json::write(spec::partition_fields_to_json(options.spec))},
      {"partition-spec-id", std::to_string(options.spec.spec_id)},
      {"format-version", std::to_string(options.format_version)}};
  if (options.format_version >= 2)
    header.emplace_back("content", options.content == ManifestContent::kData ? "data" : "deletes");
  return header;
}

void ManifestWriter::State::check(const DataFile& file, EntryStatus status) const {
  if (file.path.empty()) throw_invalid("a file without a path");
  check_text("its path", file.path);
  const bool is_data = file.content == FileContent::kData;
  if (is_data != (options.content == ManifestContent::kData))
    throw_invalid("{} in a {} manifest", to_string(file.content), is_data ? "delete" : "data");
  if (file.spec_id != options.spec.spec_id)
    throw_invalid("a file of partition spec {} in a manifest of spec {}", file.spec_id, options.spec.spec_id);
  if (file.record_count < 0 || file.file_size_bytes < 0)
    throw_invalid("{} records in {} bytes", file.record_count, file.file_size_bytes);
  for (const auto* map : {&file.column_sizes, &file.value_counts, &file.null_value_counts, &file.nan_value_counts}) {
    if (has_negative(*map)) throw_invalid("a count of its metrics is negative");
  }
  if (file.referenced_data_file) check_text("the path of its data file", *file.referenced_data_file);
  if (file.format == FileFormat::kOther && file.other_format.empty()) throw_invalid("a file without a format");
  if (options.format_version < 3 && is_deletion_vector(file))
    throw_invalid("format version {} has no deletion vectors", options.format_version);
  if (options.format_version >= 3 && status == EntryStatus::kAdded && file.content == FileContent::kPositionDeletes &&
      !(is_deletion_vector(file) && file.content_size_bytes && file.referenced_data_file)) {
    throw_invalid("position deletes that are added in format version 3 have to be deletion vectors");
  }
  if (file_counts[static_cast<size_t>(status)] == std::numeric_limits<int32_t>::max())
    throw_invalid("a manifest holds 2^31 entries");
}

Literal ManifestWriter::State::conform(const Literal& value, const spec::NestedField& field) const {
  if (value.is_null()) return Literal::null(field.type);
  if (is_same_form(*value.type(), *field.type)) return {field.type, value.value()};
  return spec::promote(value, field.type);
}

// The tuple in the types of the partition record. O(1) without a copy if it has them.
std::span<const Literal> ManifestWriter::State::conform_partition(const DataFile& file) {
  const auto fields = partition_type->fields();
  if (file.partition.size() != fields.size())
    throw_invalid("{} partition values for a spec of {} fields", file.partition.size(), fields.size());
  bool conforms = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Literal& value = file.partition[i];
    if (value.is_null()) continue;
    conforms = conforms && (value.type() == fields[i].type || value.type()->equals(*fields[i].type));
  }
  if (!conforms) {
    promoted.clear();
    for (size_t i = 0; i < fields.size(); ++i) promoted.push_back(conform(file.partition[i], fields[i]));
  }
  const std::span<const Literal> values = conforms ? file.partition : promoted;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Literal& value = values[i];
    if (value.is_null()) continue;
    const spec::Type& type = *fields[i].type;
    const auto describe = [&] { return message("the value of partition field '{}'", fields[i].name); };
    if (type.kind() == TypeKind::kString) check_text(describe(), value.as<std::string>());
    if (type.kind() == TypeKind::kFixed && value.as<std::string>().size() != static_cast<size_t>(type.length()))
      throw_invalid("{} has {} bytes, not {}", describe(), value.as<std::string>().size(), type.length());
    if (type.kind() == TypeKind::kDecimal && !fits_precision(value.as<Int128>(), type.precision()))
      throw_invalid("{} does not fit {}", describe(), type.to_string());
  }
  return values;
}

void ManifestWriter::State::write_file(ValueEncoder& out, const DataFile& file, EntryStatus status,
                                       std::span<const Literal> partition) {
  const int32_t version = options.format_version;
  if (version >= 2) out.write_int(static_cast<int32_t>(file.content));
  out.write_bytes(file.path);
  out.write_bytes(file_format_text(file));
  for (size_t i = 0; i < partition.size(); ++i) {
    // A field whose type nobody knows is of Avro's type null.
    if (partition_type->fields()[i].type->kind() == TypeKind::kUnknown) continue;
    out.write_branch(partition[i].is_null() ? kNull : kPresent);
    if (!partition[i].is_null()) write_value(out, partition[i]);
  }
  out.write_long(file.record_count);
  out.write_long(file.file_size_bytes);
  if (version == 1) out.write_long(kBlockSizeV1);
  write_map(out, file.column_sizes);
  write_map(out, file.value_counts);
  write_map(out, file.null_value_counts);
  write_map(out, file.nan_value_counts);
  write_map(out, file.lower_bounds);
  write_map(out, file.upper_bounds);
  out.write_optional_bytes(file.key_metadata);
  write_list(out, file.split_offsets);
  if (version >= 2) write_list(out, file.equality_ids);
  out.write_optional_long(file.sort_order_id);
  if (version >= 3) {
    // Of an added file the list gives it; delete files have none.
    const bool has_row_ids = status != EntryStatus::kAdded && file.content == FileContent::kData;
    out.write_optional_long(has_row_ids ? file.first_row_id : std::nullopt);
  }
  if (version >= 2) out.write_optional_bytes(file.referenced_data_file);
  if (version >= 3) out.write_optional_long(file.content_offset);
  if (version >= 3) out.write_optional_long(file.content_size_bytes);
}

void ManifestWriter::State::count(const DataFile& file, EntryStatus status, std::optional<int64_t> sequence_number) {
  const auto index = static_cast<size_t>(status);
  ++file_counts[index];
  row_counts[index] += file.record_count;
  if (status != EntryStatus::kDeleted && sequence_number)
    min_sequence_number = std::min(*sequence_number, min_sequence_number.value_or(*sequence_number));
}

// Checks first: an error of the caller leaves no half of an entry behind.
void ManifestWriter::State::write(const DataFile& file, EntryStatus status, const EntryOrigin& origin) {
  try {
    require_whole();
    check(file, status);
    if (status != EntryStatus::kAdded && (!origin.snapshot_id || !origin.sequence_number))
      throw_invalid("an {} entry without its snapshot or sequence number", to_string(status));
    const std::span<const Literal> partition = conform_partition(file);
    int64_t rows = 0;
    if (__builtin_add_overflow(row_counts[static_cast<size_t>(status)], file.record_count, &rows))
      throw_invalid("a manifest of more than 2^63 rows");

    is_broken = true;
    ValueEncoder& out = container.values();
    out.write_int(static_cast<int32_t>(status));
    if (options.format_version == 1) {
      out.write_long(origin.snapshot_id.value_or(options.snapshot_id));
    } else {
      out.write_optional_long(origin.snapshot_id.value_or(options.snapshot_id));
      out.write_optional_long(origin.sequence_number);
      out.write_optional_long(origin.file_sequence_number);
    }
    write_file(out, file, status, partition);
    container.end_record();
    summaries.update(partition);
    count(file, status, origin.sequence_number);
    is_broken = false;
  } catch (Error& error) {
    error.add_context(message("writing {} to manifest {}", file.path, container.path()));
    throw;
  }
}

namespace {

[[noreturn]] void throw_missing(const Entry& entry, std::string_view what) {
  throw_corrupt(CorruptError::kNoOffset, "entry {} of manifest {} has no {}, and cannot inherit one", entry.index(),
                entry.manifest().file().path, what);
}

EntryOrigin sequence_of(const Entry& entry) {
  EntryOrigin origin;
  origin.sequence_number = entry.sequence_number();
  origin.file_sequence_number = entry.file_sequence_number();
  if (!origin.sequence_number) throw_missing(entry, "sequence number");
  return origin;
}

ManifestWriterOptions checked(ManifestWriterOptions options) {
  if (options.format_version < 1 || options.format_version > 3)
    throw_error(ErrorKind::kUnsupported, "manifests of format version {}", options.format_version);
  if (options.format_version == 1 && options.content == ManifestContent::kDeletes)
    throw_invalid("format version 1 has no deletes");
  if (options.schema == nullptr) throw_invalid("a manifest without a schema");
  return options;
}

}  // namespace

spec::TypePtr partition_type_for(const spec::PartitionSpec& spec, const spec::Schema& schema, const Manifest& old) {
  const spec::TypePtr stated = spec.partition_type(schema);
  std::vector<spec::NestedField> fields(stated->fields().begin(), stated->fields().end());
  for (spec::NestedField& field : fields) {
    const spec::NestedField* known = old.partition_type()->find(field.id);
    if (field.type->kind() == TypeKind::kUnknown && known != nullptr) field.type = known->type;
  }
  return spec::struct_(std::move(fields));
}

ManifestWriter::ManifestWriter(std::unique_ptr<OutputFile> file, ManifestWriterOptions options, MemoryPool& pool)
    : state_(std::make_unique<State>(std::move(file), checked(std::move(options)), pool)) {}

ManifestWriter::~ManifestWriter() = default;
ManifestWriter::ManifestWriter(ManifestWriter&&) noexcept = default;
ManifestWriter& ManifestWriter::operator=(ManifestWriter&&) noexcept = default;

void ManifestWriter::add(const DataFile& file, const EntryOrigin& origin) {
  state_->write(file, EntryStatus::kAdded, origin);
}

void ManifestWriter::existing(const Entry& entry) {
  EntryOrigin origin = sequence_of(entry);
  origin.snapshot_id = entry.snapshot_id();
  if (!origin.snapshot_id) throw_missing(entry, "snapshot id");
  existing(data_file_of(entry, *state_->partition_type), origin);
}

void ManifestWriter::deleted(const Entry& entry) {
  EntryOrigin origin = sequence_of(entry);
  origin.snapshot_id = state_->options.snapshot_id;
  deleted(data_file_of(entry, *state_->partition_type), origin);
}

void ManifestWriter::existing(const DataFile& file, const EntryOrigin& origin) {
  state_->write(file, EntryStatus::kExisting, origin);
}

void ManifestWriter::deleted(const DataFile& file, const EntryOrigin& origin) {
  state_->write(file, EntryStatus::kDeleted, origin);
}

const std::string& ManifestWriter::path() const {
  return state_->container.path();
}

uint64_t ManifestWriter::entry_count() const {
  return state_->container.record_count();
}

uint64_t ManifestWriter::estimated_bytes() const {
  return state_->container.estimated_bytes();
}

ManifestFile ManifestWriter::finish(OutputFile::PublishOptions publish) {
  State& state = *state_;
  state.require_whole();
  const auto files = [&](EntryStatus status) { return state.file_counts[static_cast<size_t>(status)]; };
  const auto rows = [&](EntryStatus status) { return state.row_counts[static_cast<size_t>(status)]; };
  ManifestFile file;
  file.path = path();
  file.partition_spec_id = state.options.spec.spec_id;
  file.content = state.options.content;
  file.sequence_number = state.options.format_version == 1 ? 0 : kUnassignedSequenceNumber;
  file.min_sequence_number =
      state.options.format_version == 1 ? 0 : state.min_sequence_number.value_or(kUnassignedSequenceNumber);
  file.added_snapshot_id = state.options.snapshot_id;
  file.added_files_count = files(EntryStatus::kAdded);
  file.existing_files_count = files(EntryStatus::kExisting);
  file.deleted_files_count = files(EntryStatus::kDeleted);
  file.added_rows_count = rows(EntryStatus::kAdded);
  file.existing_rows_count = rows(EntryStatus::kExisting);
  file.deleted_rows_count = rows(EntryStatus::kDeleted);
  file.partitions = state.summaries.finish();
  file.length = static_cast<int64_t>(state.container.finish(publish));
  return file;
}

void ManifestWriter::abort() noexcept {
  state_->container.abort();
}

}  // namespace frazil::manifest
