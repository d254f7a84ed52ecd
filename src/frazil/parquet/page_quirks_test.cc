// What writers did to pages and chunks over the years, and must be read; each with who did it.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/encoders_test.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::data_page;
using testing::dictionary_page;
using testing::FileBuilder;
using ::testing::HasSubstr;
using testing::hybrid;
using testing::packed_run;
using testing::PageSpec;
using testing::plain;
using testing::repeated_run;
using testing::ThriftWriter;
using testing::with_length;
using Strings = std::vector<std::string>;

constexpr int kSnappy = 1;
constexpr int kZstd = 6;

// The cells of the only column as JSON.
Strings read_cells(const std::string& bytes) {
  MemoryPool pool({.budget_bytes = size_t{16} << 20});
  Strings cells;
  auto file = std::make_shared<testing::StringFile>(bytes);
  auto metadata = read_metadata(*file, pool);
  ReadOptions options;
  options.columns = request_columns(metadata->schema());
  BatchReader reader(file, metadata, options, pool);
  while (auto batch = reader.next()) {
    validate_full(*batch);
    for (int64_t row = 0; row < batch->row_count(); ++row) cells.push_back(value_to_json(*batch->column(0), row));
  }
  return cells;
}

std::string one_column(const testing::ColumnSpec& column, int64_t rows, const std::vector<PageSpec>& pages,
                       int codec = 0) {
  FileBuilder builder(std::vector<testing::ColumnSpec>{column});
  builder.codec = codec;
  builder.row_group(rows, {pages});
  return builder.finish();
}

const testing::ColumnSpec kOptionalInt = {.repetition = Repetition::kOptional};

// Snappy's block of one literal.
std::string snappy_literal(const std::string& bytes) {
  std::string out;
  testing::append_varint(out, bytes.size());
  return out + static_cast<char>((bytes.size() - 1) << 2) + bytes;
}

PageSpec v2_page(const std::string& levels, const std::string& values, int32_t count, int32_t nulls,
                 std::optional<bool> is_compressed, std::optional<int32_t> uncompressed_size = {}) {
  PageSpec page{.payload = values, .value_count = count, .type = PageType::kDataV2, .definition_levels = levels};
  const auto size = static_cast<int32_t>(levels.size() + values.size());
  ThriftWriter description;
  description.i32(1, count).i32(2, nulls).i32(3, count).i32(4, 0);
  description.i32(5, static_cast<int32_t>(levels.size())).i32(6, 0);
  if (is_compressed) description.boolean(7, *is_compressed);
  page.header =
      ThriftWriter().i32(1, 3).i32(2, uncompressed_size.value_or(size)).i32(3, size).structure(8, description).finish();
  return page;
}

// A page that did not shrink is stored as it is, in a chunk with a codec.
TEST(PageQuirks, V2PagesSayWhetherTheyAreCompressed) {
  const std::string values = plain<int32_t>({1, 2, 3});
  const std::string packed = snappy_literal(values);
  EXPECT_EQ(read_cells(one_column({}, 9,
                                  {v2_page("", values, 3, 0, false), v2_page("", packed, 3, 0, true, 12),
                                   v2_page("", packed, 3, 0, {}, 12)},
                                  kSnappy)),
            (Strings{"1", "2", "3", "1", "2", "3", "1", "2", "3"}));
}

// reports.md Q10: all null, so that there is nothing to compress: nothing at all (parquet-mr, Arrow), or the codec's idea of
// nothing (zstd: a frame of 9 bytes; snappy: the length 0).
TEST(PageQuirks, V2PagesWithoutValuesHaveNoBytesForTheCodec) {
  const std::string levels = repeated_run(3, 0, 1);
  const auto size = static_cast<int32_t>(levels.size());
  const std::string zstd_of_nothing("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9);
  for (int codec : {kSnappy, kZstd}) {
    const std::string nothing = codec == kZstd ? zstd_of_nothing : std::string(1, '\0');
    for (const std::string& values : {std::string(), nothing}) {
      EXPECT_EQ(read_cells(one_column(kOptionalInt, 3, {v2_page(levels, values, 3, 3, true, size)}, codec)),
                (Strings{"null", "null", "null"}));
    }
  }
}

// Pages of no values between others, of a chunk without any (reports.md Q35: parquet-cpp-arrow 13 gave it offset 0).
TEST(PageQuirks, PagesAndChunksMayBeEmpty) {
  EXPECT_EQ(read_cells(one_column({}, 2, {data_page("", 0), data_page(plain<int32_t>({1, 2}), 2), data_page("", 0)})),
            (Strings{"1", "2"}));
  FileBuilder builder(std::vector<testing::ColumnSpec>(1));
  builder.data_page_offset = 0;
  builder.row_group(0, {{}});
  builder.data_page_offset.reset();
  builder.row_group(1, {{data_page(plain<int32_t>({7}), 1)}});
  EXPECT_EQ(read_cells(builder.finish()), (Strings{"7"}));
}

// reports.md Q04: dictionary_page_offset is 0, or is left out and the data seems to start at the dictionary (parquet-go), or
// points behind it.
TEST(PageQuirks, DictionariesAreFoundWhereverTheFooterPutsThem) {
  const std::vector<PageSpec> pages = {
      dictionary_page(plain<int32_t>({5, 6}), 2),
      data_page(std::string("\x01", 1) + hybrid({1, 0, 1}, 1), 3, Encoding::kPlainDictionary)};
  for (std::optional<int64_t> offset :
       {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(4)}) {
    FileBuilder builder(std::vector<testing::ColumnSpec>(1));
    builder.dictionary_page_offset = offset;
    if (offset != 4) builder.data_page_offset = 4;
    builder.row_group(3, {pages});
    EXPECT_EQ(read_cells(builder.finish()), (Strings{"6", "5", "6"})) << offset.value_or(-1);
  }
}

// The old names of an encoding: PLAIN_DICTIONARY for the dictionary itself, and for the indices into it.
TEST(PageQuirks, PlainDictionaryNamesBothParts) {
  for (Encoding dictionary : {Encoding::kPlain, Encoding::kPlainDictionary}) {
    for (Encoding indices : {Encoding::kPlainDictionary, Encoding::kRleDictionary}) {
      PageSpec first = dictionary_page(plain<int32_t>({5, 6}), 2);
      first.encoding = dictionary;
      EXPECT_EQ(
          read_cells(one_column({}, 2, {first, data_page(std::string("\x01", 1) + hybrid({1, 0}, 1), 2, indices)})),
          (Strings{"6", "5"}));
    }
  }
}

// A chunk that begins with a dictionary goes on without it when the dictionary is full, in encodings of any kind.
TEST(PageQuirks, EncodingsMayChangeFromPageToPage) {
  EXPECT_EQ(read_cells(one_column(
                {}, 10,
                {dictionary_page(plain<int32_t>({5, 6}), 2),
                 data_page(std::string("\x01", 1) + hybrid({1, 0}, 1), 2, Encoding::kRleDictionary),
                 data_page(plain<int32_t>({1, 2}), 2),
                 data_page(testing::delta_packed<int32_t>({3, -4}), 2, Encoding::kDeltaBinaryPacked),
                 data_page(testing::split_bytes(plain<int32_t>({70'000, -1}), 4), 2, Encoding::kByteStreamSplit),
                 data_page(std::string("\x01", 1) + hybrid({0, 1}, 1), 2, Encoding::kRleDictionary)})),
            (Strings{"6", "5", "1", "2", "3", "-4", "70000", "-1", "5", "6"}));
}

// fastparquet pads runs with headers of 0: runs of no values.
TEST(PageQuirks, RunsOfNoValuesArePassedOver) {
  const std::string levels = std::string("\0\0", 2) + packed_run({1, 0, 1, 0, 0, 0, 0, 0}, 1);
  EXPECT_EQ(read_cells(one_column(kOptionalInt, 3, {data_page(with_length(levels) + plain<int32_t>({8, 9}), 3)})),
            (Strings{"8", "null", "9"}));
}

// Width 0: indices take no bytes, with runs (Arrow) or without (ARROW-GH-43605).
TEST(PageQuirks, ADictionaryOfOneValueNeedsNoIndices) {
  for (const std::string& indices : {std::string("\0", 1), std::string("\0\x06", 2)}) {
    EXPECT_EQ(read_cells(one_column(
                  {}, 3, {dictionary_page(plain<int32_t>({5}), 1), data_page(indices, 3, Encoding::kRleDictionary)})),
              (Strings{"5", "5", "5"}));
  }
}

// Writers that leave out even the width where there is no index.
TEST(PageQuirks, AllNullPagesMayLeaveOutTheIndexWidth) {
  EXPECT_EQ(read_cells(one_column(
                kOptionalInt, 2,
                {dictionary_page("", 0), data_page(with_length(repeated_run(2, 0, 1)), 2, Encoding::kRleDictionary)})),
            (Strings{"null", "null"}));
}

// Booleans of parquet-mr's version 2, both page versions (reports.md Q29).
TEST(PageQuirks, RleBooleansHaveTheirLengthInBothVersions) {
  const std::string values = with_length(hybrid({1, 0, 1, 1, 0}, 1));
  PageSpec v2 = v2_page("", values, 5, 0, false);
  PageSpec v1 = data_page(values, 5, Encoding::kRle);
  EXPECT_EQ(read_cells(one_column({.type = PhysicalType::kBoolean}, 5, {v1})),
            (Strings{"true", "false", "true", "true", "false"}));
  v2.header.clear();
  v2.encoding = Encoding::kRle;
  EXPECT_EQ(read_cells(one_column({.type = PhysicalType::kBoolean}, 5, {v2})),
            (Strings{"true", "false", "true", "true", "false"}));
}

// A column that the writer knows to be null only: Arrow's null, whatever physical type stands in for it.
TEST(PageQuirks, UnknownColumnsAreNull) {
  const ThriftWriter none;
  const auto file = [](const std::string& payload) {
    // An empty dictionary in front, as parquet-java writes it.
    const std::string page = testing::page_bytes(dictionary_page("", 0)) + testing::page_bytes(data_page(payload, 3));
    ThriftWriter element;
    element.i32(1, 1).i32(3, 1).binary(4, "a").structure(10, ThriftWriter().structure(11, ThriftWriter()));
    const auto size = static_cast<int64_t>(page.size());
    ThriftWriter metadata;
    metadata.i32(1, 1).i32s(2, {0}).binaries(3, {"a"}).i32(4, 0).i64(5, 3).i64(6, size).i64(7, size).i64(9, 4);
    const ThriftWriter chunk = ThriftWriter().i64(2, 4).structure(3, metadata);
    const ThriftWriter group = ThriftWriter().structs(1, {chunk}).i64(2, 0).i64(3, 3);
    const std::string footer = ThriftWriter()
                                   .i32(1, 1)
                                   .structs(2, {ThriftWriter().binary(4, "schema").i32(5, 1), element})
                                   .i64(3, 3)
                                   .structs(4, {group})
                                   .finish();
    return FileBuilder::with_footer("PAR1" + page, footer);
  };
  EXPECT_EQ(read_cells(file(with_length(repeated_run(3, 0, 1)))), (Strings{"null", "null", "null"}));
  try {
    read_cells(file(with_length(repeated_run(3, 1, 1)) + plain<int32_t>({1, 2, 3})));
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.message(), HasSubstr("UNKNOWN type has a value"));
  }
}

}  // namespace
}  // namespace frazil::parquet
