// What "ARROW:schema" makes of columns; tests/parquet/arrow_schema.py compares with another implementation.
#include "frazil/parquet/embedded_schema.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/base64.h"
#include "frazil/columnar/pretty.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/file_reader.h"

namespace frazil::parquet {
namespace {

using testing::ColumnSpec;
using testing::data_page;
using testing::dictionary_page;
using testing::FileBuilder;
using testing::packed_run;
using testing::plain;
using testing::StringFile;

// pyarrow 26.0.1: t: large_string, z: timestamp[us, Europe/Berlin], d: duration[s] {unit: seconds}, k: dictionary<int8,
// string>; {origin: pyarrow}.
constexpr std::string_view kSchema =
    "/////9ABAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAADQAAAAEAAAAAQAAAAQAAAAo////FAAA"
    "AAQAAAAHAAAAcHlhcnJvdwAGAAAAb3JpZ2luAAAEAAAAQAEAAOQAAAB8AAAAFAAAABAAGAAIAAYABwAMABAAFAAQAAAAAAABBRQA"
    "AABAAAAAHAAAAAQAAAAAAAAAAQAAAGsAAAAIAAgAAAAEAAgAAAAMAAAACAAMAAgABwAIAAAAAAAAAQgAAAAEAAYABAAAAAAAEgAY"
    "AAgABgAHAAwAAAAQABQAEgAAAAAAARIUAAAAUAAAAAgAAAAQAAAAAAAAAAEAAABkAAAAAQAAAAwAAAAIAAwABAAIAAgAAAAUAAAA"
    "BAAAAAcAAABzZWNvbmRzAAQAAAB1bml0AAAGAAgABgAGAAAAAAAAALj///8AAAEKEAAAABwAAAAEAAAAAAAAAAEAAAB6AAAACAAM"
    "AAYACAAIAAAAAAACAAQAAAANAAAARXVyb3BlL0JlcmxpbgAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABFBAAAAAYAAAABAAAAAAA"
    "AAABAAAAdAAAAAQABAAEAAAAAAAAAA==";

std::string file_with(std::string_view schema, const std::string& first = "t") {
  FileBuilder builder({{.name = first, .type = PhysicalType::kByteArray, .converted = 0},
                       {.name = "z", .type = PhysicalType::kInt64, .converted = 10},
                       {.name = "d", .type = PhysicalType::kInt64, .field_id = 7},
                       {.name = "k", .type = PhysicalType::kByteArray, .converted = 0}});
  builder.encoding_stats = true;
  if (!schema.empty()) builder.key_values = {{"other", "x"}, {"ARROW:schema", std::string(schema)}};
  const std::vector<std::string> texts = {"a", "b"};
  builder.row_group(
      2, {{data_page(plain(texts), 2)},
          {data_page(plain<int64_t>({1, 2}), 2)},
          {data_page(plain<int64_t>({3, 4}), 2)},
          {dictionary_page(plain(texts), 2), data_page('\1' + packed_run({1, 0}, 1), 2, Encoding::kRleDictionary)}});
  return builder.finish();
}

struct Read {
  SchemaPtr schema;
  std::vector<std::string> types;
  std::vector<std::string> rows;
};

Read read(const std::string& bytes, FileReaderOptions options = {}) {
  MemoryPool pool;
  FileReader reader(std::make_shared<StringFile>(bytes), std::move(options), pool);
  Read result{.schema = reader.schema(), .types = {}, .rows = {}};
  for (const Field& field : reader.schema()->fields()) result.types.push_back(field.type->to_string());
  while (auto batch = reader.next()) {
    validate_full(*batch);
    for (int64_t row = 0; row < batch->row_count(); ++row) {
      std::string text;
      for (const ArrayPtr& column : batch->columns()) text += value_to_json(*column, row) + " ";
      result.rows.push_back(text);
    }
  }
  return result;
}

using Types = std::vector<std::string>;
const Types kPlain = {"utf8", "timestamp[us, UTC]", "int64", "utf8"};
const Types kRefined = {"large_utf8", "timestamp[us, Europe/Berlin]", "duration[s]",
                        "dictionary<values=utf8, indices=int32>"};

TEST(EmbeddedSchema, RefinesTypesAndMetadata) {
  EXPECT_EQ(read(file_with("")).types, kPlain);
  const Read refined = read(file_with(kSchema));
  EXPECT_EQ(refined.types, kRefined);
  EXPECT_EQ(refined.schema->metadata(), (Metadata{{"origin", "pyarrow"}}));
  EXPECT_EQ(refined.schema->field(2).metadata, (Metadata{{"PARQUET:field_id", "7"}, {"unit", "seconds"}}));
  EXPECT_EQ(refined.rows.size(), 2U);
  EXPECT_EQ(read(file_with(kSchema), {.use_embedded_schema = false}).types, kPlain);
  Types texts = kRefined;
  texts[3] = "utf8";
  EXPECT_EQ(read(file_with(kSchema), {.dictionaries = Dictionaries::kNever}).types, texts);
}

TEST(EmbeddedSchema, RefinesProjections) {
  const auto types = [](std::vector<predicate::ColumnName> names) {
    return read(file_with(kSchema), {.projection = std::move(names)}).types;
  };
  EXPECT_EQ(types({{"d"}, {"t"}}), (Types{"duration[s]", "large_utf8"}));
  EXPECT_EQ(types({{"k"}}), (Types{"dictionary<values=utf8, indices=int32>"}));
}

// A writer that renamed a column and copied the footer's pairs along.
TEST(EmbeddedSchema, IsNotBelievedForOtherColumns) {
  Types expected = kRefined;
  expected[0] = "utf8";
  EXPECT_EQ(read(file_with(kSchema, "renamed")).types, expected);
  // Its columns are not the file's at all: the places of types that do not fit.
  FileBuilder builder({{.name = "t"}, {.name = "z", .type = PhysicalType::kDouble}});
  builder.key_values = {{"ARROW:schema", std::string(kSchema)}};
  builder.row_group(1, {{data_page(plain<int32_t>({1}), 1)}, {data_page(plain<double>({2}), 1)}});
  EXPECT_EQ(read(builder.finish()).types, (Types{"int32", "double"}));
}

TEST(EmbeddedSchema, SaysNothingWhereItIsDamaged) {
  const std::vector<std::string> rows = read(file_with("")).rows;
  for (std::string_view damaged : {"A", "AAAA", "/////w==", "no base64"}) {
    EXPECT_EQ(read(file_with(damaged)).types, kPlain) << damaged;
  }
  const std::string whole = decode_base64(kSchema).value();
  for (size_t size = 0; size < whole.size(); size += 3) {
    const std::string cut = encode_base64(std::string_view(whole).substr(0, size));
    EXPECT_EQ(read(file_with(cut)).types, kPlain) << size;
  }
  size_t refined = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? 0xFF : 0x04));
    const Read got = read(file_with(encode_base64(changed)));
    ASSERT_EQ(got.rows.size(), rows.size()) << i;
    refined += got.types == kRefined ? 1 : 0;
  }
  EXPECT_GT(refined, 0U) << "names of metadata, padding";
}

}  // namespace
}  // namespace frazil::parquet
