// Files that are large in one way: text, row groups, columns. What they cost is bounded by what is asked of them.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::data_page;
using testing::dictionary_page;
using testing::FileBuilder;
using testing::packed_run;
using testing::PageSpec;
using testing::plain;
using testing::StringFile;

constexpr size_t kMiB = size_t{1} << 20;

// Q30, R02, R12: 2.3 GiB of text out of a file of 350 KiB, in one row group. Offsets stay within int32, memory within the
// batches asked for: the footer's sizes say nothing about what dictionary values become.
TEST(LargeFiles, TextBeyondInt32ComesInBoundedBatches) {
  constexpr int32_t kRows = 600'000;
  constexpr int32_t kPageRows = 20'000;
  constexpr size_t kLength = 4096;
  std::vector<std::string> values;
  for (char letter = 'a'; letter < 'k'; ++letter) values.emplace_back(kLength, letter);
  std::vector<uint32_t> indices(kPageRows);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i % 10;
  std::vector<PageSpec> pages = {dictionary_page(plain(values), 10)};
  for (int32_t row = 0; row < kRows; row += kPageRows) {
    pages.push_back(data_page('\4' + packed_run(indices, 4), kPageRows, Encoding::kRleDictionary));
  }
  const std::vector<ColumnSpec> columns = {{.name = "s", .type = PhysicalType::kByteArray, .converted = 0}};
  const std::string bytes = FileBuilder(columns).row_group(kRows, {pages}).finish();
  EXPECT_LT(bytes.size(), 400U << 10);

  MemoryPool pool({.budget_bytes = 48 * kMiB});
  auto file = std::make_shared<StringFile>(bytes);
  auto metadata = read_metadata(*file, pool);
  ReadOptions options;
  options.columns = request_columns(metadata->schema());
  options.batch_bytes_max = 16 * kMiB;
  BatchReader reader(file, metadata, options, pool);
  EXPECT_LT(reader.memory_needs(true).total(), 40 * kMiB) << "twice the data of a batch, while its block grows";
  int64_t rows = 0;
  size_t text_bytes = 0;
  while (auto batch = reader.next()) {
    const auto* offsets = batch->column(0)->values<int32_t>();
    EXPECT_EQ(offsets[batch->row_count()], static_cast<int32_t>(kLength) * batch->row_count());
    const auto text = batch->column(0)->buffers[2].span();
    for (int64_t i = 0; i < batch->row_count(); i += 331) {
      ASSERT_EQ(static_cast<char>(text[static_cast<size_t>(offsets[i])]), 'a' + (rows + i) % kPageRows % 10);
    }
    rows += batch->row_count();
    text_bytes += text.size();
  }
  EXPECT_EQ(rows, kRows);
  EXPECT_EQ(text_bytes, kRows * kLength);
  EXPECT_GT(text_bytes, size_t{INT32_MAX});
}

// S13: each row group costs what it holds, not what the file holds.
TEST(LargeFiles, ManyRowGroupsAreReadOneByOne) {
  constexpr int32_t kGroups = 30'000;
  FileBuilder builder(std::vector<ColumnSpec>{{.name = "a", .type = PhysicalType::kInt32}});
  for (int32_t group = 0; group < kGroups; ++group) {
    builder.row_group(5, {{data_page(plain(std::vector<int32_t>(5, group)), 5)}});
  }
  MemoryPool pool({.budget_bytes = 64 * kMiB});
  auto file = std::make_shared<StringFile>(builder.finish());
  auto metadata = read_metadata(*file, pool);
  ASSERT_EQ(metadata->row_groups().size(), static_cast<size_t>(kGroups));
  ReadOptions options;
  options.columns = request_columns(metadata->schema());
  BatchReader reader(file, metadata, options, pool);
  int32_t group = 0;
  while (auto batch = reader.next()) {
    ASSERT_EQ(batch->row_count(), 5);
    ASSERT_EQ(batch->column(0)->values<int32_t>()[4], group++);
  }
  EXPECT_EQ(group, kGroups);
  EXPECT_LE(file->read_count, static_cast<uint64_t>(kGroups) * 2 + 2);
}

// R04, S05: what a footer of very many columns takes, and that three of them are read without the others.
TEST(LargeFiles, WideFootersTakeLittleAndColumnsOnlyTheirOwn) {
  constexpr size_t kColumns = 10'000;
  std::vector<ColumnSpec> columns;
  std::vector<std::vector<PageSpec>> chunks;
  for (size_t i = 0; i < kColumns; ++i) {
    columns.push_back({.name = "column_" + std::to_string(i), .type = PhysicalType::kInt64});
    chunks.push_back({data_page(plain(std::vector<int64_t>(100, static_cast<int64_t>(i))), 100)});
  }
  const std::string bytes = FileBuilder(columns).row_group(100, chunks).row_group(100, chunks).finish();
  auto file = std::make_shared<StringFile>(bytes);
  MemoryPool pool({.budget_bytes = 64 * kMiB});
  auto metadata = read_metadata(*file, pool);
  pool.trim();
  EXPECT_LT(pool.stats().held_bytes, metadata->footer_bytes() + kColumns * 2 * 400);
  ReadOptions options;
  for (size_t leaf : {size_t{17}, size_t{5000}, kColumns - 1}) {
    options.columns.push_back(request_column(metadata->schema(), metadata->schema().leaf_node(leaf)));
  }
  const uint64_t before = file->read_bytes;
  BatchReader reader(file, metadata, options, pool);
  int64_t rows = 0;
  while (auto batch = reader.next()) {
    EXPECT_EQ(batch->column(1)->values<int64_t>()[7], 5000);
    rows += batch->row_count();
  }
  EXPECT_EQ(rows, 200);
  EXPECT_LT(file->read_bytes - before, 3U * 2 * 1000);
}

}  // namespace
}  // namespace frazil::parquet
