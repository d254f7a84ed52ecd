#include "frazil/text/csv_records.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/text/test_source_test.h"

namespace frazil::text {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows read(std::string text, CsvDialect dialect = {}, std::vector<size_t> sizes = {SIZE_MAX}) {
  MemoryPool pool;
  InputWindow window(std::make_unique<PieceSource>(std::move(text), std::move(sizes)), pool);
  CsvRecords records(window, dialect);
  Rows rows;
  while (records.next()) {
    rows.emplace_back();
    for (const CsvField& field : records.fields()) rows.back().emplace_back(field.text);
    EXPECT_EQ(records.row(), rows.size());
  }
  return rows;
}

std::string error_of(std::string text, CsvDialect dialect = {}) {
  try {
    read(std::move(text), dialect);
  } catch (const CorruptError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvRecords, ReadsTheExamplesOfRfc4180) {
  const Rows plain = {{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}};
  EXPECT_EQ(read("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n"), plain);
  EXPECT_EQ(read("aaa,bbb,ccc\r\nzzz,yyy,xxx"), plain);
  EXPECT_EQ(read("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx"), plain);
  EXPECT_EQ(read("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx"),
            (Rows{{"aaa", "b\r\nbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
  EXPECT_EQ(read("\"aaa\",\"b\"\"bb\",\"ccc\""), (Rows{{"aaa", "b\"bb", "ccc"}}));
}

TEST(CsvRecords, TakesEveryEndOfLineAndEmptyFields) {
  EXPECT_EQ(read(""), Rows{});
  EXPECT_EQ(read("\n"), (Rows{{""}}));
  EXPECT_EQ(read("a\n\nb\n"), (Rows{{"a"}, {""}, {"b"}}));
  EXPECT_EQ(read("a\rb\rc"), (Rows{{"a"}, {"b"}, {"c"}}));
  EXPECT_EQ(read(",\n,,"), (Rows{{"", ""}, {"", "", ""}}));
  EXPECT_EQ(read("\"\",\"\"\"\"\n"), (Rows{{"", "\""}}));
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a,b\n"),
            (Rows{{"a", "b"}}));
  EXPECT_EQ(read("a;'b;''c'\n", {.delimiter = ';', .quote = '\''}), (Rows{{"a", "b;'c"}}));
  EXPECT_EQ(read("37'37\"N,b\n"), (Rows{{"37'37\"N", "b"}}));
  EXPECT_EQ(read("a\"b,\"c\n", {.quote = '\0'}), (Rows{{"a\"b", "\"c"}}));
}

TEST(CsvRecords, NamesRowAndLineOfBrokenQuotes) {
  EXPECT_THAT(error_of("a,b\n\"x\ny\",z\nc,\"d\" e\n"), testing::HasSubstr("CSV row 3, line 4: text follows"));
  EXPECT_THAT(error_of("a,b\n\"c,d\ne,f\n"), testing::HasSubstr("CSV row 2, line 2: a quoted field has no end"));
  MemoryPool pool;
  InputWindow window(std::make_unique<PieceSource>(""), pool);
  EXPECT_THROW(CsvRecords(window, {.delimiter = '\n'}), Error);
  EXPECT_THROW(CsvRecords(window, {.delimiter = '"'}), Error);
}

TEST(CsvRecords, KnowsWhichFieldsWereQuotedAndWhereRecordsStart) {
  MemoryPool pool;
  InputWindow window(std::make_unique<PieceSource>("a,\"\"\n\"1\n2\",x\nb,c\n"), pool);
  CsvRecords records(window, {});
  ASSERT_TRUE(records.next());
  EXPECT_FALSE(records.fields()[0].quoted);
  EXPECT_TRUE(records.fields()[1].quoted);
  records.begin_sample();
  ASSERT_TRUE(records.next());
  ASSERT_TRUE(records.next());
  EXPECT_EQ(records.line(), 4U);
  records.rewind();
  ASSERT_TRUE(records.next());
  EXPECT_EQ(records.row(), 2U);
  EXPECT_EQ(records.line(), 2U);
  EXPECT_EQ(records.fields()[0].text, "1\n2");
}

RC_GTEST_PROP(CsvRecords, ReadsBackAnyRecordsHoweverTheyArrive, ()) {
  const auto text = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,\"\n\r ;\xC3\xA9")));
  const auto rows = *rc::gen::container<Rows>(rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(text)));
  const auto sizes = *rc::gen::nonEmpty(rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 9)));
  const std::string end = *rc::gen::element<std::string>("\n", "\r\n", "\r");
  std::string csv;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      csv += '"';
      for (const char character : row[i]) csv += character == '"' ? std::string("\"\"") : std::string(1, character);
      csv += '"';
    }
    csv += end;
  }
  RC_ASSERT(read(csv, {}, sizes) == rows);
}

TEST(CsvRecords, GrowsForOneLongRecordOnly) {
  const std::string value(3 << 20, 'x');
  EXPECT_EQ(read("a,\"" + value + "\"\nb,c\n", {}, {4096}), (Rows{{"a", value}, {"b", "c"}}));
  MemoryPool pool({.budget_bytes = 1 << 20});
  InputWindow window(std::make_unique<PieceSource>("a,\"" + value + "\"\nb,c\n"), pool);
  CsvRecords records(window, {});
  EXPECT_THROW(records.next(), MemoryLimitError);
}

}  // namespace
}  // namespace frazil::text
