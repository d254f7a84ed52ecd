// Manifests (Iceberg spec, "Manifests"): Avro container files with one entry a data or delete file.
//
// A manifest is decoded into columns and stays so: paths and metrics are views into the decompressed blocks, nothing is
// an object a file. An Entry is a pointer into them; its getters cost a few nanoseconds, unless they say otherwise.
//
// Columns are found by field id (by name in files without ids); formats 1, 2 and 3 are one schema in which later
// columns may be missing. What a writer leaves to be inherited from the manifest list is inherited here:
//   snapshot_id           absent: the manifest's added_snapshot_id
//   sequence numbers      absent: the manifest's, for added files, or if it is 0 (v1); else unknown
//   first_row_id (v3)     absent: the manifest's first_row_id + the records of the live files before it that lack one too;
//                         null throughout if the manifest has none
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/array.h"
#include "frazil/io/file_system.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::manifest {

enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };
enum class FileContent : uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class FileFormat : uint8_t { kParquet, kAvro, kOrc, kPuffin, kOther };

// "parquet", "avro", "orc", "puffin", "other".
std::string_view to_string(FileFormat format);
FileFormat parse_file_format(std::string_view text);  // in any case; kOther for what is not known
std::string_view to_string(EntryStatus status);       // "existing", "added", "deleted"
std::string_view to_string(FileContent content);      // "data", "position-deletes", "equality-deletes"

// The metrics that a manifest has a map of, by field id.
enum class CountKind : uint8_t { kColumnSize, kValueCount, kNullValueCount, kNanValueCount };
enum class BoundKind : uint8_t { kLower, kUpper };

// What the manifest's own header says. No reader depends on it: writers leave out much and get parts wrong.
struct ManifestHeader {
  int32_t format_version = 1;
  ManifestContent content = ManifestContent::kData;
  std::optional<int32_t> partition_spec_id;
  std::optional<int32_t> schema_id;
  std::string schema_json;          // may be empty
  std::string partition_spec_json;  // the fields as an array, or the whole spec as an object; may be empty

  // Parse anew at each call. Nothing if the text is missing or damaged.
  std::optional<spec::PartitionSpec> partition_spec() const;
  spec::SchemaPtr schema() const;
};

class Manifest;
struct EntryColumns;
struct EncodedMap;

// One entry. Borrows the manifest, which must outlive it.
class Entry {
 public:
  EntryStatus status() const;
  bool is_live() const { return status() != EntryStatus::kDeleted; }
  // The snapshot that added the file, or deleted it; nothing if neither the entry nor the list says.
  std::optional<int64_t> snapshot_id() const;
  // The data sequence number; nothing if a writer left out what cannot be inherited.
  std::optional<int64_t> sequence_number() const;
  std::optional<int64_t> file_sequence_number() const;

  FileContent content() const;
  std::string_view file_path() const;
  FileFormat file_format() const;
  std::string_view file_format_text() const;  // as written
  int64_t record_count() const;
  int64_t file_size_bytes() const;
  std::optional<int32_t> sort_order_id() const;
  std::optional<int64_t> first_row_id() const;
  std::optional<std::string_view> key_metadata() const;
  // Deletion vectors and position deletes of one file.
  std::optional<std::string_view> referenced_data_file() const;
  std::optional<int64_t> content_offset() const;
  std::optional<int64_t> content_size_bytes() const;

  // The partition: one value a field of Manifest::partition_type(). Makes a literal.
  spec::Literal partition_value(size_t field) const;
  std::vector<spec::Literal> partition() const;

  // Empty if absent. Split offsets that do not rise, or lie outside the file, count as absent.
  std::vector<int64_t> split_offsets() const;
  // Throws CorruptError for an id over 32 bits.
  std::vector<int32_t> equality_ids() const;

  // Metrics of one column: nothing if the map or the column in it is absent, or if the manifest was read without
  // metrics. Walks the map: some ten nanoseconds a column in it. Throws CorruptError if the map is damaged.
  std::optional<int64_t> count(CountKind kind, int32_t field_id) const;
  std::optional<std::string_view> bound(BoundKind kind, int32_t field_id) const;
  // The whole map in the file's order.
  std::vector<std::pair<int32_t, int64_t>> counts(CountKind kind) const;
  std::vector<std::pair<int32_t, std::string_view>> bounds(BoundKind kind) const;
  bool has_counts(CountKind kind) const;
  bool has_bounds(BoundKind kind) const;

  const Manifest& manifest() const { return *manifest_; }
  size_t index() const { return index_; }

 private:
  friend class Manifest;
  Entry(const Manifest* manifest, size_t index, uint32_t chunk, uint32_t row)
      : manifest_(manifest), index_(index), chunk_(chunk), row_(row) {}
  const EntryColumns& columns() const;
  std::optional<EncodedMap> find_map(CountKind kind) const;
  std::optional<EncodedMap> find_map(BoundKind kind) const;
  std::optional<EncodedMap> find_map(size_t metric) const;

  const Manifest* manifest_;
  size_t index_;
  uint32_t chunk_;
  uint32_t row_;
};

// What reading a schema gives, shared by the manifests that have the same one: a table has few. Thread-safe.
class ManifestSchemaCache {
 public:
  ManifestSchemaCache();
  ~ManifestSchemaCache();
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct ManifestOptions {
  // Keep the maps of metrics. Without, they are skipped over and count() and bound() give nothing.
  bool with_metrics = false;
  // The partition fields wanted, by field id, with their types (PartitionSpec::partition_type of the table's spec). A
  // field whose type is `unknown`, or which the file's type does not read as, keeps the file's type. nullptr: what the
  // manifest's header says, else its Avro schema.
  spec::TypePtr partition_type;
  ManifestSchemaCache* cache = nullptr;
};

// An immutable manifest in memory. Thread-safe.
class Manifest {
 public:
  Manifest(Manifest&&) noexcept;
  Manifest& operator=(Manifest&&) noexcept;
  ~Manifest();

  const ManifestFile& file() const;
  const ManifestHeader& header() const;
  const spec::TypePtr& partition_type() const;  // a struct
  size_t size() const;
  bool empty() const { return size() == 0; }
  bool has_metrics() const;              // as ManifestOptions::with_metrics asked
  Entry operator[](size_t index) const;  // requires index < size()

  // The columns themselves, for kernels over many entries: Arrow arrays, whose names are those of the specification
  // ("status", "data_file", ...), in several consecutive batches.
  std::span<const RecordBatch> batches() const;
  // Bytes of the pool that the manifest keeps.
  size_t memory_bytes() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  friend Manifest read_manifest(const std::shared_ptr<const InputFile>& file, ManifestFile list_entry, MemoryPool& pool,
                                const ManifestOptions& options);
  explicit Manifest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads all entries, deleted ones too. `list_entry`: what the manifest list says about it. Throws CorruptError,
// Error(kUnsupported) for an encrypted file, MemoryLimitError; the path is in the context.
Manifest read_manifest(const std::shared_ptr<const InputFile>& file, ManifestFile list_entry, MemoryPool& pool,
                       const ManifestOptions& options = {});

}  // namespace frazil::manifest
