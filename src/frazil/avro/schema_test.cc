#include "frazil/avro/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/avro/test_support.h"
#include "frazil/base/error.h"

namespace frazil::avro {
namespace {

using testing::HasSubstr;

ErrorKind kind_of_failure(std::string_view text) {
  try {
    parse_schema(text);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "parsed: " << text;
  return ErrorKind::kInternal;
}

TEST(AvroSchema, ReadsEachKindInBothForms) {
  for (const char* name : {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}) {
    const std::string quoted = "\"" + std::string(name) + "\"";
    EXPECT_EQ(describe(*parse_schema(quoted)), name);
    EXPECT_EQ(describe(*parse_schema("{\"type\":" + quoted + "}")), name);
    EXPECT_EQ(describe(*parse_schema("{\"type\":{\"type\":" + quoted + "}}")), name);
  }
  EXPECT_EQ(describe(*parse_schema(R"({"type":"array","items":"int"})")), "array of int");
  EXPECT_EQ(describe(*parse_schema(R"({"type":"map","values":"int"})")), "map of int");
  EXPECT_EQ(describe(*parse_schema(R"(["null",{"type":"fixed","name":"f","size":3}])")), "union of null, fixed(3)");
  const NodePtr symbols = parse_schema(R"({"type":"enum","name":"e","symbols":["A","B"],"default":"B"})");
  EXPECT_EQ(symbols->symbols.size(), 2u);
  EXPECT_EQ(symbols->default_symbol, "B");
}

TEST(AvroSchema, KeepsWhatIcebergAdds) {
  const NodePtr node = parse_schema(R"({"type":"record","name":"r","fields":[
    {"name":"a","field-id":7,"aliases":["x"],"default":null,"type":["null",
      {"type":"array","element-id":8,"items":"long"}]},
    {"name":"m","field-id":9,"type":{"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
      {"name":"key","type":"int","field-id":10},{"name":"value","type":"bytes","field-id":11}]}}},
    {"name":"n","field-id":12,"type":{"type":"map","key-id":13,"value-id":14,"values":"int"}},
    {"name":"t","field-id":15,"type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false}}]})");
  ASSERT_EQ(node->fields.size(), 4u);
  EXPECT_EQ(node->fields[0].field_id, 7);
  EXPECT_EQ(node->fields[0].aliases, std::vector<std::string>{"x"});
  EXPECT_TRUE(node->fields[0].default_value->is_null());
  EXPECT_EQ(node->fields[0].type->non_null()->element_id, 8);
  EXPECT_EQ(node->fields[1].type->logical, Logical::kMap);
  EXPECT_EQ(node->fields[2].type->key_id, 13);
  EXPECT_EQ(node->fields[2].type->value_id, 14);
  EXPECT_FALSE(node->fields[3].type->adjust_to_utc);
}

TEST(AvroSchema, IgnoresLogicalTypesThatDoNotFit) {
  const std::pair<const char*, Logical> cases[] = {
      {R"({"type":"int","logicalType":"date"})", Logical::kDate},
      {R"({"type":"long","logicalType":"date"})", Logical::kNone},
      {R"({"type":"int","logicalType":"time-millis"})", Logical::kTimeMillis},
      {R"({"type":"long","logicalType":"time-micros"})", Logical::kTimeMicros},
      {R"({"type":"long","logicalType":"timestamp-nanos"})", Logical::kTimestampNanos},
      {R"({"type":"long","logicalType":"local-timestamp-millis"})", Logical::kLocalTimestampMillis},
      {R"({"type":"bytes","logicalType":"decimal","precision":4,"scale":2})", Logical::kDecimal},
      {R"({"type":"bytes","logicalType":"decimal","precision":4,"scale":5})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal","precision":0})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal","precision":"x"})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal"})", Logical::kNone},
      {R"({"type":"string","logicalType":"decimal","precision":4})", Logical::kNone},
      {R"({"type":"string","logicalType":"uuid"})", Logical::kUuid},
      {R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})", Logical::kUuid},
      {R"({"type":"fixed","name":"u","size":15,"logicalType":"uuid"})", Logical::kNone},
      {R"({"type":"fixed","name":"d","size":12,"logicalType":"duration"})", Logical::kDuration},
      {R"({"type":"string","logicalType":"no-such"})", Logical::kNone},
      {R"({"type":"string","logicalType":5})", Logical::kNone},
      {R"({"type":"array","logicalType":"map","items":"int"})", Logical::kNone},
  };
  for (const auto& [text, logical] : cases) EXPECT_EQ(parse_schema(text)->logical, logical) << text;
}

TEST(AvroSchema, ResolvesNamesInTheirNamespaces) {
  const NodePtr node = parse_schema(R"({"type":"record","name":"a.b.R","fields":[
    {"name":"f","type":{"type":"fixed","name":"F","size":4}},
    {"name":"g","type":{"type":"enum","name":"E","namespace":"other","symbols":["X"]}},
    {"name":"h","type":"F"},{"name":"i","type":"a.b.F"},{"name":"j","type":["null","other.E"]},
    {"name":"k","type":{"type":"F"}}]})");
  EXPECT_EQ(node->name, "a.b.R");
  EXPECT_EQ(node->fields[0].type->name, "a.b.F");
  EXPECT_EQ(node->fields[1].type->name, "other.E");
  EXPECT_EQ(node->fields[2].type, node->fields[0].type) << "a name shares the node that it names";
  EXPECT_EQ(node->fields[3].type, node->fields[0].type);
  EXPECT_EQ(node->fields[4].type->branches[1], node->fields[1].type);
  EXPECT_EQ(node->fields[5].type, node->fields[0].type);
}

TEST(AvroSchema, RefusesARecordThatContainsItself) {
  for (
      const char* text : {
          R"({"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]})",
          R"({"type":"record","name":"R","namespace":"n","fields":[{"name":"c","type":{"type":"array","items":"n.R"}}]})",
          R"({"type":"record","name":"R","fields":[{"name":"m","type":{"type":"record","name":"S","fields":[
               {"name":"back","type":{"type":"map","values":"R"}}]}}]})",
      }) {
    EXPECT_EQ(kind_of_failure(text), ErrorKind::kUnsupported) << text;
  }
}

TEST(AvroSchema, BoundsTheDepth) {
  const auto nested = [](int levels) {
    std::string text = "\"int\"";
    for (int i = 1; i < levels; ++i) text = R"({"type":"array","items":)" + text + "}";
    return text;
  };
  EXPECT_EQ(parse_schema(nested(kMaxSchemaDepth))->depth, kMaxSchemaDepth);
  EXPECT_EQ(kind_of_failure(nested(kMaxSchemaDepth + 1)), ErrorKind::kUnsupported);
  // References make a tree deeper than its text: each record holds the one before it.
  std::string text =
      R"({"type":"record","name":"Top","fields":[{"name":"f0","type":{"type":"record","name":"R0","fields":[]}})";
  for (int i = 1; i < 80; ++i) {
    const std::string n = std::to_string(i);
    text += R"(,{"name":"f)" + n + R"(","type":{"type":"record","name":"R)" + n +
            R"(","fields":[{"name":"x","type":"R)" + std::to_string(i - 1) + R"("}]}})";
  }
  EXPECT_EQ(kind_of_failure(text + "]}"), ErrorKind::kUnsupported);
}

TEST(AvroSchema, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("no-such")", "type 'no-such' is not defined"},
      {R"({"type":"record","name":"r"})", "'fields' is missing"},
      {R"({"type":"record","fields":[]})", "'name' is missing"},
      {R"({"type":"record","name":"","fields":[]})", "a name is empty"},
      {R"({"type":"record","name":"r","fields":[{"type":"int"}]})", "'name' is missing"},
      {R"({"type":"record","name":"r","fields":[{"name":"a"}]})", "'type' is missing"},
      {R"({"type":"record","name":"r","fields":[3]})", "a field is no object"},
      {R"({"type":"fixed","name":"f","size":-1})", "has -1 bytes"},
      {R"({"type":"fixed","name":"f","size":2000000000})", "has 2000000000 bytes"},
      {R"({"type":"enum","name":"e","symbols":["A","A"]})", "repeats a symbol"},
      {R"({"type":"array"})", "'items' is missing"},
      {R"({"type":"map"})", "'values' is missing"},
      {R"([])", "a union has no branches"},
      {R"(["null",["int"]])", "a union stands directly in a union"},
      {R"(17)", "expected a type name"},
      {R"({"items":"int"})", "'type' is missing"},
  };
  for (const auto& [text, what] : cases) {
    try {
      parse_schema(text);
      ADD_FAILURE() << "parsed: " << text;
    } catch (const CorruptError& error) {
      EXPECT_THAT(error.message(), HasSubstr(what)) << text;
    }
  }
  EXPECT_EQ(kind_of_failure("{\"type\":"), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of_failure(""), ErrorKind::kCorrupt);
}

// Apache Avro's own list of schemas (share/test/data/schema-tests.txt). Records that contain themselves are refused,
// and the union without branches, which has no values.
TEST(AvroSchema, ReadsTheSchemasOfApacheAvro) {
  const std::string text = read_corpus("avro/apache-avro/schema-tests.txt");
  int read = 0;
  int refused = 0;
  for (size_t at = 0; (at = text.find("<<INPUT", at)) != std::string::npos;) {
    const bool disabled = at >= 3 && text.compare(at - 3, 3, "// ") == 0;
    at += 7;
    if (disabled) continue;
    std::string schema;
    if (text[at] == '\n') {
      const size_t end = text.find("\nINPUT", at);
      schema = text.substr(at, end - at);
    } else {
      schema = text.substr(at, text.find('\n', at) - at);
    }
    try {
      parse_schema(schema);
      ++read;
    } catch (const Error& error) {
      const bool empty_union = schema.find_first_not_of(" []") == std::string::npos;
      EXPECT_TRUE(error.kind() == ErrorKind::kUnsupported || empty_union) << error.what() << "\n" << schema;
      ++refused;
    }
  }
  EXPECT_GE(read, 30);
  EXPECT_LE(refused, 3);
}

TEST(AvroSchema, SurvivesEveryTruncation) {
  const std::string text =
      R"({"type":"record","name":"r","fields":[{"name":"a","type":["null",{"type":"array","items":"long"}]}]})";
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(kind_of_failure(text.substr(0, size)), ErrorKind::kCorrupt) << size;
}

}  // namespace
}  // namespace frazil::avro
