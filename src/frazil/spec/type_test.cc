#include "frazil/spec/type.h"

#include <gtest/gtest.h>

#include "frazil/spec/literal.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::error_of;
using test::field;
using test::type_of;

TypePtr parsed(std::string_view text) {
  return type_from_json(json::parse(text));
}

TEST(Type, PrimitiveTextsGoBothWays) {
  const char* const texts[] = {
      "unknown",
      "boolean",
      "int",
      "long",
      "float",
      "double",
      "decimal(9, 2)",
      "decimal(38, 38)",
      "decimal(9, -20)",
      "date",
      "time",
      "timestamp",
      "timestamptz",
      "timestamp_ns",
      "timestamptz_ns",
      "string",
      "uuid",
      "fixed[16]",
      "binary",
      "variant",
      "geometry",
      "geometry(srid:4326)",
      "geography",
      "geography(srid:4326)",
      "geography(OGC:CRS84, karney)",
  };
  for (const char* text : texts) {
    TypePtr type = parse_primitive(text);
    EXPECT_EQ(type->to_string(), text);
    EXPECT_TRUE(parse_primitive(type->to_string())->equals(*type)) << text;
    EXPECT_EQ(json::write(type_to_json(*type)), json::quote(text));
  }
}

TEST(Type, SpacesAndCaseDoNotMatter) {
  EXPECT_TRUE(parse_primitive("decimal(9,2)")->equals(*decimal(9, 2)));
  EXPECT_TRUE(parse_primitive(" DECIMAL( 9 , 2 ) ")->equals(*decimal(9, 2)));
  EXPECT_TRUE(parse_primitive("Fixed[ 16 ]")->equals(*fixed(16)));
  EXPECT_TRUE(parse_primitive("geography(srid:4269,KARNEY)")->equals(*geography("srid:4269", "karney")));
  EXPECT_TRUE(parse_primitive("geometry()")->equals(*geometry()));
  EXPECT_EQ(parse_primitive("geometry(srid:3857)")->crs(), "srid:3857") << "the case of a CRS matters";
}

TEST(Type, DefaultsOfGeoTypesAreTheSpecs) {
  EXPECT_EQ(geography()->crs(), "OGC:CRS84");
  EXPECT_EQ(geography()->algorithm(), "spherical");
  EXPECT_TRUE(parse_primitive("geography(OGC:CRS84, spherical)")->equals(*geography()));
}

TEST(Type, MalformedTextsAreErrors) {
  for (const char* text :
       {"decimal", "decimal(9)", "decimal(39, 2)", "decimal(0, 0)", "decimal(9 2)", "decimal[9, 2]", "decimal(9, 2",
        "decimal(99999999999, 2)", "fixed", "fixed[-1]", "fixed(16)", "fixed[a]", "int(4)", "string[4]",
        "geography(a, b)", "fixed[16]x", "decimal(9, 1001)", "fixed[", "geometry[a]"}) {
    EXPECT_THROW(parse_primitive(text), CorruptError) << text;
  }
}

TEST(Type, NamesOfOtherVersionsAreUnsupportedNotDamage) {
  for (const char* text : {"", "struct", "map", "vector(float, 3)", "interval", "(", "timestamp_ps"}) {
    EXPECT_NE(error_of(ErrorKind::kUnsupported, [&] { parse_primitive(text); }).find("1 to 3"), std::string::npos);
  }
}

TEST(Type, GeoSchemaOfIcebergJavaReads) {
  TypePtr type =
      parsed(test::read_file(test::corpora() / "iceberg-metadata/iceberg-go/testdata/geo-schema-java-main.json"));
  ASSERT_EQ(type->fields().size(), 7U);
  EXPECT_EQ(type->find("geog")->type->crs(), "srid:4269");
  EXPECT_EQ(type->find("geog")->type->algorithm(), "karney");
  EXPECT_EQ(type->find("geog_default_algo")->type->algorithm(), "spherical");
  EXPECT_EQ(type->find("geom_default")->type->crs(), "OGC:CRS84");
}

TEST(Type, NestedTypesGoBothWaysThroughJson) {
  TypePtr type = type_of(
      "struct<1: a: required int, 2: tags: optional list<3: required string>, 4: m: optional map<5: string, 6: "
      "optional "
      "struct<7: x: optional decimal(9, 2)>>>");
  EXPECT_TRUE(type_from_json(type_to_json(*type))->equals(*type));
  EXPECT_EQ(type->to_string(),
            "struct<1: a: required int, 2: tags: optional list<3: required string>, 4: m: optional map<5: string, 6: "
            "optional struct<7: x: optional decimal(9, 2)>>>");
  EXPECT_EQ(type->depth(), 4);
}

TEST(Type, DocsDefaultsAndUnknownMembersSurvive) {
  json::Value before = json::parse(
      R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"int","doc":"d","initial-default":7,)"
      R"("write-default":8,"later":{"x":[1.50]}}]})");
  TypePtr type = type_from_json(before);
  EXPECT_EQ(type->fields()[0].doc, "d");
  EXPECT_EQ(*type->fields()[0].initial_default, Literal::int_(7));
  EXPECT_EQ(*type->fields()[0].write_default, Literal::int_(8));
  EXPECT_EQ(type_to_json(*type), before);
}

TEST(Type, M16_ADroppedKeyIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"struct","fields":[{"name":"a","required":true,"type":"int"}]})", "'id'"},
      {R"({"type":"struct","fields":[{"id":1,"required":true,"type":"int"}]})", "'name'"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","type":"int"}]})", "'required'"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":null,"type":"int"}]})", "'required'"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true}]})", "'type'"},
      {R"({"type":"struct"})", "'fields'"},
      {R"({"fields":[]})", "'type'"},
      {R"({"type":"list","element":"int","element-required":true})", "'element-id'"},
      {R"({"type":"list","element-id":1,"element-required":true})", "'element'"},
      {R"({"type":"list","element-id":1,"element":"int"})", "'element-required'"},
      {R"({"type":"map","key":"int","value-id":2,"value":"int","value-required":true})", "'key-id'"},
      {R"({"type":"map","key-id":1,"key":"int","value-id":2,"value":"int"})", "'value-required'"},
  };
  for (const auto& [text, key] : cases) {
    EXPECT_NE(error_of(ErrorKind::kCorrupt, [&] { parsed(text); }).find(key), std::string::npos) << text;
  }
}

TEST(Type, ErrorsNameTheFieldThatTheyAreAbout) {
  std::string text = error_of(ErrorKind::kCorrupt, [] {
    parsed(R"({"type":"struct","fields":[{"id":1,"name":"outer","required":true,"type":{"type":"list","element-id":2,)"
           R"("element-required":true,"element":{"type":"struct","fields":[{"id":3,"name":"inner","required":true,)"
           R"("type":"fixed[-1]"}]}}}]})");
  });
  EXPECT_NE(text.find("inner"), std::string::npos) << text;
  EXPECT_NE(text.find("outer"), std::string::npos) << text;
}

TEST(Type, DefaultsThatTheSpecForbidsAreErrors) {
  auto with_default = [](std::string_view type, std::string_view value) {
    return parsed(R"({"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":)" + std::string(type) +
                  R"(,"initial-default":)" + std::string(value) + "}]}");
  };
  for (const char* type : {R"("unknown")", R"("variant")", R"("geometry")", R"("geography")"}) {
    EXPECT_THROW(with_default(type, R"("x")"), CorruptError) << type;
    EXPECT_EQ(with_default(type, "null")->fields()[0].initial_default, nullptr) << type;
  }
  const char* point = R"({"type":"struct","fields":[{"id":2,"name":"x","required":false,"type":"int"}]})";
  EXPECT_THROW(with_default(point, R"({"2":1})"), CorruptError);
  EXPECT_FALSE(with_default(point, "{}")->fields()[0].initial_default->is_null());
  EXPECT_EQ(json::write(literal_to_json(*with_default(point, "{}")->fields()[0].initial_default)), "{}");
  EXPECT_THROW(with_default(R"("int")", R"("1")"), CorruptError);
}

TEST(Type, AnUnknownColumnMustBeOptional) {
  EXPECT_THROW(parsed(R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"unknown"}]})"),
               CorruptError);
}

TEST(Type, DepthIsBounded) {
  auto nested = [](int lists) {
    std::string text = "\"int\"";
    for (int i = 0; i < lists; ++i) {
      text =
          R"({"type":"list","element-id":)" + std::to_string(i) + R"(,"element-required":true,"element":)" + text + "}";
    }
    return text;
  };
  json::ParseOptions options;
  options.max_depth = 1000;
  EXPECT_EQ(type_from_json(json::parse(nested(kMaxTypeDepth - 1), options))->depth(), kMaxTypeDepth);
  EXPECT_THROW(type_from_json(json::parse(nested(kMaxTypeDepth), options)), CorruptError);
  EXPECT_THROW(type_from_json(json::parse(nested(900), options)), CorruptError);

  TypePtr type = primitive(TypeKind::kInt);
  for (int i = 1; i < kMaxTypeDepth; ++i) type = list(i, type, false);
  EXPECT_THROW(list(1000, type, false), Error);
}

TEST(Type, MakersRefuseWhatTheSpecDoes) {
  EXPECT_THROW(decimal(39, 0), Error);
  EXPECT_THROW(fixed(-1), Error);
  EXPECT_THROW(geography("OGC:CRS84", "flat"), Error);
  EXPECT_THROW(primitive(TypeKind::kDecimal), Error);
  EXPECT_THROW(struct_({field(1, "a", nullptr)}), Error);
}

TEST(Type, V3TypesSaySo) {
  EXPECT_EQ(minimum_format_version(TypeKind::kTimestampNs), 3);
  EXPECT_EQ(minimum_format_version(TypeKind::kUnknown), 3);
  EXPECT_EQ(minimum_format_version(TypeKind::kTimestampTz), 1);
}

}  // namespace
}  // namespace frazil::spec
