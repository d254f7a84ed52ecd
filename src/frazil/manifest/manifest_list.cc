#include "frazil/manifest/manifest_list.h"

#include <array>

#include "frazil/avro/decoder.h"
#include "frazil/base/error.h"
#include "frazil/manifest/container.h"

namespace frazil::manifest {

namespace {

using avro::Kind;

// The columns of the list as they come out, in this order.
enum Column : size_t {
  kPath,
  kLength,
  kSpecId,
  kContent,
  kSequenceNumber,
  kMinSequenceNumber,
  kAddedSnapshotId,
  kAddedFiles,
  kExistingFiles,
  kDeletedFiles,
  kAddedRows,
  kExistingRows,
  kDeletedRows,
  kPartitions,
  kKeyMetadata,
  kFirstRowId,
};

avro::NodePtr list_schema() {
  const auto required = [](Kind kind) { return avro::primitive(kind); };
  const auto optional = [](Kind kind) { return avro::optional_of(avro::primitive(kind)); };
  auto summary = avro::record("r508", {
                                          reader_field("contains_null", 509, required(Kind::kBoolean)),
                                          reader_field("contains_nan", 518, optional(Kind::kBoolean)),
                                          reader_field("lower_bound", 510, optional(Kind::kBytes)),
                                          reader_field("upper_bound", 511, optional(Kind::kBytes)),
                                      });
  return avro::record(
      "manifest_file",
      {
          reader_field("manifest_path", 500, required(Kind::kString)),
          reader_field("manifest_length", 501, required(Kind::kLong)),
          reader_field("partition_spec_id", 502, required(Kind::kInt)),
          reader_field("content", 517, optional(Kind::kInt)),
          reader_field("sequence_number", 515, optional(Kind::kLong)),
          reader_field("min_sequence_number", 516, optional(Kind::kLong)),
          reader_field("added_snapshot_id", 503, optional(Kind::kLong)),
          reader_field("added_files_count", 504, optional(Kind::kInt), {"added_data_files_count"}),
          reader_field("existing_files_count", 505, optional(Kind::kInt), {"existing_data_files_count"}),
          reader_field("deleted_files_count", 506, optional(Kind::kInt), {"deleted_data_files_count"}),
          reader_field("added_rows_count", 512, optional(Kind::kLong)),
          reader_field("existing_rows_count", 513, optional(Kind::kLong)),
          reader_field("deleted_rows_count", 514, optional(Kind::kLong)),
          reader_field("partitions", 507, avro::optional_of(avro::array_of(std::move(summary), 508))),
          reader_field("key_metadata", 519, optional(Kind::kBytes)),
          reader_field("first_row_id", 520, optional(Kind::kLong)),
      });
}

template <typename T>
std::optional<T> get(const Array& array, int64_t row) {
  if (array.is_null(row)) return std::nullopt;
  return array.values<T>()[row];
}

std::optional<std::string> get_bytes(const Array& array, int64_t row) {
  if (array.is_null(row)) return std::nullopt;
  return std::string(array.bytes_value(row));
}

std::vector<FieldSummary> get_partitions(const Array& array, int64_t row) {
  const auto [first, count] = array.list_range(row);
  const Array& entries = *array.children[0];
  std::vector<FieldSummary> summaries;
  summaries.reserve(static_cast<size_t>(count));
  for (int64_t i = first; i < first + count; ++i) {
    FieldSummary summary;
    summary.contains_null = entries.children[0]->bool_value(i);
    if (entries.children[1]->is_valid(i)) summary.contains_nan = entries.children[1]->bool_value(i);
    summary.lower_bound = get_bytes(*entries.children[2], i);
    summary.upper_bound = get_bytes(*entries.children[3], i);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

ManifestFile get_manifest_file(const RecordBatch& batch, int64_t row) {
  const auto column = [&](Column index) -> const Array& { return *batch.column(index); };
  ManifestFile file;
  file.path = column(kPath).bytes_value(row);
  file.length = column(kLength).values<int64_t>()[row];
  file.partition_spec_id = column(kSpecId).values<int32_t>()[row];
  const int32_t content = get<int32_t>(column(kContent), row).value_or(0);
  if (content != 0 && content != 1)
    throw_corrupt(CorruptError::kNoOffset, "content of manifest {} is {}", file.path, content);
  if (file.length < 0) throw_corrupt(CorruptError::kNoOffset, "length of manifest {} is {}", file.path, file.length);
  file.content = static_cast<ManifestContent>(content);
  file.sequence_number = get<int64_t>(column(kSequenceNumber), row).value_or(0);
  file.min_sequence_number = get<int64_t>(column(kMinSequenceNumber), row).value_or(0);
  file.added_snapshot_id = get<int64_t>(column(kAddedSnapshotId), row);
  file.added_files_count = get<int32_t>(column(kAddedFiles), row);
  file.existing_files_count = get<int32_t>(column(kExistingFiles), row);
  file.deleted_files_count = get<int32_t>(column(kDeletedFiles), row);
  file.added_rows_count = get<int64_t>(column(kAddedRows), row);
  file.existing_rows_count = get<int64_t>(column(kExistingRows), row);
  file.deleted_rows_count = get<int64_t>(column(kDeletedRows), row);
  if (column(kPartitions).is_valid(row)) file.partitions = get_partitions(column(kPartitions), row);
  file.key_metadata = get_bytes(column(kKeyMetadata), row);
  file.first_row_id = get<int64_t>(column(kFirstRowId), row);
  return file;
}

template <typename Run>
auto with_context(std::string_view what, const InputFile& file, Run run) {
  try {
    return run();
  } catch (Error& error) {
    error.add_context(message("reading {} {}", what, file.path()));
    throw;
  }
}

}  // namespace

std::vector<ManifestFile> read_manifest_list(const std::shared_ptr<const InputFile>& file, MemoryPool& pool) {
  return with_context("manifest list", *file, [&] {
    auto container = open_container(file, pool);
    auto program = avro::Program::compile(avro::parse_schema(container->header().schema_text(), &pool), list_schema());
    auto stream = avro::open_stream(std::move(container), std::move(program), pool);
    std::vector<ManifestFile> manifests;
    while (auto batch = stream->next()) {
      for (int64_t row = 0; row < batch->row_count(); ++row) manifests.push_back(get_manifest_file(*batch, row));
    }
    return manifests;
  });
}

ManifestFile manifest_file_without_list(const std::shared_ptr<const InputFile>& file, std::string path,
                                        int64_t snapshot_id, MemoryPool& pool) {
  return with_context("manifest", *file, [&] {
    const auto container = open_container(file, pool);
    ManifestFile entry;
    entry.path = std::move(path);
    entry.length = static_cast<int64_t>(file->size());
    const int64_t spec_id = header_integer(container->header(), "partition-spec-id").value_or(0);
    if (spec_id < INT32_MIN || spec_id > INT32_MAX) throw_corrupt(0, "partition-spec-id is {}", spec_id);
    entry.partition_spec_id = static_cast<int32_t>(spec_id);
    entry.added_snapshot_id = snapshot_id;
    return entry;
  });
}

}  // namespace frazil::manifest
