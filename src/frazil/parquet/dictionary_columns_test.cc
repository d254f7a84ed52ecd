#include "frazil/parquet/dictionary_columns.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/predicate/parse.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::data_page;
using testing::dictionary_page;
using testing::FileBuilder;
using ::testing::HasSubstr;
using testing::packed_run;
using testing::PageSpec;
using testing::plain;
using testing::repeated_run;
using testing::StringFile;
using testing::with_length;

const std::vector<ColumnSpec> kText = {{.name = "s", .type = PhysicalType::kByteArray, .converted = 0}};

struct Opened {
  std::shared_ptr<const StringFile> file;
  std::shared_ptr<const FileMetadata> metadata;
};

Opened open(const std::string& bytes, MemoryPool& pool) {
  auto file = std::make_shared<StringFile>(bytes);
  return {file, read_metadata(*file, pool)};
}

PageSpec indices(const std::vector<uint32_t>& values) {
  return data_page('\2' + packed_run(values, 2), static_cast<int32_t>(values.size()), Encoding::kRleDictionary);
}

std::vector<PageSpec> dictionary_chunk(const std::vector<std::string>& values, const std::vector<uint32_t>& places) {
  return {dictionary_page(plain(values), static_cast<int32_t>(values.size())), indices(places)};
}

FileReaderOptions with_dictionaries() {
  FileReaderOptions options;
  options.dictionaries = Dictionaries::kAlways;
  options.validate_utf8 = true;
  return options;
}

struct Read {
  std::string type;
  std::vector<std::string> rows;
  std::vector<RecordBatch> batches;
};

Read read(const std::string& bytes, FileReaderOptions options, MemoryPool& pool) {
  Read result;
  FileReader reader(std::make_shared<StringFile>(bytes), std::move(options), pool);
  result.type = reader.schema()->field(0).type->to_string();
  while (auto batch = reader.next()) {
    validate_full(*batch);
    for (int64_t row = 0; row < batch->row_count(); ++row) result.rows.push_back(value_to_json(*batch->column(0), row));
    result.batches.push_back(*batch);
  }
  return result;
}

std::string error_of(const std::string& bytes, ErrorKind kind, const FileReaderOptions& options = with_dictionaries()) {
  MemoryPool pool;
  try {
    read(bytes, options, pool);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(DictionaryColumns, ShareOneDictionaryARowGroup) {
  FileBuilder builder(kText);
  builder.encoding_stats = true;
  builder.row_group(4, {dictionary_chunk({"a", "b", "not used"}, {1, 0, 0, 1})});
  builder.row_group(2, {dictionary_chunk({"c", "d"}, {1, 0})});
  FileReaderOptions options = with_dictionaries();
  options.batch_rows = 2;
  MemoryPool pool;
  const Read got = read(builder.finish(), options, pool);
  EXPECT_EQ(got.type, "dictionary<values=utf8, indices=int32>");
  EXPECT_EQ(got.rows, (std::vector<std::string>{R"("b")", R"("a")", R"("a")", R"("b")", R"("d")", R"("c")"}));
  ASSERT_EQ(got.batches.size(), 3U);
  EXPECT_EQ(got.batches[0].column(0)->dictionary, got.batches[1].column(0)->dictionary);
  EXPECT_NE(got.batches[1].column(0)->dictionary, got.batches[2].column(0)->dictionary);
  EXPECT_EQ(got.batches[0].column(0)->dictionary->length, 3);
}

// The type of a stream is known from the footer, before anything is read.
TEST(DictionaryColumns, AreWhereEveryPageOfEveryRowGroupIs) {
  const std::vector<PageSpec> whole = dictionary_chunk({"a", "b"}, {1, 0});
  std::vector<PageSpec> fallen_back = whole;
  fallen_back.push_back(data_page(plain(std::vector<std::string>{"c"}), 1));
  FileBuilder builder(kText);
  builder.encoding_stats = true;
  builder.row_group(2, {whole}).row_group(3, {fallen_back});
  MemoryPool pool;
  const Read got = read(builder.finish(), with_dictionaries(), pool);
  EXPECT_EQ(got.type, "utf8");
  EXPECT_EQ(got.rows.size(), 5U);
  FileReaderOptions first_alone = with_dictionaries();
  first_alone.row_group_count = 1;
  EXPECT_EQ(read(builder.finish(), first_alone, pool).type, "dictionary<values=utf8, indices=int32>");

  // Without encoding_stats PLAIN may be the dictionary page's, or a data page's.
  FileBuilder silent(kText);
  silent.row_group(2, {whole});
  EXPECT_EQ(read(silent.finish(), with_dictionaries(), pool).type, "utf8");

  // Who asks for one that is not there is told so.
  FileReaderOptions forced;
  Opened opened = open(builder.finish(), pool);
  forced.columns = request_columns(opened.metadata->schema());
  forced.columns[0].field.type = dictionary(primitive(TypeId::kInt32), primitive(TypeId::kUtf8));
  EXPECT_THAT(error_of(builder.finish(), ErrorKind::kInvalidArgument, forced),
              HasSubstr("column 's' is not dictionary-encoded in all of its pages"));
  for (const DataTypePtr& type : {dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)),
                                  dictionary(primitive(TypeId::kInt32), primitive(TypeId::kInt32))}) {
    forced.columns[0].field.type = type;
    EXPECT_THAT(error_of(builder.finish(), ErrorKind::kInvalidArgument, forced), HasSubstr("cannot be read as"));
  }
}

TEST(DictionaryColumns, HaveNullsAndRowGroupsWithoutValues) {
  const std::vector<ColumnSpec> column = {
      {.name = "s", .type = PhysicalType::kByteArray, .repetition = Repetition::kOptional, .converted = 0}};
  FileBuilder builder(column);
  builder.encoding_stats = true;
  PageSpec page = indices({1});
  page.payload = with_length(packed_run({0, 1, 0}, 1)) + page.payload;
  page.value_count = 3;
  builder.row_group(3, {{dictionary_page(plain(std::vector<std::string>{"a", "b"}), 2), page}});
  PageSpec nulls = data_page(with_length(repeated_run(2, 0, 1)), 2, Encoding::kRleDictionary);
  builder.row_group(2, {{dictionary_page("", 0), nulls}});
  builder.row_group(0, {{}});
  MemoryPool pool;
  const Read got = read(builder.finish(), with_dictionaries(), pool);
  EXPECT_EQ(got.type, "dictionary<values=utf8, indices=int32>");
  EXPECT_EQ(got.rows, (std::vector<std::string>{"null", R"("b")", "null", "null", "null"}));
}

TEST(DictionaryColumns, AreFilteredAndJoinedAsOthers) {
  FileBuilder builder(kText);
  builder.encoding_stats = true;
  builder.row_group(4, {dictionary_chunk({"a", "b", "x"}, {1, 0, 2, 1})});
  builder.row_group(2, {dictionary_chunk({"c", "b"}, {1, 0})});
  FileReaderOptions options = with_dictionaries();
  options.predicate = predicate::parse("s >= 'b' AND s < 'x'");
  MemoryPool pool;
  const Read got = read(builder.finish(), options, pool);
  EXPECT_EQ(got.type, "dictionary<values=utf8, indices=int32>");
  EXPECT_EQ(got.rows, (std::vector<std::string>{R"("b")", R"("b")", R"("b")", R"("c")"}));
  EXPECT_EQ(got.batches.size(), 1U) << "small batches of two row groups are joined, their dictionaries too";
}

TEST(DictionaryColumns, RefuseWhatTheFooterLiesAbout) {
  const auto one_page = [](std::vector<PageSpec> pages, bool lies_about_last = false) {
    FileBuilder builder(kText);
    builder.encoding_stats = true;
    std::string bytes = builder.row_group(2, {pages}).finish();
    if (!lies_about_last) return bytes;
    // The footer of a file whose last page is as the others, behind the pages of this one.
    FileBuilder honest(kText);
    honest.encoding_stats = true;
    pages.back().encoding = Encoding::kRleDictionary;
    return honest.row_group(2, {pages})
        .finish()
        .replace(0, bytes.find("schema") - 10, bytes, 0, bytes.find("schema") - 10);
  };
  EXPECT_THAT(error_of(one_page(dictionary_chunk({"a", "b"}, {1, 2})), ErrorKind::kCorrupt),
              HasSubstr("beyond the dictionary of 2 values"));
  EXPECT_THAT(error_of(one_page(dictionary_chunk({"a", "\xFF"}, {1, 0})), ErrorKind::kCorrupt), HasSubstr("UTF-8"));
  std::vector<PageSpec> forged = dictionary_chunk({"a", "b"}, {1, 0});
  forged[0].value_count = 1'000'000'000;
  EXPECT_THAT(error_of(one_page(forged), ErrorKind::kCorrupt), HasSubstr("a dictionary of 1000000000 values"));
  forged[0].value_count = 3;
  EXPECT_THAT(error_of(one_page(forged), ErrorKind::kCorrupt), HasSubstr("values"));
  std::vector<PageSpec> cut = dictionary_chunk({"a", "b"}, {1, 0});
  cut[1].payload = "\2";
  EXPECT_THAT(error_of(one_page(cut), ErrorKind::kCorrupt), HasSubstr("the page ends"));
  const std::vector<PageSpec> plain_page = {dictionary_page(plain(std::vector<std::string>{"a", "b"}), 2), indices({0}),
                                            data_page(plain(std::vector<std::string>{"c"}), 1)};
  EXPECT_THAT(error_of(one_page(plain_page, true), ErrorKind::kCorrupt),
              HasSubstr("a page in encoding PLAIN where the footer says that all refer to the dictionary"));
}

// R02: text that would be 4 GB stays as small as it is in the file, though every batch is kept.
TEST(DictionaryColumns, R02MillionsOfRepeatedTextsTakeTheirIndices) {
  constexpr int32_t kPageRows = 50'000;
  constexpr int32_t kRows = 1'000'000;
  std::vector<std::string> values;
  for (char letter = 'a'; letter < 'k'; ++letter) values.emplace_back(4096, letter);
  std::vector<uint32_t> places(kPageRows);
  for (size_t i = 0; i < places.size(); ++i) places[i] = i % 10;
  std::vector<PageSpec> pages = {dictionary_page(plain(values), 10)};
  for (int32_t row = 0; row < kRows; row += kPageRows) {
    pages.push_back(data_page('\4' + packed_run(places, 4), kPageRows, Encoding::kRleDictionary));
  }
  FileBuilder builder(kText);
  builder.encoding_stats = true;
  const std::string bytes = builder.row_group(kRows, {pages}).finish();

  MemoryPool pool({.budget_bytes = size_t{8} << 20});
  FileReader reader(std::make_shared<StringFile>(bytes), with_dictionaries(), pool);
  std::vector<RecordBatch> batches;
  std::set<const Array*> dictionaries;
  int64_t rows = 0;
  while (auto batch = reader.next()) {
    const Array& column = *batch->column(0);
    for (int64_t i = 0; i < column.length; i += 331) {
      ASSERT_EQ(column.values<int32_t>()[i], (rows + i) % kPageRows % 10);
    }
    rows += batch->row_count();
    dictionaries.insert(column.dictionary.get());
    batches.push_back(*std::move(batch));
  }
  EXPECT_EQ(rows, kRows);
  EXPECT_EQ(dictionaries.size(), 1U);
  EXPECT_EQ((*dictionaries.begin())->bytes_value(9), values[9]);
}

}  // namespace
}  // namespace frazil::parquet
