// Container files and schemas, written and read back; hand-made expectations for the bytes.
#include "frazil/avro/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/avro/container.h"
#include "frazil/avro/decoder.h"
#include "frazil/avro/test_container.h"
#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/io/memory_file_system.h"

namespace frazil::avro {
namespace {

using testing::HasSubstr;

using Metadata = std::vector<std::pair<std::string, std::string>>;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

NodePtr number_and_text() {
  Field number;
  number.name = "n";
  number.field_id = 1;
  number.type = primitive(Kind::kLong);
  Field text;
  text.name = "t";
  text.field_id = 2;
  text.type = primitive(Kind::kString);
  return record("row", {number, text});
}

struct Row {
  int64_t number;
  std::string text;
  bool operator==(const Row&) const = default;
};

std::vector<Row> read_rows(const std::shared_ptr<const InputFile>& file, MemoryPool& pool) {
  auto container = std::make_unique<ContainerReader>(file, pool);
  auto program = Program::compile(parse_schema(container->header().schema_text()), number_and_text());
  auto stream = open_stream(std::move(container), std::move(program), pool);
  std::vector<Row> rows;
  while (auto batch = stream->next()) {
    for (int64_t i = 0; i < batch->row_count(); ++i)
      rows.push_back({batch->column(0)->values<int64_t>()[i], std::string(batch->column(1)->bytes_value(i))});
  }
  return rows;
}

TEST(ValueEncoder, GivesTheBytesOfTheSpecification) {
  MemoryPool pool;
  const auto encoded = [&](auto write) {
    ValueEncoder encoder(pool);
    write(encoder);
    return encode_hex(encoder.bytes());
  };
  // Avro 1.12, "Binary Encoding": the table of zig-zag longs, and "foo".
  constexpr std::pair<int64_t, const char*> kLongs[] = {{0, "00"},
                                                        {-1, "01"},
                                                        {1, "02"},
                                                        {-2, "03"},
                                                        {-64, "7f"},
                                                        {64, "8001"},
                                                        {27, "36"},
                                                        {INT64_MAX, "feffffffffffffffff01"},
                                                        {INT64_MIN, "ffffffffffffffffff01"}};
  for (const auto& [value, hex] : kLongs) {
    EXPECT_EQ(encoded([&, v = value](ValueEncoder& out) { out.write_long(v); }), hex) << value;
    EXPECT_EQ(encoded_long_bytes(value), std::string_view(hex).size() / 2) << value;
  }
  EXPECT_EQ(encoded([](ValueEncoder& out) { out.write_bytes("foo"); }), "06666f6f");
  EXPECT_EQ(encoded([](ValueEncoder& out) { out.write_bytes(""); }), "00");
  EXPECT_EQ(encoded([](ValueEncoder& out) { out.write_boolean(true); }), "01");
  EXPECT_EQ(encoded([](ValueEncoder& out) { out.write_float(1.0F); }), "0000803f");
  EXPECT_EQ(encoded([](ValueEncoder& out) { out.write_double(-2.0); }), "00000000000000c0");
  // The array [3, 27] as one block that says its size, and its end.
  EXPECT_EQ(encoded([](ValueEncoder& out) {
              out.write_block_header(2, 2);
              out.write_long(3);
              out.write_long(27);
              out.write_block_end();
            }),
            "0304063600");
}

TEST(ValueEncoder, GrowsPastAnySize) {
  MemoryPool pool;
  ValueEncoder encoder(pool);
  std::string expected;
  for (size_t size = 0; size < 100'000; size = size * 3 + 1) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    encoder.write_fixed(std::as_bytes(std::span(text.data(), text.size())));
    expected += text;
  }
  EXPECT_EQ(text_of(encoder.bytes()), expected);
}

TEST(ValueEncoder, StopsAtTheBudget) {
  MemoryPool pool({.budget_bytes = 1 << 20});
  ValueEncoder encoder(pool);
  EXPECT_THROW(encoder.write_bytes(std::string(2 << 20, 'x')), MemoryLimitError);
}

TEST(ContainerWriter, WritesWhatTheReaderReads) {
  for (const Codec codec : {Codec::kNone, Codec::kDeflate, Codec::kSnappy, Codec::kZstd}) {
    for (const size_t block_bytes : {size_t{1}, size_t{100}, size_t{64} << 10}) {
      SCOPED_TRACE(std::string(codec_name(codec)) + ", blocks of " + std::to_string(block_bytes));
      MemoryPool pool;
      MemoryFileSystem files;
      ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {{"k", "v"}, {"empty", ""}}, pool,
                             {.codec = codec, .level = std::nullopt, .block_bytes = block_bytes});
      std::vector<Row> rows;
      for (int64_t i = 0; i < 300; ++i) {
        rows.push_back({i * i - 1000, std::string(static_cast<size_t>(i % 7), 'x') + std::to_string(i)});
        writer.values().write_long(rows.back().number);
        writer.values().write_bytes(rows.back().text);
        writer.end_record();
      }
      EXPECT_EQ(writer.record_count(), 300u);
      const uint64_t bytes = writer.finish({});
      const auto file = files.open_input("memory:/a.avro");
      EXPECT_EQ(file->size(), bytes);
      EXPECT_EQ(read_rows(file, pool), rows);
      const ContainerReader reader(file, pool);
      EXPECT_EQ(reader.header().codec(), codec_name(codec));
      EXPECT_EQ(reader.header().find("k"), "v");
      EXPECT_EQ(reader.header().find("empty"), "");
    }
  }
}

TEST(ContainerWriter, WritesAFileWithoutRecords) {
  MemoryPool pool;
  MemoryFileSystem files;
  ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {}, pool);
  const uint64_t estimate = writer.estimated_bytes();
  EXPECT_EQ(writer.finish({}), estimate);
  EXPECT_TRUE(read_rows(files.open_input("memory:/a.avro"), pool).empty());
}

TEST(ContainerWriter, EndsBlocksAtTheirSize) {
  MemoryPool pool;
  MemoryFileSystem files;
  ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {}, pool,
                         {.codec = Codec::kNone, .level = std::nullopt, .block_bytes = 1000});
  for (int64_t i = 0; i < 1000; ++i) {
    writer.values().write_long(1);
    writer.values().write_bytes("123456789012345678");  // 20 bytes a record
    writer.end_record();
  }
  writer.finish({});
  ContainerReader reader(files.open_input("memory:/a.avro"), pool);
  size_t blocks = 0;
  while (const auto block = reader.next()) {
    ++blocks;
    EXPECT_EQ(block->record_count, 50u);
    EXPECT_EQ(block->data.size(), 1000u);
  }
  EXPECT_EQ(blocks, 20u);
}

TEST(ContainerWriter, EstimatesItsSize) {
  MemoryPool pool;
  MemoryFileSystem files;
  for (const Codec codec : {Codec::kNone, Codec::kDeflate}) {
    ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {}, pool, {.codec = codec});
    uint64_t last = 0;
    for (int64_t i = 0; i < 50'000; ++i) {
      writer.values().write_long(i * 7919 % 10007);
      writer.values().write_bytes("s3://bucket/data/" + std::to_string(i * 104729));
      writer.end_record();
      last = writer.estimated_bytes();
    }
    const uint64_t bytes = writer.finish({.if_exists = OutputFile::IfExists::kReplace});
    EXPECT_NEAR(static_cast<double>(last), static_cast<double>(bytes), 0.02 * static_cast<double>(bytes));
  }
}

TEST(ContainerWriter, GivesTheSameBytesForTheSameFileAndAnotherMarkerForAnother) {
  MemoryPool pool;
  MemoryFileSystem files;
  const auto write = [&](const std::string& path) {
    ContainerWriter writer(files.open_output(path), *number_and_text(), {}, pool);
    writer.values().write_long(1);
    writer.values().write_bytes("x");
    writer.end_record();
    writer.finish({.if_exists = OutputFile::IfExists::kReplace});
    return std::string(files.get(path).text());
  };
  const std::string first = write("memory:/a.avro");
  EXPECT_EQ(write("memory:/a.avro"), first);
  EXPECT_NE(write("memory:/b.avro").substr(first.size() - 16), first.substr(first.size() - 16));
}

TEST(ContainerWriter, LeavesNothingBehindWithoutFinish) {
  MemoryPool pool;
  MemoryFileSystem files;
  {
    ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {}, pool);
    writer.values().write_long(1);
  }
  ContainerWriter aborted(files.open_output("memory:/b.avro"), *number_and_text(), {}, pool);
  aborted.abort();
  aborted.abort();
  EXPECT_EQ(files.file_count(), 0u);
  EXPECT_EQ(pool.stats().promised_bytes, 0u);
}

TEST(ContainerWriter, RefusesCodecsThatAvroDoesNotHave) {
  EXPECT_EQ(codec_from_name("GZIP"), Codec::kDeflate);
  EXPECT_EQ(codec_from_name("zstd"), Codec::kZstd);
  EXPECT_EQ(codec_from_name("zstandard"), Codec::kZstd);
  EXPECT_EQ(codec_from_name("Snappy"), Codec::kSnappy);
  EXPECT_EQ(codec_from_name("uncompressed"), Codec::kNone);
  EXPECT_EQ(codec_from_name("null"), Codec::kNone);
  EXPECT_THROW(codec_from_name("lz4"), Error);
  MemoryPool pool;
  MemoryFileSystem files;
  EXPECT_THROW(ContainerWriter(files.open_output("memory:/a"), *number_and_text(), {}, pool, {.codec = Codec::kBrotli}),
               Error);
  EXPECT_THROW(ContainerWriter(files.open_output("memory:/a"), *number_and_text(), {}, pool,
                               {.codec = Codec::kDeflate, .level = 99}),
               Error);
  EXPECT_EQ(files.file_count(), 0u);
}

RC_GTEST_PROP(ContainerWriter, RoundTripsAnyRows, (const std::vector<std::pair<int64_t, std::string>>& rows)) {
  const size_t block_bytes = *rc::gen::inRange<size_t>(0, 200);
  MemoryPool pool;
  MemoryFileSystem files;
  ContainerWriter writer(files.open_output("memory:/a.avro"), *number_and_text(), {}, pool,
                         {.codec = Codec::kSnappy, .level = std::nullopt, .block_bytes = block_bytes});
  std::vector<Row> expected;
  for (const auto& [number, text] : rows) {
    expected.push_back({number, encode_hex(std::as_bytes(std::span(text.data(), text.size())))});
    writer.values().write_long(number);
    writer.values().write_bytes(expected.back().text);
    writer.end_record();
  }
  writer.finish({});
  RC_ASSERT(read_rows(files.open_input("memory:/a.avro"), pool) == expected);
}

TEST(AvroSchemaToJson, WritesIcebergsAttributes) {
  auto fixed = std::make_shared<Node>();
  fixed->kind = Kind::kFixed;
  fixed->logical = Logical::kDecimal;
  fixed->name = "decimal_9_2";
  fixed->fixed_size = 4;
  fixed->precision = 9;
  fixed->scale = 2;
  const auto field = [](std::string name, int32_t id, NodePtr type) {
    Field out;
    out.name = std::move(name);
    out.field_id = id;
    out.type = std::move(type);
    return out;
  };
  Field renamed = field("a_x20b", 3, optional_of(fixed));
  renamed.original_name = "a b";
  renamed.default_value = json::Value();
  auto timestamp = std::make_shared<Node>();
  timestamp->kind = Kind::kLong;
  timestamp->logical = Logical::kTimestampMicros;
  timestamp->adjust_to_utc = false;
  auto map = std::make_shared<Node>(
      *array_of(record("k4_v5", {field("key", 4, primitive(Kind::kInt)), field("value", 5, primitive(Kind::kBytes))})));
  map->logical = Logical::kMap;
  const NodePtr schema = record("r", {field("d", 1, fixed), field("when", 2, timestamp), renamed, field("m", 6, map),
                                      field("l", 7, array_of(primitive(Kind::kLong), 8))});
  const std::string expected =
      R"({"type":"record","name":"r","fields":[)"
      R"({"name":"d","type":{"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,"scale":2},"field-id":1},)"
      R"({"name":"when","type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false},"field-id":2},)"
      R"({"name":"a_x20b","type":["null","decimal_9_2"],"default":null,"field-id":3,"iceberg-field-name":"a b"},)"
      R"({"name":"m","type":{"type":"array","items":{"type":"record","name":"k4_v5","fields":[)"
      R"({"name":"key","type":"int","field-id":4},{"name":"value","type":"bytes","field-id":5}]},"logicalType":"map"},"field-id":6},)"
      R"({"name":"l","type":{"type":"array","items":"long","element-id":8},"field-id":7}]})";
  EXPECT_EQ(json::write(schema_to_json(*schema)), expected);
  EXPECT_EQ(json::write(schema_to_json(*parse_schema(expected))), expected);
}

TEST(AvroSchemaToJson, RefusesTwoTypesOfOneName) {
  const auto fixed = [](int32_t size) {
    auto node = std::make_shared<Node>();
    node->kind = Kind::kFixed;
    node->name = "f";
    node->fixed_size = size;
    return node;
  };
  Field one;
  one.name = "one";
  one.type = fixed(1);
  Field two;
  two.name = "two";
  two.type = fixed(2);
  EXPECT_THROW(schema_to_json(*record("r", {one, two})), Error);
}

TEST(AvroSchemaToJson, RoundTripsEnumsMapsAndUnions) {
  for (
      const char* text : {
          R"({"type":"enum","name":"ns.e","aliases":["ns.old"],"symbols":["A","B"],"default":"A"})",
          R"({"type":"map","values":["null","string",{"type":"array","items":"int"}],"key-id":1,"value-id":2})",
          R"({"type":"record","name":"r","fields":[{"name":"u","aliases":["v"],"type":{"type":"string","logicalType":"uuid"},"default":"x"}]})",
          R"({"type":"fixed","name":"d","size":12,"logicalType":"duration"})",
          R"({"type":"long","logicalType":"local-timestamp-nanos"})",
          R"(["null","double"])",
      }) {
    EXPECT_EQ(json::write(schema_to_json(*parse_schema(text))), text);
  }
}

}  // namespace
}  // namespace frazil::avro
