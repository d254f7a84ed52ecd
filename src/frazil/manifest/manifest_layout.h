// What reading a manifest's schema gives: the program that decodes entries, and where each column then is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/avro/decoder.h"
#include "frazil/avro/schema.h"
#include "frazil/base/byte_reader.h"
#include "frazil/manifest/manifest.h"
#include "frazil/spec/type.h"

namespace frazil::manifest {

// Columns of an entry, in this order.
enum EntryColumn : uint8_t { kStatus, kSnapshotId, kSequenceNumber, kFileSequenceNumber, kDataFile, kEntryColumnCount };

// Columns of its data file, in this order; the maps of metrics only if they are asked for.
enum FileColumn : uint8_t {
  kContent,
  kFilePath,
  kFileFormat,
  kPartition,
  kRecordCount,
  kFileSize,
  kKeyMetadata,
  kSplitOffsets,
  kEqualityIds,
  kSortOrderId,
  kFirstRowId,
  kReferencedDataFile,
  kContentOffset,
  kContentSize,
  kColumnSizes,
  kValueCounts,
  kNullValueCounts,
  kNanValueCounts,
  kLowerBounds,
  kUpperBounds,
  kFileColumnCount,
};
inline constexpr FileColumn kFirstMetric = kColumnSizes;
inline constexpr size_t kMetricCount = kFileColumnCount - kFirstMetric;

// How a writer lays out the entries of a map of metrics.
struct MapShape {
  bool key_first = true;
  bool bytes = false;            // the value: bytes, else an integer
  int64_t key_null_branch = -1;  // -1: no union
  int64_t value_null_branch = -1;
};

// The shape of a map with an integer key and an integer or byte value; nothing if the type is another one: such metrics
// count as absent. `key_id`: by which the key is told from the value.
std::optional<MapShape> map_shape(const avro::Node* node, int32_t key_id);

struct ManifestLayout {
  std::shared_ptr<const avro::Program> program;
  spec::TypePtr partition_type;
  std::array<std::optional<MapShape>, kMetricCount> maps;
};

// Throws CorruptError or Error(kUnsupported).
std::shared_ptr<const ManifestLayout> make_layout(const avro::NodePtr& writer, const ManifestHeader& header,
                                                  const ManifestOptions& options);
// The same through options.cache.
std::shared_ptr<const ManifestLayout> find_layout(std::string_view schema_text, const ManifestHeader& header,
                                                  const ManifestOptions& options, MemoryPool& pool);

// Calls visit(key, integer, bytes) for each entry of an encoded map until it gives false. Entries without a key or value
// are passed over. Throws CorruptError.
template <typename Visit>
void walk_map(std::string_view raw, const MapShape& shape, Visit visit) {
  ByteReader reader(std::as_bytes(std::span(raw.data(), raw.size())));
  const auto is_null = [&](int64_t null_branch) {
    return null_branch >= 0 && reader.read_zigzag("union branch") == null_branch;
  };
  while (int64_t count = reader.read_zigzag("map count")) {
    if (count < 0) {
      if (count == INT64_MIN) throw_corrupt(reader.offset(), "map count is out of range");
      count = -count;
      reader.read_varint("map size");
    }
    for (; count > 0; --count) {
      std::optional<int64_t> key;
      std::optional<int64_t> integer;
      std::optional<std::string_view> bytes;
      for (const bool is_key : {shape.key_first, !shape.key_first}) {
        if (is_key) {
          if (!is_null(shape.key_null_branch)) key = reader.read_zigzag("map key");
        } else if (is_null(shape.value_null_branch)) {
          continue;
        } else if (shape.bytes) {
          bytes = reader.read_text(static_cast<uint64_t>(reader.read_zigzag("map value length")), "map value");
        } else {
          integer = reader.read_zigzag("map value");
        }
      }
      if (!key || (!integer && !bytes) || *key != static_cast<int32_t>(*key)) continue;
      if (!visit(static_cast<int32_t>(*key), integer.value_or(0), bytes.value_or(std::string_view()))) return;
    }
  }
}

}  // namespace frazil::manifest
