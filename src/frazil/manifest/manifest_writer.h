// Manifests, written (Iceberg spec, "Manifests"; columns and their order as Iceberg Java has them).
//
// Sequence numbers are null where the manifest list gives them: of files that the commit adds. All others are written
// out, and so are first row ids (v3) of files that the table already has. A commit that is tried again needs a new list,
// not new manifests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frazil/avro/writer.h"
#include "frazil/io/file_system.h"
#include "frazil/manifest/data_file.h"
#include "frazil/manifest/manifest.h"
#include "frazil/manifest/manifest_list.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/partition_spec.h"
#include "frazil/spec/schema.h"

namespace frazil::manifest {

// In a ManifestFile: the list that it is written into gives the number of its commit.
inline constexpr int64_t kUnassignedSequenceNumber = -1;

struct ManifestWriterOptions {
  int32_t format_version = 2;  // 1, 2, 3: the table's
  ManifestContent content = ManifestContent::kData;
  spec::SchemaPtr schema;    // the table's current one, or that of the files
  spec::PartitionSpec spec;  // of all files
  int64_t snapshot_id = 0;   // that the commit will make
  // Types of the partition tuple; nullptr: spec.partition_type(*schema). Where a source column was dropped or a transform
  // is unknown only old manifests know the type: Manifest::partition_type().
  spec::TypePtr partition_type;
  avro::ContainerWriterOptions container;  // the codec: write.manifest.compression-codec
};

// The partition type for writing entries of `old` again: that of the spec, and where it says `unknown`, that of the old
// manifest. The old manifest may have the fields in another order, or fewer: entries as they are, or data_file_of() with
// this type.
spec::TypePtr partition_type_for(const spec::PartitionSpec& spec, const spec::Schema& schema, const Manifest& old);

// Where an entry comes from. Nothing: of an added file what the manifest and its list say.
struct EntryOrigin {
  std::optional<int64_t> snapshot_id = std::nullopt;
  std::optional<int64_t> sequence_number = std::nullopt;  // of the data
  std::optional<int64_t> file_sequence_number = std::nullopt;
};

// Writes one manifest. One thread at a time; about a microsecond an entry before compression. If it is destroyed without
// finish(), nothing is left of the file.
//
// Entries throw Error(kInvalidArgument) if the file does not fit the manifest: other content or spec, a partition value of
// another type, negative counts, in v1 a delete file, in v2 a deletion vector, in v3 position deletes that are none.
// The writer is as before then.
class ManifestWriter {
 public:
  // Throws Error(kUnsupported) for another format version or a partition type that Avro does not have, and what the file
  // throws.
  ManifestWriter(std::unique_ptr<OutputFile> file, ManifestWriterOptions options, MemoryPool& pool);
  ~ManifestWriter();
  ManifestWriter(ManifestWriter&&) noexcept;
  ManifestWriter& operator=(ManifestWriter&&) noexcept;

  // A file that the commit adds. Its first_row_id is not written: the list gives it one. A compaction gives a
  // sequence number, as old as the data, so that later deletes still apply.
  void add(const DataFile& file, const EntryOrigin& origin = {});
  // A file that the table had and keeps: as the entry says or inherited, partition values by field id. Throws CorruptError
  // if a writer left out what cannot be inherited.
  void existing(const Entry& entry);
  // A file that the commit takes out of the table: the same, but for the snapshot.
  void deleted(const Entry& entry);
  // The same for entries that are values; `origin` has a snapshot and a sequence number.
  void existing(const DataFile& file, const EntryOrigin& origin);
  void deleted(const DataFile& file, const EntryOrigin& origin);

  const std::string& path() const;
  uint64_t entry_count() const;
  // See avro::ContainerWriter. Callers begin a new manifest at commit.manifest.target-size-bytes.
  uint64_t estimated_bytes() const;

  // Publishes the file and gives what the manifest list says of it: counts, partition summaries, sequence_number
  // kUnassignedSequenceNumber, min_sequence_number that or the smallest one of a live file.
  ManifestFile finish(OutputFile::PublishOptions publish = {});
  // Removes what was written. Idempotent.
  void abort() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frazil::manifest
