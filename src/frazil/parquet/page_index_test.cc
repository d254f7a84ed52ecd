#include "frazil/parquet/page_index.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::StringFile;
using testing::ThriftWriter;

struct Location {
  int64_t offset;
  int64_t size;
  int64_t first_row;
};

std::string offset_index(const std::vector<Location>& pages, const std::vector<int64_t>& unencoded = {}) {
  std::vector<ThriftWriter> locations;
  for (const Location& page : pages) {
    locations.push_back(ThriftWriter().i64(1, page.offset).i32(2, page.size).i64(3, page.first_row));
  }
  ThriftWriter index;
  index.structs(1, locations);
  if (!unencoded.empty()) index.i64s(2, unencoded);
  return index.finish();
}

ThriftWriter column_index(const std::vector<bool>& null_pages, const std::vector<std::string>& min,
                          const std::vector<std::string>& max) {
  ThriftWriter index;
  index.booleans(1, null_pages).binaries(2, min).binaries(3, max).i32(4, 1);
  return index;
}

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

constexpr ChunkRange kChunk{100, 400};

OffsetIndex parse(const std::string& index, uint64_t rows = 30) {
  return parse_offset_index(bytes(index), 5000, kChunk, rows);
}

TEST(OffsetIndex, TellsPagesAndTheirRows) {
  const OffsetIndex index = parse(offset_index({{100, 50, 0}, {150, 100, 10}, {260, 140, 25}}, {7, 8, 9}));
  ASSERT_EQ(index.page_count(), 3U);
  EXPECT_EQ(index.rows(0), (RowRange{0, 10}));
  EXPECT_EQ(index.rows(2), (RowRange{25, 30}));
  EXPECT_EQ(index.pages[1].offset, 150U);
  EXPECT_EQ(index.pages[2].compressed_size, 140U);
  EXPECT_EQ(index.page_of(0), 0U);
  EXPECT_EQ(index.page_of(9), 0U);
  EXPECT_EQ(index.page_of(10), 1U);
  EXPECT_EQ(index.page_of(29), 2U);
  EXPECT_EQ(index.unencoded_bytes, (std::vector<int64_t>{7, 8, 9}));
}

TEST(OffsetIndex, MayHavePagesWithoutRows) {
  const OffsetIndex index = parse(offset_index({{100, 50, 0}, {150, 10, 30}}));
  EXPECT_EQ(index.rows(1), (RowRange{30, 30}));
  EXPECT_EQ(index.page_of(29), 0U);
  EXPECT_EQ(parse(offset_index({}), 0).page_count(), 0U);
}

TEST(OffsetIndex, RefusesWhatLies) {
  const std::vector<std::pair<const char*, std::vector<Location>>> cases = {
      {"before the chunk", {{99, 50, 0}}},
      {"behind the chunk", {{401, 1, 0}}},
      {"past the chunk's end", {{100, 301, 0}}},
      {"size that overflows with the offset", {{INT64_MAX, 10, 0}}},
      {"negative offset", {{-1, 10, 0}}},
      {"negative size", {{100, -5, 0}}},
      {"page of no bytes", {{100, 0, 0}}},
      {"pages that overlap", {{100, 50, 0}, {149, 50, 10}}},
      {"pages that descend", {{200, 50, 0}, {100, 50, 10}}},
      {"first page that begins late", {{100, 50, 1}}},
      {"rows that descend", {{100, 50, 0}, {150, 50, 20}, {200, 50, 10}}},
      {"rows past the row group", {{100, 50, 0}, {150, 50, 31}}},
      {"negative row", {{100, 50, 0}, {150, 50, -1}}},
      {"no pages for rows", {}},
  };
  for (const auto& [what, pages] : cases) EXPECT_THROW(parse(offset_index(pages)), CorruptError) << what;
  EXPECT_THROW(parse(std::string(1, '\0')), CorruptError) << "no list";
}

TEST(OffsetIndex, LeavesOutSizesThatAreNotOneAPage) {
  EXPECT_TRUE(parse(offset_index({{100, 50, 0}}, {1, 2})).unencoded_bytes.empty());
  EXPECT_TRUE(parse(offset_index({{100, 50, 0}}, {-1})).unencoded_bytes.empty());
}

TEST(OffsetIndex, IsRefusedTruncatedAnywhere) {
  const std::string whole = offset_index({{100, 50, 0}, {150, 100, 10}}, {7, 8});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse(whole.substr(0, size)), CorruptError) << size;
  }
}

TEST(ColumnIndex, TellsBoundsAndCounts) {
  ThriftWriter writer = column_index({false, true}, {"a", ""}, {"k", ""});
  const std::string index_bytes = writer.i64s(5, {3, 4}).i64s(8, {1, 0}).finish();
  const ColumnIndex index = parse_column_index(bytes(index_bytes), 0, 2);
  EXPECT_EQ(index.order, BoundaryOrder::kAscending);
  const Statistics first = index.statistics(0);
  EXPECT_EQ(first.min_value->size(), 1U);
  EXPECT_EQ((*first.max_value)[0], std::byte{'k'});
  EXPECT_EQ(first.null_count, 3);
  EXPECT_EQ(first.nan_count, 1);
  EXPECT_FALSE(index.statistics(1).min_value) << "a null page has no bounds";
}

TEST(ColumnIndex, RefusesListsOfAnotherLength) {
  const std::string good = column_index({false, false}, {"a", "b"}, {"k", "l"}).finish();
  EXPECT_NO_THROW(parse_column_index(bytes(good), 0, 2));
  EXPECT_THROW(parse_column_index(bytes(good), 0, 3), CorruptError);
  EXPECT_THROW(parse_column_index(bytes(good), 0, 1), CorruptError);
  for (const std::string& bad : {column_index({false}, {"a", "b"}, {"k", "l"}).finish(),
                                 column_index({false, false}, {"a"}, {"k", "l"}).finish(),
                                 column_index({false, false}, {"a", "b"}, {}).finish()}) {
    EXPECT_THROW(parse_column_index(bytes(bad), 0, 2), CorruptError);
  }
  EXPECT_THROW(parse_column_index(bytes(ThriftWriter().booleans(1, {false}).finish()), 0, 1), CorruptError);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(parse_column_index(bytes(good).first(size), 0, 2), CorruptError) << size;
  }
  // Counts are an extra: without them the bounds still serve.
  ThriftWriter not_told = column_index({false, false}, {"a", "b"}, {"k", "l"});
  const std::string one = not_told.i64s(5, {-1, 7}).finish();
  EXPECT_FALSE(parse_column_index(bytes(one), 0, 2).statistics(0).null_count);
  EXPECT_EQ(parse_column_index(bytes(one), 0, 2).statistics(1).null_count, 7);
  ThriftWriter few_counts = column_index({false, false}, {"a", "b"}, {"k", "l"});
  const std::string without = few_counts.i64s(5, {1}).finish();
  EXPECT_TRUE(parse_column_index(bytes(without), 0, 2).null_counts.empty());
}

TEST(ColumnIndex, ReadsBothFormsOfBooleansInLists) {
  // 1 and 2 as the specification says; 0 and 1 as old writers have it.
  const std::string old = std::string("\x19\x21\x00\x01", 4) + "\x19\x28\x01" + "a" + std::string(1, '\0') +
                          "\x19\x28\x01" + "b" + std::string(1, '\0') + std::string(1, '\0');
  const ColumnIndex index = parse_column_index(bytes(old), 0, 2);
  EXPECT_FALSE(index.null_pages[0]);
  EXPECT_TRUE(index.null_pages[1]);
}

RC_GTEST_PROP(OffsetIndex, BoundsTheBytesOfAnyRowsInARow, ()) {
  const auto page_count = *rc::gen::inRange<size_t>(1, 12);
  OffsetIndex index;
  std::vector<size_t> page_of_row;
  for (size_t page = 0; page < page_count; ++page) {
    index.pages.push_back({0, 1, page_of_row.size()});
    index.unencoded_bytes.push_back(*rc::gen::inRange<int64_t>(0, 100));
    const bool is_last = page + 1 == page_count;
    page_of_row.insert(page_of_row.end(), *rc::gen::inRange<size_t>(is_last && page_of_row.empty(), 5), page);
  }
  index.row_count = page_of_row.size();
  const auto rows = *rc::gen::inRange<uint64_t>(1, 25);
  uint64_t most = 0;
  for (size_t first = 0; first < page_of_row.size(); ++first) {
    const size_t last = std::min<size_t>(first + rows, page_of_row.size()) - 1;
    uint64_t sum = 0;
    for (size_t page = page_of_row[first]; page <= page_of_row[last]; ++page) {
      sum += static_cast<uint64_t>(index.unencoded_bytes[page]);
    }
    most = std::max(most, sum);
  }
  const std::optional<uint64_t> bound = unencoded_bytes_max(index, rows);
  RC_ASSERT(bound.has_value());
  RC_ASSERT(*bound >= most);
  // Pages without rows at its end may be counted in, no others.
  int64_t empty_bytes = 0;
  for (size_t page = 0; page < page_count; ++page) {
    if (index.rows(page).row_count() == 0) empty_bytes += index.unencoded_bytes[page];
  }
  RC_ASSERT(*bound <= most + static_cast<uint64_t>(empty_bytes));
}

TEST(SizeStatistics, TellsBytesAndHistograms) {
  SchemaNode leaf;
  leaf.max_definition = 2;
  const std::string stats = ThriftWriter().i64(1, 12345).i64s(2, {100}).i64s(3, {10, 20, 70}).finish();
  const SizeStatistics sizes = parse_size_statistics(bytes(stats), leaf);
  EXPECT_EQ(sizes.unencoded_byte_array_bytes, 12345);
  EXPECT_EQ(sizes.repetition_histogram, std::vector<int64_t>{100});
  EXPECT_EQ(sizes.definition_histogram, (std::vector<int64_t>{10, 20, 70}));
  leaf.max_definition = 3;
  EXPECT_TRUE(parse_size_statistics(bytes(stats), leaf).definition_histogram.empty());
  const std::string negative = ThriftWriter().i64(1, -1).finish();
  EXPECT_FALSE(parse_size_statistics(bytes(negative), leaf).unencoded_byte_array_bytes);
}

// ---- Files of others ----

PageIndex read_index(const std::string& name, MemoryPool& pool, size_t leaf,
                     std::shared_ptr<const FileMetadata>& metadata) {
  LocalFileSystem files;
  const auto file = files.open_input(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/" + name);
  metadata = read_metadata(*file, pool);
  const size_t leaves[] = {leaf};
  return PageIndex::read(*file, *metadata, 0, leaves, leaves, pool);
}

TEST(PageIndex, IsReadFromFilesOfOthers) {
  MemoryPool pool;
  std::shared_ptr<const FileMetadata> metadata;
  {
    // int32_with_null_pages.md: 1,000 rows, some pages of nulls alone.
    const PageIndex index = read_index("int32_with_null_pages.parquet", pool, 0, metadata);
    const PageIndex::Column* column = index.find(0);
    ASSERT_NE(column, nullptr);
    EXPECT_EQ(column->defect, "");
    ASSERT_TRUE(column->bounds);
    EXPECT_EQ(column->offsets->pages.front().offset,
              static_cast<uint64_t>(metadata->row_groups()[0].columns[0].data_page_offset));
    EXPECT_TRUE(std::find(column->bounds->null_pages.begin(), column->bounds->null_pages.end(), true) !=
                column->bounds->null_pages.end());
    int64_t nulls = 0;
    for (int64_t count : column->bounds->null_counts) nulls += count;
    EXPECT_EQ(nulls, parse_statistics(metadata->row_groups()[0].columns[0].statistics).null_count);
    EXPECT_EQ(index.find(1), nullptr);
  }
  {
    const PageIndex index = read_index("alltypes_tiny_pages.parquet", pool, 0, metadata);
    ASSERT_TRUE(index.find(0)->bounds);
    EXPECT_GT(index.find(0)->offsets->page_count(), 10U);
    EXPECT_GT(index.bytes_read(), 0U);
  }
}

TEST(PageIndex, CanBeAbsent) {
  MemoryPool pool;
  std::shared_ptr<const FileMetadata> metadata;
  const PageIndex index = read_index("alltypes_plain.parquet", pool, 2, metadata);
  EXPECT_EQ(index.offsets(2), nullptr);
  EXPECT_EQ(index.find(2)->defect, "");
  EXPECT_EQ(index.bytes_read(), 0U);
}

TEST(PageIndex, SaysWhatIsWrongAndGoesOnWithoutIt) {
  // A real file, whose index bytes are then destroyed.
  MemoryPool pool;
  LocalFileSystem files;
  const auto real =
      files.open_input(std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/int32_with_null_pages.parquet");
  std::string content(real->size(), '\0');
  real->read_at(0, std::as_writable_bytes(std::span(content)));
  const auto metadata = read_metadata(*real, pool);
  const ColumnChunk& chunk = metadata->row_groups()[0].columns[0];
  const size_t leaves[] = {0};
  {
    std::string damaged = content;
    damaged[static_cast<size_t>(chunk.column_index.offset)] = '\x7F';
    const StringFile file(damaged);
    const PageIndex index = PageIndex::read(file, *metadata, 0, leaves, leaves, pool);
    EXPECT_FALSE(index.find(0)->bounds);
    EXPECT_TRUE(index.find(0)->offsets) << "the places of pages still serve";
    EXPECT_NE(index.find(0)->defect, "");
  }
  {
    std::string damaged = content;
    damaged[static_cast<size_t>(chunk.offset_index.offset)] = '\x7F';
    const StringFile file(damaged);
    const PageIndex index = PageIndex::read(file, *metadata, 0, leaves, leaves, pool);
    EXPECT_FALSE(index.find(0)->offsets);
    EXPECT_FALSE(index.find(0)->bounds);
    EXPECT_NE(index.find(0)->defect, "");
  }
  {
    const StringFile file(content.substr(0, static_cast<size_t>(chunk.column_index.offset) + 3));
    const PageIndex index = PageIndex::read(file, *metadata, 0, leaves, leaves, pool);
    EXPECT_FALSE(index.find(0)->bounds);
    EXPECT_NE(index.find(0)->defect, "");
  }
  {
    MemoryPool small({.budget_bytes = 2048});
    const StringFile file(content);
    try {
      EXPECT_FALSE(PageIndex::read(file, *metadata, 0, leaves, leaves, small).find(0)->bounds);
    } catch (const MemoryLimitError&) {  // also right: not even the bytes had room
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
