#include "frazil/avro/decoder.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/test_support.h"
#include "frazil/base/error.h"

namespace frazil::avro {
namespace {

using testing::HasSubstr;

// All rows of a block of hand-made bytes, as one JSON array of stored values.
RecordBatch decode_block(const NodePtr& writer, const NodePtr& reader, int64_t count, std::string bytes,
                         MemoryPool& pool) {
  BatchDecoder decoder(Program::compile(writer, reader), pool);
  Block block{.data = Buffer::from_string(std::move(bytes)),
              .position = 0,
              .record_count = static_cast<uint64_t>(count),
              .file_offset = 0};
  while (block.record_count != 0) decoder.decode(block, 1000);
  RecordBatch batch = decoder.finish();
  validate_full(batch);
  return batch;
}

std::string decode(const NodePtr& writer, const NodePtr& reader, int64_t count, std::string bytes) {
  MemoryPool pool;
  const RecordBatch batch = decode_block(writer, reader, count, std::move(bytes), pool);
  json::Array rows;
  for (int64_t i = 0; i < batch.row_count(); ++i) rows.push_back(stored_row(batch, i));
  return json::write(json::Value(std::move(rows)));
}

std::string decode(std::string_view writer, std::string_view reader, int64_t count, std::string bytes) {
  return decode(parse_schema(writer), reader.empty() ? nullptr : parse_schema(reader), count, std::move(bytes));
}

// The values of one column 'v'.
std::string decode_value(std::string_view writer, std::string_view reader, int64_t count, std::string bytes) {
  const auto in_record = [](std::string_view type) {
    return type.empty() ? std::string()
                        : R"({"type":"record","name":"r","fields":[{"name":"v","type":)" + std::string(type) + "}]}";
  };
  MemoryPool pool;
  const std::string reader_schema = in_record(reader);
  const RecordBatch batch =
      decode_block(parse_schema(in_record(writer)), reader.empty() ? nullptr : parse_schema(reader_schema), count,
                   std::move(bytes), pool);
  json::Array values;
  for (int64_t i = 0; i < batch.row_count(); ++i) values.push_back(stored_value(*batch.column(0), i));
  return json::write(json::Value(std::move(values)));
}

std::string arrow_type_of(std::string_view schema) {
  const auto program = Program::compile(
      parse_schema(R"({"type":"record","name":"r","fields":[{"name":"v","type":)" + std::string(schema) + "}]}"));
  const frazil::Field& field = program->arrow_schema()->field(0);
  return field.type->to_string() + (field.nullable ? "" : " not null");
}

template <typename Run>
std::string failure(Run run, ErrorKind kind = ErrorKind::kCorrupt) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(AvroDecoder, MapsEachTypeToArrow) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("null")", "null"},
      {R"("boolean")", "bool not null"},
      {R"(["null","int"])", "int32"},
      {R"(["long","null"])", "int64"},
      {R"("float")", "float not null"},
      {R"("double")", "double not null"},
      {R"("bytes")", "binary not null"},
      {R"("string")", "utf8 not null"},
      {R"({"type":"fixed","name":"f","size":5})", "fixed_size_binary[5] not null"},
      {R"({"type":"enum","name":"e","symbols":["A"]})", "dictionary<values=utf8, indices=int32> not null"},
      {R"({"type":"int","logicalType":"date"})", "date32 not null"},
      {R"({"type":"int","logicalType":"time-millis"})", "time32[ms] not null"},
      {R"({"type":"long","logicalType":"time-micros"})", "time64[us] not null"},
      {R"({"type":"long","logicalType":"timestamp-millis"})", "timestamp[ms, UTC] not null"},
      {R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false})", "timestamp[us] not null"},
      {R"({"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":true})", "timestamp[ns, UTC] not null"},
      {R"({"type":"long","logicalType":"local-timestamp-micros"})", "timestamp[us] not null"},
      {R"({"type":"bytes","logicalType":"decimal","precision":38,"scale":3})", "decimal128(38, 3) not null"},
      {R"({"type":"bytes","logicalType":"decimal","precision":39})", "decimal256(39, 0) not null"},
      {R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})", "fixed_size_binary[16] not null"},
      {R"({"type":"string","logicalType":"uuid"})", "utf8 not null"},
      {R"({"type":"fixed","name":"d","size":12,"logicalType":"duration"})", "interval_month_day_nano not null"},
      {R"({"type":"array","items":["null","int"]})", "list<element: int32> not null"},
      {R"({"type":"map","values":"int"})", "map<utf8, int32 not null> not null"},
      {R"({"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
           {"name":"key","type":"int"},{"name":"value","type":["null","string"]}]}})",
       "map<int32, utf8> not null"},
      {R"({"type":"record","name":"s","fields":[{"name":"x","type":"int"}]})", "struct<x: int32 not null> not null"},
  };
  for (const auto& [schema, type] : cases) EXPECT_EQ(arrow_type_of(schema), type) << schema;
}

TEST(AvroDecoder, KeepsFieldIdsAsArrowMetadata) {
  const auto program = Program::compile(parse_schema(R"({"type":"record","name":"r","fields":[
    {"name":"l","field-id":1,"type":{"type":"array","element-id":2,"items":"int"}},
    {"name":"m","field-id":3,"type":{"type":"map","key-id":4,"value-id":5,"values":"int"}},
    {"name":"u","field-id":6,"type":{"type":"fixed","name":"u","size":16,"logicalType":"uuid"}}]})"));
  const auto id_of = [](const frazil::Field& field) {
    return find_metadata(field.metadata, "PARQUET:field_id").value_or("-");
  };
  const frazil::Schema& schema = *program->arrow_schema();
  EXPECT_EQ(id_of(schema.field(0)), "1");
  EXPECT_EQ(id_of(schema.field(0).type->children()[0]), "2");
  EXPECT_EQ(id_of(schema.field(1)), "3");
  EXPECT_EQ(id_of(schema.field(1).type->children()[0].type->children()[0]), "4");
  EXPECT_EQ(id_of(schema.field(1).type->children()[0].type->children()[1]), "5");
  EXPECT_EQ(schema.field(2).extension_name(), "arrow.uuid");
}

TEST(AvroDecoder, ReadsEachPrimitiveAtItsEdges) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(decode_value("\"int\"", "", 3, Encoder().long_(INT32_MIN).long_(0).long_(INT32_MAX).str()),
            "[-2147483648,0,2147483647]");
  EXPECT_EQ(decode_value("\"long\"", "", 3, Encoder().long_(INT64_MIN).long_(-1).long_(INT64_MAX).str()),
            "[-9223372036854775808,-1,9223372036854775807]");
  EXPECT_EQ(decode_value("\"boolean\"", "", 3, Encoder().bool_(true).bool_(false).bool_(true).str()),
            "[true,false,true]");
  EXPECT_EQ(decode_value("\"double\"", "", 3, Encoder().double_(tiny).double_(NAN).double_(-INFINITY).str()),
            "[5e-324,\"NaN\",\"-Infinity\"]");
  EXPECT_EQ(decode_value("\"float\"", "", 2, Encoder().float_(0.5f).float_(-2).str()), "[0.5,-2.0]");
  EXPECT_EQ(decode_value("\"string\"", "", 2, Encoder().bytes("").bytes("h\xc3\xa9").str()), "[\"\",\"h\xc3\xa9\"]");
  EXPECT_EQ(decode_value("\"bytes\"", "", 2, Encoder().bytes("").bytes("\xff\x01").str()), "[\"\",\"ff01\"]");
  EXPECT_EQ(decode_value("[\"null\",\"int\"]", "", 3, Encoder().long_(0).long_(1).long_(7).long_(0).str()),
            "[null,7,null]");
  EXPECT_EQ(decode_value("[\"int\",\"null\"]", "", 2, Encoder().long_(0).long_(7).long_(1).str()), "[7,null]");
  EXPECT_EQ(decode_value(R"({"type":"fixed","name":"f","size":0})", "", 2, ""), "[\"\",\"\"]");
  EXPECT_EQ(decode_value(R"({"type":"enum","name":"e","symbols":["A","B"]})", "", 2, Encoder().long_(1).long_(0).str()),
            "[\"B\",\"A\"]");
  EXPECT_EQ(decode_value(R"({"type":"fixed","name":"d","size":12,"logicalType":"duration"})", "", 1,
                         std::string("\x01\0\0\0\x02\0\0\0\x03\0\0\0", 12)),
            "[[1,2,3000000]]");
}

// M10: decimals stand as fixed of the least size, or as bytes; both in any width, sign-extended.
TEST(AvroDecoder, M10ReadsDecimalsFromFixedAndBytes) {
  const std::string minus_128 = "80ff" + std::string(28, 'f');  // little-endian, 16 bytes
  const std::string fixed = R"({"type":"fixed","name":"d","size":4,"logicalType":"decimal","precision":9,"scale":2})";
  const std::string bytes = R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})";
  EXPECT_EQ(decode_value(fixed, "", 1, std::string("\xff\xff\xff\x80", 4)), "[\"" + minus_128 + "\"]");
  EXPECT_EQ(decode_value(bytes, "", 1, Encoder().bytes("\x80").str()), "[\"" + minus_128 + "\"]");
  EXPECT_EQ(decode_value(bytes, fixed, 1, Encoder().bytes("\xff\x80").str()), "[\"" + minus_128 + "\"]")
      << "as the other form";
  EXPECT_EQ(decode_value(fixed, bytes, 1, std::string("\xff\xff\xff\x80", 4)), "[\"" + minus_128 + "\"]");
  EXPECT_EQ(decode_value(bytes, "", 1, Encoder().bytes("").str()), "[\"" + std::string(32, '0') + "\"]")
      << "no bytes are zero";
  EXPECT_EQ(decode_value(bytes, "", 1, Encoder().bytes(std::string(17, '\xff')).str()),
            "[\"" + std::string(32, 'f') + "\"]");
  EXPECT_THAT(failure([&] {
                decode_value(bytes, "", 1, Encoder().bytes(std::string("\x00\xff", 2) + std::string(15, '\xff')).str());
              }),
              HasSubstr("does not fit"));
  EXPECT_THAT(failure([&] { decode_value(bytes, "", 1, Encoder().bytes("\x01" + std::string(16, '\0')).str()); }),
              HasSubstr("does not fit"));
}

TEST(AvroDecoder, ReadsArraysAndMapsInBlocksOfBothSigns) {
  const std::string ints = R"({"type":"array","items":"int"})";
  const std::string plain = Encoder().long_(2).long_(1).long_(2).long_(1).long_(3).long_(0).str();
  const std::string sized = Encoder().long_(-2).long_(2).long_(1).long_(2).long_(-1).long_(1).long_(3).long_(0).str();
  EXPECT_EQ(decode_value(ints, "", 2, plain + sized), "[[1,2,3],[1,2,3]]");
  EXPECT_EQ(decode_value(ints, "", 2, Encoder().long_(0).long_(0).str()), "[[],[]]");
  EXPECT_EQ(decode_value(R"({"type":"map","values":["null","long"]})", "", 1,
                         Encoder().long_(2).bytes("a").long_(1).long_(5).bytes("b").long_(0).long_(0).str()),
            "[[[\"a\",5],[\"b\",null]]]");
  EXPECT_EQ(
      decode_value(
          R"(["null",{"type":"array","items":{"type":"array","items":"string"}}])", "", 3,
          Encoder().long_(0).long_(1).long_(2).long_(1).bytes("x").long_(0).long_(0).long_(0).long_(1).long_(0).str()),
      "[null,[[\"x\"],[]],[]]");
  // The value may stand before the key.
  EXPECT_EQ(decode_value(R"({"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
                            {"name":"value","type":"string"},{"name":"key","type":"int"}]}})",
                         "", 1, Encoder().long_(1).bytes("v").long_(9).long_(0).str()),
            "[[[9,\"v\"]]]");
}

TEST(AvroDecoder, PutsNullsOfStructsIntoTheirChildren) {
  const std::string schema =
      R"(["null",{"type":"record","name":"s","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"},
    {"name":"c","type":{"type":"array","items":"int"}},{"name":"d","type":["null","boolean"]}]}])";
  EXPECT_EQ(decode_value(schema, "", 3,
                         Encoder()
                             .long_(0)
                             .long_(1)
                             .long_(7)
                             .bytes("x")
                             .long_(1)
                             .long_(8)
                             .long_(0)
                             .long_(1)
                             .bool_(true)
                             .long_(0)
                             .str()),
            R"([null,{"a":7,"b":"x","c":[8],"d":true},null])");
}

TEST(AvroDecoder, PromotesAsAvroAllows) {
  const std::string one = Encoder().long_(1).str();
  const std::tuple<const char*, const char*, std::string, const char*> cases[] = {
      {"\"int\"", "\"long\"", one, "[1]"},
      {"\"int\"", "\"float\"", one, "[1.0]"},
      {"\"int\"", "\"double\"", one, "[1.0]"},
      {"\"long\"", "\"float\"", one, "[1.0]"},
      {"\"long\"", "\"double\"", one, "[1.0]"},
      {"\"float\"", "\"double\"", Encoder().float_(0.5f).str(), "[0.5]"},
      {"\"string\"", "\"bytes\"", Encoder().bytes("a").str(), "[\"61\"]"},
      {"\"bytes\"", "\"string\"", Encoder().bytes("a").str(), "[\"a\"]"},
      {"\"int\"", R"(["null","long"])", one, "[1]"},
      {R"(["null","int"])", "\"long\"", Encoder().long_(1).raw(one).str(), "[1]"},
      {R"(["null","int"])", R"(["long","null"])", Encoder().long_(0).str(), "[null]"},
      {"\"null\"", R"(["null","long"])", "", "[null]"},
      // M02: a day partition stands as int or as date; either reads as the other.
      {"\"int\"", R"({"type":"int","logicalType":"date"})", one, "[1]"},
      {R"({"type":"int","logicalType":"date"})", "\"int\"", one, "[1]"},
      {R"({"type":"long","logicalType":"timestamp-micros"})",
       R"({"type":"long","logicalType":"local-timestamp-micros"})", one, "[1]"},
  };
  for (const auto& [writer, reader, bytes, values] : cases) {
    EXPECT_EQ(decode_value(writer, reader, 1, bytes), values) << writer << " as " << reader;
  }
}

TEST(AvroDecoder, RefusesWhatAvroDoesNotConvert) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"long\"", "\"int\""},
      {"\"double\"", "\"float\""},
      {"\"string\"", "\"int\""},
      {"\"boolean\"", "\"int\""},
      {R"({"type":"fixed","name":"f","size":4})", R"({"type":"fixed","name":"f","size":5})"},
      {R"({"type":"array","items":"int"})", R"({"type":"map","values":"int"})"},
      {R"({"type":"array","items":"string"})", R"({"type":"array","items":"int"})"},
      {R"({"type":"long","logicalType":"timestamp-millis"})", R"({"type":"long","logicalType":"timestamp-micros"})"},
      {R"({"type":"int","logicalType":"date"})", R"({"type":"int","logicalType":"time-millis"})"},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})"},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       R"({"type":"bytes","logicalType":"decimal","precision":8,"scale":2})"},
      {"\"null\"", "\"int\""},
  };
  for (const auto& [writer, reader] : cases) {
    const std::string text = failure([&] { decode_value(writer, reader, 1, "x"); }, ErrorKind::kUnsupported);
    EXPECT_THAT(text, HasSubstr("'v")) << writer << " as " << reader;
  }
}

TEST(AvroDecoder, ResolvesAUnionBranchByBranch) {
  const char* writer = R"(["null","int","string","long"])";
  const std::string bytes = Encoder().long_(1).long_(5).long_(0).long_(3).long_(1LL << 40).str();
  EXPECT_EQ(decode_value(writer, R"(["null","long"])", 3, bytes), "[5,null,1099511627776]");
  const std::string with_text = Encoder().long_(2).bytes("x").str();
  EXPECT_THAT(failure([&] { decode_value(writer, R"(["null","long"])", 1, with_text); }),
              HasSubstr("column 'v' holds a string"));
  EXPECT_THAT(failure([&] { decode_value(R"(["null","int"])", "\"int\"", 1, Encoder().long_(0).str()); }),
              HasSubstr("'v' is required and holds a null"));
  EXPECT_THAT(failure([&] { decode_value(writer, "", 1, ""); }, ErrorKind::kUnsupported),
              HasSubstr("union of null, int, string, long"));
  EXPECT_THAT(failure([&] { decode_value(R"(["null","int"])", "", 1, Encoder().long_(2).str()); }),
              HasSubstr("no such branch"));
  EXPECT_THAT(failure([&] { decode_value(writer, R"(["null","long"])", 1, Encoder().long_(-1).str()); }),
              HasSubstr("no such branch"));
}

constexpr std::string_view kWithIds = R"({"type":"record","name":"r","fields":[
  {"name":"a","field-id":1,"type":"int"},{"name":"b","field-id":2,"type":"string"},{"name":"c","field-id":3,"type":"double"}]})";

TEST(AvroDecoder, ResolvesByFieldIdAndThenNamesSayNothing) {
  const std::string bytes = Encoder().long_(1).bytes("x").double_(2).str();
  EXPECT_EQ(decode(kWithIds, R"({"type":"record","name":"r","fields":[{"name":"renamed","field-id":2,"type":"string"},
    {"name":"a","field-id":9,"type":["null","int"]},{"name":"b","field-id":1,"type":"long"}]})",
                   1, bytes),
            R"([{"renamed":"x","a":null,"b":1}])");
}

TEST(AvroDecoder, ResolvesByNameThenAliasWithoutIds) {
  const char* writer =
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"old","type":"int"}]})";
  const char* reader =
      R"({"type":"record","name":"r","fields":[{"name":"new","field-id":5,"aliases":["none","old"],"type":"int"},{"name":"a","type":"int"}]})";
  EXPECT_EQ(decode(writer, reader, 1, Encoder().long_(1).long_(2).str()), R"([{"new":2,"a":1}])");
  EXPECT_EQ(decode(kWithIds, R"({"type":"record","name":"r","fields":[{"name":"c","type":"double"}]})", 1,
                   Encoder().long_(1).bytes("x").double_(2).str()),
            R"([{"c":2.0}])")
      << "a reader without ids goes by name";
}

TEST(AvroDecoder, ReadsColumnsThatRepeatAName) {
  EXPECT_EQ(decode(R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})", "",
                   1, Encoder().long_(1).long_(2).str()),
            R"([{"a":1,"a":2}])");
}

TEST(AvroDecoder, FillsMissingFieldsFromDefaults) {
  const char* writer = R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"}]})";
  const char* reader = R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},
    {"name":"i","type":"int","default":7},{"name":"l","type":"long","default":-1},{"name":"f","type":"float","default":1},
    {"name":"d","type":"double","default":0.5},{"name":"s","type":"string","default":"text"},{"name":"b","type":"bytes","default":"\u00ff"},
    {"name":"x","type":{"type":"fixed","name":"x2","size":2},"default":"\u0001\u0002"},
    {"name":"e","type":{"type":"enum","name":"e3","symbols":["A","B"]},"default":"B"},{"name":"z","type":"boolean","default":true},
    {"name":"n","type":["null","int"],"default":null},{"name":"o","type":["int","null"],"default":3},{"name":"p","type":["null","int"]},
    {"name":"q","type":["int","null"],"default":null},
    {"name":"arr","type":{"type":"array","items":"int"},"default":[1,2]},{"name":"map","type":{"type":"map","values":"int"},"default":{"k":1}},
    {"name":"rec","type":{"type":"record","name":"in","fields":[{"name":"u","type":"int"},{"name":"v","type":"int","default":4}]},"default":{"u":3}}]})";
  EXPECT_EQ(
      decode(writer, reader, 2, Encoder().long_(1).long_(2).str()),
      R"([{"a":1,"i":7,"l":-1,"f":1.0,"d":0.5,"s":"text","b":"ff","x":"0102","e":"B","z":true,"n":null,"o":3,"p":null,"q":null,)"
      R"("arr":[1,2],"map":[["k",1]],"rec":{"u":3,"v":4}},)"
      R"({"a":2,"i":7,"l":-1,"f":1.0,"d":0.5,"s":"text","b":"ff","x":"0102","e":"B","z":true,"n":null,"o":3,"p":null,"q":null,)"
      R"("arr":[1,2],"map":[["k",1]],"rec":{"u":3,"v":4}}])");
  EXPECT_THAT(failure([&] {
                decode(writer, R"({"type":"record","name":"r","fields":[{"name":"gone","type":"int"}]})", 1, "");
              }),
              HasSubstr("column 'gone' is required, and the file does not have it"));
  EXPECT_THAT(failure([&] {
                decode(writer, R"({"type":"record","name":"r","fields":[{"name":"g","type":"int","default":"x"}]})", 1,
                       "");
              }),
              HasSubstr("reading the default of column 'g'"));
}

TEST(AvroDecoder, MapsEnumSymbolsByName) {
  const char* writer = R"({"type":"enum","name":"e","symbols":["A","B","C"]})";
  const std::string all = Encoder().long_(0).long_(1).long_(2).str();
  EXPECT_EQ(decode_value(writer, R"({"type":"enum","name":"e","symbols":["C","B","A"]})", 3, all), R"(["A","B","C"])");
  EXPECT_EQ(decode_value(writer, R"({"type":"enum","name":"e","symbols":["?","A"],"default":"?"})", 3, all),
            R"(["A","?","?"])");
  EXPECT_THAT(failure([&] { decode_value(writer, R"({"type":"enum","name":"e","symbols":["A"]})", 3, all); }),
              HasSubstr("unknown to the reader"));
  EXPECT_THAT(failure([&] { decode_value(writer, "", 1, Encoder().long_(3).str()); }), HasSubstr("no such symbol"));
  EXPECT_THAT(failure([&] { decode_value(writer, "", 1, Encoder().long_(-1).str()); }), HasSubstr("no such symbol"));
}

TEST(AvroDecoder, ReadsUuidsFromFixedAndText) {
  const char* fixed = R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})";
  const char* text = R"({"type":"string","logicalType":"uuid"})";
  EXPECT_EQ(decode_value(text, fixed, 1, Encoder().bytes("f79c3e09-677c-4bbd-a479-3f349cb785e7").str()),
            "[\"f79c3e09677c4bbda4793f349cb785e7\"]");
  EXPECT_THAT(failure([&] { decode_value(text, fixed, 1, Encoder().bytes("f79c3e09").str()); }), HasSubstr("no UUID"));
}

TEST(AvroDecoder, GivesViewsAndRawBytesIntoTheBlock) {
  const NodePtr writer = parse_schema(R"({"type":"record","name":"r","fields":[{"name":"s","type":"string"},
    {"name":"m","type":["null",{"type":"map","values":"int"}]},{"name":"n","type":"int"}]})");
  const NodePtr reader = record("r", {{.name = "s",
                                       .aliases = {},
                                       .field_id = {},
                                       .type = primitive(Kind::kString),
                                       .default_value = {},
                                       .output = Output::kView},
                                      {.name = "m",
                                       .aliases = {},
                                       .field_id = {},
                                       .type = primitive(Kind::kNull),
                                       .default_value = {},
                                       .output = Output::kRaw},
                                      {.name = "gone",
                                       .aliases = {},
                                       .field_id = {},
                                       .type = primitive(Kind::kNull),
                                       .default_value = {},
                                       .output = Output::kRaw},
                                      {.name = "def",
                                       .aliases = {},
                                       .field_id = {},
                                       .type = primitive(Kind::kString),
                                       .default_value = json::Value("a default longer than twelve"),
                                       .output = Output::kView}});
  const std::string map = Encoder().long_(1).bytes("some key of some length").long_(5).long_(0).str();
  const std::string bytes =
      Encoder().bytes("short").long_(0).long_(1).bytes("longer than twelve bytes").long_(1).raw(map).long_(2).str();
  MemoryPool pool;
  const auto program = Program::compile(writer, reader);
  EXPECT_EQ(program->raw_type(std::array<size_t, 1>{1})->kind, Kind::kMap) << "beneath the nullable union";
  EXPECT_EQ(program->raw_type(std::array<size_t, 1>{2}), nullptr);
  const RecordBatch batch = decode_block(writer, reader, 2, bytes, pool);
  EXPECT_EQ(batch.column(0)->type->id(), TypeId::kUtf8View);
  EXPECT_EQ(batch.column(0)->bytes_value(0), "short");
  EXPECT_EQ(batch.column(0)->bytes_value(1), "longer than twelve bytes");
  EXPECT_TRUE(batch.column(1)->is_null(0));
  EXPECT_EQ(batch.column(1)->bytes_value(1), map);
  EXPECT_TRUE(batch.column(2)->is_null(0));
  EXPECT_EQ(batch.column(3)->bytes_value(1), "a default longer than twelve");
}

// Lists that are skipped have loops of their own for common elements. What follows shows that each ends where it should.
TEST(AvroDecoder, SkipsListsOfEachShape) {
  const std::string text(100, 'x');
  const Encoder pair = Encoder().long_(7).bytes(text);
  const std::pair<const char*, std::string> elements[] = {
      {"\"null\"", ""},
      {"\"int\"", Encoder().long_(1000).str()},
      {R"({"type":"record","name":"p","fields":[{"name":"k","type":"int"},{"name":"v","type":"long"}]})",
       Encoder().long_(3).long_(INT64_MIN).str()},
      {R"({"type":"record","name":"p","fields":[{"name":"k","type":"int"},{"name":"v","type":"bytes"}]})", pair.str()},
      {R"({"type":"record","name":"p","fields":[{"name":"k","type":["null","int"]},{"name":"v","type":"string"}]})",
       Encoder().long_(1).raw(pair.str()).str()},
      {R"({"type":"array","items":"double"})", Encoder().long_(2).double_(1).double_(2).long_(0).str()},
      {R"({"type":"map","values":"boolean"})", Encoder().long_(1).bytes(text).bool_(true).long_(0).str()},
      {R"({"type":"fixed","name":"f","size":33})", text.substr(0, 33)},
  };
  for (const auto& [type, value] : elements) {
    SCOPED_TRACE(type);
    for (const bool is_map : {false, true}) {
      const std::string writer = std::string(R"({"type":"record","name":"r","fields":[{"name":"l","type":{"type":)") +
                                 (is_map ? R"("map","values":)" : R"("array","items":)") + type +
                                 R"(}},{"name":"n","type":"int"}]})";
      const std::string one = (is_map ? Encoder().bytes("key").str() : "") + value;
      const std::string twice = Encoder().long_(2).raw(one + one).long_(-1).bytes(one).long_(0).long_(42).str();
      EXPECT_EQ(
          decode(writer, R"({"type":"record","name":"r","fields":[{"name":"n","type":"int"}]})", 2, twice + twice),
          R"([{"n":42},{"n":42}])");
      // Cut short, at every byte.
      for (size_t size = 0; size < twice.size(); ++size) {
        EXPECT_THROW(decode(writer, R"({"type":"record","name":"r","fields":[{"name":"n","type":"int"}]})", 1,
                            twice.substr(0, size)),
                     CorruptError)
            << size;
      }
    }
  }
}

TEST(AvroDecoder, ChecksUtf8OfText) {
  EXPECT_THAT(failure([&] { decode_value("\"string\"", "", 1, Encoder().bytes("\xff").str()); }),
              HasSubstr("column 'v' holds text that is not UTF-8"));
  // Each half of a character is damaged, though the column's bytes as a whole are not.
  EXPECT_THAT(failure([&] { decode_value("\"string\"", "", 2, Encoder().bytes("\xc3").bytes("\xa9").str()); }),
              HasSubstr("column 'v' holds text that is not UTF-8"));
  EXPECT_THAT(failure([&] {
                decode_value(R"({"type":"map","values":"int"})", "", 1,
                             Encoder().long_(1).bytes("\xff").long_(0).long_(0).str());
              }),
              HasSubstr("'v.key'"));
}

TEST(AvroDecoder, DecodesAcrossBlocksAndBatches) {
  const auto program = Program::compile(parse_schema(
      R"({"type":"record","name":"r","fields":[{"name":"s","type":["null","string"]},{"name":"n","type":"long"}]})"));
  MemoryPool pool;
  BatchDecoder decoder(program, pool);
  int64_t next = 0;
  int64_t seen = 0;
  for (int i = 0; i < 50; ++i) {
    Encoder bytes;
    for (int j = 0; j < i; ++j, ++next) {
      if (next % 3 == 0) {
        bytes.long_(0).long_(next);
      } else {
        bytes.long_(1).bytes("value " + std::to_string(next)).long_(next);
      }
    }
    Block block{.data = Buffer::from_string(bytes.str()),
                .position = 0,
                .record_count = static_cast<uint64_t>(i),
                .file_offset = 0};
    while (block.record_count != 0) {
      decoder.decode(block, 7 - decoder.row_count(), i % 2 == 0 ? 5 : SIZE_MAX);
      if (decoder.row_count() < 7) continue;
      const RecordBatch batch = decoder.finish();
      validate_full(batch);
      ASSERT_EQ(batch.row_count(), 7);
      for (int64_t row = 0; row < 7; ++row, ++seen) {
        EXPECT_EQ(batch.column(1)->values<int64_t>()[row], seen);
        EXPECT_EQ(batch.column(0)->is_null(row), seen % 3 == 0);
        if (seen % 3 == 0) continue;
        EXPECT_EQ(batch.column(0)->bytes_value(row), "value " + std::to_string(seen));
      }
    }
  }
  EXPECT_EQ(seen + static_cast<int64_t>(decoder.row_count()), next);
}

TEST(AvroDecoder, ReadsARootThatIsNoRecord) {
  EXPECT_EQ(decode("[\"null\",\"int\"]", "", 2, Encoder().long_(1).long_(4).long_(0).str()),
            R"([{"value":4},{"value":null}])");
  EXPECT_EQ(decode(R"({"type":"record","name":"empty","fields":[]})", "", 3, ""), "[{},{},{}]");
}

}  // namespace
}  // namespace frazil::avro
