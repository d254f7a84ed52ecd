#include "frazil/parquet/write_schema.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/column_request.h"

namespace frazil::parquet {
namespace {

using ::testing::HasSubstr;

std::string repetition_text(Repetition repetition) {
  return repetition == Repetition::kRequired   ? "required"
         : repetition == Repetition::kOptional ? "optional"
                                               : "repeated";
}

// As LogicalTypes.md writes schemas, on one line.
std::string text_of(const FileSchema& schema, uint32_t index) {
  const SchemaNode& node = schema.node(index);
  std::string text = repetition_text(node.repetition) + " ";
  text += node.is_group ? "group" : std::string(to_string(node.type));
  if (node.type_length > 0) text += "(" + std::to_string(node.type_length) + ")";
  text += " " + std::string(node.name);
  if (node.logical.kind != LogicalType::Kind::kNone) text += " (" + std::string(to_string(node.logical.kind)) + ")";
  if (node.field_id) text += " = " + std::to_string(*node.field_id);
  if (!node.is_group) return text + ";";
  text += " {";
  uint32_t child = index + 1;
  for (uint32_t i = 0; i < node.child_count; ++i, child += schema.node(child).subtree_size) {
    text += " " + text_of(schema, child);
  }
  return text + " }";
}

Field with_id(Field field, int id) {
  field.metadata.emplace_back("PARQUET:field_id", std::to_string(id));
  return field;
}

std::string made(const Field& field) {
  const WriteSchema schema(Schema::make({field}));
  return text_of(schema.file_schema(), 1);
}

TEST(WriteSchema, MakesTheFormsOfTheSpecification) {
  const Field element = with_id({.name = "item", .type = primitive(TypeId::kInt64), .nullable = false}, 2);
  EXPECT_EQ(made(with_id({.name = "l", .type = list(element)}, 1)),
            "optional group l (LIST) = 1 { repeated group list { required INT64 element = 2; } }");
  EXPECT_EQ(made({.name = "l", .type = list(element, TypeId::kLargeListView), .nullable = false}),
            "required group l (LIST) { repeated group list { required INT64 element = 2; } }");
  EXPECT_EQ(made({.name = "f", .type = fixed_size_list(element, 3)}),
            "optional group f (LIST) { repeated group list { required INT64 element = 2; } }");
  EXPECT_EQ(made({.name = "m",
                  .type = map(with_id({.name = "k", .type = primitive(TypeId::kUtf8)}, 3),
                              with_id({.name = "v", .type = primitive(TypeId::kFloat)}, 4))}),
            "optional group m (MAP) { repeated group key_value { required BYTE_ARRAY key (STRING) = 3; "
            "optional FLOAT value = 4; } }");
  EXPECT_EQ(made({.name = "s", .type = struct_({{.name = "a", .type = primitive(TypeId::kBool)}, element})}),
            "optional group s { optional BOOLEAN a; required INT64 item = 2; }");
  EXPECT_EQ(made({.name = "v",
                  .type = struct_({{.name = "metadata", .type = primitive(TypeId::kBinary), .nullable = false},
                                   {.name = "value", .type = primitive(TypeId::kBinary), .nullable = false}}),
                  .metadata = {{"ARROW:extension:name", "arrow.parquet.variant"}}}),
            "optional group v (VARIANT) { required BYTE_ARRAY metadata; required BYTE_ARRAY value; }");
  EXPECT_EQ(made({.name = "n", .type = primitive(TypeId::kNull), .nullable = false}), "optional INT32 n (UNKNOWN);");
}

TEST(WriteSchema, DictionariesAndRunsAreTheirValues) {
  const DataTypePtr words = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  EXPECT_EQ(made({.name = "d", .type = words}), "optional BYTE_ARRAY d (STRING);");
  EXPECT_EQ(made({.name = "r",
                  .type = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt32), .nullable = false},
                                          {.name = "values", .type = words}),
                  .nullable = false}),
            "required BYTE_ARRAY r (STRING);");
  const WriteSchema schema(Schema::make({{.name = "d", .type = words}}));
  EXPECT_EQ(schema.leaves()[0].type->id(), TypeId::kUtf8);
}

TEST(WriteSchema, LevelsAndPathsFollowFromTheTree) {
  const Field x{.name = "x", .type = primitive(TypeId::kInt32)};
  const WriteSchema schema(
      Schema::make({{.name = "a", .type = list({.name = "item", .type = list({.name = "item", .type = struct_({x})})})},
                    {.name = "b", .type = primitive(TypeId::kInt32), .nullable = false}}));
  ASSERT_EQ(schema.leaves().size(), 2U);
  EXPECT_EQ(schema.leaves()[0].path, "a.list.element.list.element.x");
  EXPECT_EQ(schema.leaves()[0].max_definition, 6);
  EXPECT_EQ(schema.leaves()[0].max_repetition, 2);
  EXPECT_EQ(schema.leaves()[1].max_definition, 0);
  EXPECT_EQ(schema.column_node(1).first_leaf, 1U);
  EXPECT_EQ(schema.column_name(schema.file_schema().leaf_node(0)), "a.element.element.x");
  EXPECT_EQ(schema.find_leaf("a.element.element.x"), 0U);
  EXPECT_EQ(schema.find_leaf("a.list.element.list.element.x"), 0U);
  EXPECT_EQ(schema.find_leaf("a"), std::nullopt);
  // The reader understands the tree as it was meant.
  const SchemaPtr read = arrow_schema(schema.file_schema());
  EXPECT_EQ(read->field(0).type->to_string(), "list<element: list<element: struct<x: int32>>>");
}

TEST(WriteSchema, RefusesByName) {
  const auto failure = [](const Field& field) {
    try {
      WriteSchema schema(Schema::make({field}));
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
    return std::string("no error");
  };
  const Field number{.name = "item", .type = primitive(TypeId::kInt32)};
  EXPECT_THAT(failure({.name = "u", .type = dense_union({number}, {0})}), HasSubstr("'u'"));
  EXPECT_THAT(failure({.name = "u", .type = list({.name = "item", .type = sparse_union({number}, {0})})}),
              HasSubstr("'u.element'"));
  EXPECT_THAT(failure({.name = "e", .type = struct_({})}), HasSubstr("unsupported: column 'e' is a struct without"));
  EXPECT_THAT(failure({.name = "i", .type = primitive(TypeId::kInt32), .metadata = {{"PARQUET:field_id", "x"}}}),
              HasSubstr("invalid_argument: column 'i' has the field id 'x'"));
  DataTypePtr deep = primitive(TypeId::kInt32);
  for (int depth = 1; depth < kMaxTypeDepth; ++depth) deep = list({.name = "item", .type = deep});
  EXPECT_THAT(failure({.name = "deep", .type = deep}), HasSubstr("column 'deep' nests more than 100 groups"));
}

}  // namespace
}  // namespace frazil::parquet
