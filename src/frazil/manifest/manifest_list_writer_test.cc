// Manifest lists as they are written, rule by rule. What other implementations read from them:
// tests/interop/manifests.py.
#include "frazil/manifest/manifest_list_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/container.h"
#include "frazil/base/error.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/manifest/manifest_writer.h"

namespace frazil::manifest {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "memory:/t/metadata/snap-9.avro";

ManifestFile manifest_file(const std::string& path, int64_t added_rows, int64_t existing_rows,
                           int64_t deleted_rows = 0) {
  ManifestFile file;
  file.path = path;
  file.length = 5000;
  file.partition_spec_id = 2;
  file.sequence_number = kUnassignedSequenceNumber;
  file.min_sequence_number = kUnassignedSequenceNumber;
  file.added_snapshot_id = 9;
  file.added_files_count = 1;
  file.existing_files_count = 2;
  file.deleted_files_count = 3;
  file.added_rows_count = added_rows;
  file.existing_rows_count = existing_rows;
  file.deleted_rows_count = deleted_rows;
  file.partitions.emplace();
  return file;
}

ManifestListOptions list_options(int32_t format_version) {
  ManifestListOptions options;
  options.format_version = format_version;
  options.snapshot_id = 9;
  options.sequence_number = 4;
  options.publish.if_exists = OutputFile::IfExists::kReplace;
  return options;
}

class ManifestListWriting : public testing::Test {
 protected:
  int64_t write(const ManifestListOptions& options, const std::vector<ManifestFile>& manifests) {
    return write_manifest_list(files_.open_output(kPath), options, manifests, pool_);
  }
  std::vector<ManifestFile> read() { return read_manifest_list(files_.open_input(kPath), pool_); }
  std::string error_of(ErrorKind kind, const ManifestListOptions& options, const std::vector<ManifestFile>& manifests) {
    try {
      write(options, manifests);
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return {};
  }

  MemoryPool pool_;
  MemoryFileSystem files_;
};

TEST_F(ManifestListWriting, WritesWhatTheReaderReads) {
  for (int32_t version = 1; version <= 3; ++version) {
    SCOPED_TRACE(version);
    ManifestFile file = manifest_file("s3://b/m0.avro", 10, 20, 30);
    file.sequence_number = version == 1 ? 0 : 3;
    file.min_sequence_number = version == 1 ? 0 : 2;
    file.added_snapshot_id = -5;
    file.key_metadata = std::string("\x00\xff", 2);
    FieldSummary summary;
    summary.contains_null = true;
    summary.contains_nan = false;
    summary.lower_bound = "a";
    summary.upper_bound = std::string(300, 'z');
    FieldSummary empty;
    empty.contains_null = false;
    file.partitions = {summary, empty};
    if (version == 3) file.first_row_id = 700;
    ManifestFile deletes = manifest_file("s3://b/m1.avro", 1, 2, 3);
    deletes.content = ManifestContent::kDeletes;
    deletes.sequence_number = deletes.min_sequence_number = 1;
    deletes.partitions.reset();
    std::vector<ManifestFile> manifests = {file};
    if (version > 1) manifests.push_back(deletes);
    write(list_options(version), manifests);
    const auto found = read();
    ASSERT_EQ(found.size(), manifests.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const ManifestFile& a = found[i];
      const ManifestFile& b = manifests[i];
      EXPECT_EQ(a.path, b.path);
      EXPECT_EQ(a.length, b.length);
      EXPECT_EQ(a.partition_spec_id, b.partition_spec_id);
      EXPECT_EQ(a.content, b.content);
      EXPECT_EQ(a.sequence_number, b.sequence_number);
      EXPECT_EQ(a.min_sequence_number, b.min_sequence_number);
      EXPECT_EQ(a.added_snapshot_id, b.added_snapshot_id);
      EXPECT_EQ(a.added_files_count, b.added_files_count);
      EXPECT_EQ(a.existing_files_count, b.existing_files_count);
      EXPECT_EQ(a.deleted_files_count, b.deleted_files_count);
      EXPECT_EQ(a.added_rows_count, b.added_rows_count);
      EXPECT_EQ(a.existing_rows_count, b.existing_rows_count);
      EXPECT_EQ(a.deleted_rows_count, b.deleted_rows_count);
      EXPECT_EQ(a.key_metadata, b.key_metadata);
      EXPECT_EQ(a.first_row_id, b.first_row_id);
      ASSERT_EQ(a.partitions.has_value(), b.partitions.has_value());
      if (!a.partitions) continue;
      ASSERT_EQ(a.partitions->size(), b.partitions->size());
      for (size_t k = 0; k < a.partitions->size(); ++k) {
        EXPECT_EQ((*a.partitions)[k].contains_null, (*b.partitions)[k].contains_null);
        EXPECT_EQ((*a.partitions)[k].contains_nan, (*b.partitions)[k].contains_nan);
        EXPECT_EQ((*a.partitions)[k].lower_bound, (*b.partitions)[k].lower_bound);
        EXPECT_EQ((*a.partitions)[k].upper_bound, (*b.partitions)[k].upper_bound);
      }
    }
  }
}

TEST_F(ManifestListWriting, SaysInItsHeaderWhatTheSpecificationAsksFor) {
  const auto header = [&](int32_t version, std::optional<int64_t> parent) {
    ManifestListOptions options = list_options(version);
    options.parent_snapshot_id = parent;
    options.first_row_id = 50;
    write(options, {});
    std::string text;
    const avro::ContainerReader reader(files_.open_input(kPath), pool_);
    for (const auto& [key, value] : reader.header().metadata) {
      if (!key.starts_with("avro.")) text += key + "=" + value + " ";
    }
    return text;
  };
  EXPECT_EQ(header(1, std::nullopt), "snapshot-id=9 parent-snapshot-id=null format-version=1 ");
  EXPECT_EQ(header(2, 8), "snapshot-id=9 parent-snapshot-id=8 sequence-number=4 format-version=2 ");
  EXPECT_EQ(header(3, 8), "snapshot-id=9 parent-snapshot-id=8 sequence-number=4 first-row-id=50 format-version=3 ");
}

TEST_F(ManifestListWriting, GivesTheCommitsNumbersToItsOwnManifestsOnly) {
  ManifestFile merged = manifest_file("s3://b/m1", 0, 5);
  merged.min_sequence_number = 2;
  ManifestFile kept = manifest_file("s3://b/m2", 0, 5);
  kept.added_snapshot_id = 7;
  kept.sequence_number = 3;
  kept.min_sequence_number = 1;
  write(list_options(2), {manifest_file("s3://b/m0", 5, 0), merged, kept});
  const auto found = read();
  EXPECT_EQ(found[0].sequence_number, 4);
  EXPECT_EQ(found[0].min_sequence_number, 4);
  EXPECT_EQ(found[1].sequence_number, 4);
  EXPECT_EQ(found[1].min_sequence_number, 2);
  EXPECT_EQ(found[2].sequence_number, 3);
  EXPECT_EQ(found[2].min_sequence_number, 1);
  ManifestFile stray = manifest_file("s3://b/m3", 1, 0);
  stray.added_snapshot_id = 8;
  EXPECT_THAT(error_of(ErrorKind::kInvalidArgument, list_options(2), {stray}), HasSubstr("from snapshot 8"));
}

// D entry D25: deleted rows take no numbers; delete manifests and numbered ones neither.
TEST_F(ManifestListWriting, AssignsRowIdsInListOrder) {
  ManifestListOptions options = list_options(3);
  options.first_row_id = 50;
  ManifestFile numbered = manifest_file("s3://b/m1", 100, 100);
  numbered.first_row_id = 7;
  ManifestFile deletes = manifest_file("s3://b/m2", 1000, 0);
  deletes.content = ManifestContent::kDeletes;
  EXPECT_EQ(
      write(options, {manifest_file("s3://b/m0", 10, 7, 5), numbered, deletes, manifest_file("s3://b/m3", 1, 2, 3)}),
      70);
  const auto found = read();
  EXPECT_EQ(found[0].first_row_id, 50);
  EXPECT_EQ(found[1].first_row_id, 7);
  EXPECT_EQ(found[2].first_row_id, std::nullopt);
  EXPECT_EQ(found[3].first_row_id, 67);
  EXPECT_EQ(write(options, {numbered}), 50);
  EXPECT_EQ(write(options, {}), 50);
  options.format_version = 2;
  EXPECT_EQ(write(options, {manifest_file("s3://b/m0", 10, 7)}), 50) << "no row ids in v2";
}

TEST_F(ManifestListWriting, NumbersTheManifestsThatAV2TableBrought) {
  ManifestListOptions options = list_options(3);
  ManifestFile old = manifest_file("s3://b/old", 30, 12);
  old.added_snapshot_id = 1;
  old.sequence_number = old.min_sequence_number = 1;
  EXPECT_EQ(write(options, {manifest_file("s3://b/new", 5, 0), old}), 47);
  const auto found = read();
  EXPECT_EQ(found[0].first_row_id, 0);
  EXPECT_EQ(found[1].first_row_id, 5);
}

TEST_F(ManifestListWriting, RefusesWhatTheVersionCannotHoldBeforeItWrites) {
  const ManifestFile good = manifest_file("s3://b/m", 1, 1);
  const auto changed = [&](auto change) {
    ManifestFile file = good;
    change(file);
    return std::vector<ManifestFile>{good, file};
  };
  constexpr auto kInvalid = ErrorKind::kInvalidArgument;
  EXPECT_THAT(error_of(kInvalid, list_options(1), changed([](auto& f) { f.content = ManifestContent::kDeletes; })),
              HasSubstr("deletes"));
  for (const int32_t version : {2, 3}) {
    const auto options = list_options(version);
    EXPECT_THAT(error_of(kInvalid, options, changed([](auto& f) { f.added_files_count.reset(); })),
                HasSubstr("count of added files"));
    EXPECT_THAT(error_of(kInvalid, options, changed([](auto& f) { f.existing_rows_count.reset(); })),
                HasSubstr("count of existing rows"));
    EXPECT_THAT(error_of(kInvalid, options, changed([](auto& f) { f.deleted_rows_count = -1; })), HasSubstr("-1"));
    EXPECT_THAT(error_of(kInvalid, options, changed([](auto& f) { f.added_snapshot_id.reset(); })),
                HasSubstr("snapshot id"));
  }
  error_of(kInvalid, list_options(3), changed([](auto& f) {
             f.content = ManifestContent::kDeletes;
             f.first_row_id = 1;
           }));
  error_of(kInvalid, list_options(3), changed([](auto& f) { f.added_rows_count = INT64_MAX; }));
  error_of(kInvalid, list_options(2), changed([](auto& f) { f.path = "\xff"; }));
  error_of(kInvalid, list_options(2), changed([](auto& f) { f.length = -1; }));
  error_of(ErrorKind::kUnsupported, list_options(4), {good});
  EXPECT_EQ(files_.file_count(), 0u);
  // v1 may leave counts out.
  write(list_options(1), changed([](auto& f) { f.added_files_count.reset(); }));
  EXPECT_EQ(read()[1].added_files_count, std::nullopt);
}

}  // namespace
}  // namespace frazil::manifest
