#include "frazil/spec/name_mapping.h"

#include <gtest/gtest.h>

#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::type_of;

int32_t id_of(const NameMapping& mapping, std::vector<std::string> path) {
  const MappedField* found = mapping.find(path);
  return found == nullptr || !found->field_id ? -1 : *found->field_id;
}

TEST(NameMapping, TheExampleOfTheSpecReads) {
  const char* text =
      R"([{"field-id":1,"names":["id","record_id"]},{"field-id":2,"names":["data"]},{"field-id":3,"names":["location"],)"
      R"("fields":[{"field-id":4,"names":["latitude","lat"]},{"field-id":5,"names":["longitude","long"]}]}])";
  NameMapping mapping = parse_name_mapping(text);
  EXPECT_EQ(id_of(mapping, {"id"}), 1);
  EXPECT_EQ(id_of(mapping, {"record_id"}), 1);
  EXPECT_EQ(id_of(mapping, {"location", "lat"}), 4);
  EXPECT_EQ(id_of(mapping, {"location", "long"}), 5);
  EXPECT_EQ(id_of(mapping, {"lat"}), -1);
  EXPECT_EQ(id_of(mapping, {"location.lat"}), -1) << "a dot is a letter of a name, not a path";
  EXPECT_EQ(id_of(mapping, {}), -1);
  EXPECT_EQ(json::write(name_mapping_to_json(mapping)), text);
}

TEST(NameMapping, AFieldMayHaveNoIdOrNoNames) {
  NameMapping mapping =
      parse_name_mapping(R"([{"names":["extra"]},{"field-id":2,"names":[]},{"field-id":3,"names":["a.b"]}])");
  ASSERT_NE(mapping.find(std::vector<std::string>{"extra"}), nullptr);
  EXPECT_EQ(mapping.find(std::vector<std::string>{"extra"})->field_id, std::nullopt);
  EXPECT_EQ(id_of(mapping, {"a.b"}), 3);
}

TEST(NameMapping, IsMadeFromASchemaWithElementKeyAndValue) {
  TypePtr type = type_of(
      "struct<1: id: required long, 2: points: optional list<3: optional struct<4: x: optional int>>, 5: m: optional "
      "map<6: string, 7: optional int>>");
  NameMapping mapping = make_name_mapping(Schema({type->fields().begin(), type->fields().end()}));
  EXPECT_EQ(id_of(mapping, {"points", "element", "x"}), 4);
  EXPECT_EQ(id_of(mapping, {"m", "key"}), 6);
  EXPECT_EQ(id_of(mapping, {"m", "value"}), 7);
  EXPECT_EQ(json::write(name_mapping_to_json(parse_name_mapping(json::write(name_mapping_to_json(mapping))))),
            json::write(name_mapping_to_json(mapping)));
}

TEST(NameMapping, WhatIsAmbiguousOrMalformedIsDamage) {
  for (const char* text :
       {R"([{"field-id":1,"names":["a"]},{"field-id":2,"names":["a"]}])", R"([{"field-id":1,"names":["a","a"]}])",
        R"([{"field-id":1,"names":["a"]},{"field-id":1,"names":["b"]}])", R"([{"field-id":1}])", R"({"names":[]})",
        R"([{"field-id":"x","names":["a"]}])", R"([{"names":[1]}])", "[1]", "", "nul"}) {
    EXPECT_THROW(parse_name_mapping(text), CorruptError) << text;
  }
}

TEST(NameMapping, DepthIsBounded) {
  std::string text = "[]";
  for (int i = 0; i < 5000; ++i) text = R"([{"names":[],"fields":)" + text + "}]";
  EXPECT_THROW(parse_name_mapping(text), CorruptError);
}

}  // namespace
}  // namespace frazil::spec
