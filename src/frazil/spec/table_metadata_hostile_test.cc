// Damaged metadata files: cut at every byte, every byte changed. Each gives a value or an error of the right kind.
#include <gtest/gtest.h>

#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/table_metadata.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::bytes_of;

const char* const kFiles[] = {
    "iceberg-java/TableMetadataV1Valid.json",
    "iceberg-java/TableMetadataV2Valid.json",
    "iceberg-java/TableMetadataV3ValidMinimal.json",
    "iceberg-java/TableMetadataStatisticsFiles.json",
    "iceberg-rust/table_metadata/TableMetadataV3ValidEncryption.json",
    "iceberg-go/TableMetadataV2Valid.zstd.metadata.json",
};

// Whether it gave a value. A failure if it threw anything but what damage may throw, or left something charged.
bool reads(std::string_view content) {
  MemoryPool pool({.budget_bytes = 16 << 20});
  bool good = false;
  try {
    TableMetadataPtr metadata = parse_metadata_file(bytes_of(content), pool, {.max_bytes = 1 << 20});
    // What was accepted can be written and read again.
    json::Value written = table_metadata_to_json(*metadata);
    EXPECT_EQ(json::write(table_metadata_to_json(table_metadata_from_json(written))), json::write(written));
    good = true;
  } catch (const Error& error) {
    bool expected = error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
                    error.kind() == ErrorKind::kMemoryLimit;
    EXPECT_TRUE(expected) << error.what();
  }
  EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes);
  return good;
}

TEST(HostileMetadata, CutAtEveryByteIsAnError) {
  for (const char* name : kFiles) {
    std::string content = test::read_file(test::corpora() / "iceberg-metadata" / name);
    size_t end = content.find_last_not_of("\n ") + 1;
    ASSERT_TRUE(reads(content)) << name;
    for (size_t size = 0; size < end; ++size) {
      ASSERT_FALSE(reads(std::string_view(content).substr(0, size))) << name << " cut at " << size;
    }
  }
}

TEST(HostileMetadata, EveryByteChangedGivesAValueOrAnError) {
  for (const char* name : kFiles) {
    std::string content = test::read_file(test::corpora() / "iceberg-metadata" / name);
    size_t values = 0;
    // Each byte, each time by another of these.
    constexpr unsigned kMasks[] = {0x01, 0x80, 0x02, 0x10, 0xff};
    for (size_t i = 0; i < content.size(); ++i) {
      std::string damaged = content;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ kMasks[i % std::size(kMasks)]);
      SCOPED_TRACE(std::string(name) + " at " + std::to_string(i));
      values += reads(damaged) ? 1 : 0;
    }
    EXPECT_LT(values, content.size()) << name;
  }
}

TEST(HostileMetadata, DeletedAndDoubledPiecesGiveAValueOrAnError) {
  std::string content = test::read_file(test::corpora() / "iceberg-metadata" / kFiles[1]);
  for (size_t i = 0; i < content.size(); i += 5) {
    for (size_t length : {1, 7, 40}) {
      std::string piece = content.substr(i, length);
      std::string cut = content;
      cut.erase(i, length);
      reads(cut);
      std::string doubled = content;
      doubled.insert(i, piece);
      reads(doubled);
    }
  }
}

TEST(HostileMetadata, ACompressedBombStopsAtMaxBytes) {
  // A zstd frame (RFC 8878) of 4,096 run-length blocks of 128 KiB of spaces: 16 KiB that say 512 MiB.
  std::string bomb("\x28\xb5\x2f\xfd\x00\x38", 6);  // magic, no content size, a window of 128 KiB
  constexpr uint32_t kBlocks = 4096;
  for (uint32_t i = 0; i < kBlocks; ++i) {
    uint32_t header = (i + 1 == kBlocks ? 1U : 0U) | (1U << 1) | ((128U << 10) << 3);
    for (int shift : {0, 8, 16}) bomb += static_cast<char>((header >> shift) & 0xff);
    bomb += ' ';
  }
  MemoryPool pool;
  EXPECT_THROW(parse_metadata_file(bytes_of(bomb), pool, {.max_bytes = 1 << 20}), CorruptError);
  EXPECT_LT(pool.stats().held_peak_bytes, size_t{16} << 20);
}

TEST(HostileMetadata, ManyColumnsAndSchemasAreFast) {
  // 2,000 columns in 20 schemas: a slip into quadratic work would show as a hang here.
  std::string schemas;
  for (int version = 0; version < 20; ++version) {
    std::string fields;
    for (int id = 1; id <= 2000; ++id) {
      fields += (id == 1 ? "" : ",") + std::string(R"({"id":)") + std::to_string(id) + R"(,"name":"c)" +
                std::to_string(id) + R"(","required":false,"type":"string"})";
    }
    schemas += (version == 0 ? "" : ",") + std::string(R"({"type":"struct","schema-id":)") + std::to_string(version) +
               R"(,"fields":[)" + fields + "]}";
  }
  std::string text =
      R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"l","last-sequence-number":0,)"
      R"("last-updated-ms":0,"last-column-id":2000,"current-schema-id":19,"schemas":[)" +
      schemas +
      R"(],"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,)"
      R"("sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0})";
  MemoryPool pool;
  TableMetadataPtr metadata = parse_metadata_file(bytes_of(text), pool);
  EXPECT_EQ(metadata->schemas.size(), 20U);
  std::vector<std::string> names;
  for (int id = 1; id <= 2000; ++id) names.push_back("c" + std::to_string(id));
  EXPECT_EQ(select_columns(*metadata->current_schema(), names)->fields().size(), 2000U);
}

}  // namespace
}  // namespace frazil::spec
