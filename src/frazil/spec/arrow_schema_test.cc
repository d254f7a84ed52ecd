#include "frazil/spec/arrow_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/memory/memory_pool.h"
#include "frazil/spec/ddl.h"
#include "frazil/spec/test_support.h"

namespace frazil::spec {
namespace {

using test::field;
using test::type_of;

std::string_view value_of(const Field& field, std::string_view key) {
  return find_metadata(field.metadata, key).value_or("(none)");
}

TEST(ArrowSchema, TypesAreThoseOfPyIceberg) {
  const std::pair<const char*, DataTypePtr> cases[] = {
      {"unknown", frazil::primitive(TypeId::kNull)},
      {"boolean", frazil::primitive(TypeId::kBool)},
      {"int", frazil::primitive(TypeId::kInt32)},
      {"long", frazil::primitive(TypeId::kInt64)},
      {"float", frazil::primitive(TypeId::kFloat)},
      {"double", frazil::primitive(TypeId::kDouble)},
      {"decimal(9, 2)", frazil::decimal(9, 2)},
      {"decimal(38, 10)", frazil::decimal(38, 10)},
      {"date", frazil::primitive(TypeId::kDate32)},
      {"time", frazil::time64(TimeUnit::kMicro)},
      {"timestamp", frazil::timestamp(TimeUnit::kMicro)},
      {"timestamptz", frazil::timestamp(TimeUnit::kMicro, "UTC")},
      {"timestamp_ns", frazil::timestamp(TimeUnit::kNano)},
      {"timestamptz_ns", frazil::timestamp(TimeUnit::kNano, "UTC")},
      {"string", frazil::primitive(TypeId::kUtf8)},
      {"binary", frazil::primitive(TypeId::kBinary)},
      {"uuid", frazil::fixed_size_binary(16)},
      {"fixed[5]", frazil::fixed_size_binary(5)},
      {"geometry", frazil::primitive(TypeId::kBinary)},
      {"geography", frazil::primitive(TypeId::kBinary)},
  };
  for (const auto& [text, arrow] : cases) EXPECT_TRUE(to_arrow_type(*type_of(text))->equals(*arrow)) << text;
}

TEST(ArrowSchema, FieldsCarryIdsDocsAndExtensions) {
  NestedField id = field(1, "id", primitive(TypeKind::kUuid), true);
  id.doc = "who";
  Schema schema({id, field(2, "geom", geometry("srid:4326")), field(3, "geog", geography("", "karney")),
                 field(4, "v", primitive(TypeKind::kVariant)), field(5, "TEST:A 1.b", primitive(TypeKind::kInt))});
  frazil::SchemaPtr arrow = to_arrow_schema(schema);
  ASSERT_EQ(arrow->field_count(), 5U);
  EXPECT_EQ(arrow->field(0).name, "id");
  EXPECT_FALSE(arrow->field(0).nullable);
  EXPECT_TRUE(arrow->field(1).nullable);
  EXPECT_EQ(value_of(arrow->field(0), "PARQUET:field_id"), "1");
  EXPECT_EQ(value_of(arrow->field(0), "doc"), "who");
  EXPECT_EQ(arrow->field(0).extension_name(), "arrow.uuid");
  EXPECT_EQ(arrow->field(1).extension_name(), "geoarrow.wkb");
  EXPECT_EQ(value_of(arrow->field(1), "ARROW:extension:metadata"), R"({"crs":"4326","crs_type":"srid"})");
  EXPECT_EQ(value_of(arrow->field(2), "ARROW:extension:metadata"),
            R"({"crs":"OGC:CRS84","crs_type":"authority_code","edges":"karney"})");
  EXPECT_EQ(arrow->field(3).extension_name(), "arrow.parquet.variant");
  EXPECT_EQ(arrow->field(3).type->to_string(), "struct<metadata: binary not null, value: binary not null>");
  EXPECT_EQ(arrow->field(4).name, "TEST:A 1.b") << "names are kept as they are";
}

TEST(ArrowSchema, NestedFieldsCarryTheirIdsToo) {
  DataTypePtr arrow = to_arrow_type(
      *type_of("struct<1: l: required list<2: required string>, 3: m: optional map<4: string, 5: optional "
               "struct<6: x: required int>>>"));
  const Field& list_field = arrow->children().at(0);
  EXPECT_EQ(value_of(list_field, "PARQUET:field_id"), "1");
  const Field& element = list_field.type->children().at(0);
  EXPECT_EQ(element.name, "element");
  EXPECT_FALSE(element.nullable);
  EXPECT_EQ(value_of(element, "PARQUET:field_id"), "2");
  const Field& entries = arrow->children().at(1).type->children().at(0);
  EXPECT_EQ(entries.type->children().at(0).name, "key");
  EXPECT_FALSE(entries.type->children().at(0).nullable);
  EXPECT_EQ(entries.type->children().at(1).name, "value");
  EXPECT_EQ(value_of(entries.type->children().at(1), "PARQUET:field_id"), "5");
  EXPECT_EQ(value_of(entries.type->children().at(1).type->children().at(0), "PARQUET:field_id"), "6");
}

Literal literal(std::string_view type, std::string_view json_text) {
  return literal_from_json(type_of(type), json::parse(json_text));
}

TEST(ConstantArray, OfEveryTypeRepeatsTheValue) {
  MemoryPool pool;
  const std::pair<const char*, const char*> cases[] = {
      {"boolean", "true"},
      {"boolean", "false"},
      {"int", "-7"},
      {"long", "9223372036854775807"},
      {"float", "0.5"},
      {"double", "-0.25"},
      {"decimal(20, 2)", R"("-123456789012345678.90")"},
      {"date", R"("2003-10-20")"},
      {"time", R"("00:00:00.012345")"},
      {"timestamp", R"("1969-12-31T23:59:59.999999")"},
      {"timestamptz_ns", R"("1970-01-01T00:00:00.000000001+00:00")"},
      {"string", R"("HELLO é")"},
      {"string", R"("")"},
      {"uuid", R"("f79c3e09-677c-4bbd-a479-3f349cb785e7")"},
      {"fixed[5]", R"("010203ff03")"},
      {"binary", R"("0102")"},
      {"list<1: optional int>", "[1, null, 3]"},
      {"list<1: optional string>", "[]"},
      {"map<1: string, 2: optional int>", R"({"keys": ["a", "b"], "values": [1, null]})"},
      {"struct<1: a: optional int, 2: b: optional string>", R"({"1": 5, "2": "x"})"},
      {"list<1: optional struct<2: a: optional int>>", R"([{"2": 1}, null])"},
      {"list<1: optional list<2: optional int>>", "[[1], [], [2, 3]]"},
  };
  for (const auto& [type, text] : cases) {
    for (int64_t length : {0, 1, 2, 7, 8, 9, 64, 1000}) {
      Literal value = literal(type, text);
      ArrayPtr array = make_constant_array(value, length, pool);
      ASSERT_EQ(array->length, length) << type;
      ASSERT_TRUE(array->type->equals(*to_arrow_type(*value.type()))) << type;
      ASSERT_NO_THROW(validate_full(*array)) << type << " " << length;
      if (length == 0) continue;
      EXPECT_EQ(array->count_nulls(), 0) << type;
      ArrayPtr one = make_constant_array(value, 1, pool);
      for (int64_t i : {int64_t{0}, length / 2, length - 1}) {
        EXPECT_EQ(difference(*array->slice(i, 1), *one), "") << type << " at " << i;
      }
    }
  }
}

TEST(SchemaFromArrow, GivesBackEveryIcebergType) {
  const SchemaPtr schema = parse_schema(
      "u unknown, b boolean not null, i int, l long, f float, d double, m decimal(9, 2), y date, t time, s timestamp, "
      "z timestamptz, n timestamp_ns, o timestamptz_ns, x string comment 'a text', g uuid, h fixed[3], c binary, v "
      "variant, "
      "p geometry, q geography(srid:4269, karney), a struct<b: int not null, c: list<string not null>>, "
      "e map<string, struct<f: date>>");
  EXPECT_EQ(schema_from_arrow(*to_arrow_schema(*schema))->to_string(), schema->to_string());
}

TEST(SchemaFromArrow, TakesWhatATypeHoldsWithoutLoss) {
  const auto type_of_column = [](const DataTypePtr& type) {
    return schema_from_arrow(*frazil::Schema::make({{.name = "c", .type = type}}))->fields()[0].type->to_string();
  };
  using frazil::primitive;
  EXPECT_EQ(type_of_column(primitive(TypeId::kInt8)), "int");
  EXPECT_EQ(type_of_column(primitive(TypeId::kUInt16)), "int");
  EXPECT_EQ(type_of_column(primitive(TypeId::kUInt32)), "long");
  EXPECT_EQ(type_of_column(primitive(TypeId::kHalfFloat)), "float");
  EXPECT_EQ(type_of_column(frazil::decimal(30, 3, TypeId::kDecimal256)), "decimal(30, 3)");
  EXPECT_EQ(type_of_column(frazil::timestamp(TimeUnit::kSecond)), "timestamp");
  EXPECT_EQ(type_of_column(frazil::timestamp(TimeUnit::kNano, "Europe/Berlin")), "timestamptz_ns");
  EXPECT_EQ(type_of_column(primitive(TypeId::kUtf8View)), "string");
  EXPECT_EQ(type_of_column(frazil::dictionary(primitive(TypeId::kInt8), primitive(TypeId::kBinary))), "binary");
  EXPECT_EQ(type_of_column(frazil::fixed_size_list({.name = "x", .type = primitive(TypeId::kInt32)}, 3)),
            "list<2: optional int>");
  for (const DataTypePtr& type : {primitive(TypeId::kUInt64), frazil::duration(TimeUnit::kSecond),
                                  frazil::decimal(50, 3, TypeId::kDecimal256), frazil::time64(TimeUnit::kNano)}) {
    try {
      type_of_column(frazil::struct_({{.name = "inner", .type = type}}));
      ADD_FAILURE() << type->to_string();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("in column or field 'inner'; in column or field 'c'"));
    }
  }
}

TEST(ConstantArray, HoldsTheValueItself) {
  MemoryPool pool;
  EXPECT_EQ(make_constant_array(Literal::int_(-7), 3, pool)->values<int32_t>()[2], -7);
  EXPECT_EQ(make_constant_array(Literal::string("ab"), 3, pool)->bytes_value(2), "ab");
  EXPECT_TRUE(make_constant_array(Literal::boolean(true), 9, pool)->bool_value(8));
  EXPECT_FALSE(make_constant_array(Literal::boolean(false), 9, pool)->bool_value(8));
  EXPECT_EQ(make_constant_array(literal("decimal(9, 2)", R"("1.50")"), 2, pool)->values<Int128>()[1], Int128{150});
  ArrayPtr lists = make_constant_array(literal("list<1: optional int>", "[4, 5]"), 3, pool);
  EXPECT_EQ(lists->list_range(2), (std::pair<int64_t, int64_t>{4, 2}));
}

TEST(ConstantArray, OfNullIsAllNullInEveryType) {
  MemoryPool pool;
  for (const char* type : {"unknown", "boolean", "int", "string", "uuid", "variant", "geometry",
                           "list<1: optional int>", "map<1: int, 2: optional int>", "struct<1: a: required int>"}) {
    ArrayPtr array = make_constant_array(Literal::null(type_of(type)), 100, pool);
    EXPECT_EQ(array->count_nulls(), 100) << type;
    EXPECT_NO_THROW(validate(*array)) << type;
  }
}

TEST(ConstantArray, AnEmptyStructTakesItsFieldsOwnDefaults) {
  MemoryPool pool;
  std::vector<NestedField> fields = {field(1, "x", primitive(TypeKind::kInt)),
                                     field(2, "y", primitive(TypeKind::kInt))};
  fields[0].initial_default = std::make_shared<const Literal>(Literal::int_(3));
  ArrayPtr array = make_constant_array(literal_from_json(struct_(fields), json::parse("{}")), 4, pool);
  EXPECT_EQ(array->count_nulls(), 0);
  EXPECT_EQ(array->children.at(0)->values<int32_t>()[3], 3);
  EXPECT_EQ(array->children.at(1)->count_nulls(), 4);
}

TEST(ConstantArray, TooLargeAnArrayIsAnErrorBeforeAnyAllocation) {
  MemoryPool pool;
  EXPECT_THROW(make_constant_array(Literal::string(std::string(1 << 20, 'x')), 1 << 12, pool), Error);
  EXPECT_THROW(make_constant_array(literal("list<1: optional int>", "[1, 2]"), int64_t{1} << 30, pool), Error);
  EXPECT_THROW(make_constant_array(Literal::int_(1), -1, pool), Error);
  EXPECT_EQ(pool.stats().held_peak_bytes >> 20, 0U);
}

}  // namespace
}  // namespace frazil::spec
