#include "frazil/testing/integration_json.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/random_arrays_test.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::testing {
namespace {

constexpr EqualOptions kExactly = {.exact_floats = true, .compare_metadata = true};

std::filesystem::path gold() {
  return std::filesystem::path(FRAZIL_TEST_CORPORA) / "arrow-testing/data/arrow-ipc-stream/integration";
}

std::vector<std::filesystem::path> gold_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(gold())) {
    if (entry.path().extension() == ".gz") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string unzipped(const std::filesystem::path& path, MemoryPool& pool) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  const MutableBuffer plain =
      Decompressor(pool).decompress_unsized(Codec::kGzip, std::as_bytes(std::span(bytes)), 64 << 20);
  return {reinterpret_cast<const char*>(plain.data()), plain.size()};
}

void expect_equal(const IntegrationData& left, const IntegrationData& right) {
  ASSERT_TRUE(left.schema->equals(*right.schema, true)) << left.schema->to_string() << right.schema->to_string();
  ASSERT_EQ(left.batches.size(), right.batches.size());
  for (size_t i = 0; i < left.batches.size(); ++i) {
    EXPECT_EQ(difference(left.batches[i], right.batches[i], kExactly), "") << "batch " << i;
  }
}

// ---- What we write against what others wrote ----

using json::Value;

// Numbers as numbers: -1.50 and -1.5 are the same.
bool same_scalar(const Value& ours, const Value& theirs) {
  if (ours.kind() == Value::Kind::kNumber && theirs.kind() == Value::Kind::kNumber) {
    return ours.number_text() == theirs.number_text() || ours.as_double() == theirs.as_double();
  }
  if (theirs.kind() == Value::Kind::kBool) return ours.as_int64() == (theirs.as_bool() ? 1 : 0);
  return ours == theirs;
}

// Every buffer of a column; where a value is null what stands there is the writer's choice.
void expect_same_column(const Value& ours, const Value& theirs, const std::string& path) {
  const Value* validity = theirs.find("VALIDITY");
  EXPECT_TRUE(same_scalar(ours.at("count"), theirs.at("count"))) << path;
  EXPECT_EQ(ours.as_object().size(), theirs.as_object().size()) << path;
  for (const auto& [key, value] : theirs.as_object()) {
    if (key == "name" || key == "count" || key == "children") continue;
    const Value* mine = ours.find(key);
    ASSERT_NE(mine, nullptr) << path << " " << key;
    const json::Array& items = value.as_array();
    ASSERT_EQ(mine->as_array().size(), items.size()) << path << " " << key;
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_of_value = key == "DATA" || key == "VIEWS";
      if (is_of_value && validity != nullptr && validity->as_array()[i].as_int64() == 0) continue;
      EXPECT_TRUE(same_scalar(mine->as_array()[i], items[i])) << path << " " << key << "[" << i << "]";
    }
  }
  const Value* children = theirs.find("children");
  const Value* mine = ours.find("children");
  ASSERT_EQ(mine == nullptr ? 0 : mine->as_array().size(), children == nullptr ? 0 : children->as_array().size())
      << path;
  for (size_t i = 0; children != nullptr && i < children->as_array().size(); ++i) {
    const Value& child = children->as_array()[i];
    EXPECT_EQ(mine->as_array()[i].at("name"), child.at("name")) << path;
    expect_same_column(mine->as_array()[i], child, path + "." + child.at("name").as_string());
  }
}

void without(Value& value, std::string_view key) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) without(item, key);
  }
  if (!value.is_object()) return;
  value.erase(key);
  for (auto& [name, member] : value.as_object()) without(member, key);
}

TEST(IntegrationJson, ReadsEveryGoldFileAndWritesItAgain) {
  const auto files = gold_files();
  EXPECT_EQ(files.size(), 91u);
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    MemoryPool pool;
    const IntegrationData data = read_integration_json(unzipped(path, pool), pool);
    const std::string written = write_integration_json(data.schema, data.batches, pool);
    expect_equal(read_integration_json(written, pool), data);
  }
}

TEST(IntegrationJson, WritesWhatArrow21Wrote) {
  size_t columns_compared = 0;
  for (const auto& path : gold_files()) {
    if (path.parent_path().filename() != "cpp-21.0.0") continue;
    SCOPED_TRACE(path.string());
    MemoryPool pool;
    const std::string text = unzipped(path, pool);
    const IntegrationData data = read_integration_json(text, pool);
    Value theirs = json::parse(text);
    Value ours = json::parse(write_integration_json(data.schema, data.batches, pool));
    // Ids are the writer's choice.
    without(ours, "id");
    without(theirs, "id");
    EXPECT_EQ(ours.at("schema"), theirs.at("schema")) << json::write(ours.at("schema"));
    const json::Array& batches = theirs.at("batches").as_array();
    ASSERT_EQ(ours.at("batches").as_array().size(), batches.size());
    for (size_t b = 0; b < batches.size(); ++b) {
      const json::Array& columns = batches[b].at("columns").as_array();
      for (size_t c = 0; c < columns.size(); ++c, ++columns_compared) {
        expect_same_column(ours.at("batches").as_array()[b].at("columns").as_array()[c], columns[c],
                           std::to_string(b) + ": " + columns[c].at("name").as_string());
      }
    }
  }
  EXPECT_GT(columns_compared, 300u);
}

TEST(IntegrationJson, ReadsStatedValues) {
  MemoryPool pool;
  const IntegrationData data = read_integration_json(R"({
    "schema": {"metadata": [{"key": "k", "value": "v"}], "fields": [
      {"name": "long", "type": {"name": "int", "bitWidth": 64, "isSigned": true}, "nullable": true, "children": []},
      {"name": "half", "type": {"name": "floatingpoint", "precision": "HALF"}, "nullable": true, "children": []},
      {"name": "wide", "type": {"name": "decimal", "precision": 76, "scale": 2, "bitWidth": 256}, "nullable": true,
       "children": []},
      {"name": "words", "type": {"name": "utf8"}, "nullable": true, "children": [],
       "dictionary": {"id": 7, "indexType": {"name": "int", "bitWidth": 8, "isSigned": false}, "isOrdered": false}}]},
    "batches": [{"count": 3, "columns": [
      {"name": "long", "count": 3, "VALIDITY": [1, 0, 1], "DATA": ["-9223372036854775808", "0", "9223372036854775807"]},
      {"name": "half", "count": 3, "VALIDITY": [1, 1, 1], "DATA": [1.5, "-Infinity", -0.0]},
      {"name": "wide", "count": 3, "VALIDITY": [1, 1, 1],
       "DATA": ["-1", "57896044618658097711785492504343953926634992332820282019728792003956564819967",
                "-57896044618658097711785492504343953926634992332820282019728792003956564819968"]},
      {"name": "words", "count": 3, "VALIDITY": [1, 1, 0], "DATA": [1, 0, 0]}]}],
    "dictionaries": [{"id": 7, "data": {"count": 2, "columns": [
      {"name": "DICT7", "count": 2, "VALIDITY": [1, 1], "OFFSET": [0, 1, 3], "DATA": ["a", "bc"]}]}}]})",
                                                     pool);
  EXPECT_EQ(data.schema->metadata(), (Metadata{{"k", "v"}}));
  ASSERT_EQ(data.batches.size(), 1u);
  EXPECT_EQ(difference(*data.batches[0].column(0), *make_int64({INT64_MIN, {}, INT64_MAX})), "");
  EXPECT_EQ(difference(*data.batches[0].column(1),
                       *make_fixed<uint16_t>(primitive(TypeId::kHalfFloat), {0x3E00, 0xFC00, 0x8000}), kExactly),
            "");
  const auto* wide = data.batches[0].column(2)->buffers[1].as<uint8_t>();
  EXPECT_TRUE(std::all_of(wide, wide + 32, [](uint8_t byte) { return byte == 0xFF; }));
  EXPECT_EQ(wide[63], 0x7F);
  EXPECT_EQ(wide[95], 0x80);
  EXPECT_TRUE(std::all_of(wide + 64, wide + 95, [](uint8_t byte) { return byte == 0; }));
  const ArrayPtr& words = data.batches[0].column(3);
  EXPECT_EQ(difference(*words, *make_dictionary(words->type, {1, 0, {}}, make_utf8({"a", "bc"}))), "");
}

RC_GTEST_PROP(IntegrationJson, RoundTripsAnyBatchesOfAnyType, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  std::vector<Field> fields;
  for (int64_t i = random.below(4); i >= 0; --i) {
    fields.push_back({.name = random.text(), .type = random.type(), .metadata = {{"seed", std::to_string(seed)}}});
  }
  const SchemaPtr schema = Schema::make(fields, {{"a", random.text()}, {"a", ""}});
  std::vector<RecordBatch> batches;
  for (int64_t b = random.below(4); b > 0; --b) {
    const int64_t rows = random.below(20);
    std::vector<ArrayPtr> columns;
    for (const Field& field : fields) {
      columns.push_back(random.array(field.type, rows));
      if (random.coin(2)) columns.back() = random.with_offsets(*columns.back());
    }
    batches.emplace_back(schema, rows, std::move(columns));
  }
  const IntegrationData read = read_integration_json(write_integration_json(schema, batches, pool), pool);
  RC_ASSERT(read.schema->equals(*schema, true));
  RC_ASSERT(read.batches.size() == batches.size());
  // NaN is written without its payload.
  for (size_t i = 0; i < batches.size(); ++i) RC_ASSERT(difference(read.batches[i], batches[i]) == "");
}

TEST(IntegrationJson, ReadsATypeAsDeepAsTypesMayBe) {
  MemoryPool pool;
  DataTypePtr type = primitive(TypeId::kInt8);
  while (type->depth() < kMaxTypeDepth) type = list({.name = "item", .type = type});
  const SchemaPtr schema = Schema::make({{.name = "deep", .type = type}});
  const std::vector<RecordBatch> batches = {RecordBatch(schema, 1, {make_null_array(type, 1, pool)})};
  const IntegrationData read = read_integration_json(write_integration_json(schema, batches, pool), pool);
  EXPECT_EQ(difference(read.batches.at(0), batches[0]), "");
}

TEST(IntegrationJson, NamesWhatIsWrong) {
  const auto with = [](std::string_view type, std::string_view column) {
    return R"({"schema": {"fields": [{"name": "a", "nullable": true, "children": [], "type": )" + std::string(type) +
           R"(}]}, "batches": [{"count": 1, "columns": [)" + std::string(column) + "]}]}";
  };
  const std::string_view int8 = R"({"name": "int", "bitWidth": 8, "isSigned": true})";
  const std::string_view view = R"({"name": "utf8view"})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "JSON"},
      {"{}", "schema"},
      {with(R"({"name": "int", "bitWidth": 7, "isSigned": true})", ""), "an integer of 7 bits"},
      {with(R"({"name": "complex"})", ""), "'complex' is not known"},
      {with(R"({"name": "list"})", ""), "0 children where one belongs"},
      {with(R"({"name": "timestamp", "unit": "DAY"})", ""), "no unit of time"},
      {with(int8, ""), "0 columns of 1 fields"},
      {with(int8, R"({"count": -1})"), "-1 values"},
      {with(int8, R"({"count": 1, "VALIDITY": [], "DATA": [1]})"), "0 items of VALIDITY for 1"},
      {with(int8, R"({"count": 1, "VALIDITY": [1], "DATA": [1, 2]})"), "2 items of DATA for 1"},
      {with(int8, R"({"count": 1, "VALIDITY": [1], "DATA": [128]})"), "128 does not fit 1 bytes"},
      {with(int8, R"({"count": 1, "VALIDITY": [1], "DATA": ["x"]})"), "no 64-bit integer"},
      {with(int8, R"({"count": 2, "VALIDITY": [1, 1], "DATA": [1, 2]})"), "row"},
      {with(R"({"name": "utf8"})", R"({"count": 1, "VALIDITY": [1], "OFFSET": [0, 2], "DATA": ["a"]})"),
       "offset behind"},
      {with(R"({"name": "binary"})", R"({"count": 1, "VALIDITY": [1], "OFFSET": [0, 1], "DATA": ["0"]})"),
       "hexadecimal"},
      {with(view, R"({"count": 1, "VALIDITY": [1], "VIEWS": [{"SIZE": 13, "PREFIX_HEX": "61616161", "BUFFER_INDEX": 0,
                     "OFFSET": 0}], "VARIADIC_DATA_BUFFERS": []})"),
       "view"},
      {with(view,
            R"({"count": 1, "VALIDITY": [1], "VIEWS": [{"SIZE": 2, "INLINED": "a"}], "VARIADIC_DATA_BUFFERS": []})"),
       "a view of size 2"},
      {with(R"({"name": "decimal", "precision": 9, "scale": 0, "bitWidth": 32})",
            R"({"count": 1, "VALIDITY": [1], "DATA": ["2147483648"]})"),
       "does not fit 4 bytes"},
      {with(std::string(int8) + R"(, "dictionary": {"id": 3, "isOrdered": false, "indexType": )" + std::string(int8) +
                "}",
            R"({"count": 1, "VALIDITY": [1], "DATA": [0]})"),
       "no dictionary of id 3"},
  };
  for (const auto& [text, wanted] : cases) {
    MemoryPool pool;
    try {
      read_integration_json(text, pool);
      ADD_FAILURE() << "read: " << text;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what() << " for " << text;
    }
  }
}

}  // namespace
}  // namespace frazil::testing
