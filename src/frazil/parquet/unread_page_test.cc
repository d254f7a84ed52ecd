// Large PLAIN pages that are not compressed: their values go from the file to where they belong, in parts, whatever cuts
// them: batches, selections, windows, want of memory, reads that fail.
#include "frazil/parquet/unread_page.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/crc32.h"
#include "frazil/base/error.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/chunk_pages.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/leaf_pages.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::FileBuilder;
using ::testing::HasSubstr;
using testing::hybrid;
using testing::PageSpec;
using testing::StringFile;
using testing::with_length;

enum class Levels : uint8_t { kNone, kV1, kV2 };

struct PageCase {
  size_t rows;
  // Rows before it are null, then come values; 0: none is. One more run of levels, so the page may stay unread all the same.
  size_t nulls = 0;
  bool scattered_nulls = false;  // every seventh: too many levels for that
};

struct FileCase {
  std::string name;
  ColumnSpec column;
  size_t width;
  Levels levels;
  std::vector<PageCase> pages;
};

// A file and what is in it: the bytes of each row's value, empty for null.
struct Made {
  std::string bytes;
  std::vector<std::string> rows;
};

bool is_null(const PageCase& page, size_t row) {
  return row < page.nulls || (page.scattered_nulls && row % 7 == 3);
}

std::string value_of(size_t row, size_t width) {
  std::string value(width, '\0');
  for (size_t i = 0; i < width; ++i) value[i] = static_cast<char>((row * 2654435761U) >> (i % 4 * 8) ^ i);
  return value;
}

PageSpec make_page(const FileCase& file, const PageCase& page, size_t first_row, std::vector<std::string>& rows) {
  std::string values;
  std::vector<uint32_t> levels;
  int32_t nulls = 0;
  for (size_t row = 0; row < page.rows; ++row) {
    const bool null = file.levels != Levels::kNone && is_null(page, row);
    levels.push_back(null ? 0 : 1);
    nulls += null ? 1 : 0;
    rows.push_back(null ? "" : value_of(first_row + row, file.width));
    values += rows.back();
  }
  PageSpec spec{.payload = values, .value_count = static_cast<int32_t>(page.rows)};
  if (file.levels == Levels::kV1) spec.payload = with_length(hybrid(levels, 1)) + values;
  if (file.levels == Levels::kV2) {
    spec.type = PageType::kDataV2;
    spec.definition_levels = hybrid(levels, 1);
    spec.null_count = nulls;
  }
  return spec;
}

Made make_file(const FileCase& file) {
  Made made;
  FileBuilder builder({file.column});
  for (int group = 0; group < 2; ++group) {
    std::vector<PageSpec> pages;
    const size_t first = made.rows.size();
    for (const PageCase& page : file.pages) pages.push_back(make_page(file, page, made.rows.size(), made.rows));
    builder.row_group(static_cast<int64_t>(made.rows.size() - first), {pages});
  }
  made.bytes = builder.finish();
  return made;
}

void append_rows(const RecordBatch& batch, size_t width, std::vector<std::string>& rows) {
  const Array& array = *batch.column(0);
  const std::byte* values = array.buffers[1].data();
  for (size_t i = 0; i < static_cast<size_t>(batch.row_count()); ++i) {
    const bool is_valid = array.is_valid(static_cast<int64_t>(i));
    rows.emplace_back(is_valid ? std::string(reinterpret_cast<const char*>(values + i * width), width) : "");
  }
}

const std::vector<PageCase> kSizes = {{2047},       {2048},       {2049},          {1},      {40'000}, {70'000},
                                      {4096, 4096}, {9000, 8000}, {5000, 0, true}, {33'000}, {2},      {20'000}};

std::vector<FileCase> file_cases() {
  const auto column = [](PhysicalType type, Repetition repetition, int32_t length = 0) {
    return ColumnSpec{.type = type, .repetition = repetition, .type_length = length};
  };
  const auto required = Repetition::kRequired;
  const auto optional = Repetition::kOptional;
  return {
      {"int64", column(PhysicalType::kInt64, required), 8, Levels::kNone, kSizes},
      {"int32, v1", column(PhysicalType::kInt32, optional), 4, Levels::kV1, kSizes},
      {"double, v2", column(PhysicalType::kDouble, optional), 8, Levels::kV2, kSizes},
      {"fixed 16, v1", column(PhysicalType::kFixedLenByteArray, optional, 16), 16, Levels::kV1, kSizes},
      {"fixed 3", column(PhysicalType::kFixedLenByteArray, required, 3), 3, Levels::kNone, kSizes},
  };
}

struct Opened {
  std::shared_ptr<InputFile> file;
  std::shared_ptr<const FileMetadata> metadata;
  ReadOptions options;
};

Opened open(std::shared_ptr<InputFile> file, MemoryPool& pool) {
  Opened opened{.file = std::move(file), .metadata = nullptr, .options = {}};
  opened.metadata = read_metadata(*opened.file, pool);
  opened.options.columns = request_columns(opened.metadata->schema());
  return opened;
}

TEST(UnreadPage, GivesTheValuesWhateverCutsThePages) {
  for (const FileCase& file : file_cases()) {
    const Made made = make_file(file);
    for (int64_t batch_rows : {777, 20'000, 65'536, 1'000'000}) {
      for (size_t window : {size_t{4096}, size_t{64} << 10, size_t{256} << 10}) {
        MemoryPool pool;
        Opened opened = open(std::make_shared<StringFile>(made.bytes), pool);
        opened.options.batch_rows = batch_rows;
        opened.options.window_bytes = window;
        BatchReader reader(opened.file, opened.metadata, opened.options, pool);
        std::vector<std::string> rows;
        while (auto batch = reader.next()) append_rows(*batch, file.width, rows);
        ASSERT_TRUE(rows == made.rows) << file.name << " " << batch_rows << " " << window;
      }
    }
  }
}

TEST(UnreadPage, GivesChosenRows) {
  std::mt19937 random(7);
  for (const FileCase& file : file_cases()) {
    const Made made = make_file(file);
    for (uint64_t run_max : {1, 40, 30'000}) {
      for (uint64_t gap_max : {2, 300, 30'000}) {
        MemoryPool pool;
        Opened opened = open(std::make_shared<StringFile>(made.bytes), pool);
        opened.options.batch_rows = 3000;
        std::vector<std::string> wanted;
        size_t first = 0;
        for (const RowGroup& group : opened.metadata->row_groups()) {
          const auto count = static_cast<uint64_t>(group.row_count);
          std::vector<RowRange> ranges;
          for (uint64_t row = random() % gap_max; row < count; row += 1 + random() % gap_max) {
            const uint64_t end = std::min(count, row + 1 + random() % run_max);
            ranges.push_back({row, end});
            for (; row < end; ++row) wanted.push_back(made.rows[first + row]);
          }
          opened.options.rows.push_back({.rows = RowSelection::of(ranges)});
          first += count;
        }
        BatchReader reader(opened.file, opened.metadata, opened.options, pool);
        std::vector<std::string> rows;
        while (auto batch = reader.next()) append_rows(*batch, file.width, rows);
        ASSERT_TRUE(rows == wanted) << file.name << " runs of " << run_max << ", gaps of " << gap_max;
      }
    }
  }
}

// Every read of it fails once before it succeeds, and leaves something else where it should have written.
class StumblingFile final : public InputFile {
 public:
  explicit StumblingFile(std::string bytes) : file_(std::move(bytes)) {}
  const std::string& path() const override { return file_.path(); }
  uint64_t size() const override { return file_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    stumble({&out, 1});
    file_.read_at(offset, out);
  }
  void read_ranges(std::span<const uint64_t> offsets, std::span<const std::span<std::byte>> outs) const override {
    stumble(outs);
    file_.read_ranges(offsets, outs);
  }

 private:
  void stumble(std::span<const std::span<std::byte>> outs) const {
    stumbles_ = !stumbles_;
    if (!stumbles_) return;
    for (const std::span<std::byte> out : outs) std::fill(out.begin(), out.end(), std::byte{0xEE});
    throw_error(ErrorKind::kIo, "not now");
  }

  StringFile file_;
  mutable bool stumbles_ = false;
};

TEST(UnreadPage, GoesOnAfterReadsThatFailedAndAfterWantOfMemory) {
  for (const FileCase& file : file_cases()) {
    const Made made = make_file(file);
    MemoryPool pool;
    Opened opened = open(std::make_shared<StringFile>(made.bytes), pool);
    opened.file = std::make_shared<StumblingFile>(made.bytes);
    opened.options.batch_rows = 11'000;
    BatchReader reader(opened.file, opened.metadata, opened.options, pool);
    std::vector<std::string> rows;
    std::optional<RecordBatch> batch;
    size_t failures = 0;
    size_t wants = 0;
    for (auto step = BatchReader::Step::kBatch; step != BatchReader::Step::kEnd;) {
      MemoryPool exact({.budget_bytes = reader.needed_bytes()});
      Reservation reservation = exact.reserve(reader.needed_bytes());
      try {
        step = reader.step(reservation, batch);
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::kIo);
        ++failures;
        continue;
      }
      wants += step == BatchReader::Step::kNeedMemory ? 1 : 0;
      if (batch) append_rows(*batch, file.width, rows);
      batch.reset();
    }
    ASSERT_TRUE(rows == made.rows) << file.name;
    EXPECT_GT(failures, 12U) << file.name;
    EXPECT_GT(wants, 20U) << file.name;
  }
}

// 8 MiB of a page are never in memory, and each byte is read once.
TEST(UnreadPage, IsNeverInMemory) {
  const FileCase file{.name = "",
                      .column = {.type = PhysicalType::kInt64, .repetition = Repetition::kOptional},
                      .width = 8,
                      .levels = Levels::kV1,
                      .pages = {{1'000'000}, {20'000}, {20'000}}};
  const Made made = make_file(file);
  MemoryPool metadata_pool;
  auto counted = std::make_shared<StringFile>(made.bytes);
  Opened opened = open(counted, metadata_pool);
  opened.options.batch_rows = 16'384;
  counted->read_bytes = counted->read_count = 0;
  MemoryPool pool({.budget_bytes = size_t{768} << 10});
  BatchReader reader(opened.file, opened.metadata, opened.options, pool);
  std::vector<std::string> rows;
  size_t batches = 0;
  while (auto batch = reader.next()) {
    append_rows(*batch, file.width, rows);
    ++batches;
  }
  EXPECT_TRUE(rows == made.rows);
  EXPECT_LT(counted->read_bytes, made.bytes.size() + 8192);
  EXPECT_LT(counted->read_count, batches + 20);
}

// What one such page of 5,000 int64 values is read as.
std::string error_of(const PageSpec& page, Repetition repetition, ChecksumPolicy checksums = ChecksumPolicy::kNever) {
  MemoryPool pool;
  Opened opened = open(
      std::make_shared<StringFile>(
          FileBuilder({{.type = PhysicalType::kInt64, .repetition = repetition}}).row_group(5000, {{page}}).finish()),
      pool);
  opened.options.verify_checksums = checksums;
  BatchReader reader(opened.file, opened.metadata, opened.options, pool);
  try {
    while (reader.next()) {
    }
  } catch (const CorruptError& error) {
    EXPECT_NE(error.offset(), CorruptError::kNoOffset);
    return error.message();
  }
  return "";
}

TEST(UnreadPage, IsCheckedBeforeItIsRead) {
  const std::string values(size_t{5000} * 8, '\x11');
  const std::string levels = with_length(hybrid(std::vector<uint32_t>(5000, 1), 1));
  const auto required = Repetition::kRequired;
  const auto optional = Repetition::kOptional;
  const auto page = [](std::string payload) { return testing::data_page(std::move(payload), 5000); };
  EXPECT_EQ(error_of(page(values), required), "");
  EXPECT_EQ(error_of(page(levels + values), optional), "");
  const std::string cut = values.substr(0, values.size() - 1);
  EXPECT_THAT(error_of(page(cut), required), HasSubstr("the page ends"));
  EXPECT_THAT(error_of(page(levels + cut), optional), HasSubstr("the page ends"));
  // Levels beyond the page, of all lengths.
  for (uint32_t length : {0xFFFFFFFFU, 0x80000000U, 0x7FFFFFFFU, 40'005U}) {
    std::string forged = levels + values;
    std::memcpy(forged.data(), &length, 4);
    EXPECT_THAT(error_of(page(forged), optional), HasSubstr("levels of")) << length;
  }
  // Levels that end before the rows do.
  const std::string few = with_length(hybrid(std::vector<uint32_t>(4999, 1), 1));
  EXPECT_NE(error_of(page(few + values), optional), "");
  PageSpec v2{.payload = cut, .value_count = 5000, .type = PageType::kDataV2};
  EXPECT_THAT(error_of(v2, required), HasSubstr("the page ends"));
  v2.payload = values;
  EXPECT_EQ(error_of(v2, required), "");
  v2.definition_size = 31;  // of the values
  EXPECT_THAT(error_of(v2, required), HasSubstr("the page ends"));
  v2.definition_size = 50'000;
  EXPECT_NE(error_of(v2, required), "");
  // A checksum is verified where it is asked for.
  PageSpec summed = page(values);
  const auto crc = static_cast<int32_t>(crc32(std::as_bytes(std::span(values))));
  for (int32_t wrong : {0, 1}) {
    summed.crc = crc + wrong;
    const auto expected = wrong != 0 ? HasSubstr("checksum") : HasSubstr("");
    EXPECT_THAT(error_of(summed, required, ChecksumPolicy::kAlways), expected);
    EXPECT_THAT(error_of(summed, required, ChecksumPolicy::kSmallPages), expected);
    EXPECT_EQ(error_of(summed, required, ChecksumPolicy::kNever), "");
  }
}

}  // namespace
}  // namespace frazil::parquet
