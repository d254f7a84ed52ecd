#include "frazil/text/text_reader.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/compressors.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/json/value.h"
#include "frazil/text/decompressed_source.h"
#include "frazil/text/test_source_test.h"

namespace frazil::text {
namespace {

using testing::HasSubstr;

enum class Form { kCsv, kJson };

// Schema and rows as JSON lines.
std::string read(Form form, std::string text, TextOptions options = {}, std::vector<size_t> sizes = {SIZE_MAX}) {
  MemoryPool pool;
  auto source = std::make_unique<PieceSource>(std::move(text), std::move(sizes));
  auto stream = form == Form::kCsv ? read_csv(std::move(source), std::move(options), pool)
                                   : read_json_lines(std::move(source), std::move(options), pool);
  std::string out;
  for (const Field& field : stream->schema()->fields()) out += field.name + ": " + field.type->to_string() + "\n";
  while (const auto batch = stream->next()) {
    validate_full(*batch);
    for (int64_t row = 0; row < batch->row_count(); ++row) {
      append_row_json(out, *batch, row);
      out += '\n';
    }
  }
  return out;
}

std::string error_of(Form form, std::string text, TextOptions options = {}) {
  try {
    read(form, std::move(text), std::move(options));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvReader, InfersTypesFromASample) {
  EXPECT_EQ(
      read(Form::kCsv,
           "i,d,b,day,at,zoned,code,mixed,none,big\n"
           "1,1,true,2017-11-16,2017-11-16T22:31:08,2017-11-16T22:31:08Z,007,1,,1\n"
           "-2,1.5,false,1969-12-31,2017-11-16,2017-11-16 22:31:08+01:00,01,x,,99999999999999999999\n"
           "NA,,,,,,,,,\n",
           {.csv_nulls = {"NA"}}),
      "i: int64\nd: double\nb: bool\nday: date32\nat: timestamp[us]\nzoned: timestamp[us, UTC]\ncode: utf8\n"
      "mixed: utf8\nnone: utf8\nbig: utf8\n"
      R"({"i":1,"d":1.0,"b":true,"day":"2017-11-16","at":"2017-11-16T22:31:08","zoned":"2017-11-16T22:31:08+00:00","code":"007","mixed":"1","none":null,"big":"1"})"
      "\n"
      R"({"i":-2,"d":1.5,"b":false,"day":"1969-12-31","at":"2017-11-16T00:00:00","zoned":"2017-11-16T21:31:08+00:00","code":"01","mixed":"x","none":null,"big":"99999999999999999999"})"
      "\n"
      R"({"i":null,"d":null,"b":null,"day":null,"at":null,"zoned":null,"code":null,"mixed":null,"none":null,"big":null})"
      "\n");
}

std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CsvReader, ReadsEveryFileOfCsvSpectrum) {
  const std::filesystem::path folder = FRAZIL_TEST_CORPORA "/csv-spectrum";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    SCOPED_TRACE(entry.path());
    ++files;
    const std::string csv = file_content(entry.path());
    MemoryPool pool;
    // Its rows are texts throughout.
    std::vector<Field> fields;
    const auto head = read_csv(std::make_unique<PieceSource>(csv), {}, pool);
    for (Field field : head->schema()->fields()) {
      field.type = primitive(TypeId::kUtf8);
      fields.push_back(field);
    }
    auto stream = read_csv(std::make_unique<PieceSource>(csv), {.schema = Schema::make(fields)}, pool);
    json::Array rows;
    while (const auto batch = stream->next()) {
      for (int64_t row = 0; row < batch->row_count(); ++row) {
        std::string text;
        append_row_json(text, *batch, row);
        rows.push_back(json::parse(text));
      }
    }
    json::Value expected = json::parse(file_content(std::filesystem::path(entry.path()).replace_extension(".json")));
    // This one's JSON has another number than its CSV.
    if (entry.path().stem() == "location_coordinates") expected.set("Contact Phone Number", "2095257564");
    EXPECT_EQ(json::write(json::Value(rows)),
              json::write(expected.is_array() ? expected : json::Value(json::Array{expected})));
  }
  EXPECT_EQ(files, 12);
}

TEST(CsvReader, TellsTheEmptyTextFromNull) {
  EXPECT_EQ(read(Form::kCsv, "a,b\n\"\",\n,\"NA\"\nNA,x\n", {.csv_nulls = {"NA"}}),
            "a: utf8\nb: utf8\n{\"a\":\"\",\"b\":null}\n{\"a\":null,\"b\":\"NA\"}\n{\"a\":null,\"b\":\"x\"}\n");
  // An empty line is a row where there is one column, and none where there are more.
  EXPECT_EQ(read(Form::kCsv, "a\nx\n\n\"\"\n"), "a: utf8\n{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":\"\"}\n");
  EXPECT_EQ(read(Form::kCsv, "a,b\n\n1,2\n\n"), "a: int64\nb: int64\n{\"a\":1,\"b\":2}\n");
}

TEST(CsvReader, ReadsEveryTypeOfATable) {
  const auto schema = Schema::make({
      {.name = "i", .type = primitive(TypeId::kInt32)},
      {.name = "f", .type = primitive(TypeId::kFloat)},
      {.name = "m", .type = decimal(9, 2)},
      {.name = "t", .type = time64(TimeUnit::kMicro)},
      {.name = "n", .type = timestamp(TimeUnit::kNano)},
      {.name = "x", .type = primitive(TypeId::kBinary)},
      {.name = "u", .type = fixed_size_binary(16), .metadata = {{"ARROW:extension:name", "arrow.uuid"}}},
      {.name = "l", .type = list({.name = "element", .type = primitive(TypeId::kInt64)})},
      {.name = "o", .type = struct_({{.name = "a", .type = primitive(TypeId::kUtf8)}})},
      {.name = "k",
       .type = map({.name = "key", .type = primitive(TypeId::kInt32), .nullable = false},
                   {.name = "value", .type = primitive(TypeId::kBool)})},
  });
  const std::string row =
      R"({"i":7,"f":0.1,"m":"14.20","t":"22:31:08.123456","n":"2017-11-16T22:31:08.123456789","x":"00ff","u":"f79c3e09-677c-4bbd-a479-3f349cb785e7","l":[1,null],"o":{"a":"x"},"k":{"keys":[1,2],"values":[true,null]}})"
      "\n";
  EXPECT_THAT(
      read(Form::kCsv,
           "k,o,l,u,x,n,t,m,f,i\n"
           "\"{\"\"1\"\":true,\"\"2\"\":null}\",\"{\"\"a\"\":\"\"x\"\"}\",\"[1, null]\","
           "f79c3e09-677c-4bbd-a479-3f349cb785e7,00FF,2017-11-16 22:31:08.123456789,22:31:08.123456, 14.2 ,0.1,7\n",
           {.schema = schema}),
      HasSubstr("\"x\":\"00ff\""));
  // What the program prints is read back, as either form.
  EXPECT_THAT(read(Form::kJson, row, {.schema = schema}), HasSubstr(row));
}

TEST(CsvReader, NamesTheRowAndColumnOfWhatIsWrong) {
  const auto schema = Schema::make({{.name = "a", .type = primitive(TypeId::kInt32)},
                                    {.name = "b", .type = primitive(TypeId::kUtf8), .nullable = false}});
  EXPECT_THAT(error_of(Form::kCsv, "a,b\n1,x\n2147483648,y\n", {.schema = schema}),
              HasSubstr("row 3, line 3, column 'a': \"2147483648\" is no int32; reading test.csv"));
  EXPECT_THAT(error_of(Form::kCsv, "a,b\n1,\n", {.schema = schema}),
              HasSubstr("'b' is required, found nothing; at row 2"));
  EXPECT_THAT(error_of(Form::kCsv, "a,b\n1,\xFF\n", {.schema = schema}), HasSubstr("column 'b'"));
  EXPECT_THAT(error_of(Form::kCsv, "a,b\n1\n", {.schema = schema}), HasSubstr("row 2, line 2: 1 fields instead of 2"));
  EXPECT_THAT(error_of(Form::kCsv, "a,a\n1,2\n"), HasSubstr("two columns have the name 'a'"));
  EXPECT_THAT(error_of(Form::kCsv, ""), HasSubstr("there is no header"));
  EXPECT_THAT(error_of(Form::kCsv, "a\n1\nx\n", {.sample_bytes = 1}), HasSubstr("\"x\" is no int64"));
}

TEST(CsvReader, ReadsWithoutAHeader) {
  EXPECT_EQ(read(Form::kCsv, "1,x\n2,y\n", {.csv_header = false}),
            "f0: int64\nf1: utf8\n{\"f0\":1,\"f1\":\"x\"}\n{\"f0\":2,\"f1\":\"y\"}\n");
  const auto schema = Schema::make({{.name = "a", .type = primitive(TypeId::kUtf8)}});
  EXPECT_EQ(read(Form::kCsv, "1\n", {.schema = schema, .csv_header = false}), "a: utf8\n{\"a\":\"1\"}\n");
}

TEST(CsvReader, CutsBatchesAndDoesNotCareHowBytesArrive) {
  std::string text = "a,b\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ",\"v" + std::to_string(i) + "\"\n";
  const std::string whole = read(Form::kCsv, text);
  EXPECT_EQ(read(Form::kCsv, text, {.batch_rows = 7}, {1, 2, 3}), whole);
  MemoryPool pool;
  const std::string gzip = compressors::compress(Codec::kGzip, text);
  auto stream = read_csv(decompressed(std::make_unique<PieceSource>(gzip, std::vector<size_t>{1}), pool), {}, pool);
  int64_t rows = 0;
  while (const auto batch = stream->next()) rows += batch->row_count();
  EXPECT_EQ(rows, 5000);
  auto cut = decompressed(std::make_unique<PieceSource>(gzip.substr(0, gzip.size() - 3)), pool);
  stream = read_csv(std::move(cut), {.sample_bytes = 1}, pool);
  EXPECT_THROW(while (stream->next()){}, CorruptError);
}

TEST(JsonLinesReader, InfersTypesFromASample) {
  EXPECT_EQ(read(Form::kJson,
                 "{\"a\":1,\"o\":{\"x\":[1]}}\n\n"
                 "{\"b\":\"2017-11-16\",\"a\":2.5}\r\n"
                 "{\"o\":{\"y\":\"7\",\"x\":[null,2.5]}}"),
            "a: double\no: struct<x: list<element: double>, y: utf8>\nb: date32\n"
            "{\"a\":1.0,\"o\":{\"x\":[1.0],\"y\":null},\"b\":null}\n"
            "{\"a\":2.5,\"o\":null,\"b\":\"2017-11-16\"}\n"
            "{\"a\":null,\"o\":{\"x\":[null,2.5],\"y\":\"7\"},\"b\":null}\n");
}

TEST(JsonLinesReader, NamesTheLineAndPathOfWhatIsWrong) {
  EXPECT_THAT(error_of(Form::kJson, "{\"a\":1}\n{\"a\":\n"), HasSubstr("at line 2; reading test.csv"));
  EXPECT_THAT(error_of(Form::kJson, "{\"a\":1}\n{\"a\":\"x\"}\n"), HasSubstr("a number and a text in one column"));
  EXPECT_THAT(error_of(Form::kJson, "{\"a\":1}\n[2]\n"), HasSubstr("expected an object, found an array"));
  const auto schema = Schema::make(
      {{.name = "o", .type = struct_({{.name = "a", .type = primitive(TypeId::kInt32), .nullable = false}})}});
  EXPECT_THAT(error_of(Form::kJson, "{\"o\":{\"a\":1}}\n{\"o\":{}}\n", {.schema = schema}),
              HasSubstr("'a' is required, found null; in 'o'; at line 2"));
  EXPECT_THAT(error_of(Form::kJson, "{\"o\":{\"a\":1.5}}\n", {.schema = schema}),
              HasSubstr("\"1.5\" is no int32; in 'o'"));
  EXPECT_THAT(error_of(Form::kJson, "{\"p\":1}\n", {.schema = schema}), HasSubstr("there is no column 'p'"));
  EXPECT_THAT(error_of(Form::kJson, "{\"o\":{\"b\":1}}\n", {.schema = schema}), HasSubstr("'o' has no field 'b'"));
}

}  // namespace
}  // namespace frazil::text
