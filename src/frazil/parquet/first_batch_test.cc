// ReadOptions::first_batch_rows: the first batch has so many rows, and dictionaries are loaded by their fronts. The rows
// are the same.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_writer.h"
#include "frazil/parquet/metadata.h"

namespace frazil::parquet {
namespace {

constexpr int64_t kRows = 200'000;

// Nearly all values differ, so that dictionaries have 1.2 MB and more; some come again much later.
RecordBatch make_rows(bool with_nulls) {
  std::vector<std::optional<int64_t>> longs;
  std::vector<std::optional<double>> doubles;
  std::vector<std::optional<std::string>> texts;
  for (int64_t i = 0; i < kRows; ++i) {
    const int64_t value = i % 7 == 6 ? i / 3 : i;
    const uint64_t noise = static_cast<uint64_t>(value) * 0x9E37'79B9'7F4A'7C15 >> 11;
    longs.emplace_back(static_cast<int64_t>(noise));
    doubles.emplace_back(static_cast<double>(noise) / 3);
    texts.emplace_back("text " + std::to_string(noise % 1'000'000'007));
    if (with_nulls && i % 11 == 3) longs.back().reset();
    if (with_nulls && i % 13 < 2) texts.back().reset();
  }
  return make_batch({{"l", make_int64(longs)}, {"d", make_double(doubles)}, {"t", make_utf8(texts)}});
}

void write(MemoryFileSystem& files, const RecordBatch& rows, CompressionCodec codec, size_t page_rows,
           MemoryPool& pool) {
  WriterOptions options;
  options.columns.codec = codec;
  options.columns.page_rows = page_rows;
  options.columns.dictionary_bytes = size_t{16} << 20;
  options.row_group_rows = 3 * kRows / 4;
  options.columns.encoding = Encoding::kRleDictionary;
  options.columns.may_skip_compression = false;
  FileWriter writer(files.open_output("/x.parquet"), rows.schema(), options, pool);
  writer.write(rows);
  writer.finish();
}

std::vector<ArrayPtr> read(FileSystem& files, int64_t first_batch_rows, std::vector<int64_t>& sizes, MemoryPool& pool) {
  const std::shared_ptr<const InputFile> file = files.open_input("/x.parquet");
  const auto metadata = read_metadata(*file, pool);
  BatchReader reader(
      file, metadata,
      {.columns = request_columns(metadata->schema()), .batch_rows = 30'000, .first_batch_rows = first_batch_rows},
      pool);
  const auto needs = reader.memory_needs(true);
  std::vector<std::vector<ArrayPtr>> parts(3);
  while (auto batch = reader.next()) {
    validate_full(*batch);
    EXPECT_LE(reader.bytes_in_use(), needs.working_bytes);
    sizes.push_back(batch->row_count());
    for (size_t i = 0; i < parts.size(); ++i) parts[i].push_back(batch->column(i));
  }
  std::vector<ArrayPtr> columns;
  for (const auto& part : parts) columns.push_back(concatenate(part, pool));
  return columns;
}

TEST(FirstBatch, HasFewRowsAndTheSameOnes) {
  MemoryPool pool;
  for (bool with_nulls : {false, true}) {
    const RecordBatch rows = make_rows(with_nulls);
    for (auto codec : {CompressionCodec::kZstd, CompressionCodec::kSnappy, CompressionCodec::kUncompressed,
                       CompressionCodec::kGzip}) {
      // The first page asks for a part of the front, for all of it and for more; or is the only one.
      for (size_t page_rows : {size_t{3'000}, size_t{30'000}, size_t{60'000}, size_t{1'000'000}}) {
        MemoryFileSystem files;
        write(files, rows, codec, page_rows, pool);
        for (int64_t first : {int64_t{0}, int64_t{1}, int64_t{25'000}}) {
          std::vector<int64_t> sizes;
          const std::vector<ArrayPtr> columns = read(files, first, sizes, pool);
          EXPECT_EQ(sizes.front(), first == 0 ? 30'000 : std::min<int64_t>(first, 30'000));
          EXPECT_EQ(sizes[1], 30'000) << "only the first batch is smaller";
          for (size_t i = 0; i < columns.size(); ++i) {
            EXPECT_TRUE(equals(*columns[i], *rows.column(i)))
                << to_string(codec) << ", pages of " << page_rows << ", first " << first << ", column " << i;
          }
        }
      }
    }
  }
}

TEST(FirstBatch, ReadsLittleOfLargeDictionaries) {
  MemoryPool pool;
  for (auto codec : {CompressionCodec::kZstd, CompressionCodec::kSnappy, CompressionCodec::kUncompressed}) {
    MemoryFileSystem memory;
    write(memory, make_rows(false), codec, 3'000, pool);
    uint64_t bytes[2] = {};
    for (const int64_t first : {int64_t{0}, int64_t{2'000}}) {
      CountingFileSystem files(memory);
      const std::shared_ptr<const InputFile> file = files.open_input("/x.parquet");
      const auto metadata = read_metadata(*file, pool);
      BatchReader reader(
          file, metadata,
          {.columns = request_columns(metadata->schema()), .batch_rows = 2'000, .first_batch_rows = first}, pool);
      ASSERT_TRUE(reader.next());
      bytes[first > 0 ? 1 : 0] = files.counters().bytes_read.load();
    }
    EXPECT_LT(bytes[1], bytes[0] * 2 / 3) << to_string(codec);
  }
}

// Wherever the file is damaged, an error or the rows, and no difference to what is read without it but the order.
TEST(FirstBatch, OfDamagedFilesIsAnErrorOrRows) {
  MemoryPool pool;
  const RecordBatch rows = make_rows(false);
  for (auto codec : {CompressionCodec::kZstd, CompressionCodec::kSnappy, CompressionCodec::kUncompressed}) {
    MemoryFileSystem files;
    write(files, rows, codec, 30'000, pool);
    const Buffer content = files.get("/x.parquet");
    const std::string whole(reinterpret_cast<const char*>(content.data()), content.size());
    for (size_t at = 4; at < whole.size() / 3; at += 1 + at / 4) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
      files.put("/x.parquet", damaged);
      try {
        std::vector<int64_t> sizes;
        static_cast<void>(read(files, 2'000, sizes, pool));
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
