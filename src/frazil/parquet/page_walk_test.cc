#include "frazil/parquet/page_walk.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::data_page;
using testing::dictionary_page;
using testing::FileBuilder;
using testing::plain;
using testing::StringFile;

TEST(PageWalk, CountsPagesValuesAndBytes) {
  FileBuilder builder({{.name = "a"}, {.name = "b"}});
  builder.row_group(5, {{data_page(plain<int32_t>({1, 2, 3}), 3), data_page(plain<int32_t>({4, 5}), 2)},
                        {dictionary_page(plain<int32_t>({7}), 1), data_page(plain<int32_t>({1, 2, 3, 4, 5}), 5)}});
  const StringFile file(builder.finish());
  MemoryPool pool;
  const auto metadata = read_metadata(file, pool);
  PageWalk walk(file, *metadata, pool);
  PageTotals totals = walk.walk(0, 0);
  EXPECT_EQ(totals.pages, 2);
  EXPECT_EQ(totals.values, 5);
  EXPECT_EQ(totals.uncompressed_bytes, 20u);
  totals += walk.walk(0, 1);
  EXPECT_EQ(totals.pages, 4);
  EXPECT_EQ(totals.values, 10);
  EXPECT_EQ(totals.uncompressed_bytes, 44u);
}

TEST(PageWalk, RefusesChunksWhosePagesHaveTooFewValues) {
  FileBuilder builder({{.name = "a"}});
  builder.row_group(4, {{data_page(plain<int32_t>({1, 2, 3}), 3)}});
  const StringFile file(builder.finish());
  MemoryPool pool;
  const auto metadata = read_metadata(file, pool);
  PageWalk walk(file, *metadata, pool);
  try {
    walk.walk(0, 0);
    FAIL() << "3 values were taken for 4";
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("have 3 values and should have 4"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("column 'a'; reading row group 0 of memory:test.parquet"));
  }
}

TEST(PageWalk, SaysThatThePoolIsTooSmall) {
  FileBuilder builder({{.name = "a"}});
  builder.row_group(1'000'000, {{data_page(plain(std::vector<int32_t>(1'000'000, 1)), 1'000'000)}});
  const StringFile file(builder.finish());
  MemoryPool pool({.budget_bytes = size_t{1} << 20});
  const auto metadata = read_metadata(file, pool);
  PageWalk walk(file, *metadata, pool);
  EXPECT_THROW(walk.walk(0, 0), MemoryLimitError);
}

// What Apache's own test files are: every codec that there is, both versions of pages, many writers.
TEST(PageWalk, TakesEveryFileOfParquetTesting) {
  const auto folder = std::filesystem::path(FRAZIL_TEST_CORPORA) / "parquet-testing/data";
  LocalFileSystem files;
  MemoryPool pool({.budget_bytes = size_t{256} << 20});
  std::map<std::string, std::string> refused;
  std::set<CompressionCodec> codecs;
  int walked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".parquet") continue;
    try {
      const auto file = files.open_input(entry.path().string());
      const auto metadata = read_metadata(*file, pool);
      PageWalk walk(*file, *metadata, pool);
      for (size_t group = 0; group < metadata->row_groups().size(); ++group) {
        for (size_t leaf = 0; leaf < metadata->schema().leaf_count(); ++leaf) {
          const ColumnChunk& chunk = metadata->row_groups()[group].columns[leaf];
          const PageTotals totals = walk.walk(group, leaf);
          EXPECT_EQ(totals.values, chunk.value_count) << entry.path();
          codecs.insert(chunk.codec);
        }
      }
      ++walked;
    } catch (const Error& error) {
      refused[entry.path().filename().string()] = error.what();
    }
  }
  EXPECT_GE(walked, 63);
  EXPECT_EQ(codecs.size(), 6u);  // all but LZO and Brotli
  // A page of 1 GiB; a dictionary whose chunk ends within a page.
  refused.erase("large_string_map.brotli.parquet");
  refused.erase("nation.dict-malformed.parquet");
  EXPECT_THAT(refused, ::testing::IsEmpty());
}

}  // namespace
}  // namespace frazil::parquet
