#include "frazil/spec/schema.h"

#include <gtest/gtest.h>

#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::error_of;
using test::field;
using test::type_of;

Schema make_schema(std::string_view struct_text, std::vector<int32_t> identifiers = {}) {
  TypePtr type = type_of(struct_text);
  return Schema({type->fields().begin(), type->fields().end()}, 1, std::move(identifiers));
}

const Schema& nested() {
  static const Schema kSchema = make_schema(
      "struct<1: id: required long, 2: point: required struct<3: x: required int, 4: y: optional int>, 5: points: "
      "optional list<6: required struct<7: x: optional int, 8: value: optional int>>, 9: m: optional map<10: string, "
      "11: "
      "optional struct<12: value: optional int, 13: z: optional double>>, 14: tags: optional list<15: optional "
      "string>>",
      {1, 3});
  return kSchema;
}

int32_t id_of(const Schema& schema, std::string_view name, NameCase name_case = NameCase::kSensitive) {
  const NestedField* found = schema.find(name, name_case);
  return found == nullptr ? -1 : found->id;
}

std::vector<std::string> names_of(const Type& type) {
  std::vector<std::string> names;
  for (const NestedField& each : type.fields()) names.push_back(each.name);
  return names;
}

TEST(Schema, FindsFieldsOfEveryLevelById) {
  for (int32_t id = 1; id <= 15; ++id) {
    ASSERT_NE(nested().find(id), nullptr) << id;
    EXPECT_EQ(nested().find(id)->id, id);
  }
  EXPECT_EQ(nested().find(0), nullptr);
  EXPECT_EQ(nested().find(16), nullptr);
  EXPECT_EQ(nested().highest_field_id(), 15);
}

TEST(Schema, FindsFieldsByNameAndPath) {
  const std::pair<const char*, int32_t> cases[] = {
      {"id", 1},
      {"point", 2},
      {"point.x", 3},
      {"points", 5},
      {"points.element", 6},
      {"points.x", 7},
      {"points.element.x", 7},
      {"points.value", 8},
      {"m.key", 10},
      {"m.value", 11},
      {"m.value.value", 12},
      {"m.z", 13},
      {"m.value.z", 13},
      {"tags.element", 15},
      {"", -1},
      {"x", -1},
      {"point.", -1},
      {".point", -1},
      {"point.x.y", -1},
      {"ID", -1},
  };
  for (const auto& [name, id] : cases) EXPECT_EQ(id_of(nested(), name), id) << name;
}

TEST(Schema, FullNamesPathsAndParentsLeadBack) {
  EXPECT_EQ(nested().full_name(7), "points.element.x");
  EXPECT_EQ(nested().full_name(13), "m.value.z");
  EXPECT_EQ(nested().full_name(99), "");
  EXPECT_EQ(nested().path(13), (std::vector<int32_t>{9, 11, 13}));
  EXPECT_EQ(nested().parent(13)->id, 11);
  EXPECT_EQ(nested().parent(1), nullptr);
  for (int32_t id = 1; id <= 15; ++id) EXPECT_EQ(id_of(nested(), nested().full_name(id)), id);
}

TEST(Schema, CopiesShareTheirFields) {
  auto original = std::make_unique<Schema>(nested());
  Schema copy = *original;
  const NestedField* before = copy.find(7);
  original.reset();
  EXPECT_EQ(before->name, "x");
  EXPECT_EQ(copy.find(7), before);
}

TEST(Schema, W14_NamesWithDotsSpacesAndSignsAreFound) {
  Schema schema = make_schema(
      "struct<1: a: optional struct<2: b: optional int, 3: c.d: optional int>, 4: TEST@A 1.b: optional int, 5: a.b: "
      "optional int>");
  EXPECT_EQ(id_of(schema, "a.b"), 5) << "a column's whole name comes first";
  EXPECT_EQ(id_of(schema, "a.c.d"), 3);
  EXPECT_EQ(id_of(schema, "TEST@A 1.b"), 4);
}

TEST(Schema, CaseInsensitiveNamesAreFoundUnlessSeveralFit) {
  EXPECT_EQ(id_of(nested(), "POINTS.ELEMENT.X", NameCase::kInsensitive), 7);
  EXPECT_EQ(id_of(nested(), "Point.Y", NameCase::kInsensitive), 4);
  Schema schema = make_schema("struct<1: a: optional int, 2: A: optional int, 3: B: optional int>");
  EXPECT_EQ(id_of(schema, "a", NameCase::kInsensitive), 1);
  EXPECT_EQ(id_of(schema, "A", NameCase::kInsensitive), 2);
  EXPECT_EQ(id_of(schema, "b", NameCase::kInsensitive), 3);
  Schema two = make_schema("struct<1: Ab: optional int, 2: aB: optional int>");
  EXPECT_NE(error_of(ErrorKind::kInvalidArgument, [&] { two.find("ab", NameCase::kInsensitive); }).find("ambiguous"),
            std::string::npos);
}

TEST(Schema, ANameThatFitsInManyWaysTakesBoundedTime) {
  TypePtr type = primitive(TypeKind::kInt);
  int32_t id = 2;
  for (int level = 0; level < 40; ++level) {
    type = list(id, struct_({field(id + 1, "element", type)}), true);
    id += 2;
  }
  Schema schema({field(1, "element", type)});
  std::string name = "element";
  for (int i = 0; i < 60; ++i) name += ".element";
  EXPECT_EQ(schema.find(name + ".x"), nullptr);
}

TEST(Schema, RulesOfIdsAndNamesAreChecked) {
  EXPECT_THROW(make_schema("struct<1: a: optional int, 1: b: optional int>"), Error);
  EXPECT_THROW(make_schema("struct<1: a: optional int, 2: l: optional list<1: optional int>>"), Error);
  EXPECT_THROW(make_schema("struct<1: a: optional int, 2: a: optional int>"), Error);
  EXPECT_THROW(make_schema("struct<1: s: optional struct<2: a: optional int, 3: a: optional int>>"), Error);
}

TEST(Schema, RulesOfIdentifierFieldsAreChecked) {
  const char* text =
      "struct<1: r: required long, 2: o: optional long, 3: f: required float, 4: d: required double, 5: s: required "
      "struct<6: x: required int>, 7: os: optional struct<8: x: required int>, 9: l: required list<10: required int>, "
      "11: "
      "m: required map<12: int, 13: required int>>";
  for (int32_t good : {1, 6}) EXPECT_NO_THROW(make_schema(text, {good})) << good;
  for (int32_t bad : {2, 3, 4, 5, 8, 9, 10, 12, 13, 99}) EXPECT_THROW(make_schema(text, {bad}), Error) << bad;
}

TEST(Schema, GoesBothWaysThroughJson) {
  SchemaPtr again = schema_from_json(schema_to_json(nested()));
  EXPECT_TRUE(again->same_fields(nested()));
  EXPECT_EQ(again->schema_id(), 1);
  EXPECT_TRUE(again->is_identifier(3));
  EXPECT_FALSE(again->is_identifier(2));

  json::Value with_extra = json::parse(R"({"type":"struct","schema-id":4,"fields":[],"later":[1]})");
  EXPECT_EQ(schema_to_json(*schema_from_json(with_extra)), with_extra);
  EXPECT_EQ(schema_from_json(json::parse(R"({"type":"struct","fields":[]})"))->schema_id(), 0);
}

TEST(Schema, JsonThatBreaksARuleIsDamageThatNamesTheSchema) {
  std::string text = error_of(ErrorKind::kCorrupt, [] {
    schema_from_json(json::parse(R"({"type":"struct","schema-id":7,"fields":[{"id":1,"name":"a","required":true,)"
                                 R"("type":"int"},{"id":1,"name":"b","required":true,"type":"int"}]})"));
  });
  EXPECT_NE(text.find("schema 7"), std::string::npos) << text;
  EXPECT_NE(text.find("same id 1"), std::string::npos) << text;
  EXPECT_THROW(schema_from_json(json::parse(R"("int")")), CorruptError);
  EXPECT_THROW(
      schema_from_json(json::parse(R"({"type":"list","element-id":1,"element":"int","element-required":true})")),
      CorruptError);
}

TEST(SelectColumns, KeepsTheOrderInWhichColumnsAreNamed) {
  std::vector<std::string> names = {"tags", "id"};
  SchemaPtr selected = select_columns(nested(), names);
  EXPECT_EQ(names_of(*selected->as_struct()), (std::vector<std::string>{"tags", "id"}));
  EXPECT_EQ(selected->schema_id(), 1);
  EXPECT_TRUE(selected->is_identifier(1));
  EXPECT_FALSE(selected->is_identifier(3));
}

TEST(SelectColumns, PrunesNestedFieldsButKeepsWhatIsAroundThem) {
  std::vector<std::string> names = {"point.y", "points.x", "m.z", "id"};
  SchemaPtr selected = select_columns(nested(), names);
  EXPECT_EQ(
      selected->to_string(),
      "table {\n  2: point: required struct<4: y: optional int>\n  5: points: optional list<6: required struct<7: x: "
      "optional int>>\n  9: m: optional map<10: string, 11: optional struct<13: z: optional double>>\n  1: id: "
      "required long\n}");
}

TEST(SelectColumns, NamingAStructKeepsAllOfIt) {
  std::vector<std::string> names = {"point.x", "point"};
  SchemaPtr selected = select_columns(nested(), names);
  EXPECT_EQ(names_of(*selected->find("point")->type), (std::vector<std::string>{"x", "y"}));
}

TEST(SelectColumns, AMapsKeyBringsTheWholeMap) {
  std::vector<std::string> names = {"m.key"};
  EXPECT_TRUE(select_columns(nested(), names)->find("m")->type->equals(*nested().find("m")->type));
}

TEST(SelectColumns, NothingSelectsNothing) {
  EXPECT_TRUE(select_columns(nested(), {})->fields().empty());
}

TEST(SelectColumns, AnUnknownNameIsNotFoundWithAHint) {
  std::vector<std::string> names = {"pionts"};
  std::string text = error_of(ErrorKind::kNotFound, [&] { select_columns(nested(), names); });
  EXPECT_NE(text.find("'pionts'"), std::string::npos);
  EXPECT_NE(text.find("did you mean 'points'"), std::string::npos) << text;
  std::vector<std::string> far = {"qqqqqqqqq"};
  EXPECT_EQ(error_of(ErrorKind::kNotFound, [&] { select_columns(nested(), far); }).find("did you mean"),
            std::string::npos);
}

TEST(SelectFields, KeepsTheOrderOfTheTable) {
  std::vector<int32_t> ids = {14, 4, 1};
  EXPECT_EQ(names_of(*select_fields(nested(), ids)->as_struct()), (std::vector<std::string>{"id", "point", "tags"}));
  std::vector<int32_t> unknown = {99};
  EXPECT_THROW(select_fields(nested(), unknown), Error);
}

}  // namespace
}  // namespace frazil::spec
