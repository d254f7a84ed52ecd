// Files of other writers in the encodings of the format, against the answers that came with them: CSV, or the same values
// in PLAIN.
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/columnar/pretty.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/batch_reader.h"

namespace frazil::parquet {
namespace {

using Rows = std::vector<std::vector<std::string>>;  // cells as text; null is empty

const std::string kCorpora = FRAZIL_TEST_CORPORA;

struct Table {
  std::vector<std::string> names;
  Rows rows;
};

Table read_table(const std::string& path, int64_t batch_rows) {
  Table table;
  MemoryPool pool;
  LocalFileSystem files;
  std::shared_ptr<const InputFile> file = files.open_input(path);
  auto metadata = read_metadata(*file, pool);
  ReadOptions options;
  options.columns = request_columns(metadata->schema());
  options.batch_rows = batch_rows;
  options.validate_utf8 = true;
  for (const ColumnRequest& column : options.columns) table.names.push_back(column.field.name);
  BatchReader reader(file, metadata, options, pool);
  while (auto batch = reader.next()) {
    validate_full(*batch);
    for (int64_t row = 0; row < batch->row_count(); ++row) {
      table.rows.emplace_back();
      for (const ArrayPtr& column : batch->columns()) {
        table.rows.back().push_back(column->is_null(row) ? "" : value_to_text(*column, row));
      }
    }
  }
  return table;
}

// RFC 4180 without line breaks in cells.
Table read_csv(const std::string& path) {
  Table table;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (char c : line) {
      if (c == '\r') continue;
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (table.names.empty()) {
      table.names = cells;
    } else {
      table.rows.push_back(cells);
    }
  }
  return table;
}

TEST(EncodingFiles, EqualTheirCsv) {
  for (const char* name : {"delta_binary_packed", "delta_byte_array", "delta_encoding_optional_column",
                           "delta_encoding_required_column"}) {
    const std::string path = kCorpora + "/parquet-testing/data/" + name;
    const Table expected = read_csv(path + "_expect.csv");
    ASSERT_GE(expected.rows.size(), 100U);
    for (int64_t batch_rows : {7, 100'000}) {
      const Table got = read_table(path + ".parquet", batch_rows);
      EXPECT_EQ(got.names.size(), expected.names.size()) << name;
      ASSERT_EQ(got.rows.size(), expected.rows.size()) << name;
      for (size_t row = 0; row < got.rows.size(); ++row) EXPECT_EQ(got.rows[row], expected.rows[row]) << name << row;
    }
  }
}

// Files written by parquet-java, one for each type and encoding, all with the same values.
TEST(EncodingFiles, OfIcebergEqualTheirPlainTwins) {
  size_t compared = 0;
  const std::filesystem::path root = kCorpora + "/parquet-extra/iceberg-java-encodings";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::filesystem::path path = entry.path();
    if (path.extension() != ".parquet" || path.parent_path() == root) continue;
    const Table expected = read_table((root / "PLAIN" / path.filename()).string(), 100'000);
    ASSERT_EQ(expected.rows.size(), 1000U);
    EXPECT_EQ(read_table(path.string(), 33).rows, expected.rows) << path;
    ++compared;
  }
  EXPECT_EQ(compared, 46U);
}

// Each column twice: plain, then split.
TEST(EncodingFiles, SplitColumnsEqualTheirPlainTwins) {
  for (const char* name : {"parquet-testing/data/byte_stream_split_extended.gzip.parquet",
                           "parquet-extra/hyparquet/byte_stream_split_extended.gzip.parquet"}) {
    const Table table = read_table(kCorpora + "/" + name, 33);
    ASSERT_EQ(table.rows.size(), 200U);
    ASSERT_EQ(table.names.size(), 14U);
    for (const auto& row : table.rows) {
      for (size_t i = 0; i < row.size(); i += 2) EXPECT_EQ(row[i], row[i + 1]) << table.names[i];
    }
  }
}

// The pattern that the file's description gives.
TEST(EncodingFiles, DeltaLengthHoldsTheStringsOfItsDescription) {
  const Table table = read_table(kCorpora + "/parquet-testing/data/delta_length_byte_array.parquet", 100);
  ASSERT_EQ(table.rows.size(), 1000U);
  for (size_t row = 0; row < 1000; ++row) {
    EXPECT_EQ(table.rows[row][0], "apple_banana_mango" + std::to_string(row * row));
  }
}

// reports.md Q27: the deprecated LZ4 as Hadoop frames it and as others took it, beside LZ4_RAW.
TEST(CodecFiles, OfEveryLz4HoldTheSameRows) {
  const std::string folder = kCorpora + "/parquet-testing/data/";
  const Rows four = read_table(folder + "lz4_raw_compressed.parquet", 100).rows;
  ASSERT_EQ(four.size(), 4U);
  EXPECT_EQ(read_table(folder + "hadoop_lz4_compressed.parquet", 100).rows, four);
  EXPECT_EQ(read_table(folder + "non_hadoop_lz4_compressed.parquet", 100).rows, four);
  const Rows many = read_table(folder + "lz4_raw_compressed_larger.parquet", 100'000).rows;
  ASSERT_EQ(many.size(), 10'000U);
  EXPECT_EQ(read_table(folder + "hadoop_lz4_compressed_larger.parquet", 100'000).rows, many);
}

// reports.md Q28: members of gzip one after the other are one stream.
TEST(CodecFiles, OfTwoGzipMembersHaveTheRowsOfBoth) {
  const Rows rows = read_table(kCorpora + "/parquet-testing/data/concatenated_gzip_members.parquet", 100).rows;
  ASSERT_EQ(rows.size(), 513U);
  for (size_t row = 0; row < rows.size(); ++row) EXPECT_EQ(rows[row][0], std::to_string(row + 1));
}

}  // namespace
}  // namespace frazil::parquet
