#include "frazil/parquet/variant_shredding.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/local_file_system.h"
#include "frazil/parquet/file_reader.h"
#include "frazil/parquet/variant.h"
#include "frazil/predicate/parse.h"

namespace frazil::parquet {
namespace {

using namespace std::string_literals;

std::string corpora(const std::string& path) {
  return std::string(FRAZIL_TEST_CORPORA) + "/" + path;
}

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// One row of an array of variants: nothing where it is null.
struct Row {
  bool is_null = false;
  std::string metadata;
  std::string value;
};

std::vector<Row> rows_of(const Array& variants) {
  std::vector<Row> rows;
  for (int64_t i = 0; i < variants.length; ++i) {
    if (variants.is_null(i)) {
      rows.push_back({true, {}, {}});
      continue;
    }
    const int64_t at = variants.offset + i;
    rows.push_back({false, std::string(variants.children[0]->bytes_value(at)),
                    std::string(variants.children[1]->bytes_value(at))});
  }
  return rows;
}

std::string text_of(const Row& row) {
  if (row.is_null) return "NULL";
  const VariantMetadata names(row.metadata);
  const Variant value(names, row.value);
  validate_variant(value);
  EXPECT_EQ(value.bytes().size(), row.value.size());
  std::string text;
  append_variant_json(text, value);
  return text;
}

// The rows of the variant column `name`. All memory is back afterwards.
std::vector<Row> read_variants(const std::string& path, const std::string& name, FileReaderOptions options = {}) {
  MemoryPool pool({.budget_bytes = size_t{256} << 20});
  std::vector<Row> rows;
  {
    LocalFileSystem files;
    FileReader reader(files.open_input(path), std::move(options), pool);
    const auto column = reader.schema()->index_of(name);
    if (!column) throw_error(ErrorKind::kNotFound, "{} has no column {}", path, name);
    const Field& field = reader.schema()->field(*column);
    EXPECT_EQ(field.extension_name(), "arrow.parquet.variant") << path;
    EXPECT_TRUE(field.type->equals(*VariantAssembler::type())) << path;
    while (auto batch = reader.next()) {
      validate_full(*batch);
      for (Row& row : rows_of(*batch->column(*column))) rows.push_back(std::move(row));
    }
  }
  EXPECT_EQ(pool.stats().held_bytes, pool.stats().idle_bytes) << path;
  return rows;
}

std::vector<std::string> read_texts(const std::string& path, const std::string& name, FileReaderOptions options = {}) {
  std::vector<std::string> texts;
  for (const Row& row : read_variants(path, name, std::move(options))) texts.push_back(text_of(row));
  return texts;
}

// parquet-testing/shredded_variant, made by Iceberg's Java tests: each row of a file equals the variant in
// case-N_row-M.variant.bin, metadata before value; a row without that file is null. cases.json says which files are
// errors.
TEST(VariantShredding, EveryCaseOfParquetTestingIsRead) {
  // Value and typed_value in an element, and in a column; a value that is no object where there are fields (two);
  // an unsigned typed_value, and one of fixed length.
  const std::set<std::string> errors = {"case-040.parquet", "case-042.parquet", "case-087.parquet",
                                        "case-127.parquet", "case-128.parquet", "case-137.parquet"};
  const std::string folder = corpora("parquet-testing/shredded_variant/");
  size_t files = 0;
  size_t refused = 0;
  size_t rows_read = 0;
  size_t same_bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".parquet")) continue;
    ++files;
    if (errors.contains(name)) {
      try {
        read_variants(folder + name, "var");
        ADD_FAILURE() << name << " is an error";
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) << error.what();
        EXPECT_NE(std::string(error.what()).find("'var'"), std::string::npos) << error.what();
        ++refused;
      }
      continue;
    }
    const std::vector<Row> rows = read_variants(folder + name, "var");
    EXPECT_GT(rows.size(), 0U) << name;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string answer_file =
          folder + name.substr(0, name.size() - 8) + "_row-" + std::to_string(i) + ".variant.bin";
      const bool has_answer = std::filesystem::exists(answer_file);
      ASSERT_EQ(rows[i].is_null, !has_answer) << name << " row " << i;
      if (!has_answer) continue;
      const std::string answer = content(answer_file);
      const VariantMetadata expected_names(answer);
      const Variant expected(expected_names, std::string_view(answer).substr(expected_names.byte_size()));
      const VariantMetadata names(rows[i].metadata);
      const Variant value(names, rows[i].value);
      EXPECT_EQ(value.type(), expected.type()) << name;
      EXPECT_TRUE(variants_equal(value, expected)) << name << " row " << i << ": " << text_of(rows[i]) << " is not "
                                                   << text_of({false, answer, std::string(expected.bytes())});
      ++rows_read;
      if (value.bytes() == expected.bytes()) ++same_bytes;
    }
  }
  EXPECT_EQ(files, 137U);
  EXPECT_EQ(refused, errors.size());
  EXPECT_EQ(rows_read, 137U - 6 + 3 + 2 + 1);  // three files have 4, 4 (one null), 2 rows
  EXPECT_EQ(same_bytes, rows_read) << "the writer of the answers chooses the same widths";
}

// DuckDB's tests have 46 rows in 46 files that are shredded by as many types.
const std::vector<std::string> kDuckRows = {
    "null",
    "true",
    "false",
    "34",
    "-34",
    "1234",
    "-1234",
    "12345",
    "-12345",
    "9876543210",
    "-9876543210",
    "10.11",
    "-10.11",
    "14.3",
    "-14.3",
    "{}",
    R"({"a":null,"d":"iceberg"})",
    R"({"a":123456789,"c":"string"})",
    R"({"a":123456789,"c":["string","iceberg"]})",
    "[]",
    R"(["iceberg","string"])",
    R"(["iceberg","string",34])",
    R"([["string","iceberg"],["apple","banana"]])",
    R"([["string","iceberg",34],[34,null],[],["string","iceberg"],34])",
    R"([{"a":123456789,"c":"string"},{"a":123456789,"c":"string"}])",
    R"([{"a":123456789,"c":"string"},{"a":123456789,"c":"string"},"iceberg",34])",
    "\"2024-11-07\"",
    "\"1957-11-07\"",
    "\"2024-11-07T12:33:54.123456+00:00\"",
    "\"1957-11-07T12:33:54.123456+00:00\"",
    "\"2024-11-07T12:33:54.123456\"",
    "\"1957-11-07T12:33:54.123456\"",
    "123456.789",
    "-123456.789",
    "123456789.987654321",
    "-123456789.987654321",
    "9876543210.123456789",
    "-9876543210.123456789",
    "\"CgsMDQ==\"",
    "\"iceberg\"",
    "\"12:33:54.123456\"",
    "\"2024-11-07T12:33:54.123456789+00:00\"",
    "\"1957-11-07T12:33:54.123456789+00:00\"",
    "\"2024-11-07T12:33:54.123456789\"",
    "\"1957-11-07T12:33:54.123456789\"",
    "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""};

TEST(VariantShredding, HowRowsAreShreddedDoesNotMatter) {
  for (int file = 1; file <= 46; ++file) {
    const std::string path = corpora(message("parquet-extra/duckdb/variant_partial_shredded{}.parquet", file));
    EXPECT_EQ(read_texts(path, "var"), kDuckRows) << path;
  }
}

// Files of one row each, shredded or not, whose values are among those rows.
// (shredded_timestamp_nanos_tz_positive holds microseconds, whatever its name says.)
TEST(VariantShredding, FilesOfOneRowHoldTheRowThatTheyAreNamedFor) {
  const std::pair<const char*, size_t> files[] = {{"null", 0},
                                                  {"bool_true", 1},
                                                  {"bool_false", 2},
                                                  {"int8_positive", 3},
                                                  {"int8_negative", 4},
                                                  {"int16_positive", 5},
                                                  {"int16", 6},
                                                  {"int32_positive", 7},
                                                  {"int32", 8},
                                                  {"int64_positive", 9},
                                                  {"int64", 10},
                                                  {"float_negative", 12},
                                                  {"double_positive", 13},
                                                  {"double_negative", 14},
                                                  {"object_empty", 15},
                                                  {"object_null_and_string", 16},
                                                  {"object_primitives", 17},
                                                  {"object_string_and_array", 18},
                                                  {"array_empty", 19},
                                                  {"array_string", 20},
                                                  {"array_array_string", 22},
                                                  {"array_array_string_and_integer", 23},
                                                  {"array_object_string", 24},
                                                  {"array_object_string_and_integer", 25},
                                                  {"date_positive", 26},
                                                  {"date_negative", 27},
                                                  {"timestamp_micros_positive", 28},
                                                  {"timestamp_micros", 29},
                                                  {"timestamp_micros_ntz_positive", 30},
                                                  {"timestamp_micros_negative", 31},
                                                  {"decimal4_positive", 32},
                                                  {"decimal4_negative", 33},
                                                  {"decimal8_negative", 35},
                                                  {"decimal16", 36},
                                                  {"decimal16_negative", 37},
                                                  {"binary", 38},
                                                  {"string", 39},
                                                  {"time_ntz", 40},
                                                  {"timestamp_nanos2", 41},
                                                  {"timestamp_nanos_tz_positive", 41},
                                                  {"timestamp_nanos1", 42},
                                                  {"timestamp_nanos_tz_negative", 42},
                                                  {"timestamp_nanos_ntz", 44},
                                                  {"uuid", 45},
                                                  {"shredded_bool_true", 1},
                                                  {"shredded_bool_false", 2},
                                                  {"shredded_int8_positive", 3},
                                                  {"shredded_int8_negative", 4},
                                                  {"shredded_int16_positive", 5},
                                                  {"shredded_int16_negative", 6},
                                                  {"shredded_int32_positive", 7},
                                                  {"shredded_int32_negative", 8},
                                                  {"shredded_int64_positive", 9},
                                                  {"shredded_int64_negative", 10},
                                                  {"shredded_float_positive", 11},
                                                  {"shredded_float_negative", 12},
                                                  {"shredded_double_positive", 13},
                                                  {"shredded_double_negative", 14},
                                                  {"shredded_object2", 16},
                                                  {"shredded_object1", 17},
                                                  {"shredded_object3", 18},
                                                  {"shredded_array3", 20},
                                                  {"shredded_array1", 22},
                                                  {"shredded_array2", 24},
                                                  {"shredded_date_positive", 26},
                                                  {"shredded_date_negative", 27},
                                                  {"shredded_timestamp_micros_tz_positive", 28},
                                                  {"shredded_timestamp_micros_tz_negative", 29},
                                                  {"shredded_timestamp_micros_ntz_positive", 30},
                                                  {"shredded_timestamp_micros_ntz_negative", 31},
                                                  {"shredded_decimal4_positive", 32},
                                                  {"shredded_decimal4_negative", 33},
                                                  {"shredded_decimal8_positive", 34},
                                                  {"shredded_decimal8_negative", 35},
                                                  {"shredded_decimal16_positive", 36},
                                                  {"shredded_decimal16_negative", 37},
                                                  {"shredded_binary", 38},
                                                  {"shredded_string", 39},
                                                  {"shredded_time_micros_ntz", 40},
                                                  {"shredded_timestamp_nanos_tz_positive", 28},
                                                  {"shredded_timestamp_nanos_tz_negative", 42},
                                                  {"shredded_timestamp_nanos_ntz_positive", 43},
                                                  {"shredded_timestamp_nanos_ntz_negative", 44},
                                                  {"shredded_uuid", 45}};
  for (const auto& [name, row] : files) {
    const std::string path = corpora(message("parquet-extra/duckdb/variant_{}.parquet", name));
    EXPECT_EQ(read_texts(path, "var"), std::vector<std::string>{kDuckRows[row]}) << path;
  }
}

TEST(VariantShredding, FilesOfOtherWritersHoldTheirStatedRows) {
  struct File {
    const char* path;
    const char* column;
    std::vector<std::string> rows;
  };
  const File files[] = {
      {"duckdb/snowflake_variant",
       "PAYLOAD",
       {R"({"age":30,"name":"alice"})", "[1,2,3]", "\"hello\"", "42", "true", R"({"x":{"y":[1,2]}})", "NULL"}},
      {"hyparquet/shredded-array", "var", {R"(["comedy","drama"])"}},
      {"hyparquet/shredded-bool", "var", {"true"}},
      {"hyparquet/shredded-int", "var", {"12345"}},
      {"hyparquet/shredded-nested-object", "var", {R"({"c":{"a":34,"b":"iceberg"},"d":-0.0})"}},
      {"hyparquet/shredded-object", "var", {R"({"a":null,"b":""})"}},
      {"hyparquet/shredded-partial-object", "var", {R"({"a":null,"b":"iceberg","d":"2024-01-30"})"}},
      // DuckDB makes the groups of fields optional, which the specification forbids: a null group is a missing field.
      {"hyparquet/shredded-sparse-timestamp",
       "v",
       {R"({"count":42,"event_type":"login"})", R"({"event_type":"click"})",
        R"({"count":null,"event_type":"purchase"})", R"({"d":"2024-01-15T10:30:00","event_type":"timeout"})"}},
      {"hyparquet/shredded-type-mismatch", "v", {R"({"count":42})", R"({"count":"not a number"})"}},
  };
  for (const File& file : files) {
    EXPECT_EQ(read_texts(corpora(message("parquet-extra/{}.parquet", file.path)), file.column), file.rows) << file.path;
  }
}

TEST(VariantShredding, ADamagedValueIsFoundWhenItIsLookedAt) {
  const std::vector<Row> rows = read_variants(corpora("parquet-extra/duckdb/variant_malicious.parquet"), "x");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THROW(text_of(rows[0]), CorruptError);
}

TEST(VariantShredding, PartsThatAreNamedAreReadAsTheyAreStored) {
  MemoryPool pool;
  LocalFileSystem files;
  FileReaderOptions options;
  options.projection.emplace({predicate::ColumnName(std::vector<std::string>{"var", "typed_value"})});
  FileReader reader(files.open_input(corpora("parquet-testing/shredded_variant/case-001.parquet")), options, pool);
  EXPECT_EQ(reader.schema()->field(0).type->children()[0].name, "typed_value");
  EXPECT_FALSE(reader.schema()->field(0).extension_name());
  EXPECT_TRUE(reader.next());
}

TEST(VariantShredding, PredicatesAndSmallBatchesGiveTheSameRows) {
  const std::string path = corpora("parquet-extra/duckdb/variant_partial_shredded18.parquet");
  for (bool late : {false, true}) {
    EXPECT_EQ(
        read_texts(path, "var", {.predicate = predicate::parse("id >= 16 and id < 19"), .late_materialization = late}),
        std::vector<std::string>(kDuckRows.begin() + 16, kDuckRows.begin() + 19));
  }
  EXPECT_EQ(read_texts(path, "var", {.batch_rows = 3}), kDuckRows);
}

// ---- Arrays made by hand ----

const std::string kNamesAB =
    "\x11\x02\x00\x01\x02"
    "ab"s;
const DataTypePtr kBinary = primitive(TypeId::kBinary);

Field element_of(std::string name, DataTypePtr typed, bool nullable = false) {
  return {.name = std::move(name),
          .type = struct_({{.name = "value", .type = kBinary}, {.name = "typed_value", .type = std::move(typed)}}),
          .nullable = nullable};
}

DataTypePtr variant_of(DataTypePtr typed) {
  return struct_({{.name = "typed_value", .type = std::move(typed)},
                  {.name = "value", .type = kBinary},
                  {.name = "metadata", .type = kBinary, .nullable = false}});
}

// One row.
std::string assemble(const ArrayPtr& stored) {
  MemoryPool pool;
  validate_full(*stored);
  const ArrayPtr variants = VariantAssembler(*stored->type).assemble(*stored, pool);
  validate_full(*variants);
  return text_of(rows_of(*variants).at(0));
}

std::string assemble_object(const std::string& metadata, const std::string& value) {
  const Field a = element_of("a", primitive(TypeId::kInt8));
  const DataTypePtr object = struct_({a});
  const DataTypePtr type = variant_of(object);
  const ArrayPtr fields = make_struct(
      object,
      {make_struct(a.type, {make_binary({std::nullopt}), make_fixed<int8_t>(primitive(TypeId::kInt8), {int8_t{7}})})});
  return assemble(make_struct(type, {fields, make_binary({value}), make_binary({metadata})}));
}

TEST(VariantShredding, ObjectsOfBothAreJoined) {
  EXPECT_EQ(assemble_object(kNamesAB, "\x02\x00\x00"s), R"({"a":7})");
  EXPECT_EQ(assemble_object(kNamesAB, "\x02\x01\x01\x00\x01\x04"s), R"({"a":7,"b":true})");
  // Its column is believed where a field is in both, as readers of case 43 and 125 are asked to.
  EXPECT_EQ(assemble_object(kNamesAB, "\x02\x02\x00\x01\x00\x01\x02\x00\x04"s), R"({"a":7,"b":true})");
}

TEST(VariantShredding, BrokenRulesAreErrors) {
  EXPECT_THROW(assemble_object(kNamesAB, "\x00"s), CorruptError) << "no object";
  EXPECT_THROW(assemble_object(kNamesAB, ""s), CorruptError) << "no value";
  EXPECT_THROW(assemble_object("\x01\x01\x00\x01"
                               "b"s,
                               "\x02\x00\x00"s),
               CorruptError)
      << "a field that is not in the metadata";
  EXPECT_THROW(assemble_object("", "\x02\x00\x00"s), CorruptError) << "no metadata";
  EXPECT_THROW(assemble_object(kNamesAB, "\x02\x02\x01\x00\x00\x01\x02\x00\x00"s), CorruptError) << "order of names";
  const std::string array = "\x03\x06\x00\x01\x02\x03\x04\x05\x06\x00\x00\x00\x00\x00\x00"s;
  const std::string twice = "\x02\x02\x00\x01\x00\x00\x0f"s + array;
  EXPECT_THROW(assemble_object("\x11\x03\x00\x01\x02\x03"
                               "abc"s,
                               "\x02\x02\x01\x02\x00\x00\x0f"s + array),
               CorruptError)
      << "elements overlap";
}

TEST(VariantShredding, GroupsThatAreNoVariantsAreErrors) {
  const auto kind_of = [](const DataTypePtr& type) {
    try {
      const VariantAssembler assembler(*type);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kInternal;
  };
  EXPECT_EQ(kind_of(variant_of(primitive(TypeId::kInt64))), ErrorKind::kInternal) << "is right";
  EXPECT_EQ(kind_of(variant_of(primitive(TypeId::kUInt32))), ErrorKind::kUnsupported);
  EXPECT_EQ(kind_of(variant_of(fixed_size_binary(16))), ErrorKind::kUnsupported) << "no UUID";
  EXPECT_EQ(kind_of(variant_of(timestamp(TimeUnit::kMilli))), ErrorKind::kUnsupported);
  EXPECT_EQ(kind_of(variant_of(time64(TimeUnit::kNano))), ErrorKind::kUnsupported);
  EXPECT_EQ(kind_of(variant_of(struct_({{.name = "a", .type = primitive(TypeId::kInt32)}}))), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(variant_of(list({.name = "element", .type = primitive(TypeId::kInt32)}))), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(struct_({{.name = "metadata", .type = kBinary}})), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(struct_({{.name = "value", .type = kBinary}})), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(kBinary), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(variant_of(
                struct_({element_of("a", primitive(TypeId::kInt8)), element_of("a", primitive(TypeId::kInt8))}))),
            ErrorKind::kCorrupt);
}

// Counts and sizes that need 1, 2, 3 and 4 bytes.
TEST(VariantShredding, ContainersOfAnySizeAreRight) {
  MemoryPool pool;
  const Field element = element_of("element", primitive(TypeId::kUtf8));
  const DataTypePtr type = variant_of(list(element));
  for (int64_t count : {0, 1, 2, 127, 128, 255, 256, 300, 70'000}) {
    for (size_t length : {size_t{0}, size_t{63}, size_t{64}, size_t{300}}) {
      auto builder = make_builder(type->children()[0].type, pool);
      auto& lists = builder->as<ListBuilder>();
      lists.append();
      auto& elements = lists.values().as<StructBuilder>();
      std::string expected = "[";
      for (int64_t i = 0; i < count; ++i) {
        const std::string text(length, static_cast<char>('a' + i % 26));
        elements.append();
        elements.child(0).append_null();
        elements.child(1).as<BytesBuilder>().append(text);
        expected += (i > 0 ? ",\"" : "\"") + text + "\"";
      }
      const ArrayPtr stored =
          make_struct(type, {builder->finish(), make_binary({std::nullopt}), make_binary({"\x01\x00\x00"s})});
      EXPECT_TRUE(assemble(stored) == expected + "]") << count << " of " << length;
    }
  }
}

TEST(VariantShredding, NullsAndOffsetsAreKept) {
  MemoryPool pool;
  const DataTypePtr type = variant_of(primitive(TypeId::kInt64));
  const std::string names = "\x01\x00\x00"s;
  const ArrayPtr stored = make_struct(type,
                                      {make_int64({1, 2, std::nullopt, 4, std::nullopt}),
                                       make_binary({std::nullopt, std::nullopt, "\x05x"s, std::nullopt, std::nullopt}),
                                       make_binary({names, names, names, names, names})},
                                      {true, true, true, false, true});
  const VariantAssembler assembler(*type);
  const std::vector<std::string> all = {"1", "2", "\"x\"", "NULL", "null"};
  for (int64_t from = 0; from <= 5; ++from) {
    for (int64_t count = 0; count <= 5 - from; ++count) {
      const ArrayPtr variants = assembler.assemble(*stored->slice(from, count), pool);
      validate_full(*variants);
      std::vector<std::string> texts;
      for (const Row& row : rows_of(*variants)) texts.push_back(text_of(row));
      EXPECT_EQ(texts, std::vector<std::string>(all.begin() + from, all.begin() + from + count));
    }
  }
}

// optional group l (LIST) { repeated group list { optional group element (VARIANT) { .. } } }, a map and a struct.
struct NestedSchema {
  std::vector<SchemaNode> nodes;
  std::vector<uint32_t> leaves;

  void add(const char* name, Repetition repetition, LogicalType::Kind kind, uint32_t child_count, uint32_t leaf_count) {
    SchemaNode node;
    node.name = name;
    node.repetition = repetition;
    node.logical.kind = kind;
    node.is_group = child_count > 0;
    node.type = PhysicalType::kByteArray;
    node.child_count = child_count;
    node.leaf_count = leaf_count;
    node.first_leaf = static_cast<uint32_t>(leaves.size());
    if (child_count == 0) leaves.push_back(static_cast<uint32_t>(nodes.size()));
    nodes.push_back(node);
  }
  void add_variant(const char* name) {
    add(name, Repetition::kOptional, LogicalType::Kind::kVariant, 3, 3);
    add("metadata", Repetition::kRequired, LogicalType::Kind::kNone, 0, 1);
    add("value", Repetition::kOptional, LogicalType::Kind::kNone, 0, 1);
    add("typed_value", Repetition::kOptional, LogicalType::Kind::kString, 0, 1);
    nodes[nodes.size() - 4].subtree_size = 4;
  }
};

TEST(VariantShredding, VariantsInsideOfListsMapsAndStructsArePutTogether) {
  NestedSchema nested;
  nested.add("root", Repetition::kRequired, LogicalType::Kind::kNone, 3, 11);
  nested.add("l", Repetition::kOptional, LogicalType::Kind::kList, 1, 3);
  nested.add("list", Repetition::kRepeated, LogicalType::Kind::kNone, 1, 3);
  nested.add_variant("element");
  nested.add("m", Repetition::kOptional, LogicalType::Kind::kMap, 1, 4);
  nested.add("key_value", Repetition::kRepeated, LogicalType::Kind::kNone, 2, 4);
  nested.add("key", Repetition::kRequired, LogicalType::Kind::kString, 0, 1);
  nested.add_variant("value");
  nested.add("s", Repetition::kOptional, LogicalType::Kind::kNone, 2, 4);
  nested.add("plain", Repetition::kOptional, LogicalType::Kind::kString, 0, 1);
  nested.add_variant("v");
  for (const auto& [node, size] :
       std::vector<std::pair<size_t, uint32_t>>{{0, 20}, {1, 6}, {2, 5}, {7, 7}, {8, 6}, {14, 6}}) {
    nested.nodes[node].subtree_size = size;
  }
  const FileSchema schema(nested.nodes, nested.leaves);

  // Two variants: 1 from typed_value, null from value.
  const auto variants = [](const DataTypePtr& type) {
    return make_struct(type, {make_binary({"\x01\x00\x00"s, "\x01\x00\x00"s}), make_binary({std::nullopt, "\x00"s}),
                              make_utf8({"one", std::nullopt})});
  };
  MemoryPool pool;
  const auto check = [&](uint32_t node, const auto& stored_of, const auto& variants_of, const char* type) {
    const ColumnRequest request = request_column(schema, node);
    const VariantColumn column(schema, request);
    ASSERT_TRUE(column.has_variants());
    const ArrayPtr stored = stored_of(arrow_field(request).type);
    validate_full(*stored);
    const ArrayPtr out = column.assemble(stored, pool);
    validate_full(*out);
    EXPECT_TRUE(out->type->equals(*column.field().type));
    EXPECT_EQ(out->type->to_string(), type);
    EXPECT_EQ(out->length, stored->length);
    const std::vector<Row> rows = rows_of(*variants_of(*out));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(text_of(rows[0]), "\"one\"");
    EXPECT_EQ(text_of(rows[1]), "null");
  };
  const std::string variant = "struct<metadata: binary not null, value: binary not null>";
  check(
      1,
      [&](const DataTypePtr& type) { return make_list(type, {2, std::nullopt}, variants(type->children()[0].type)); },
      [](const Array& out) { return out.children[0]; }, ("list<element: " + variant + ">").c_str());
  check(
      7,
      [&](const DataTypePtr& type) {
        const DataTypePtr& entries = type->children()[0].type;
        return make_list(type, {0, 2},
                         make_struct(entries, {make_utf8({"k", "l"}), variants(entries->children()[1].type)}));
      },
      [](const Array& out) { return out.children[0]->children[1]; }, ("map<utf8, " + variant + ">").c_str());
  check(
      14,
      [&](const DataTypePtr& type) {
        return make_struct(type, {make_utf8({"p", "q"}), variants(type->children()[1].type)});
      },
      [](const Array& out) { return out.children[1]; }, ("struct<plain: utf8, v: " + variant + ">").c_str());
}

TEST(VariantShredding, WhatIsNotShreddedIsShared) {
  MemoryPool pool;
  const DataTypePtr type = struct_({{.name = "value", .type = kBinary}, {.name = "metadata", .type = kBinary}});
  const ArrayPtr value = make_binary({"\x05x"s, std::nullopt});
  const ArrayPtr metadata = make_binary({"\x01\x00\x00"s, "\x01\x00\x00"s});
  const ArrayPtr one_null = make_struct(type, {value, metadata}, {true, false});
  EXPECT_EQ(VariantAssembler(*type).assemble(*one_null, pool)->children[1], value);
  // A value that is missing where there must be one is the variant null.
  const ArrayPtr copied = VariantAssembler(*type).assemble(*make_struct(type, {value, metadata}), pool);
  EXPECT_EQ(text_of(rows_of(*copied)[1]), "null");
}

}  // namespace
}  // namespace frazil::parquet
