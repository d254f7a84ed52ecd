// The rules of manifests, each with files made by hand: D entries of reports.md by number, inheritance, odd writers.
#include "frazil/manifest/manifest.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/test_container.h"
#include "frazil/base/decimal.h"
#include "frazil/base/error.h"

namespace frazil::manifest {
namespace {

using avro::Encoder;
using avro::make_container;
using avro::memory_file;
using testing::ElementsAre;
using testing::HasSubstr;

using Metadata = std::vector<std::pair<std::string, std::string>>;

// A column of a hand-made manifest: its schema, with ids, and what each entry has in it.
struct TestField {
  std::string schema;
  std::function<void(Encoder&, int64_t)> write;
};

std::string field(const std::string& name, int id, const std::string& type) {
  return R"({"name":")" + name + R"(","field-id":)" + std::to_string(id) + R"(,"type":)" + type + "}";
}

struct TestManifest {
  std::vector<TestField> entry;
  std::vector<TestField> file;
  std::vector<TestField> partition;
  Metadata metadata = {{"format-version", "2"}};

  static TestField integer(const std::string& name, int id, const std::string& type,
                           std::function<int64_t(int64_t)> value) {
    return {field(name, id, "\"" + type + "\""), [value](Encoder& out, int64_t i) { out.long_(value(i)); }};
  }
  // nullopt is null.
  static TestField optional_long(const std::string& name, int id,
                                 std::function<std::optional<int64_t>(int64_t)> value) {
    return {field(name, id, R"(["null","long"])"), [value](Encoder& out, int64_t i) {
              if (const auto v = value(i)) {
                out.long_(1).long_(*v);
              } else {
                out.long_(0);
              }
            }};
  }
  static TestField text(const std::string& name, int id, std::function<std::string(int64_t)> value) {
    return {field(name, id, "\"string\""), [value](Encoder& out, int64_t i) { out.bytes(value(i)); }};
  }

  // With status, path, format, counts; `status` of entry i.
  static TestManifest minimal(std::function<int64_t(int64_t)> status = [](int64_t) { return 1; }) {
    TestManifest m;
    m.entry = {integer("status", 0, "int", std::move(status))};
    m.file = {
        text("file_path", 100, [](int64_t i) { return "s3://bucket/data/file-" + std::to_string(i) + ".parquet"; }),
        text("file_format", 101, [](int64_t) { return "PARQUET"; }),
        integer("record_count", 103, "long", [](int64_t i) { return 10 * (i + 1); }),
        integer("file_size_in_bytes", 104, "long", [](int64_t i) { return 1000 + i; })};
    return m;
  }

  static std::string schemas(const std::vector<TestField>& fields) {
    std::string text;
    for (const TestField& one : fields) text += (text.empty() ? "" : ",") + one.schema;
    return text;
  }

  std::string schema() const {
    const std::string tuple = R"({"type":"record","name":"r102","fields":[)" + schemas(partition) + "]}";
    const std::string data_file =
        R"({"type":"record","name":"r2","fields":[)" + schemas(file) + "," + field("partition", 102, tuple) + "]}";
    return R"({"type":"record","name":"manifest_entry","fields":[)" + schemas(entry) + "," +
           field("data_file", 2, data_file) + "]}";
  }

  std::string bytes(int64_t count, int64_t per_block = 1000) const {
    std::vector<avro::TestBlock> blocks;
    for (int64_t first = 0; first < count; first += per_block) {
      Encoder out;
      const int64_t end = std::min(count, first + per_block);
      for (int64_t i = first; i < end; ++i) {
        for (const auto* part : {&entry, &file, &partition}) {
          for (const TestField& one : *part) one.write(out, i);
        }
      }
      blocks.push_back({end - first, out.str()});
    }
    return make_container(schema(), blocks, "null", metadata);
  }

  Manifest read(int64_t count, MemoryPool& pool, ManifestFile list_entry = {}, ManifestOptions options = {}) const {
    return read_manifest(memory_file(bytes(count), "m.avro"), std::move(list_entry), pool, options);
  }
};

ManifestOptions with_metrics() {
  ManifestOptions options;
  options.with_metrics = true;
  return options;
}

TestField map_field(const std::string& name, int id, int key_id, const std::string& value_type,
                    std::function<void(Encoder&, int64_t)> write) {
  const std::string entry = R"({"type":"record","name":"k)" + std::to_string(key_id) + R"(","fields":[)" +
                            field("key", key_id, "\"int\"") + "," + field("value", key_id + 1, value_type) + "]}";
  return {field(name, id, R"(["null",{"type":"array","logicalType":"map","items":)" + entry + "}]"), std::move(write)};
}

TEST(Manifest, GivesWhatEachEntrySays) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.entry.push_back(TestManifest::optional_long("snapshot_id", 1, [](int64_t i) { return 100 + i; }));
  made.file.push_back({field("split_offsets", 132, R"(["null",{"type":"array","items":"long"}])"),
                       [](Encoder& out, int64_t) { out.long_(1).long_(2).long_(4).long_(500).long_(0); }});
  made.file.push_back({field("key_metadata", 131, R"(["null","bytes"])"),
                       [](Encoder& out, int64_t i) { i == 0 ? out.long_(0) : out.long_(1).bytes("key"); }});
  const Manifest manifest = made.read(3, pool);
  ASSERT_EQ(manifest.size(), 3u);
  const Entry entry = manifest[2];
  EXPECT_EQ(entry.status(), EntryStatus::kAdded);
  EXPECT_TRUE(entry.is_live());
  EXPECT_EQ(entry.snapshot_id(), 102);
  EXPECT_EQ(entry.file_path(), "s3://bucket/data/file-2.parquet");
  EXPECT_EQ(entry.file_format(), FileFormat::kParquet);
  EXPECT_EQ(entry.record_count(), 30);
  EXPECT_EQ(entry.file_size_bytes(), 1002);
  EXPECT_EQ(entry.content(), FileContent::kData);
  EXPECT_THAT(entry.split_offsets(), ElementsAre(4, 500));
  EXPECT_EQ(manifest[0].key_metadata(), std::nullopt);
  EXPECT_EQ(manifest[1].key_metadata(), "key");
  EXPECT_EQ(entry.sort_order_id(), std::nullopt);
  EXPECT_EQ(entry.content_offset(), std::nullopt);
  EXPECT_EQ(entry.referenced_data_file(), std::nullopt);
  EXPECT_GT(manifest.memory_bytes(), 0u);
}

// H06: an empty manifest is no entry, with and without metrics.
TEST(Manifest, H06ReadsAManifestWithoutEntries) {
  MemoryPool pool;
  const TestManifest made = TestManifest::minimal();
  EXPECT_EQ(made.read(0, pool).size(), 0u);
  EXPECT_EQ(made.read(0, pool, {}, with_metrics()).size(), 0u);
  // A block of no records is no entry either.
  EXPECT_TRUE(read_manifest(memory_file(make_container(made.schema(), {{0, ""}})), {}, pool).empty());
}

// M01: the header's partition spec as the array of fields (Java) or as the whole object (old iceberg-rust).
TEST(Manifest, M01ReadsThePartitionSpecInBothForms) {
  MemoryPool pool;
  const std::string fields = R"([{"name":"d","transform":"day","source-id":1,"field-id":1000}])";
  for (const std::string& text : {fields, R"({"spec-id":3,"fields":)" + fields + "}"}) {
    TestManifest made = TestManifest::minimal();
    made.metadata = {
        {"partition-spec", text},
        {"partition-spec-id", "3"},
        {"format-version", "2"},
        {"content", "data"},
        {"schema",
         R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"ts","required":true,"type":"timestamp"}]})"}};
    made.partition = {TestManifest::optional_long("d", 1000, [](int64_t) { return std::nullopt; })};
    const Manifest manifest = made.read(1, pool);
    const auto spec = manifest.header().partition_spec();
    ASSERT_TRUE(spec) << text;
    EXPECT_EQ(spec->spec_id, 3);
    ASSERT_EQ(spec->fields.size(), 1u);
    EXPECT_EQ(spec->fields[0].transform, spec::Transform::day());
    ASSERT_NE(manifest.header().schema(), nullptr);
    EXPECT_EQ(manifest.header().schema()->fields().size(), 1u);
    EXPECT_EQ(manifest.header().schema_id, std::nullopt) << "never required";
  }
}

// M08: nothing that can be read depends on the header's JSON.
TEST(Manifest, M08DoesNotDependOnTheHeader) {
  MemoryPool pool;
  for (const Metadata& metadata :
       {Metadata{},
        Metadata{{"schema", "{"}, {"partition-spec", "?"}, {"partition-spec-id", "x"}, {"format-version", "two"}},
        Metadata{
            {"schema", R"({"type":"record"})"}, {"partition-spec", "[{}]"}, {"partition-spec-id", "99999999999"}}}) {
    TestManifest made = TestManifest::minimal();
    made.metadata = metadata;
    made.partition = {TestManifest::integer("p", 1000, "int", [](int64_t i) { return i; })};
    const Manifest manifest = made.read(2, pool);
    EXPECT_EQ(manifest[1].partition_value(0), spec::Literal::int_(1));
    EXPECT_EQ(manifest.header().partition_spec(), std::nullopt);
    EXPECT_EQ(manifest.header().schema(), nullptr);
    EXPECT_EQ(manifest.header().partition_spec_id, std::nullopt);
  }
}

// M02: a day stands as int or as date. The table's spec says what it is; without it, the file.
TEST(Manifest, M02ReadsDaysStoredAsIntAndAsDate) {
  MemoryPool pool;
  const auto type = [](spec::TypeKind kind) {
    std::vector<spec::NestedField> fields(1);
    fields[0].id = 1000;
    fields[0].name = "ts_day";
    fields[0].type = spec::primitive(kind);
    return spec::struct_(std::move(fields));
  };
  for (const std::string& stored : {std::string("\"int\""), std::string(R"({"type":"int","logicalType":"date"})")}) {
    TestManifest made = TestManifest::minimal();
    made.partition = {{field("ts_day", 1000, R"(["null",)" + stored + "]"),
                       [](Encoder& out, int64_t) { out.long_(1).long_(17486); }}};
    ManifestOptions options;
    options.partition_type = type(spec::TypeKind::kDate);
    EXPECT_EQ(made.read(1, pool, {}, options)[0].partition_value(0), spec::Literal::date(17486)) << stored;
    options.partition_type = type(spec::TypeKind::kInt);
    EXPECT_EQ(made.read(1, pool, {}, options)[0].partition_value(0), spec::Literal::int_(17486)) << stored;
    options.partition_type = type(spec::TypeKind::kUnknown);
    const spec::Literal own = made.read(1, pool, {}, options)[0].partition_value(0);
    EXPECT_EQ(own, stored == "\"int\"" ? spec::Literal::int_(17486) : spec::Literal::date(17486))
        << "a dropped source column";
  }
}

// M03: writers that leave the three columns out altogether. Only what was added takes the manifest's sequence number.
TEST(Manifest, M03InheritsWhatTheWriterLeftOut) {
  MemoryPool pool;
  ManifestFile list_entry;
  list_entry.added_snapshot_id = 77;
  list_entry.sequence_number = 5;
  const TestManifest made = TestManifest::minimal([](int64_t i) { return i; });  // existing, added, deleted
  const Manifest manifest = made.read(3, pool, list_entry);
  EXPECT_EQ(manifest[0].snapshot_id(), 77);
  EXPECT_EQ(manifest[0].sequence_number(), std::nullopt) << "an existing file has a number of its own";
  EXPECT_EQ(manifest[1].sequence_number(), 5);
  EXPECT_EQ(manifest[1].file_sequence_number(), 5);
  EXPECT_EQ(manifest[2].sequence_number(), std::nullopt);
  list_entry.sequence_number = 0;
  const Manifest v1 = made.read(3, pool, list_entry);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(v1[i].sequence_number(), 0) << "a manifest that a v1 table wrote";
  EXPECT_EQ(made.read(1, pool)[0].snapshot_id(), std::nullopt);
}

TEST(Manifest, StoredValuesWinOverInheritedOnes) {
  MemoryPool pool;
  ManifestFile list_entry;
  list_entry.added_snapshot_id = 77;
  list_entry.sequence_number = 5;
  TestManifest made = TestManifest::minimal();
  made.entry.push_back(
      TestManifest::optional_long("snapshot_id", 1, [](int64_t i) { return i == 0 ? std::optional<int64_t>() : 12; }));
  made.entry.push_back(TestManifest::optional_long("sequence_number", 3,
                                                   [](int64_t i) { return i == 0 ? std::optional<int64_t>() : 2; }));
  made.entry.push_back(TestManifest::optional_long("file_sequence_number", 4,
                                                   [](int64_t i) { return i == 0 ? std::optional<int64_t>() : 3; }));
  const Manifest manifest = made.read(2, pool, list_entry);
  EXPECT_EQ(manifest[0].snapshot_id(), 77);
  EXPECT_EQ(manifest[0].sequence_number(), 5);
  EXPECT_EQ(manifest[1].snapshot_id(), 12);
  EXPECT_EQ(manifest[1].sequence_number(), 2);
  EXPECT_EQ(manifest[1].file_sequence_number(), 3);
}

// v3: ids run on from the manifest's over the live files that have none; deleted ones take none. (interop.md 10, "row lineage")
TEST(Manifest, AssignsFirstRowIdsInOrder) {
  MemoryPool pool;
  ManifestFile list_entry;
  list_entry.first_row_id = 1000;
  // Records 10, 20, 30, 40, 50: added, existing with its own id, deleted, added, added.
  TestManifest made = TestManifest::minimal([](int64_t i) { return i == 1 ? 0 : i == 2 ? 2 : 1; });
  made.file.push_back(TestManifest::optional_long(
      "first_row_id", 142, [](int64_t i) { return i == 1 ? std::optional<int64_t>(7) : std::nullopt; }));
  const Manifest manifest = made.read(5, pool, list_entry);
  const std::optional<int64_t> expected[] = {1000, 7, std::nullopt, 1010, 1050};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(manifest[i].first_row_id(), expected[i]) << i;
  // No column at all: the same, every live file counts.
  const Manifest without = TestManifest::minimal().read(3, pool, list_entry);
  EXPECT_EQ(without[2].first_row_id(), 1030);
  // The manifest has none: nor has any file.
  list_entry.first_row_id.reset();
  EXPECT_EQ(made.read(5, pool, list_entry)[1].first_row_id(), std::nullopt);
  list_entry.first_row_id = INT64_MAX;
  EXPECT_THROW(made.read(2, pool, list_entry), CorruptError) << "past 2^63";
}

TEST(Manifest, ReadsDeletesOfEachKind) {
  MemoryPool pool;
  ManifestFile list_entry;
  list_entry.content = ManifestContent::kDeletes;
  TestManifest made = TestManifest::minimal();
  made.file.push_back(TestManifest::integer("content", 134, "int", [](int64_t i) { return i == 2 ? 2 : 1; }));
  made.file[1] = TestManifest::text("file_format", 101, [](int64_t i) { return i == 1 ? "puffin" : "pArQuEt"; });
  made.file.push_back(
      {field("equality_ids", 135, R"(["null",{"type":"array","items":"int"}])"), [](Encoder& out, int64_t i) {
         i == 2 ? out.long_(1).long_(-2).long_(2).long_(3).long_(8).long_(0) : out.long_(0);
       }});
  made.file.push_back({field("referenced_data_file", 143, R"(["null","string"])"), [](Encoder& out, int64_t i) {
                         i == 1 ? out.long_(1).bytes("s3://b/d.parquet") : out.long_(0);
                       }});
  made.file.push_back(TestManifest::optional_long(
      "content_offset", 144, [](int64_t i) { return i == 1 ? std::optional<int64_t>(4) : std::nullopt; }));
  made.file.push_back(TestManifest::optional_long(
      "content_size_in_bytes", 145, [](int64_t i) { return i == 1 ? std::optional<int64_t>(44) : std::nullopt; }));
  const Manifest manifest = made.read(3, pool, list_entry);
  EXPECT_EQ(manifest[0].content(), FileContent::kPositionDeletes);
  EXPECT_EQ(manifest[0].file_format(), FileFormat::kParquet) << "formats compare without case";
  EXPECT_EQ(manifest[1].file_format(), FileFormat::kPuffin);
  EXPECT_EQ(manifest[1].referenced_data_file(), "s3://b/d.parquet");
  EXPECT_EQ(manifest[1].content_offset(), 4);
  EXPECT_EQ(manifest[1].content_size_bytes(), 44);
  EXPECT_EQ(manifest[2].content(), FileContent::kEqualityDeletes);
  EXPECT_THAT(manifest[2].equality_ids(), ElementsAre(3, 8));
  EXPECT_TRUE(manifest[0].equality_ids().empty());
  // The same entries where the list promises data: never rows.
  EXPECT_THROW(made.read(3, pool), CorruptError);
  EXPECT_THROW(TestManifest::minimal().read(1, pool, list_entry), CorruptError)
      << "a delete that does not say what it deletes by";
}

// M10: decimals of partitions as fixed (also wider than needed) and as bytes.
TEST(Manifest, M10ReadsDecimalPartitionsFromFixedAndBytes) {
  MemoryPool pool;
  const std::pair<std::string, std::string> cases[] = {
      {R"({"type":"fixed","name":"f","size":4,"logicalType":"decimal","precision":9,"scale":2})",
       std::string("\xff\xff\xff\x80")},
      {R"({"type":"fixed","name":"f","size":6,"logicalType":"decimal","precision":9,"scale":2})",
       std::string("\xff\xff\xff\xff\xff\x80")},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})", Encoder().bytes("\x80").str()},
      {R"({"type":"bytes"})", Encoder().bytes("\xff\x80").str()},
  };
  for (const auto& [stored, bytes] : cases) {
    TestManifest made = TestManifest::minimal();
    made.partition = {{field("amount", 1000, R"(["null",)" + stored + "]"),
                       [value = bytes](Encoder& out, int64_t) { out.long_(1).raw(value); }}};
    std::vector<spec::NestedField> fields(1);
    fields[0].id = 1000;
    fields[0].name = "amount";
    fields[0].type = spec::decimal(9, 2);
    ManifestOptions options;
    options.partition_type = spec::struct_(std::move(fields));
    const spec::Literal value = made.read(1, pool, {}, options)[0].partition_value(0);
    EXPECT_EQ(decimal_to_string(value.as<Int128>(), 2), "-1.28") << stored;
  }
}

// The type of the table's spec may have been promoted since, or its fields be gone or in another order.
TEST(Manifest, TypesPartitionsByTheTableAndByTheFile) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.partition = {{field("a", 1000, R"(["null","int"])"),
                     [](Encoder& out, int64_t i) { i == 0 ? out.long_(0) : out.long_(1).long_(7); }},
                    {field("u", 1001, R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})"),
                     [](Encoder& out, int64_t) { out.raw("0123456789abcdef"); }},
                    {field("s", 1002, "\"string\""), [](Encoder& out, int64_t) { out.bytes("x"); }},
                    {field("b", 1003, "\"boolean\""), [](Encoder& out, int64_t) { out.bool_(true); }},
                    {field("f", 1004, "\"float\""), [](Encoder& out, int64_t) { out.float_(0.5F); }},
                    {field("t", 1005, R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false})"),
                     [](Encoder& out, int64_t) { out.long_(-1); }}};
  const Manifest own = made.read(2, pool);
  EXPECT_EQ(
      own.partition_type()->to_string(),
      "struct<1000: a: optional int, 1001: u: optional uuid, 1002: s: optional string, 1003: b: optional boolean, "
      "1004: f: optional float, 1005: t: optional timestamp>");
  EXPECT_TRUE(own[0].partition_value(0).is_null());
  EXPECT_EQ(own[1].partition_value(0), spec::Literal::int_(7));
  EXPECT_EQ(own[1].partition_value(5).as_integer(), -1);

  std::vector<spec::NestedField> fields(4);
  const std::tuple<int, const char*, spec::TypeKind> wanted[] = {{1002, "renamed", spec::TypeKind::kString},
                                                                 {1000, "a", spec::TypeKind::kLong},
                                                                 {1009, "new", spec::TypeKind::kInt},
                                                                 {1004, "f", spec::TypeKind::kInt}};
  for (size_t i = 0; i < 4; ++i) {
    fields[i].id = std::get<0>(wanted[i]);
    fields[i].name = std::get<1>(wanted[i]);
    fields[i].type = spec::primitive(std::get<2>(wanted[i]));
  }
  ManifestOptions options;
  options.partition_type = spec::struct_(std::move(fields));
  const Manifest asked = made.read(2, pool, {}, options);
  EXPECT_EQ(asked[1].partition_value(0), spec::Literal::string("x"));
  EXPECT_EQ(asked[1].partition_value(1), spec::Literal::long_(7));
  EXPECT_TRUE(asked[1].partition_value(2).is_null()) << "a field that the file's spec does not have";
  EXPECT_EQ(asked[1].partition_value(3), spec::Literal::float_(0.5F))
      << "a float does not read as int: the file's type";
}

// P16: absent counts are unknown, not zero: no map, a map without the column, metrics not asked for.
TEST(Manifest, P16AbsentMetricsAreUnknown) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.file.push_back(map_field("value_counts", 109, 119, "\"long\"", [](Encoder& out, int64_t i) {
    i == 0 ? out.long_(0) : out.long_(1).long_(1).long_(4).long_(0).long_(0);
  }));
  made.file.push_back(map_field("lower_bounds", 125, 126, "\"bytes\"", [](Encoder& out, int64_t i) {
    i == 0 ? out.long_(0) : out.long_(1).long_(1).long_(4).bytes("low").long_(0);
  }));
  const Manifest manifest = made.read(2, pool, {}, with_metrics());
  EXPECT_EQ(manifest[0].count(CountKind::kValueCount, 4), std::nullopt);
  EXPECT_FALSE(manifest[0].has_counts(CountKind::kValueCount));
  EXPECT_EQ(manifest[1].count(CountKind::kValueCount, 4), 0) << "a stored zero is zero";
  EXPECT_EQ(manifest[1].count(CountKind::kValueCount, 5), std::nullopt);
  EXPECT_EQ(manifest[1].count(CountKind::kNullValueCount, 4), std::nullopt) << "no such map in the file";
  EXPECT_EQ(manifest[1].bound(BoundKind::kLower, 4), "low");
  EXPECT_EQ(manifest[1].bound(BoundKind::kUpper, 4), std::nullopt);
  const Manifest without = made.read(2, pool);
  EXPECT_EQ(without[1].count(CountKind::kValueCount, 4), std::nullopt);
  EXPECT_EQ(without[1].bound(BoundKind::kLower, 4), std::nullopt);
}

TEST(Manifest, ReadsMapsInEveryForm) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  // The value before the key, both in unions; a block with a byte size; an entry without a value.
  const std::string entry = R"({"type":"record","name":"k119","fields":[)" + field("value", 120, R"(["null","long"])") +
                            "," + field("key", 119, R"(["int","null"])") + "]}";
  made.file.push_back(
      {field("value_counts", 109, R"({"type":"array","items":)" + entry + "}"), [](Encoder& out, int64_t) {
         const std::string body = Encoder().long_(1).long_(40).long_(0).long_(4).long_(0).long_(0).long_(5).str();
         out.long_(-2).bytes(body).long_(1).long_(1).long_(60).long_(0).long_(6).long_(0);
       }});
  // Counts of another type are not understood, and so absent.
  made.file.push_back(map_field("null_value_counts", 110, 121, "\"double\"",
                                [](Encoder& out, int64_t) { out.long_(1).long_(1).long_(4).double_(1).long_(0); }));
  made.file.push_back({field("nan_value_counts", 137, "\"string\""), [](Encoder& out, int64_t) { out.bytes("?"); }});
  made.file.push_back(map_field("column_sizes", 108, 117, "\"bytes\"",
                                [](Encoder& out, int64_t) { out.long_(1).long_(1).long_(4).bytes("size").long_(0); }));
  made.file.push_back(map_field("lower_bounds", 125, 126, "\"long\"",
                                [](Encoder& out, int64_t) { out.long_(1).long_(1).long_(4).long_(1).long_(0); }));
  const Manifest manifest = made.read(1, pool, {}, with_metrics());
  EXPECT_FALSE(manifest[0].has_counts(CountKind::kColumnSize));
  EXPECT_FALSE(manifest[0].has_bounds(BoundKind::kLower));
  EXPECT_THAT(manifest[0].counts(CountKind::kValueCount), ElementsAre(std::pair(4, 40), std::pair(6, 60)));
  EXPECT_EQ(manifest[0].count(CountKind::kValueCount, 5), std::nullopt);
  EXPECT_FALSE(manifest[0].has_counts(CountKind::kNullValueCount));
  EXPECT_FALSE(manifest[0].has_counts(CountKind::kNanValueCount));
}

// A block with a byte size is jumped over when it is read, so its inside is only seen here.
TEST(Manifest, ADamagedMapIsAnErrorWhenItIsAskedFor) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.file.push_back(map_field("lower_bounds", 125, 126, "\"bytes\"", [](Encoder& out, int64_t) {
    out.long_(1).long_(-1).bytes(Encoder().long_(4).long_(1000).str()).long_(0);
  }));
  const Manifest manifest = made.read(1, pool, {}, with_metrics());
  EXPECT_THROW((void)manifest[0].bound(BoundKind::kLower, 4), CorruptError);
  EXPECT_THROW((void)manifest[0].bounds(BoundKind::kLower), CorruptError);
}

// M28: thousands of entries with nested maps in several manifests, again and again; sanitizers watch.
TEST(Manifest, M28ReadsManyEntriesWithMapsAgainAndAgain) {
  TestManifest made = TestManifest::minimal();
  constexpr int kColumns = 20;
  const auto counts = [](Encoder& out, int64_t i) {
    out.long_(1).long_(kColumns);
    for (int c = 0; c < kColumns; ++c) out.long_(c + 1).long_(i * c);
    out.long_(0);
  };
  const auto bounds = [](Encoder& out, int64_t i) {
    out.long_(1).long_(kColumns);
    for (int c = 0; c < kColumns; ++c) out.long_(c + 1).bytes("bound " + std::to_string(i * c));
    out.long_(0);
  };
  made.file.push_back(map_field("value_counts", 109, 119, "\"long\"", counts));
  made.file.push_back(map_field("lower_bounds", 125, 126, "\"bytes\"", bounds));
  made.file.push_back(map_field("upper_bounds", 128, 129, "\"bytes\"", bounds));
  const std::string bytes = made.bytes(5000, 137);
  MemoryPool pool;
  ManifestSchemaCache cache;
  for (int round = 0; round < 6; ++round) {
    ManifestOptions options = with_metrics();
    options.cache = &cache;
    const Manifest first = read_manifest(memory_file(bytes), {}, pool, options);
    const Manifest second = read_manifest(memory_file(bytes), {}, pool, options);
    ASSERT_EQ(first.size(), 5000u);
    for (size_t i = 0; i < 5000; i += 97) {
      const auto index = static_cast<int64_t>(i);
      EXPECT_EQ(first[i].file_path(), "s3://bucket/data/file-" + std::to_string(i) + ".parquet");
      EXPECT_EQ(second[i].count(CountKind::kValueCount, 20), index * 19);
      EXPECT_EQ(second[i].bound(BoundKind::kUpper, 3), "bound " + std::to_string(index * 2));
    }
  }
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0u);
}

TEST(Manifest, KeepsASixthWithoutMetrics) {
  TestManifest made = TestManifest::minimal();
  made.file.push_back(map_field("lower_bounds", 125, 126, "\"bytes\"", [](Encoder& out, int64_t) {
    out.long_(1).long_(1).long_(1).bytes(std::string(600, 'x')).long_(0);
  }));
  const std::string bytes = made.bytes(4000);
  MemoryPool pool;
  const auto in_use = [&] { return pool.stats().held_bytes - pool.stats().idle_bytes; };
  size_t all = 0;
  {
    const Manifest manifest = read_manifest(memory_file(bytes), {}, pool, with_metrics());
    all = in_use();
    EXPECT_GE(all, bytes.size() * 9 / 10) << "the blocks stay";
  }
  const Manifest manifest = read_manifest(memory_file(bytes), {}, pool);
  EXPECT_LE(in_use(), all / 5);
  EXPECT_LE(manifest.memory_bytes(), in_use() * 2);
  EXPECT_GE(manifest.memory_bytes() * 2, in_use());
}

TEST(Manifest, SaysWhatIsWrong) {
  MemoryPool pool;
  const auto failure = [&](const TestManifest& made, ErrorKind kind = ErrorKind::kCorrupt) -> std::string {
    try {
      made.read(2, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("m.avro"));
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(failure(TestManifest::minimal([](int64_t i) { return 3 * i; })), HasSubstr("entry 1 has status 3"));
  TestManifest made = TestManifest::minimal();
  made.file[2] = TestManifest::integer("record_count", 103, "long", [](int64_t) { return -1; });
  EXPECT_THAT(failure(made), HasSubstr("entry 0 has -1 records"));
  made = TestManifest::minimal();
  made.file.erase(made.file.begin());
  EXPECT_THAT(failure(made), HasSubstr("'data_file.file_path' is required"));
  made = TestManifest::minimal();
  made.file.push_back(TestManifest::integer("content", 134, "int", [](int64_t) { return 9; }));
  EXPECT_THAT(failure(made), HasSubstr("content 9"));
  made = TestManifest::minimal();
  made.partition = {
      {field("p", 1000, R"({"type":"array","items":"int"})"), [](Encoder& out, int64_t) { out.long_(0); }}};
  EXPECT_THAT(failure(made, ErrorKind::kUnsupported), HasSubstr("partition field 'p'"));
  made = TestManifest::minimal();
  made.file[0] = TestManifest::integer("file_path", 100, "long", [](int64_t) { return 1; });
  EXPECT_THAT(failure(made, ErrorKind::kUnsupported), HasSubstr("'data_file.file_path' is a long"));
}

// Without ids in the file, names decide; split offsets that make no sense count as absent.
TEST(Manifest, GoesByNamesInFilesWithoutIds) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.partition = {TestManifest::integer("p", 1000, "int", [](int64_t i) { return i; })};
  made.file.push_back({field("split_offsets", 132, R"({"type":"array","items":"long"})"), [](Encoder& out, int64_t i) {
                         out.long_(2).long_(4).long_(i == 0 ? 3 : i == 1 ? 5000 : 5).long_(0);
                       }});
  std::string schema = made.schema();
  for (size_t at = 0; (at = schema.find("\"field-id\":", at)) != std::string::npos;)
    schema.erase(at, schema.find(',', at) - at + 1);
  std::string bytes = made.bytes(3);
  const size_t body = bytes.find(std::string(avro::kTestSync)) + 16;
  bytes = make_container(schema, {}) + bytes.substr(body);
  const Manifest manifest = read_manifest(memory_file(bytes), {}, pool);
  ASSERT_EQ(manifest.size(), 3u);
  EXPECT_EQ(manifest[2].partition_value(0), spec::Literal::int_(2));
  EXPECT_TRUE(manifest[0].split_offsets().empty()) << "falling";
  EXPECT_TRUE(manifest[1].split_offsets().empty()) << "past the end of the file";
  EXPECT_THAT(manifest[2].split_offsets(), ElementsAre(4, 5));
}

// --- Manifest lists ------------------------------------------------------------------------------------------------

std::string list_schema(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& one : fields) text += (text.empty() ? "" : ",") + one;
  return R"({"type":"record","name":"manifest_file","fields":[)" + text + "]}";
}

// M05: both spellings of the counts, with the same ids; without ids the old names are aliases.
TEST(ManifestList, M05ReadsCountsUnderBothNames) {
  MemoryPool pool;
  for (const bool with_ids : {true, false}) {
    for (const std::string& infix : {std::string("_data"), std::string()}) {
      std::string schema =
          list_schema({field("manifest_path", 500, "\"string\""), field("manifest_length", 501, "\"long\""),
                       field("partition_spec_id", 502, "\"int\""), field("added_snapshot_id", 503, "\"long\""),
                       field("added" + infix + "_files_count", 504, "\"int\""),
                       field("existing" + infix + "_files_count", 505, "\"int\""),
                       field("deleted" + infix + "_files_count", 506, "\"int\"")});
      if (!with_ids) {
        for (size_t at = 0; (at = schema.find("\"field-id\":", at)) != std::string::npos;)
          schema.erase(at, schema.find(',', at) - at + 1);
      }
      const std::string row = Encoder().bytes("m.avro").long_(100).long_(2).long_(9).long_(1).long_(2).long_(3).str();
      const auto list = read_manifest_list(memory_file(make_container(schema, {{1, row}})), pool);
      ASSERT_EQ(list.size(), 1u);
      EXPECT_EQ(list[0].added_files_count, 1) << infix << with_ids;
      EXPECT_EQ(list[0].existing_files_count, 2);
      EXPECT_EQ(list[0].deleted_files_count, 3);
      EXPECT_EQ(list[0].partition_spec_id, 2);
      EXPECT_EQ(list[0].added_snapshot_id, 9);
    }
  }
}

// v1: absent counts are unknown, everything that v2 added has the value that v1 stands for.
TEST(ManifestList, V1LeavesOutWhatIsUnknown) {
  MemoryPool pool;
  const std::string schema =
      list_schema({field("manifest_path", 500, "\"string\""), field("manifest_length", 501, "\"long\""),
                   field("partition_spec_id", 502, "\"int\""), field("added_files_count", 504, R"(["null","int"])")});
  const auto list = read_manifest_list(
      memory_file(make_container(
          schema,
          {{2, Encoder().bytes("a").long_(1).long_(0).long_(0).bytes("b").long_(1).long_(0).long_(1).long_(0).str()}})),
      pool);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].added_files_count, std::nullopt);
  EXPECT_TRUE(list[0].may_have_live_files());
  EXPECT_EQ(list[1].added_files_count, 0);
  EXPECT_TRUE(list[1].may_have_live_files()) << "the existing ones are unknown";
  EXPECT_EQ(list[0].sequence_number, 0);
  EXPECT_EQ(list[0].content, ManifestContent::kData);
  EXPECT_EQ(list[0].partitions, std::nullopt);
  EXPECT_EQ(list[0].added_snapshot_id, std::nullopt);
  EXPECT_EQ(list[0].first_row_id, std::nullopt);
  ManifestFile none;
  none.added_files_count = 0;
  none.existing_files_count = 0;
  EXPECT_FALSE(none.may_have_live_files());
}

TEST(ManifestList, SaysWhatIsWrong) {
  MemoryPool pool;
  const std::string schema =
      list_schema({field("manifest_path", 500, "\"string\""), field("manifest_length", 501, "\"long\""),
                   field("partition_spec_id", 502, "\"int\""), field("content", 517, "\"int\"")});
  const auto failure = [&](const std::string& row) -> std::string {
    try {
      read_manifest_list(memory_file(make_container(schema, {{1, row}}), "list.avro"), pool);
    } catch (const CorruptError& error) {
      return error.what();
    }
    return "no CorruptError";
  };
  EXPECT_THAT(failure(Encoder().bytes("m").long_(1).long_(0).long_(2).str()), HasSubstr("content of manifest m is 2"));
  EXPECT_THAT(failure(Encoder().bytes("m").long_(-1).long_(0).long_(1).str()), HasSubstr("length of manifest m is -1"));
  EXPECT_THAT(failure(Encoder().bytes("m").long_(-1).long_(0).long_(1).str()), HasSubstr("list.avro"));
  EXPECT_EQ(read_manifest_list(memory_file(make_container(schema, {})), pool).size(), 0u);
}

// A v1 snapshot may name its manifests itself: their own header gives what a list would.
TEST(ManifestList, MakesAnEntryForAManifestWithoutList) {
  MemoryPool pool;
  TestManifest made = TestManifest::minimal();
  made.metadata = {{"partition-spec-id", "4"}, {"format-version", "1"}};
  made.entry.push_back(TestManifest::optional_long("snapshot_id", 1, [](int64_t) { return 8; }));
  const std::string bytes = made.bytes(2);
  const ManifestFile file = manifest_file_without_list(memory_file(bytes, "/local/m.avro"), "s3://b/m.avro", 9, pool);
  EXPECT_EQ(file.path, "s3://b/m.avro");
  EXPECT_EQ(file.length, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(file.partition_spec_id, 4);
  EXPECT_EQ(file.added_snapshot_id, 9);
  EXPECT_TRUE(file.may_have_live_files());
  const Manifest manifest = read_manifest(memory_file(bytes), file, pool);
  EXPECT_EQ(manifest[0].snapshot_id(), 8);
  EXPECT_EQ(manifest[0].sequence_number(), 0);
  made.metadata.clear();
  EXPECT_EQ(manifest_file_without_list(memory_file(made.bytes(1)), "m", 9, pool).partition_spec_id, 0);
}

// Manifests of one table share what their schema compiles to; another partition type is another layout.
TEST(Manifest, SharesLayoutsThroughTheCache) {
  MemoryPool pool;
  ManifestSchemaCache cache;
  TestManifest made = TestManifest::minimal();
  made.partition = {TestManifest::integer("p", 1000, "int", [](int64_t i) { return i; })};
  ManifestOptions options;
  options.cache = &cache;
  const Manifest first = made.read(1, pool, {}, options);
  const Manifest second = made.read(2, pool, {}, options);
  EXPECT_EQ(first.partition_type(), second.partition_type()) << "one layout";
  std::vector<spec::NestedField> fields(1);
  fields[0].id = 1000;
  fields[0].name = "p";
  fields[0].type = spec::primitive(spec::TypeKind::kLong);
  options.partition_type = spec::struct_(std::move(fields));
  EXPECT_EQ(made.read(1, pool, {}, options)[0].partition_value(0), spec::Literal::long_(0));
  options.with_metrics = true;
  EXPECT_EQ(made.read(1, pool, {}, options).batches()[0].column(4)->type->children().size(), 20u);
}

}  // namespace
}  // namespace frazil::manifest
