// Every manifest and manifest list of the corpora against what PyIceberg reads from it (testdata/make_expected.py), and
// damage of the small ones.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/container.h"
#include "frazil/avro/test_container.h"
#include "frazil/base/crc32.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/json/value.h"
#include "frazil/manifest/manifest.h"

namespace frazil::manifest {
namespace {

using avro::memory_file;
using avro::read_corpus;
using testing::HasSubstr;

json::Value expected() {
  return json::parse(
      avro::read_text(std::string(FRAZIL_TEST_CORPORA) + "/../../src/frazil/manifest/testdata/expected.json"));
}

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    out.push_back("0123456789abcdef"[c & 15]);
  }
  return out;
}

template <typename T>
json::Value number(const std::optional<T>& value) {
  return value ? json::Value(int64_t{*value}) : json::Value();
}

template <typename T>
json::Value hex_or_null(const std::optional<T>& value) {
  return value ? json::Value(hex_of(*value)) : json::Value();
}

json::Value list_row(const ManifestFile& file) {
  json::Value partitions;
  if (file.partitions) {
    json::Array summaries;
    for (const FieldSummary& summary : *file.partitions) {
      summaries.push_back(json::Array{json::Value(summary.contains_null),
                                      summary.contains_nan ? json::Value(*summary.contains_nan) : json::Value(),
                                      hex_or_null(summary.lower_bound), hex_or_null(summary.upper_bound)});
    }
    partitions = json::Value(std::move(summaries));
  }
  return json::Array{json::Value(file.path),
                     json::Value(file.length),
                     json::Value(int64_t{file.partition_spec_id}),
                     json::Value(static_cast<int64_t>(file.content)),
                     json::Value(file.sequence_number),
                     json::Value(file.min_sequence_number),
                     number(file.added_snapshot_id),
                     number(file.added_files_count),
                     number(file.existing_files_count),
                     number(file.deleted_files_count),
                     number(file.added_rows_count),
                     number(file.existing_rows_count),
                     number(file.deleted_rows_count),
                     std::move(partitions),
                     hex_or_null(file.key_metadata)};
}

json::Value literal_value(const spec::Literal& literal) {
  switch (literal.value().index()) {
    case 0:
      return {};
    case 1:
      return json::Value(literal.as<bool>());
    case 2:
    case 3:
      return json::Value(literal.as_integer());
    case 4:
      return json::Value(static_cast<double>(literal.as<float>()));
    case 5:
      return json::Value(literal.as<double>());
    case 6:
      return decimal_to_string(literal.as<Int128>(), literal.type()->scale());
    case 7: {
      const Uuid& uuid = literal.as<Uuid>();
      return hex_of({reinterpret_cast<const char*>(uuid.bytes.data()), 16});
    }
    default:
      return literal.type()->kind() == spec::TypeKind::kString ? literal.as<std::string>()
                                                               : hex_of(literal.as<std::string>());
  }
}

// An entry in the form of the expected rows, members that are absent left out.
json::Value entry_row(const Entry& entry) {
  json::Object row;
  const auto add = [&](const char* key, json::Value value) {
    if (!value.is_null()) row.emplace_back(key, std::move(value));
  };
  add("status", json::Value(static_cast<int64_t>(entry.status())));
  add("snapshot_id", number(entry.snapshot_id()));
  add("sequence_number", number(entry.sequence_number()));
  add("file_sequence_number", number(entry.file_sequence_number()));
  add("content", json::Value(static_cast<int64_t>(entry.content())));
  add("path", std::string(entry.file_path()));
  add("format", std::string(to_string(entry.file_format())));
  json::Array partition;
  for (const spec::Literal& literal : entry.partition()) partition.push_back(literal_value(literal));
  add("partition", json::Value(std::move(partition)));
  add("records", json::Value(entry.record_count()));
  add("bytes", json::Value(entry.file_size_bytes()));
  add("key_metadata", hex_or_null(entry.key_metadata()));
  add("sort_order_id", number(entry.sort_order_id()));
  constexpr std::pair<const char*, CountKind> kCounts[] = {{"column_sizes", CountKind::kColumnSize},
                                                           {"value_counts", CountKind::kValueCount},
                                                           {"null_value_counts", CountKind::kNullValueCount},
                                                           {"nan_value_counts", CountKind::kNanValueCount}};
  for (const auto& [name, kind] : kCounts) {
    if (!entry.has_counts(kind)) continue;
    json::Array items;
    for (const auto& [id, count] : entry.counts(kind)) {
      items.push_back(json::Array{json::Value(int64_t{id}), json::Value(count)});
      EXPECT_EQ(entry.count(kind, id), count);
    }
    EXPECT_EQ(entry.count(kind, 987654), std::nullopt);
    add(name, json::Value(std::move(items)));
  }
  constexpr std::pair<const char*, BoundKind> kBounds[] = {{"lower_bounds", BoundKind::kLower},
                                                           {"upper_bounds", BoundKind::kUpper}};
  for (const auto& [name, kind] : kBounds) {
    if (!entry.has_bounds(kind)) continue;
    json::Array items;
    for (const auto& [id, bound] : entry.bounds(kind)) {
      items.push_back(json::Array{json::Value(int64_t{id}), json::Value(hex_of(bound))});
      EXPECT_EQ(entry.bound(kind, id), bound);
    }
    EXPECT_EQ(entry.bound(kind, 987654), std::nullopt);
    add(name, json::Value(std::move(items)));
  }
  return row;
}

// Both as objects; lists are compared apart, because what is damaged in them counts as absent.
void expect_same_entry(const Entry& entry, json::Value want) {
  json::Value got = entry_row(entry);
  if (const json::Value* ids = want.find("equality_ids")) {
    std::vector<int32_t> values;
    for (const json::Value& id : ids->as_array()) values.push_back(id.as_int32());
    EXPECT_EQ(entry.equality_ids(), values);
  } else {
    EXPECT_TRUE(entry.equality_ids().empty());
  }
  if (const json::Value* offsets = want.find("split_offsets")) {
    std::vector<int64_t> values;
    for (const json::Value& offset : offsets->as_array()) values.push_back(offset.as_int64());
    EXPECT_EQ(entry.split_offsets(), values);
  }
  want.erase("equality_ids");
  want.erase("split_offsets");
  for (const auto& [key, value] : want.as_object()) {
    const json::Value* other = got.find(key);
    if (other == nullptr) {
      ADD_FAILURE() << key << " is missing";
    } else if (value.kind() == json::Value::Kind::kNumber) {
      EXPECT_EQ(value.as_double(), other->as_double()) << key;
    } else if (key == "partition") {
      ASSERT_EQ(value.as_array().size(), other->as_array().size());
      for (size_t i = 0; i < value.as_array().size(); ++i) {
        const json::Value& left = value.as_array()[i];
        const json::Value& right = other->as_array()[i];
        const bool numbers = left.kind() == json::Value::Kind::kNumber && right.kind() == left.kind();
        EXPECT_TRUE(numbers ? left.as_double() == right.as_double() : left == right)
            << json::write(left) << " " << json::write(right);
      }
    } else {
      EXPECT_EQ(json::write(value), json::write(*other)) << key;
    }
  }
  for (const auto& [key, value] : got.as_object()) EXPECT_NE(want.find(key), nullptr) << key << " is not expected";
}

// What the list would say so that nothing is inherited but what absent values stand for.
ManifestFile plain_list_entry(const json::Value& summary) {
  ManifestFile file;
  file.sequence_number = 1;
  const json::Array& first = summary.at("first").as_array();
  if (!first.empty() && first[0].find("content") != nullptr && first[0].at("content").as_int32() != 0)
    file.content = ManifestContent::kDeletes;
  return file;
}

TEST(ManifestCorpus, ReadsEveryManifestAsPyIcebergDoes) {
  MemoryPool pool;
  int64_t entries = 0;
  int manifests = 0;
  const json::Value all = expected();
  for (const auto& [path, summary] : all.at("manifests").as_object()) {
    SCOPED_TRACE(path);
    for (const bool with_metrics : {true, false}) {
      const Manifest manifest =
          read_manifest(memory_file(read_corpus(path), path), plain_list_entry(summary), pool,
                        {.with_metrics = with_metrics, .partition_type = nullptr, .cache = nullptr});
      for (const RecordBatch& batch : manifest.batches()) validate_full(batch);
      ASSERT_EQ(manifest.size(), static_cast<size_t>(summary.at("entries").as_int64()));
      int64_t status[3] = {};
      int64_t records = 0;
      int64_t bytes = 0;
      std::string paths;
      for (size_t i = 0; i < manifest.size(); ++i) {
        const Entry entry = manifest[i];
        ++status[static_cast<size_t>(entry.status())];
        records += entry.record_count();
        bytes += entry.file_size_bytes();
        paths += std::string(entry.file_path()) + "\n";
      }
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(status[i], summary.at("status").as_array()[i].as_int64());
      EXPECT_EQ(records, summary.at("records").as_int64());
      EXPECT_EQ(bytes, summary.at("bytes").as_int64());
      EXPECT_EQ(int64_t{crc32(std::as_bytes(std::span(paths.data(), paths.size())))}, summary.at("paths").as_int64());
      if (!with_metrics || manifest.empty()) continue;
      json::Value want = summary.at("first").as_array()[0];
      const Entry entry = manifest[0];
      // Inherited here, absent there.
      if (want.find("sequence_number") == nullptr && entry.sequence_number())
        want.set("sequence_number", json::Value(int64_t{1}));
      if (want.find("file_sequence_number") == nullptr && entry.file_sequence_number())
        want.set("file_sequence_number", json::Value(int64_t{1}));
      expect_same_entry(entry, want);
      entries += static_cast<int64_t>(manifest.size());
    }
    ++manifests;
  }
  EXPECT_EQ(manifests, 190);
  EXPECT_GE(entries, 5000);
}

TEST(ManifestCorpus, ReadsEveryManifestListAsPyIcebergDoes) {
  MemoryPool pool;
  int lists = 0;
  const json::Value all = expected();
  for (const auto& [path, rows] : all.at("lists").as_object()) {
    SCOPED_TRACE(path);
    const auto manifests = read_manifest_list(memory_file(read_corpus(path), path), pool);
    ASSERT_EQ(manifests.size(), rows.as_array().size());
    for (size_t i = 0; i < manifests.size(); ++i)
      EXPECT_EQ(json::write(list_row(manifests[i])), json::write(rows.as_array()[i]));
    ++lists;
  }
  EXPECT_EQ(lists, 169);
}

// PyIceberg reads neither; the fields that it misses are optional in v1, or named otherwise.
TEST(ManifestCorpus, ReadsTheManifestsThatPyIcebergDoesNot) {
  MemoryPool pool;
  const std::string nation = "iceberg-tables/dremio/nation/metadata/";
  const auto list = read_manifest_list(
      memory_file(read_corpus(nation + "snap-7958422591156276457-1-4551fe85-feb8-43ec-8408-730e593c8b12.avro")), pool);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].added_files_count, 1);
  EXPECT_EQ(list[0].added_rows_count, std::nullopt) << "absent is unknown";
  const Manifest manifest =
      read_manifest(memory_file(read_corpus(nation + "4551fe85-feb8-43ec-8408-730e593c8b12-m0.avro")), list[0], pool,
                    {.with_metrics = true, .partition_type = nullptr, .cache = nullptr});
  ASSERT_EQ(manifest.size(), 1u);
  EXPECT_EQ(manifest[0].record_count(), 25) << "the nations of TPC-H";
  EXPECT_EQ(manifest[0].count(CountKind::kValueCount, 1), 25);
  EXPECT_EQ(manifest[0].sequence_number(), 0);
  EXPECT_TRUE(manifest[0].partition().empty());

  const std::string by_region = "iceberg-tables/dremio/partitionednation/metadata/";
  const Manifest parts =
      read_manifest(memory_file(read_corpus(by_region + "d2d6b741-764d-4293-b3c8-715b58dac6eb-m0.avro")), {}, pool);
  EXPECT_EQ(parts.size(), 5u);
  int64_t records = 0;
  for (size_t i = 0; i < parts.size(); ++i) records += parts[i].record_count();
  EXPECT_EQ(records, 25);

  // BigQuery: every field may be null, and none of the header's keys is there.
  const std::string big_query =
      "iceberg-tables/duckdb/big_query_error/metadata/"
      "24f5f399-c7ec-488d-a9d3-f0aceb454be2-4830b289af0338e2-f-00000-of-00001.avro";
  const Manifest google = read_manifest(memory_file(read_corpus(big_query)), {}, pool,
                                        {.with_metrics = true, .partition_type = nullptr, .cache = nullptr});
  ASSERT_GE(google.size(), 1u);
  EXPECT_EQ(google[0].file_format(), FileFormat::kParquet);
  EXPECT_GT(google[0].record_count(), 0);
  EXPECT_THAT(std::string(google[0].file_path()), HasSubstr(".parquet"));
}

TEST(ManifestCorpus, NamesAnEncryptedList) {
  MemoryPool pool;
  try {
    read_manifest_list(
        memory_file(read_corpus("iceberg-metadata/iceberg-rust/manifests_lists/manifest-list-v3-encrypted.avro"),
                    "x.avro"),
        pool);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("x.avro is encrypted"));
  }
}

// One manifest and one list of each codec and version, cut at every byte and with bytes flipped: an error or entries.
TEST(ManifestCorpus, SurvivesDamage) {
  MemoryPool pool({.budget_bytes = 64 << 20});
  const auto survive = [&](const std::string& bytes, bool is_list) {
    try {
      if (is_list) {
        read_manifest_list(memory_file(bytes, "damaged.avro"), pool);
        return;
      }
      const Manifest manifest = read_manifest(memory_file(bytes, "damaged.avro"), {}, pool,
                                              {.with_metrics = true, .partition_type = nullptr, .cache = nullptr});
      for (size_t i = 0; i < manifest.size(); ++i) {
        const Entry entry = manifest[i];
        (void)entry.partition();
        (void)entry.split_offsets();
        (void)entry.bounds(BoundKind::kLower);
        (void)entry.counts(CountKind::kValueCount);
      }
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
                  error.kind() == ErrorKind::kMemoryLimit)
          << error.what();
    }
  };
  std::set<std::string> seen;
  const json::Value all = expected();
  for (const char* part : {"manifests", "lists"}) {
    for (const auto& [path, value] : all.at(part).as_object()) {
      const std::string bytes = read_corpus(path);
      const auto header = avro::parse_header(std::as_bytes(std::span(bytes.data(), bytes.size())), true);
      const std::string key =
          part + std::string(header->codec()) + std::string(header->find("format-version").value_or("-"));
      if (bytes.size() > 9000 || !seen.insert(key).second) continue;
      SCOPED_TRACE(path);
      const bool is_list = part == std::string_view("lists");
      const auto body = static_cast<size_t>(header->size);
      for (size_t size = body; size < bytes.size(); ++size) survive(bytes.substr(0, size), is_list);
      for (size_t size = 0; size < body; size += 61) survive(bytes.substr(0, size), is_list);
      for (size_t i = 0; i < bytes.size(); i += i < body ? 23 : 2) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
        survive(damaged, is_list);
      }
    }
  }
  EXPECT_GE(seen.size(), 8u);
}

}  // namespace
}  // namespace frazil::manifest
