#include "row_writers.h"

#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::cli {
namespace {

using ::testing::HasSubstr;

// What a writer prints, through a real file descriptor.
class Printed {
 public:
  Printed() : descriptor_(open("/tmp", O_TMPFILE | O_RDWR, 0600)), out(descriptor_, 1000) {}
  ~Printed() { close(descriptor_); }
  std::string text() {
    out.flush();
    std::string all(static_cast<size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(descriptor_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  int descriptor_;

 public:
  OutputStream out;
};

std::string print(const RecordBatch& batch, RowWriterOptions options, std::optional<int64_t> total = std::nullopt) {
  Printed printed;
  auto writer = make_row_writer(batch.schema(), printed.out, options);
  writer->write(batch);
  writer->finish(total);
  return printed.text();
}

ArrayPtr texts(MemoryPool& pool, const std::vector<std::optional<std::string>>& values) {
  auto builder = make_builder(primitive(TypeId::kUtf8), pool);
  for (const auto& value : values) {
    if (value) {
      builder->as<BytesBuilder>().append(*value);
    } else {
      builder->append_null();
    }
  }
  return builder->finish();
}

template <typename T>
ArrayPtr numbers(MemoryPool& pool, TypeId id, const std::vector<std::optional<T>>& values) {
  auto builder = make_builder(primitive(id), pool);
  for (const auto& value : values) {
    if (value) {
      builder->as<FixedWidthBuilder>().append<T>(*value);
    } else {
      builder->append_null();
    }
  }
  return builder->finish();
}

RecordBatch batch_of(std::vector<std::pair<std::string, ArrayPtr>> columns) {
  std::vector<Field> fields;
  std::vector<ArrayPtr> arrays;
  int64_t rows = columns.empty() ? 0 : columns.front().second->length;
  for (auto& [name, array] : columns) {
    fields.push_back({name, array->type, true, {}});
    arrays.push_back(array);
  }
  return RecordBatch(std::make_shared<Schema>(std::move(fields)), rows, std::move(arrays));
}

TEST(CsvWriter, TellsNullFromTheEmptyText) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"a", texts(pool, {"x", std::nullopt, "", "null"})},
                                {"b", numbers<int64_t>(pool, TypeId::kInt64, {1, -2, std::nullopt, INT64_MIN})}});
  EXPECT_EQ(print(batch, {.format = RowFormat::kCsv}), "a,b\nx,1\n,-2\n\"\",\nnull,-9223372036854775808\n");
}

TEST(CsvWriter, QuotesWhatRfc4180Quotes) {
  MemoryPool pool;
  RecordBatch batch =
      batch_of({{"a,\"b\"", texts(pool, {"a,b", "say \"hi\"", "two\nlines", "cr\r", " space ", "'", "\""})}});
  EXPECT_EQ(print(batch, {.format = RowFormat::kCsv}),
            "\"a,\"\"b\"\"\"\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"cr\r\"\n space \n'\n\"\"\"\"\n");
}

// Reads CSV as RFC 4180 says; a field without quotes and letters is NULL.
std::vector<std::vector<std::optional<std::string>>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::optional<std::string>>> rows;
  size_t at = 0;
  while (at < text.size()) {
    rows.emplace_back();
    while (true) {
      std::string field;
      bool quoted = at < text.size() && text[at] == '"';
      if (quoted) {
        for (++at; text[at] != '"' || (at + 1 < text.size() && text[at + 1] == '"'); ++at) {
          if (text[at] == '"') ++at;
          field += text[at];
        }
        ++at;
      } else {
        while (text[at] != ',' && text[at] != '\n') field += text[at++];
      }
      rows.back().push_back(quoted || !field.empty() ? std::optional(field) : std::nullopt);
      if (text[at++] == '\n') break;
    }
  }
  return rows;
}

using Pairs = std::vector<std::pair<bool, std::string>>;  // valid?, text: RapidCheck makes no std::optional

std::vector<std::optional<std::string>> optional_texts(const Pairs& pairs) {
  std::vector<std::optional<std::string>> values;
  for (const auto& [valid, text] : pairs) values.push_back(valid ? std::optional(text) : std::nullopt);
  return values;
}

RC_GTEST_PROP(CsvWriter, AnyTextComesBack, (const Pairs& pairs)) {
  auto values = optional_texts(pairs);
  MemoryPool pool;
  ArrayPtr column = texts(pool, values);
  RecordBatch batch = batch_of({{"a", column}, {"b", column}});
  auto rows = parse_csv(print(batch, {.format = RowFormat::kCsv}));
  RC_ASSERT(rows.size() == values.size() + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    RC_ASSERT(rows[i + 1].size() == 2u);
    RC_ASSERT(rows[i + 1][0] == values[i]);
    RC_ASSERT(rows[i + 1][1] == values[i]);
  }
}

RC_GTEST_PROP(JsonWriter, AnyTextComesBack, (const Pairs& pairs)) {
  // Damaged UTF-8 is replaced, so ASCII alone comes back.
  std::vector<std::optional<std::string>> ascii = optional_texts(pairs);
  for (auto& value : ascii) {
    if (!value) continue;
    for (char& c : *value) c = static_cast<char>(c & 0x7f);
  }
  MemoryPool pool;
  RecordBatch batch = batch_of({{"k\"\n", texts(pool, ascii)}});
  std::string text = print(batch, {.format = RowFormat::kJson});
  size_t begin = 0;
  for (const auto& value : ascii) {
    size_t end = text.find('\n', begin);
    json::Value row = json::parse(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    RC_ASSERT(row.at("k\"\n").is_null() == !value.has_value());
    if (value) RC_ASSERT(row.at("k\"\n").as_string() == *value);
  }
  RC_ASSERT(begin == text.size());
}

// The same column by the fast way of its type and by pretty.h: they must not differ.
TEST(RowWriters, PrintIntegersOfAllWidths) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"i8", numbers<int8_t>(pool, TypeId::kInt8, {-128, 127})},
                                {"i16", numbers<int16_t>(pool, TypeId::kInt16, {-32768, 32767})},
                                {"i32", numbers<int32_t>(pool, TypeId::kInt32, {INT32_MIN, INT32_MAX})},
                                {"u8", numbers<uint8_t>(pool, TypeId::kUInt8, {0, 255})},
                                {"u32", numbers<uint32_t>(pool, TypeId::kUInt32, {0, UINT32_MAX})},
                                {"u64", numbers<uint64_t>(pool, TypeId::kUInt64, {0, UINT64_MAX})},
                                {"d", numbers<double>(pool, TypeId::kDouble, {0.1, -0.0})}});
  EXPECT_EQ(print(batch, {.format = RowFormat::kCsv}),
            "i8,i16,i32,u8,u32,u64,d\n-128,-32768,-2147483648,0,0,0,0.1\n"
            "127,32767,2147483647,255,4294967295,18446744073709551615,-0.0\n");
  EXPECT_EQ(print(batch, {.format = RowFormat::kJson}),
            "{\"i8\":-128,\"i16\":-32768,\"i32\":-2147483648,\"u8\":0,\"u32\":0,\"u64\":0,\"d\":0.1}\n"
            "{\"i8\":127,\"i16\":32767,\"i32\":2147483647,\"u8\":255,\"u32\":4294967295,\"u64\":18446744073709551615,"
            "\"d\":-0.0}\n");
}

TEST(RowWriters, PrintSlices) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"a", texts(pool, {"x", std::nullopt, "y", "z"})},
                                {"b", numbers<int32_t>(pool, TypeId::kInt32, {1, std::nullopt, std::nullopt, 4})}})
                          .slice(1, 2);
  EXPECT_EQ(print(batch, {.format = RowFormat::kCsv}), "a,b\n,\ny,\n");
  EXPECT_EQ(print(batch, {.format = RowFormat::kJson}), "{\"a\":null,\"b\":null}\n{\"a\":\"y\",\"b\":null}\n");
}

TEST(RowWriters, PrintNestedValuesAsJson) {
  MemoryPool pool;
  auto builder = make_builder(list({"item", primitive(TypeId::kInt32), true, {}}), pool);
  builder->as<ListBuilder>().append();
  builder->as<ListBuilder>().values().as<FixedWidthBuilder>().append<int32_t>(1);
  builder->as<ListBuilder>().values().as<FixedWidthBuilder>().append<int32_t>(2);
  builder->append_null();
  builder->as<ListBuilder>().append();
  RecordBatch batch = batch_of({{"l", builder->finish()}});
  EXPECT_EQ(print(batch, {.format = RowFormat::kCsv}), "l\n\"[1,2]\"\n\n[]\n");
  EXPECT_EQ(print(batch, {.format = RowFormat::kJson}), "{\"l\":[1,2]}\n{\"l\":null}\n{\"l\":[]}\n");
}

TEST(RowWriters, StopAtTheLimit) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"a", numbers<int32_t>(pool, TypeId::kInt32, {1, 2, 3})}});
  for (auto [format, expected] : std::initializer_list<std::pair<RowFormat, const char*>>{
           {RowFormat::kCsv, "a\n1\n2\n"}, {RowFormat::kJson, "{\"a\":1}\n{\"a\":2}\n"}}) {
    Printed printed;
    auto writer = make_row_writer(batch.schema(), printed.out, {.format = format, .limit = 2});
    EXPECT_EQ(writer->rows_wanted(), 2);
    writer->write(batch);
    EXPECT_EQ(writer->rows_wanted(), 0);
    writer->write(batch);
    writer->finish();
    EXPECT_EQ(writer->rows_written(), 2);
    EXPECT_EQ(printed.text(), expected);
  }
}

TEST(RowWriters, PrintAHeadWithoutRows) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"a", texts(pool, {})}});
  Printed csv;
  make_row_writer(batch.schema(), csv.out, {.format = RowFormat::kCsv})->finish();
  EXPECT_EQ(csv.text(), "a\n");
  Printed json;
  make_row_writer(batch.schema(), json.out, {.format = RowFormat::kJson})->finish();
  EXPECT_EQ(json.text(), "");
  Printed none;
  make_row_writer(batch.schema(), none.out, {.format = RowFormat::kNone})->finish();
  EXPECT_EQ(none.text(), "");
}

TEST(TableWriter, AlignsAndSaysWhatWasLeftOut) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"name", texts(pool, {"a", std::nullopt, "日本", "e\xcc\x81"})},
                                {"n", numbers<int32_t>(pool, TypeId::kInt32, {1, 20, -300, std::nullopt})},
                                {"last", texts(pool, {"x\ny", "\x1b[31m", "\xff", ""})}});
  EXPECT_EQ(print(batch, {.format = RowFormat::kTable}),
            "name     n  last\n"
            "----  ----  --------\n"
            "a        1  x\\ny\n"
            "NULL    20  \\x1b[31m\n"
            "日本  -300  \xef\xbf\xbd\n"
            "e\xcc\x81     NULL  \n"
            "(4 rows)\n");
  EXPECT_THAT(print(batch, {.format = RowFormat::kTable, .limit = 2}, 4), HasSubstr("(2 of 4 rows)\n"));
  EXPECT_THAT(print(batch, {.format = RowFormat::kTable}, 4), HasSubstr("(4 rows)\n"));
  EXPECT_THAT(print(batch.slice(0, 1), {.format = RowFormat::kTable}), HasSubstr("(1 row)\n"));
}

TEST(TableWriter, EndsAfterAHundredRows) {
  MemoryPool pool;
  std::vector<std::optional<int32_t>> values(70, 7);
  RecordBatch batch = batch_of({{"a", numbers<int32_t>(pool, TypeId::kInt32, values)}});
  Printed printed;
  auto writer = make_row_writer(batch.schema(), printed.out, {.format = RowFormat::kTable});
  EXPECT_EQ(writer->rows_wanted(), 101);  // one more than is shown, to know whether there is one
  writer->write(batch);
  writer->write(batch);
  EXPECT_EQ(writer->rows_wanted(), 0);
  EXPECT_EQ(writer->rows_written(), 100);
  writer->finish(12345);
  EXPECT_THAT(printed.text(), HasSubstr("(100 of 12,345 rows; --limit N shows others)\n"));
}

TEST(TableWriter, TakesItsWidthsFromTheFirstRows) {
  MemoryPool pool;
  std::vector<std::optional<std::string>> values(1000, "ab");
  values.push_back("abcdef");  // sticks out
  RecordBatch batch = batch_of({{"a", texts(pool, values)}, {"b", texts(pool, values)}});
  std::string text = print(batch, {.format = RowFormat::kTable, .limit = 2000});
  EXPECT_THAT(text, HasSubstr("\nab  ab\n"));
  EXPECT_THAT(text, HasSubstr("\nabcdef  abcdef\n"));
}

TEST(NoneWriter, TouchesEveryBufferAndPrintsNothing) {
  MemoryPool pool;
  RecordBatch batch = batch_of({{"a", texts(pool, {"x", std::nullopt})}});
  Printed printed;
  auto writer = make_row_writer(batch.schema(), printed.out, {.format = RowFormat::kNone});
  writer->write(batch);
  writer->finish();
  EXPECT_EQ(writer->rows_written(), 2);
  EXPECT_EQ(printed.text(), "");
}

TEST(RowFormat, IsParsed) {
  Printed printed;
  EXPECT_EQ(parse_row_format(std::nullopt, printed.out), RowFormat::kCsv);
  EXPECT_EQ(parse_row_format(std::nullopt, printed.out, OutputFormat::kJson), RowFormat::kJson);
  EXPECT_EQ(parse_row_format("csv", printed.out, OutputFormat::kJson), RowFormat::kCsv);
  EXPECT_EQ(parse_row_format("table", printed.out), RowFormat::kTable);
  EXPECT_EQ(parse_row_format("arrow", printed.out), RowFormat::kArrow);
  EXPECT_THROW(parse_row_format("xml", printed.out), Error);
}

}  // namespace
}  // namespace frazil::cli
