#include "frazil/parquet/metadata.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/column_request.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::FileBuilder;
using testing::StringFile;
using testing::ThriftWriter;

std::shared_ptr<const FileMetadata> read(const std::string& bytes) {
  static MemoryPool pool;
  StringFile file(bytes);
  return read_metadata(file, pool);
}

std::string error_of(const std::string& bytes, ErrorKind kind = ErrorKind::kCorrupt) {
  try {
    read(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

FileBuilder two_columns() {
  FileBuilder builder(
      {{.name = "id", .type = PhysicalType::kInt64, .field_id = 7},
       {.name = "name", .type = PhysicalType::kByteArray, .repetition = Repetition::kOptional, .converted = 0}});
  builder.row_group(2, {{testing::data_page(testing::plain<int64_t>({1, 2}), 2)},
                        {testing::data_page(testing::with_length(testing::repeated_run(2, 1, 1)) +
                                                testing::plain(std::vector<std::string>{"x", "y"}),
                                            2)}});
  return builder;
}

TEST(Footer, SaysWhatIsInTheFile) {
  auto metadata = read(two_columns().finish());
  EXPECT_EQ(metadata->row_count(), 2);
  ASSERT_EQ(metadata->row_groups().size(), 1U);
  const RowGroup& group = metadata->row_groups()[0];
  EXPECT_EQ(group.row_count, 2);
  ASSERT_EQ(group.columns.size(), 2U);
  EXPECT_EQ(group.columns[0].start_offset(), 4);
  EXPECT_EQ(group.columns[0].type, PhysicalType::kInt64);
  EXPECT_TRUE(group.columns[1].declares(Encoding::kPlain));
  const FileSchema& schema = metadata->schema();
  ASSERT_EQ(schema.leaf_count(), 2U);
  EXPECT_EQ(schema.leaf(0).field_id, 7);
  EXPECT_EQ(schema.leaf(1).max_definition, 1);
  EXPECT_EQ(schema.path(schema.leaf_node(1)), "name");
  EXPECT_EQ(schema.find_leaf("name"), 1U);
  EXPECT_EQ(schema.find_leaf("nobody"), std::nullopt);
  EXPECT_EQ(arrow_schema(schema)->to_string(), "id: int64 not null\nname: utf8\n");
}

// reports.md Q18: 0-byte, 4-byte, 8-byte files and such without a footer are named errors with the path.
TEST(Footer, NamesFilesThatAreNone) {
  EXPECT_THAT(error_of(""), ::testing::HasSubstr("it is empty"));
  for (const char* bytes : {"PAR1", "PAR1PAR1", "abc"}) {
    EXPECT_THAT(error_of(bytes), ::testing::HasSubstr("not a Parquet file"));
    EXPECT_THAT(error_of(bytes), ::testing::HasSubstr("memory:test.parquet"));
  }
  EXPECT_THAT(error_of("PAR1 some text that is no footer"), ::testing::HasSubstr("does not end in PAR1"));
  EXPECT_THAT(error_of(std::string("PAR1\x00\x00\x00\x00PAR1", 12)), ::testing::HasSubstr("field header"));
}

TEST(Footer, NamesEncryption) {
  EXPECT_THAT(error_of(std::string("PAR1....\x04\x00\x00\x00PARE", 16), ErrorKind::kUnsupported),
              ::testing::HasSubstr("encrypted"));
}

TEST(Footer, NoticesALengthBeyondTheFile) {
  for (uint32_t length : {uint32_t{13}, uint32_t{1} << 31, UINT32_MAX}) {
    std::string bytes = "PAR1........";
    testing::append(bytes, length);
    bytes += "PAR1";
    EXPECT_THAT(error_of(bytes), ::testing::HasSubstr("in a file of")) << length;
  }
}

TEST(Footer, TakesTwoReadsIfItIsLargerThanTheTail) {
  std::vector<ColumnSpec> columns;
  std::vector<std::vector<testing::PageSpec>> chunks;
  for (int i = 0; i < 3000; ++i) {
    columns.push_back({.name = "column_with_a_long_name_" + std::to_string(i)});
    chunks.push_back({testing::data_page(testing::plain<int32_t>({i}), 1)});
  }
  FileBuilder builder(columns);
  builder.row_group(1, chunks);
  MemoryPool pool;
  StringFile large(builder.finish());
  auto metadata = read_metadata(large, pool);
  EXPECT_GT(metadata->footer_bytes(), size_t{64} << 10);
  EXPECT_EQ(large.read_count, 2U);
  EXPECT_EQ(metadata->schema().leaf(2999).name, "column_with_a_long_name_2999");
  StringFile small(two_columns().finish());
  read_metadata(small, pool);
  EXPECT_EQ(small.read_count, 1U);
}

TEST(Footer, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string footer = two_columns().footer();
  for (size_t size = 0; size < footer.size(); ++size) {
    EXPECT_THAT(error_of(FileBuilder::with_footer("PAR1", footer.substr(0, size))), ::testing::Ne("no error")) << size;
  }
  MemoryPool pool({.budget_bytes = size_t{1} << 20});
  for (size_t i = 0; i < footer.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = footer;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      try {
        read_metadata(StringFile(FileBuilder::with_footer("PAR1", changed)), pool);
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::kMemoryLimit) << i;
      }
    }
  }
  EXPECT_EQ(pool.stats().held_bytes - pool.stats().idle_bytes, 0U);
}

// Q04: a dictionary offset of 0 means that there is none.
TEST(Footer, TakesADictionaryOffsetOfZeroAsNone) {
  FileBuilder builder(std::vector<ColumnSpec>{{}});
  builder.dictionary_page_offset = 0;
  builder.row_group(1, {{testing::data_page(testing::plain<int32_t>({1}), 1)}});
  EXPECT_EQ(read(builder.finish())->row_groups()[0].columns[0].start_offset(), 4);
}

std::string schema_file(const std::vector<ThriftWriter>& elements) {
  return FileBuilder::with_footer("PAR1",
                                  ThriftWriter().i32(1, 1).structs(2, elements).i64(3, 0).structs(4, {}).finish());
}

TEST(Schema, BoundsDepthAndCounts) {
  std::vector<ThriftWriter> deep(200, ThriftWriter().i32(3, 1).binary(4, "g").i32(5, 1));
  deep.push_back(ThriftWriter().i32(1, 1).i32(3, 1).binary(4, "leaf"));
  EXPECT_THAT(error_of(schema_file(deep)), ::testing::HasSubstr("nested more than"));
  EXPECT_THAT(error_of(schema_file({ThriftWriter().binary(4, "root").i32(5, 1'000'000'000)})),
              ::testing::HasSubstr("lacks children"));
  EXPECT_THAT(error_of(schema_file({ThriftWriter().binary(4, "root").i32(5, -1)})), ::testing::HasSubstr("children"));
  EXPECT_THAT(error_of(schema_file({ThriftWriter().binary(4, "root").i32(5, 1), ThriftWriter().i32(1, 1).binary(4, "a"),
                                    ThriftWriter().i32(1, 1).binary(4, "b")})),
              ::testing::HasSubstr("follow the tree"));
  EXPECT_THAT(error_of(schema_file(
                  {ThriftWriter().binary(4, "root").i32(5, 1), ThriftWriter().i32(1, 7).i32(2, 0).binary(4, "a")})),
              ::testing::HasSubstr("FIXED_LEN_BYTE_ARRAY(0)"));
  EXPECT_THAT(
      error_of(schema_file({ThriftWriter().binary(4, "root").i32(5, 1), ThriftWriter().i32(1, 8).binary(4, "a")})),
      ::testing::HasSubstr("unknown physical type"));
}

// A list of a billion elements in a few bytes takes no memory.
TEST(Schema, ForgedListSizesTakeNoMemory) {
  MemoryPool pool({.budget_bytes = size_t{256} << 10});
  for (int field : {2, 4, 5, 7}) {
    ThriftWriter footer;
    footer.i32(1, 1);
    if (field > 2) footer.structs(2, {ThriftWriter().binary(4, "root")});
    footer.list(field, 12, 60'000).raw(std::string(70'000, '\0'));
    EXPECT_THROW(read_metadata(StringFile(FileBuilder::with_footer("PAR1", footer.finish())), pool), Error) << field;
  }
}

// Elements of a schema: a group, a leaf.
ThriftWriter group(std::string_view name, int repetition, int children, int converted) {
  ThriftWriter writer;
  writer.i32(3, repetition).binary(4, name).i32(5, children);
  if (converted >= 0) writer.i32(6, converted);
  return writer;
}

ThriftWriter leaf(std::string_view name, int repetition, int type, int converted) {
  ThriftWriter writer;
  writer.i32(1, type).i32(3, repetition).binary(4, name);
  if (converted >= 0) writer.i32(6, converted);
  return writer;
}

// LogicalTypes.md "Lists", backward-compatibility rules, each as the document shows it.
TEST(Schema, UnderstandsEveryFormOfLists) {
  const ThriftWriter root = ThriftWriter().binary(4, "root").i32(5, 1);
  struct Case {
    std::string type;
    std::vector<ThriftWriter> elements;
  };
  const std::vector<Case> cases = {
      {"my_list: list<element: utf8>",
       {root, group("my_list", 1, 1, 3), group("list", 2, 1, -1), leaf("element", 1, 6, 0)}},
      {"my_list: list<element: utf8 not null> not null",
       {root, group("my_list", 0, 1, 3), group("list", 2, 1, -1), leaf("element", 0, 6, 0)}},
      {"my_list: list<element: int32 not null>", {root, group("my_list", 1, 1, 3), leaf("element", 2, 1, -1)}},
      {"my_list: list<element: struct<str: utf8 not null, num: int32 not null> not null>",
       {root, group("my_list", 1, 1, 3), group("element", 2, 2, -1), leaf("str", 0, 6, 0), leaf("num", 0, 1, -1)}},
      {"my_list: list<array: struct<str: utf8 not null> not null>",
       {root, group("my_list", 1, 1, 3), group("array", 2, 1, -1), leaf("str", 0, 6, 0)}},
      {"my_list: list<my_list_tuple: struct<str: utf8 not null> not null>",
       {root, group("my_list", 1, 1, 3), group("my_list_tuple", 2, 1, -1), leaf("str", 0, 6, 0)}},
      {"plain: list<plain: int32 not null> not null", {root, leaf("plain", 2, 1, -1)}},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(arrow_schema(read(schema_file(test.elements))->schema())->to_string(), test.type + "\n");
  }
}

// Q09: LogicalTypes.md "Maps", and what writers made of it: any names, the annotation on either group, keys that may be
// null, no values.
TEST(Schema, UnderstandsEveryFormOfMaps) {
  constexpr int kMap = 1;
  constexpr int kMapKeyValue = 2;
  const ThriftWriter root = ThriftWriter().binary(4, "root").i32(5, 1);
  const ThriftWriter key = leaf("key", 0, 6, 0);
  const ThriftWriter value = leaf("value", 1, 1, -1);
  const std::string type = "map<utf8, int32>";
  struct Case {
    std::string type;
    std::vector<ThriftWriter> elements;
  };
  const std::vector<Case> cases = {
      {"m: " + type + " not null", {root, group("m", 0, 1, kMap), group("key_value", 2, 2, -1), key, value}},
      {"m: " + type, {root, group("m", 1, 1, kMap), group("map", 2, 2, kMapKeyValue), key, value}},
      {"m: " + type, {root, group("m", 1, 1, kMapKeyValue), group("map", 2, 2, -1), key, value}},
      {"m: " + type,
       {root, group("m", 1, 1, kMap), group("entries", 2, 2, -1), leaf("k", 0, 6, 0), leaf("v", 1, 1, -1)}},
      {"m: " + type, {root, group("m", 1, 1, kMap), group("key_value", 2, 2, -1), leaf("key", 1, 6, 0), value}},
      {"m: list<key: utf8 not null>", {root, group("m", 1, 1, kMap), group("key_value", 2, 1, -1), key}},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(arrow_schema(read(schema_file(test.elements))->schema())->to_string(), test.type + "\n");
  }
}

TEST(Schema, MapsLogicalAndConvertedTypes) {
  struct Case {
    std::string type;
    ThriftWriter element;
  };
  const auto logical = [](int id, const ThriftWriter& parameters) { return ThriftWriter().structure(id, parameters); };
  const ThriftWriter none;
  const ThriftWriter micros = ThriftWriter().structure(2, none);
  const ThriftWriter nanos = ThriftWriter().structure(3, none);
  const auto leaf = [](int type, int length = 0) {
    ThriftWriter writer;
    writer.i32(1, type);
    if (length > 0) writer.i32(2, length);
    return writer.i32(3, 0).binary(4, "a");
  };
  const std::vector<Case> cases = {
      {"int8", leaf(1).i32(6, 15)},
      {"uint16", leaf(1).i32(6, 12)},
      {"uint32", leaf(1).structure(10, logical(10, ThriftWriter().i8(1, 32).boolean(2, false)))},
      {"uint64", leaf(2).i32(6, 14)},
      {"date32", leaf(1).i32(6, 6)},
      {"time32[ms]", leaf(1).i32(6, 7)},
      {"time64[us]", leaf(2).i32(6, 8)},
      {"time64[ns]", leaf(2).structure(10, logical(7, ThriftWriter().boolean(1, true).structure(2, nanos)))},
      {"timestamp[ms, UTC]", leaf(2).i32(6, 9)},
      {"timestamp[us]", leaf(2).structure(10, logical(8, ThriftWriter().boolean(1, false).structure(2, micros)))},
      {"timestamp[ns, UTC]", leaf(2).structure(10, logical(8, ThriftWriter().boolean(1, true).structure(2, nanos)))},
      {"timestamp[us]", leaf(3)},
      {"decimal128(9, 2)", leaf(1).i32(6, 5).i32(7, 2).i32(8, 9)},
      {"decimal128(38, 10)", leaf(7, 16).structure(10, logical(5, ThriftWriter().i32(1, 10).i32(2, 38)))},
      {"decimal256(76, 3)", leaf(6).structure(10, logical(5, ThriftWriter().i32(1, 3).i32(2, 76)))},
      {"binary", leaf(6).structure(10, logical(5, ThriftWriter().i32(1, 38).i32(2, 77)))},  // no decimal has 77 digits
      {"null", leaf(1).structure(10, logical(11, none))},
      {"interval_month_day_nano", leaf(7, 12).i32(6, 21)},
      {"decimal256(40, 0)", leaf(7, 20).structure(10, logical(5, ThriftWriter().i32(1, 0).i32(2, 40)))},
      {"fixed_size_binary[16]", leaf(7, 16).structure(10, logical(14, none))},
      {"halffloat", leaf(7, 2).structure(10, logical(15, none))},
      {"utf8", leaf(6).structure(10, logical(4, none))},
      {"utf8", leaf(6).i32(6, 19)},
      {"binary", leaf(6).i32(6, 20)},
      {"binary", leaf(6).structure(10, logical(17, none))},
      {"int32", leaf(1).structure(10, ThriftWriter().raw(std::string("\x0c\x64\x00", 3)))},  // type 50: of the future
  };
  for (const Case& test : cases) {
    auto metadata = read(schema_file({ThriftWriter().binary(4, "root").i32(5, 1), test.element}));
    const DataTypePtr type = arrow_leaf_type(metadata->schema().leaf(0));
    EXPECT_EQ(type->to_string(), test.type);
    EXPECT_TRUE(can_read_as(metadata->schema().leaf(0), *type)) << test.type;
  }
}

// The corpus' broken_* files: UINT_8 on INT64 and its kind. The column is refused, the file and its other columns are not.
TEST(Schema, RefusesAnnotationsThatThePhysicalTypeCannotHave) {
  const ThriftWriter none;
  const auto leaf = [](int type, int length = 0) {
    ThriftWriter writer;
    writer.i32(1, type);
    if (length > 0) writer.i32(2, length);
    return writer.i32(3, 0).binary(4, "a");
  };
  const std::vector<std::pair<std::string, ThriftWriter>> cases = {
      {"'a' is INT64 and annotated as INTEGER", leaf(2).i32(6, 11)},
      {"'a' is INT32 and annotated as INTEGER", leaf(1).i32(6, 18)},
      {"'a' is INT32 and annotated as TIMESTAMP", leaf(1).i32(6, 9)},
      {"'a' is INT64 and annotated as DATE", leaf(2).i32(6, 6)},
      {"'a' is INT32 and annotated as TIME", leaf(1).i32(6, 8)},
      {"'a' is INT32 and annotated as STRING", leaf(1).i32(6, 0)},
      {"'a' is DOUBLE and annotated as DECIMAL", leaf(5).i32(6, 5).i32(7, 2).i32(8, 9)},
      {"'a' is FIXED_LEN_BYTE_ARRAY and annotated as UUID",
       leaf(7, 15).structure(10, ThriftWriter().structure(14, none))},
      {"'a' is BYTE_ARRAY and annotated as LIST", leaf(6).i32(6, 3)},
  };
  for (const auto& [text, element] : cases) {
    auto metadata = read(schema_file({ThriftWriter().binary(4, "root").i32(5, 1), element}));
    try {
      arrow_leaf_type(metadata->schema().leaf(0));
      ADD_FAILURE() << text;
    } catch (const CorruptError& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr(text));
    }
    EXPECT_FALSE(can_read_as(metadata->schema().leaf(0), *primitive(TypeId::kInt64)));
  }
}

// GeoArrow's extension metadata.
TEST(Schema, TellsTheReferenceSystemOfGeometries) {
  const auto metadata_of = [](int union_id, const ThriftWriter& parameters) {
    const ThriftWriter element =
        ThriftWriter().i32(1, 6).i32(3, 0).binary(4, "a").structure(10, ThriftWriter().structure(union_id, parameters));
    auto file = read(schema_file({ThriftWriter().binary(4, "root").i32(5, 1), element}));
    Metadata metadata;
    add_extension(file->schema().leaf(0), metadata);
    EXPECT_EQ(find_metadata(metadata, "ARROW:extension:name"), "geoarrow.wkb");
    return std::string(find_metadata(metadata, "ARROW:extension:metadata").value());
  };
  EXPECT_EQ(metadata_of(17, ThriftWriter()), R"({"crs":"OGC:CRS84","crs_type":"authority_code"})");
  EXPECT_EQ(metadata_of(17, ThriftWriter().binary(1, "srid:5070")), R"({"crs":"5070","crs_type":"srid"})");
  EXPECT_EQ(metadata_of(17, ThriftWriter().binary(1, "a\"\\\n")), R"({"crs":"a\"\\\u000a"})");
  EXPECT_EQ(metadata_of(18, ThriftWriter()), R"({"crs":"OGC:CRS84","crs_type":"authority_code","edges":"spherical"})");
  EXPECT_EQ(metadata_of(18, ThriftWriter().i32(2, 4)),
            R"({"crs":"OGC:CRS84","crs_type":"authority_code","edges":"karney"})");
}

TEST(Statistics, KeepsWhatIsAbsentAbsent) {
  const std::string text = ThriftWriter().binary(1, "z").i64(3, 0).binary(5, "y").boolean(7, true).finish();
  const Statistics statistics = parse_statistics(std::as_bytes(std::span(text)));
  EXPECT_TRUE(statistics.max.has_value());
  EXPECT_FALSE(statistics.min.has_value());
  EXPECT_EQ(statistics.null_count, 0);
  EXPECT_FALSE(statistics.nan_count.has_value());
  EXPECT_TRUE(statistics.is_max_value_exact);
  EXPECT_FALSE(parse_statistics({}).null_count.has_value());
}

}  // namespace
}  // namespace frazil::parquet
