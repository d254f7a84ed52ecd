#include "frazil/spec/write_defaults.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "frazil/spec/literal.h"

namespace frazil::spec {
namespace {

NestedField field(int32_t id, std::string name, TypePtr type, LiteralPtr write_default = nullptr) {
  NestedField result;
  result.id = id;
  result.name = std::move(name);
  result.type = std::move(type);
  result.write_default = std::move(write_default);
  return result;
}

TEST(WriteDefaults, AreAddedAtEveryDepthWhereNothingIsSaid) {
  const TypePtr integer = primitive(TypeKind::kInt);
  const auto point = [&](int32_t id) {
    return struct_(
        {field(id, "x", integer, std::make_shared<const Literal>(Literal::int_(7))), field(id + 1, "y", integer)});
  };
  const Schema schema({
      field(1, "s", primitive(TypeKind::kString), std::make_shared<const Literal>(Literal::string("new"))),
      field(2, "n", integer),
      field(3, "p", point(10)),
      field(4, "l", list(20, point(21), false)),
      field(5, "m", map(30, point(31), 40, point(41), false)),
  });
  EXPECT_TRUE(has_write_defaults(schema));
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", R"({"s":"new"})"},
      {R"({"s":null,"n":1,"p":null,"l":null,"m":null})", R"({"s":null,"n":1,"p":null,"l":null,"m":null})"},
      {R"({"s":"old","p":{"y":1}})", R"({"s":"old","p":{"y":1,"x":7}})"},
      {R"({"s":"","p":{"x":null}})", R"({"s":"","p":{"x":null}})"},
      {R"({"s":"","l":[{},null,{"x":1}]})", R"({"s":"","l":[{"x":7},null,{"x":1}]})"},
      {R"({"s":"","m":{"keys":[{}],"values":[{"y":2}]}})",
       R"({"s":"","m":{"keys":[{"x":7}],"values":[{"y":2,"x":7}]}})"},
      {R"({"s":"","m":{"keys":{},"values":{"x":1}}})", R"({"s":"","m":{"keys":{"x":7},"values":{"x":1}}})"},
      // Left to the reader, which names them.
      {R"({"s":"","p":[1],"l":{"a":1},"m":"x"})", R"({"s":"","p":[1],"l":{"a":1},"m":"x"})"},
  };
  for (const auto& [before, after] : cases) {
    json::Value row = json::parse(before);
    add_write_defaults(row, schema);
    EXPECT_EQ(json::write(row), after) << before;
  }
}

TEST(WriteDefaults, AreFoundBelowListsAndMapsToo) {
  const TypePtr integer = primitive(TypeKind::kInt);
  const TypePtr with = struct_({field(9, "x", integer, std::make_shared<const Literal>(Literal::int_(7)))});
  EXPECT_FALSE(has_write_defaults(Schema({field(1, "a", integer), field(2, "l", list(3, integer, false))})));
  EXPECT_TRUE(has_write_defaults(Schema({field(1, "l", list(2, list(3, with, false), false))})));
  EXPECT_TRUE(has_write_defaults(Schema({field(1, "m", map(2, integer, 3, with, false))})));
}

}  // namespace
}  // namespace frazil::spec
