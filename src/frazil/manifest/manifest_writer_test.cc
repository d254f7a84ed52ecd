// Manifests as they are written: read back by our reader, held against manifests of Iceberg Java, and rule by rule. What
// other implementations read from them: tests/interop/manifests.py.
#include "frazil/manifest/manifest_writer.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/avro/container.h"
#include "frazil/avro/test_container.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/manifest/manifest_layout.h"
#include "frazil/manifest/random_data_files_test.h"
#include "frazil/manifest/written_schema.h"

namespace frazil::manifest {
namespace {

using spec::Literal;
using spec::TypeKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPath = "memory:/t/metadata/m0.avro";

struct Column {
  std::string name;
  spec::TypePtr type;
  spec::Transform transform;
};

// A schema of those columns and a spec with a field on each.
ManifestWriterOptions options_for(int32_t format_version, const std::vector<Column>& columns) {
  ManifestWriterOptions options;
  options.format_version = format_version;
  options.snapshot_id = 77;
  std::vector<spec::NestedField> fields;
  for (const Column& column : columns) {
    spec::NestedField field;
    field.id = static_cast<int32_t>(fields.size() + 1);
    field.name = column.name;
    field.type = column.type;
    fields.push_back(field);
    spec::PartitionField part;
    part.source_ids = {field.id};
    part.field_id = 999 + field.id;
    part.name = column.name;
    part.transform = column.transform;
    options.spec.fields.push_back(part);
  }
  options.schema = std::make_shared<const spec::Schema>(fields);
  return options;
}

DataFile data_file(std::vector<Literal> partition = {}, int64_t records = 10, const std::string& path = "s3://b/f") {
  DataFile file;
  file.path = path;
  file.partition = std::move(partition);
  file.record_count = records;
  file.file_size_bytes = 1000;
  return file;
}

class ManifestWriting : public testing::Test {
 protected:
  ManifestWriter writer(ManifestWriterOptions options) {
    return {files_.open_output(kPath), std::move(options), pool_};
  }
  ManifestFile finish(ManifestWriter& writer) { return writer.finish({.if_exists = OutputFile::IfExists::kReplace}); }
  Manifest read(const ManifestFile& listed) {
    ManifestOptions options;
    options.with_metrics = true;
    return read_manifest(files_.open_input(listed.path), listed, pool_, options);
  }
  avro::Header header() {
    const std::string text(files_.get(kPath).text());
    return *avro::parse_header(std::as_bytes(std::span(text.data(), text.size())), true);
  }
  // The summary of the one partition field of these values.
  std::optional<std::vector<FieldSummary>> summarize(const spec::TypePtr& type, const std::vector<Literal>& values) {
    ManifestWriter out = writer(options_for(2, {{"p", type, spec::Transform::identity()}}));
    for (const Literal& value : values) out.add(data_file({value}));
    return finish(out).partitions;
  }

  MemoryPool pool_;
  MemoryFileSystem files_;
};

std::string hex(const std::optional<std::string>& bytes) {
  return bytes ? encode_hex(std::as_bytes(std::span(bytes->data(), bytes->size()))) : "none";
}

template <typename Action>
std::string error_of(ErrorKind kind, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

TEST_F(ManifestWriting, RoundTripsAnyFiles) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomDataFiles random(seed);
    const auto version = static_cast<int32_t>(1 + random.below(3));
    const bool deletes = version > 1 && random.coin(3);
    ManifestWriterOptions options;
    options.format_version = version;
    options.content = deletes ? ManifestContent::kDeletes : ManifestContent::kData;
    options.schema = random.schema();
    options.spec = random.spec();
    options.snapshot_id = 42;
    options.container.block_bytes = random.below(20'000);
    constexpr Codec kCodecs[] = {Codec::kNone, Codec::kDeflate, Codec::kSnappy, Codec::kZstd};
    options.container.codec = kCodecs[random.below(4)];
    std::vector<DataFile> written;
    ManifestWriter out = writer(options);
    for (uint64_t count = random.below(40); count > 0; --count) {
      const auto content = deletes ? static_cast<FileContent>(1 + random.below(2)) : FileContent::kData;
      written.push_back(random.next(version, content));
      out.add(written.back());
    }
    ManifestFile listed = finish(out);
    EXPECT_EQ(listed.length, static_cast<int64_t>(files_.get(kPath).size()));
    EXPECT_EQ(listed.added_files_count, static_cast<int32_t>(written.size()));
    listed.sequence_number = 5;
    const Manifest manifest = read(listed);
    ASSERT_EQ(manifest.size(), written.size());
    EXPECT_EQ(manifest.header().format_version, version);
    EXPECT_TRUE(manifest.header().partition_spec() == random.spec());
    EXPECT_TRUE(manifest.header().schema()->same_fields(*random.schema()));
    for (size_t i = 0; i < written.size(); ++i) {
      EXPECT_EQ(manifest[i].status(), EntryStatus::kAdded);
      EXPECT_EQ(manifest[i].snapshot_id(), 42);
      EXPECT_EQ(manifest[i].sequence_number(), 5);
      EXPECT_TRUE(data_file_of(manifest[i]) == written[i]) << i << " " << written[i].path;
    }
  }
}

// Columns, order, names, ids and attributes, for every type of partition values (M07, M10, W14).
TEST_F(ManifestWriting, HasTheSchemasOfIcebergJava) {
  const auto identity = spec::Transform::identity();
  const auto primitive = [](TypeKind kind) { return spec::primitive(kind); };
  const std::vector<Column> columns = {{"a", spec::decimal(9, 2), identity},
                                       {"a b", primitive(TypeKind::kUuid), identity},
                                       {"c", primitive(TypeKind::kTimestamp), identity},
                                       {"d", primitive(TypeKind::kTimestampTz), identity},
                                       {"e", spec::fixed(5), identity},
                                       {"f", primitive(TypeKind::kTime), identity},
                                       {"g", primitive(TypeKind::kString), identity},
                                       {"h", spec::decimal(38, 0), identity},
                                       {"i", primitive(TypeKind::kDate), identity},
                                       {"9j", primitive(TypeKind::kBinary), identity}};
  std::vector<spec::NestedField> fields;
  for (const auto& [name, type] :
       std::initializer_list<std::pair<const char*, spec::TypePtr>>{{"c_day", primitive(TypeKind::kDate)},
                                                                    {"d_hour", primitive(TypeKind::kInt)},
                                                                    {"g_bucket", primitive(TypeKind::kInt)}}) {
    fields.emplace_back();
    fields.back().name = name;
    fields.back().type = type;
  }
  for (const Column& column : columns) {
    fields.emplace_back();
    fields.back().name = column.name;
    fields.back().type = column.type;
  }
  for (size_t i = 0; i < fields.size(); ++i) fields[i].id = static_cast<int32_t>(1000 + i);
  const spec::TypePtr partition_type = spec::struct_(fields);

  const json::Value java = json::parse(
      avro::read_text(std::string(FRAZIL_TEST_CORPORA) + "/../../src/frazil/manifest/testdata/java-schemas.json"));
  for (const json::Value& one : java.at("schemas").as_array()) {
    const int32_t version = one.at("version").as_int32();
    const bool is_list = one.at("kind").as_string() == "manifest_list";
    SCOPED_TRACE(message("version {}, {}", version, one.at("kind").as_string()));
    json::Value ours =
        avro::schema_to_json(is_list ? *written_list_schema(version) : *written_entry_schema(version, *partition_type));
    if (version == 1 && !is_list) {
      // The specification demands it in v1; Java always has it, but as optional.
      ours.find("fields")->as_array()[1] = one.at("schema").at("fields").as_array()[1];
    }
    EXPECT_TRUE(ours == one.at("schema")) << json::write(ours) << "\n" << json::write(one.at("schema"));
  }
}

// D entries M01, M07, M08 of reports.md.
TEST_F(ManifestWriting, SaysInItsHeaderWhatOthersLookFor) {
  ManifestWriterOptions options =
      options_for(2, {{"d", spec::primitive(TypeKind::kTimestamp), spec::Transform::day()}});
  options.spec.spec_id = 3;
  options.content = ManifestContent::kDeletes;
  ManifestWriter out = writer(options);
  finish(out);
  const avro::Header written = header();
  EXPECT_EQ(written.find("schema"),
            R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"d","required":false,"type":"timestamp"}]})");
  EXPECT_EQ(written.find("schema-id"), "0");
  EXPECT_EQ(written.find("partition-spec"), R"([{"name":"d","transform":"day","source-id":1,"field-id":1000}])");
  EXPECT_EQ(written.find("partition-spec-id"), "3");
  EXPECT_EQ(written.find("format-version"), "2");
  EXPECT_EQ(written.find("content"), "deletes");
  EXPECT_EQ(written.codec(), "deflate");
  const auto schema = avro::parse_schema(written.schema_text());
  EXPECT_EQ(schema->name, "manifest_entry");
  EXPECT_EQ(schema->fields.back().type->name, "r2");
}

TEST_F(ManifestWriting, LeavesSequenceNumbersOfAddedFilesToTheList) {
  ManifestWriter out = writer(options_for(2, {}));
  out.add(data_file());
  out.add(data_file(), {.sequence_number = 3});
  ManifestFile listed = finish(out);
  EXPECT_EQ(listed.sequence_number, kUnassignedSequenceNumber);
  EXPECT_EQ(listed.min_sequence_number, 3);
  listed.sequence_number = 9;
  const Manifest manifest = read(listed);
  EXPECT_EQ(manifest[0].sequence_number(), 9);
  EXPECT_EQ(manifest[0].file_sequence_number(), 9);
  EXPECT_EQ(manifest[1].sequence_number(), 3);
  EXPECT_EQ(manifest[1].file_sequence_number(), 9);
}

TEST_F(ManifestWriting, WritesOutWhatExistingAndDeletedEntriesInherited) {
  ManifestWriter first = writer(options_for(3, {}));
  first.add(data_file({}, 10, "s3://b/1"));
  first.add(data_file({}, 20, "s3://b/2"));
  first.add(data_file({}, 30, "s3://b/3"));
  ManifestFile old_list = finish(first);
  old_list.sequence_number = 4;
  old_list.first_row_id = 1000;
  const Manifest old = read(old_list);

  ManifestWriterOptions options = options_for(3, {});
  options.snapshot_id = 78;
  ManifestWriter out = writer(options);
  out.existing(old[0]);
  out.deleted(old[1]);
  out.existing(old[2]);
  out.add(data_file({}, 5, "s3://b/4"));
  ManifestFile listed = finish(out);
  EXPECT_EQ(listed.min_sequence_number, 4);
  EXPECT_EQ(listed.added_files_count, 1);
  EXPECT_EQ(listed.existing_files_count, 2);
  EXPECT_EQ(listed.deleted_files_count, 1);
  EXPECT_EQ(listed.added_rows_count, 5);
  EXPECT_EQ(listed.existing_rows_count, 40);
  EXPECT_EQ(listed.deleted_rows_count, 20);
  listed.sequence_number = 6;
  listed.first_row_id = 2000;
  const Manifest manifest = read(listed);
  EXPECT_EQ(manifest[0].status(), EntryStatus::kExisting);
  EXPECT_EQ(manifest[0].snapshot_id(), 77);
  EXPECT_EQ(manifest[0].sequence_number(), 4);
  EXPECT_EQ(manifest[0].file_sequence_number(), 4);
  EXPECT_EQ(manifest[0].first_row_id(), 1000);
  EXPECT_EQ(manifest[1].status(), EntryStatus::kDeleted);
  EXPECT_EQ(manifest[1].snapshot_id(), 78);
  EXPECT_EQ(manifest[1].sequence_number(), 4);
  EXPECT_EQ(manifest[1].first_row_id(), 1010);
  EXPECT_EQ(manifest[2].first_row_id(), 1030);
  EXPECT_EQ(manifest[3].sequence_number(), 6);
  EXPECT_EQ(manifest[3].first_row_id(), 2000) << "an added file gets the first id of the manifest: no other lacks one";
}

TEST_F(ManifestWriting, NeverWritesARowIdOfAnAddedFileOrADeleteFile) {
  const auto is_written = [](const Manifest& manifest) {
    return manifest.batches()[0].column(kDataFile)->children[kFirstRowId]->is_valid(0);
  };
  DataFile file = data_file();
  file.first_row_id = 5;
  ManifestWriter data = writer(options_for(3, {}));
  data.add(file);
  EXPECT_FALSE(is_written(read(finish(data))));
  ManifestWriter kept = writer(options_for(3, {}));
  kept.existing(file, {.snapshot_id = 1, .sequence_number = 1});
  EXPECT_TRUE(is_written(read(finish(kept))));

  ManifestWriterOptions options = options_for(3, {});
  options.content = ManifestContent::kDeletes;
  ManifestWriter deletes = writer(options);
  file.content = FileContent::kEqualityDeletes;
  file.equality_ids = {1};
  deletes.existing(file, {.snapshot_id = 1, .sequence_number = 1});
  EXPECT_FALSE(is_written(read(finish(deletes))));
}

TEST_F(ManifestWriting, RefusesAnEntryThatCannotInherit) {
  // A foreign EXISTING entry without sequence numbers, in a manifest with one (M03).
  const std::string schema = json::write(avro::schema_to_json(*written_entry_schema(2, *spec::struct_({}))));
  avro::Encoder record;
  record.long_(0).long_(1).long_(7).long_(0).long_(0);                     // existing, snapshot 7
  record.long_(0).bytes("s3://b/f").bytes("PARQUET").long_(1).long_(100);  // content, path, format, counts
  for (int i = 0; i < 11; ++i) record.long_(0);                            // all else null
  files_.put(kPath, avro::make_container(schema, {{1, record.str()}}, "null", {{"format-version", "2"}}));
  ManifestFile listed;
  listed.path = kPath;
  listed.sequence_number = 9;
  const Manifest manifest = read(listed);
  ASSERT_EQ(manifest[0].sequence_number(), std::nullopt);
  ManifestWriter out = {files_.open_output("memory:/other"), options_for(2, {}), pool_};
  EXPECT_THAT(error_of(ErrorKind::kCorrupt, [&] { out.existing(manifest[0]); }), HasSubstr("no sequence number"));
  EXPECT_EQ(out.entry_count(), 0u);
}

TEST_F(ManifestWriting, RefusesEntriesReadWithoutMetrics) {
  ManifestWriter first = writer(options_for(2, {}));
  first.add(data_file());
  const ManifestFile listed = finish(first);
  const Manifest manifest = read_manifest(files_.open_input(listed.path), listed, pool_);
  EXPECT_THAT(error_of(ErrorKind::kInvalidArgument, [&] { data_file_of(manifest[0]); }), HasSubstr("without metrics"));
}

// D entry D21: a delete of an old partition tuple belongs into a manifest of the old spec.
TEST_F(ManifestWriting, RefusesWhatDoesNotFitAndGoesOn) {
  const auto long_type = spec::primitive(TypeKind::kLong);
  const auto make = [&](int32_t version, ManifestContent content) {
    ManifestWriterOptions options = options_for(version, {{"p", long_type, spec::Transform::identity()}});
    options.content = content;
    return options;
  };
  struct Case {
    const char* expected;
    int32_t version;
    ManifestContent content;
    std::function<void(DataFile&)> change;
  };
  const auto kData = ManifestContent::kData;
  const auto kDeletes = ManifestContent::kDeletes;
  const Case cases[] = {
      {"without a path", 2, kData, [](DataFile& f) { f.path.clear(); }},
      {"not UTF-8", 2, kData, [](DataFile& f) { f.path = "\xff"; }},
      {"position-deletes in a data manifest", 2, kData, [](DataFile& f) { f.content = FileContent::kPositionDeletes; }},
      {"data in a delete manifest", 2, kDeletes, [](DataFile&) {}},
      {"partition spec 1", 2, kData, [](DataFile& f) { f.spec_id = 1; }},
      {"0 partition values", 2, kData, [](DataFile& f) { f.partition.clear(); }},
      {"-1 records", 2, kData, [](DataFile& f) { f.record_count = -1; }},
      {"negative", 2, kData, [](DataFile& f) { f.value_counts = {{{1, -1}}}; }},
      {"p", 2, kData, [](DataFile& f) { f.partition = {Literal::string("x")}; }},
      {"without a format", 2, kData, [](DataFile& f) { f.format = FileFormat::kOther; }},
      {"deletion vectors", 2, kDeletes,
       [](DataFile& f) {
         f.content = FileContent::kPositionDeletes;
         f.content_offset = 4;
       }},
      {"have to be deletion vectors", 3, kDeletes, [](DataFile& f) { f.content = FileContent::kPositionDeletes; }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.expected);
    DataFile good = data_file({Literal::long_(1)});
    if (one.content == kDeletes) good.content = FileContent::kEqualityDeletes;
    DataFile bad = data_file({Literal::long_(1)});
    one.change(bad);
    ManifestWriter out = writer(make(one.version, one.content));
    out.add(good);
    const std::string error = error_of(ErrorKind::kInvalidArgument, [&] { out.add(bad); });
    EXPECT_THAT(error, HasSubstr(kPath));
    EXPECT_THAT(error, HasSubstr(one.expected));
    out.add(good);
    const ManifestFile listed = finish(out);
    EXPECT_EQ(listed.added_files_count, 2);
    EXPECT_EQ(read(listed).size(), 2u);
  }
  error_of(ErrorKind::kInvalidArgument, [&] { writer(make(1, kDeletes)); });
  error_of(ErrorKind::kUnsupported, [&] { writer(make(4, kData)); });
  ManifestWriter out = writer(make(2, kData));
  error_of(ErrorKind::kInvalidArgument, [&] { out.existing(data_file({Literal::long_(1)}), {.snapshot_id = 1}); });
  error_of(ErrorKind::kInvalidArgument, [&] { out.deleted(data_file({Literal::long_(1)}), {.sequence_number = 1}); });
}

TEST_F(ManifestWriting, KeepsPositionDeletesThatAV3TableBroughtAlong) {
  ManifestWriterOptions options = options_for(3, {});
  options.content = ManifestContent::kDeletes;
  ManifestWriter out = writer(options);
  DataFile file = data_file();
  file.content = FileContent::kPositionDeletes;
  out.existing(file, {.snapshot_id = 1, .sequence_number = 1});
  EXPECT_EQ(read(finish(out)).size(), 1u);
}

TEST_F(ManifestWriting, PromotesValuesOfOldTuples) {
  ManifestWriter out = writer(options_for(3, {{"l", spec::primitive(TypeKind::kLong), spec::Transform::identity()},
                                              {"d", spec::primitive(TypeKind::kDouble), spec::Transform::identity()},
                                              {"m", spec::decimal(18, 2), spec::Transform::identity()},
                                              {"day", spec::primitive(TypeKind::kTimestamp), spec::Transform::day()}}));
  out.add(data_file(
      {Literal::int_(-7), Literal::float_(1.5F), Literal(spec::decimal(9, 2), Int128{-128}), Literal::int_(-400)}));
  const ManifestFile listed = finish(out);
  const Manifest manifest = read(listed);
  EXPECT_THAT(manifest[0].partition(), ElementsAre(Literal::long_(-7), Literal::double_(1.5),
                                                   Literal(spec::decimal(18, 2), Int128{-128}), Literal::date(-400)));
  EXPECT_EQ(hex((*listed.partitions)[0].lower_bound), "f9ffffffffffffff");

  // Some have bytes where the type is fixed; another length is no value of it.
  ManifestWriter fixed = writer(options_for(2, {{"f", spec::fixed(2), spec::Transform::identity()}}));
  fixed.add(data_file({Literal::binary("ab")}));
  error_of(ErrorKind::kInvalidArgument, [&] { fixed.add(data_file({Literal::binary("abc")})); });
  EXPECT_EQ(read(finish(fixed))[0].partition_value(0), Literal(spec::fixed(2), std::string("ab")));
}

TEST_F(ManifestWriting, CarriesValuesWhoseTypeOnlyOldManifestsKnow) {
  ManifestWriterOptions options =
      options_for(2, {{"p", spec::primitive(TypeKind::kString), spec::Transform::parse("zorder")}});
  ASSERT_TRUE(options.spec.fields[0].is_opaque());
  spec::NestedField field;
  field.id = 1000;
  field.name = "p";
  field.type = spec::primitive(TypeKind::kBinary);
  options.partition_type = spec::struct_({field});
  ManifestWriter out = writer(options);
  out.add(data_file({Literal::binary("\x01\xff")}));
  out.add(data_file({Literal()}));
  const Manifest manifest = read(finish(out));
  EXPECT_EQ(manifest[0].partition_value(0), Literal::binary("\x01\xff"));
  EXPECT_TRUE(manifest[1].partition_value(0).is_null());
  EXPECT_EQ(manifest.header().partition_spec()->fields[0].transform.to_string(), "zorder");

  const spec::TypePtr again = partition_type_for(options.spec, *options.schema, manifest);
  EXPECT_TRUE(again->equals(*options.partition_type)) << again->to_string();

  // Nobody knows the type: null for all, a value of any type is refused.
  options.partition_type = nullptr;
  ManifestWriter unknown = writer(options);
  unknown.add(data_file({Literal()}));
  error_of(ErrorKind::kInvalidArgument, [&] { unknown.add(data_file({Literal::long_(1)})); });
  EXPECT_TRUE(read(finish(unknown))[0].partition_value(0).is_null());
}

// Manifests of Dremio lack fields of their spec.
TEST_F(ManifestWriting, TakesPartitionValuesOfOldEntriesById) {
  const auto text = spec::primitive(TypeKind::kString);
  const ManifestWriterOptions options =
      options_for(2, {{"a", text, spec::Transform::identity()}, {"b", text, spec::Transform::identity()}});
  const auto again = [&](const Manifest& old) {
    ManifestWriterOptions with = options;
    with.partition_type = partition_type_for(options.spec, *options.schema, old);
    EXPECT_TRUE(with.partition_type->equals(*options.spec.partition_type(*options.schema)));
    const DataFile file = data_file_of(old[0], *with.partition_type);
    ManifestWriter out = writer(with);
    out.existing(old[0]);
    out.deleted(old[0]);
    out.add(file);
    const Manifest manifest = read(finish(out));
    EXPECT_EQ(manifest[1].partition(), manifest[0].partition());
    EXPECT_EQ(manifest[2].partition(), manifest[0].partition());
    return manifest[0].partition();
  };
  const auto old_with = [&](std::vector<spec::PartitionField> fields, std::vector<Literal> values) {
    ManifestWriterOptions old = options;
    old.spec.fields = std::move(fields);
    ManifestWriter out = writer(old);
    out.add(data_file(std::move(values)), {.snapshot_id = 5, .sequence_number = 3, .file_sequence_number = 3});
    return read(finish(out));
  };
  const auto& fields = options.spec.fields;
  const Literal x = Literal::string("x");
  const Literal y = Literal::string("y");
  EXPECT_THAT(again(old_with({fields[1], fields[0]}, {x, y})), ElementsAre(y, x));
  EXPECT_THAT(again(old_with({fields[0]}, {x})), ElementsAre(x, Literal::null(text)));
  EXPECT_THAT(again(old_with({fields[1]}, {y})), ElementsAre(Literal::null(text), y));
  EXPECT_THAT(again(old_with({}, {})), ElementsAre(Literal::null(text), Literal::null(text)));
}

// D entry M10.
TEST_F(ManifestWriting, StoresDecimalsAsTheSmallestFixed) {
  ManifestWriterOptions options = options_for(2, {{"p", spec::decimal(9, 2), spec::Transform::identity()},
                                                  {"q", spec::decimal(9, 2), spec::Transform::identity()}});
  options.container.codec = Codec::kNone;
  ManifestWriter out = writer(options);
  out.add(data_file({Literal(spec::decimal(9, 2), Int128{-128}), Literal::null(spec::decimal(9, 2))}));
  finish(out);
  const std::string schema(header().schema_text());
  EXPECT_THAT(
      schema,
      HasSubstr(R"({"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,"scale":2})"));
  EXPECT_THAT(schema, HasSubstr(R"(["null","decimal_9_2"])"));
  EXPECT_THAT(std::string(files_.get(kPath).text()), HasSubstr(std::string("\x02\xff\xff\xff\x80\x00", 6)));
  constexpr std::pair<int32_t, int32_t> kBytes[] = {{1, 1}, {2, 1},  {3, 2},  {4, 2},  {5, 3},
                                                    {9, 4}, {10, 5}, {18, 8}, {19, 9}, {38, 16}};
  for (const auto& [precision, bytes] : kBytes) EXPECT_EQ(decimal_fixed_bytes(precision), bytes) << precision;
}

// D entry W14.
TEST_F(ManifestWriting, ChangesNamesThatAvroDoesNotTake) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"TEST:A 1.b", "TEST_x3AA_x201_x2Eb"},
                                                            {"a.b+c", "a_x2Eb_x2Bc"},
                                                            {"9a", "_9a"},
                                                            {"_ok9", "_ok9"},
                                                            {"é", "_xE9"},
                                                            {"😀", "_xD83D_xDE00"},
                                                            {"", "_"}};
  for (const auto& [name, expected] : kNames) EXPECT_EQ(avro_name(name), expected) << name;
  const auto int_type = spec::primitive(TypeKind::kInt);
  ManifestWriter out = writer(options_for(
      2, {{"a b", int_type, spec::Transform::identity()}, {"a_x20b", int_type, spec::Transform::identity()}}));
  out.add(data_file({Literal::int_(1), Literal::int_(2)}));
  const Manifest manifest = read(finish(out));
  EXPECT_THAT(manifest[0].partition(), ElementsAre(Literal::int_(1), Literal::int_(2)));
  EXPECT_EQ(manifest.partition_type()->fields()[0].name, "a b");
  EXPECT_THAT(std::string(header().schema_text()), HasSubstr(R"("iceberg-field-name":"a b")"));
}

// D entries P03, P19, P20.
TEST_F(ManifestWriting, SummarizesPartitions) {
  const auto one = [&](const spec::TypePtr& type, const std::vector<Literal>& values) {
    const auto summaries = summarize(type, values);
    const FieldSummary& summary = (*summaries)[0];
    return std::string(summary.contains_null ? "null " : "") + (*summary.contains_nan ? "nan " : "") +
           hex(summary.lower_bound) + " " + hex(summary.upper_bound);
  };
  const auto int_type = spec::primitive(TypeKind::kInt);
  EXPECT_EQ(one(int_type, {Literal::int_(-400), Literal::int_(-1), Literal::int_(-30)}), "70feffff ffffffff");
  EXPECT_EQ(one(int_type, {Literal::null(int_type)}), "null none none");
  EXPECT_EQ(one(int_type, {Literal::null(int_type), Literal::int_(1)}), "null 01000000 01000000");
  EXPECT_EQ(one(int_type, {}), "none none");
  const auto float_type = spec::primitive(TypeKind::kFloat);
  EXPECT_EQ(one(float_type, {Literal::float_(NAN), Literal::float_(1.0F)}), "nan 0000803f 0000803f");
  EXPECT_EQ(one(float_type, {Literal::float_(NAN)}), "nan none none");
  EXPECT_EQ(one(float_type, {Literal::float_(0.0F)}), "00000080 00000000");
  const auto double_type = spec::primitive(TypeKind::kDouble);
  EXPECT_EQ(one(double_type, {Literal::double_(-0.0), Literal::double_(-1.0)}), "000000000000f0bf 0000000000000000");
  EXPECT_EQ(
      one(spec::decimal(9, 2), {Literal(spec::decimal(9, 2), Int128{1420}), Literal(spec::decimal(9, 2), Int128{-1})}),
      "ff 058c");
  // Whole: partition summaries are not truncated.
  const std::string text(40, 'x');
  EXPECT_EQ((*summarize(spec::primitive(TypeKind::kString), {Literal::string(text)}))[0].upper_bound, text);
  EXPECT_TRUE(summarize(int_type, {})->size() == 1u);
}

TEST_F(ManifestWriting, CountsDeletedEntriesInSummariesButNotInTheSmallestSequenceNumber) {
  ManifestWriter out = writer(options_for(2, {{"p", spec::primitive(TypeKind::kInt), spec::Transform::identity()}}));
  out.add(data_file({Literal::int_(1)}));
  out.deleted(data_file({Literal::int_(9)}), {.snapshot_id = 1, .sequence_number = 1});
  const ManifestFile listed = finish(out);
  EXPECT_EQ(hex((*listed.partitions)[0].upper_bound), "09000000");
  EXPECT_EQ(listed.min_sequence_number, kUnassignedSequenceNumber);
}

TEST_F(ManifestWriting, LeavesOutSummariesWhereUuidOrdersDisagree) {
  const auto type = spec::primitive(TypeKind::kUuid);
  const auto uuid = [&](const char* first, const char* last) {
    return Literal::uuid(parse_uuid(std::string(first) + "000000-0000-4000-8000-0000000000" + last));
  };
  const auto agree = summarize(type, {uuid("10", "01"), uuid("20", "01")});
  EXPECT_EQ(hex((*agree)[0].lower_bound), "10000000000040008000000000000001");
  EXPECT_EQ(hex((*agree)[0].upper_bound), "20000000000040008000000000000001");
  EXPECT_FALSE(summarize(type, {uuid("10", "01"), uuid("20", "01"), uuid("90", "01")}));
  EXPECT_TRUE(summarize(type, {uuid("90", "01"), uuid("a0", "01")}));
  EXPECT_TRUE(summarize(type, {uuid("90", "01"), uuid("90", "01"), Literal::null(type)}));
  // The lower half alone.
  const auto half = [](const char* text) { return Literal::uuid(parse_uuid(text)); };
  EXPECT_FALSE(
      summarize(type, {half("10000000-0000-4000-8000-000000000000"), half("10000000-0000-4000-7000-000000000000")}));
  // The other fields go with it.
  ManifestWriter out = writer(options_for(2, {{"u", type, spec::Transform::identity()},
                                              {"i", spec::primitive(TypeKind::kInt), spec::Transform::identity()}}));
  out.add(data_file({uuid("10", "01"), Literal::int_(1)}));
  out.add(data_file({uuid("90", "01"), Literal::int_(1)}));
  EXPECT_EQ(finish(out).partitions, std::nullopt);
}

TEST_F(ManifestWriting, EstimatesItsSizeForCallersThatRoll) {
  constexpr uint64_t kTarget = 100'000;
  RandomDataFiles random(7);
  ManifestWriterOptions options;
  options.schema = random.schema();
  options.spec = random.spec();
  ManifestWriter out = writer(options);
  while (out.estimated_bytes() < kTarget) out.add(random.next(2, FileContent::kData));
  const ManifestFile listed = finish(out);
  EXPECT_GT(listed.length, static_cast<int64_t>(kTarget * 95 / 100));
  EXPECT_LT(listed.length, static_cast<int64_t>(kTarget * 105 / 100));
}

TEST_F(ManifestWriting, LeavesNothingBehindAfterAnError) {
  {
    MemoryPool small({.budget_bytes = 512 << 10});
    ManifestWriter out = {files_.open_output(kPath), options_for(2, {}), small};
    DataFile file = data_file();
    file.lower_bounds = {{{1, std::string(1 << 20, 'x')}}};
    EXPECT_THROW(out.add(file), MemoryLimitError);
    error_of(ErrorKind::kInternal, [&] { out.add(data_file()); });
    error_of(ErrorKind::kInternal, [&] { out.finish(); });
  }
  EXPECT_EQ(files_.file_count(), 0u);
}

// Every manifest of the corpora, whoever wrote it, written again in its own version.
TEST_F(ManifestWriting, RewritesTheManifestsOfOthers) {
  size_t manifests = 0;
  size_t entries = 0;
  for (const char* top : {"iceberg-tables", "puffin"}) {
    for (const auto& found :
         std::filesystem::recursive_directory_iterator(std::string(FRAZIL_TEST_CORPORA) + "/" + top)) {
      if (found.path().extension() != ".avro") continue;
      const std::string text = avro::read_text(found.path());
      if (text.substr(0, 20000).find("manifest_entry") == std::string::npos) continue;
      SCOPED_TRACE(found.path().string());
      files_.put("memory:/original", text);
      ManifestFile listed;
      listed.path = "memory:/original";
      listed.added_snapshot_id = 321;
      std::optional<Manifest> original;
      // Headers are not to be relied on: whether these are deletes, and whether there are sequence numbers, shows in them.
      for (const auto content : {ManifestContent::kData, ManifestContent::kDeletes}) {
        try {
          listed.content = content;
          original.emplace(read(listed));
          listed.sequence_number = original->header().format_version >= 2 ? 123 : 0;
          original.emplace(read(listed));
          break;
        } catch (const CorruptError& error) {
          EXPECT_THAT(error.what(), HasSubstr("in a data manifest"));
        }
      }
      ManifestWriterOptions options;
      options.format_version = original->header().format_version;
      options.content = listed.content;
      options.schema = original->header().schema();
      if (options.schema == nullptr)
        options.schema = std::make_shared<const spec::Schema>(std::vector<spec::NestedField>());
      options.spec = original->header().partition_spec().value_or(spec::PartitionSpec());
      options.spec.spec_id = 0;
      options.partition_type = original->partition_type();
      options.snapshot_id = 321;
      ManifestWriter out = writer(options);
      for (size_t i = 0; i < original->size(); ++i) {
        const Entry entry = (*original)[i];
        const EntryOrigin origin = {.snapshot_id = entry.snapshot_id(),
                                    .sequence_number = entry.sequence_number().value_or(0),
                                    .file_sequence_number = entry.file_sequence_number()};
        if (entry.status() == EntryStatus::kAdded) {
          out.add(data_file_of(entry), origin);
        } else if (entry.status() == EntryStatus::kExisting) {
          out.existing(data_file_of(entry), origin);
        } else {
          out.deleted(data_file_of(entry), origin);
        }
      }
      ManifestFile again = finish(out);
      again.sequence_number = listed.sequence_number;
      again.partition_spec_id = 0;
      const Manifest rewritten = read(again);
      ASSERT_EQ(rewritten.size(), original->size());
      for (size_t i = 0; i < original->size(); ++i) {
        EXPECT_EQ(rewritten[i].status(), (*original)[i].status());
        EXPECT_EQ(rewritten[i].snapshot_id(), (*original)[i].snapshot_id());
        EXPECT_EQ(rewritten[i].sequence_number(), (*original)[i].sequence_number().value_or(0));
        DataFile expected = data_file_of((*original)[i]);
        // Partition values keep their types; days may have been ints.
        const DataFile found_again = data_file_of(rewritten[i]);
        EXPECT_TRUE(found_again == expected) << expected.path;
      }
      ++manifests;
      entries += original->size();
    }
  }
  EXPECT_GT(manifests, 180u);
  RecordProperty("manifests", static_cast<int>(manifests));
  RecordProperty("entries", static_cast<int>(entries));
}

}  // namespace
}  // namespace frazil::manifest
