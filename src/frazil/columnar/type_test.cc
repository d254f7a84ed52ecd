#include "frazil/columnar/type.h"

#include <gtest/gtest.h>

#include "frazil/base/error.h"

namespace frazil {
namespace {

Field int32_field(std::string name) {
  return {.name = std::move(name), .type = primitive(TypeId::kInt32)};
}

TEST(DataType, PrintsAsArrowUsersKnowIt) {
  const Field required{.name = "b", .type = primitive(TypeId::kUtf8), .nullable = false};
  const std::pair<DataTypePtr, std::string_view> cases[] = {
      {primitive(TypeId::kNull), "null"},
      {primitive(TypeId::kUInt16), "uint16"},
      {primitive(TypeId::kHalfFloat), "halffloat"},
      {time32(TimeUnit::kMilli), "time32[ms]"},
      {time64(TimeUnit::kNano), "time64[ns]"},
      {timestamp(TimeUnit::kMicro), "timestamp[us]"},
      {timestamp(TimeUnit::kMicro, "UTC"), "timestamp[us, UTC]"},
      {duration(TimeUnit::kSecond), "duration[s]"},
      {decimal(9, 2), "decimal128(9, 2)"},
      {decimal(76, -3, TypeId::kDecimal256), "decimal256(76, -3)"},
      {fixed_size_binary(16), "fixed_size_binary[16]"},
      {list(int32_field("item")), "list<item: int32>"},
      {list(required, TypeId::kLargeListView), "large_list_view<b: utf8 not null>"},
      {fixed_size_list(int32_field("x"), 3), "fixed_size_list<x: int32>[3]"},
      {struct_({int32_field("a"), required}), "struct<a: int32, b: utf8 not null>"},
      {map(required, int32_field("v")), "map<utf8, int32>"},
      {map(required, required, true), "map<utf8, utf8 not null, keys_sorted>"},
      {dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)), "dictionary<values=utf8, indices=int8>"},
      {dense_union({int32_field("a"), required}, {7, 2}), "dense_union<a: int32=7, b: utf8 not null=2>"},
      {run_end_encoded(int32_field("run_ends"), required), "run_end_encoded<run_ends: int32, b: utf8 not null>"},
  };
  for (const auto& [type, text] : cases) EXPECT_EQ(type->to_string(), text);
}

TEST(DataType, EqualityLooksAtEveryParameter) {
  const DataTypePtr types[] = {
      primitive(TypeId::kInt32),
      primitive(TypeId::kDate32),
      timestamp(TimeUnit::kMicro),
      timestamp(TimeUnit::kNano),
      timestamp(TimeUnit::kMicro, "UTC"),
      decimal(9, 2),
      decimal(9, 3),
      decimal(10, 2),
      decimal(9, 2, TypeId::kDecimal64),
      fixed_size_binary(3),
      fixed_size_binary(4),
      list(int32_field("a")),
      list(int32_field("b")),
      list({.name = "a", .type = primitive(TypeId::kInt32), .nullable = false}),
      fixed_size_list(int32_field("a"), 2),
      struct_({}),
      struct_({int32_field("a")}),
      struct_({int32_field("a"), int32_field("a")}),
      map(int32_field("key"), int32_field("value")),
      map(int32_field("key"), int32_field("value"), true),
      dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)),
      dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8), true),
      dictionary(primitive(TypeId::kInt16), primitive(TypeId::kUtf8)),
      dense_union({int32_field("a")}, {0}),
      dense_union({int32_field("a")}, {1}),
      sparse_union({int32_field("a")}, {0}),
  };
  for (size_t i = 0; i < std::size(types); ++i) {
    for (size_t j = 0; j < std::size(types); ++j) {
      EXPECT_EQ(types[i]->equals(*types[j]), i == j) << types[i]->to_string() << " and " << types[j]->to_string();
    }
  }
  EXPECT_TRUE(timestamp(TimeUnit::kMicro, "UTC")->equals(*timestamp(TimeUnit::kMicro, "UTC")));
}

TEST(Field, MetadataCountsOnlyWhenAsked) {
  Field plain{.name = "id", .type = fixed_size_binary(16)};
  Field uuid = plain;
  uuid.metadata = {{"k", "v"}, {"ARROW:extension:name", "arrow.uuid"}, {"k", "second"}};
  EXPECT_TRUE(plain.equals(uuid));
  EXPECT_FALSE(plain.equals(uuid, true));
  EXPECT_EQ(uuid.extension_name(), "arrow.uuid");
  EXPECT_EQ(find_metadata(uuid.metadata, "k"), "v");
  EXPECT_EQ(plain.extension_name(), std::nullopt);
  EXPECT_TRUE(list(plain)->equals(*list(uuid)));
  EXPECT_FALSE(list(plain)->equals(*list(uuid), true));
}

TEST(DataType, RefusesParametersThatArrowForbids) {
  auto refused = [](auto make, const char* what) {
    try {
      make();
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << what;
    }
  };
  refused([] { primitive(TypeId::kTimestamp); }, "timestamp without unit");
  refused([] { primitive(static_cast<TypeId>(200)); }, "unknown id");
  refused([] { time32(TimeUnit::kMicro); }, "time32[us]");
  refused([] { time64(TimeUnit::kMilli); }, "time64[ms]");
  refused([] { decimal(0, 0); }, "precision 0");
  refused([] { decimal(39, 0); }, "precision 39 in 128 bits");
  refused([] { decimal(10, 0, TypeId::kDecimal32); }, "precision 10 in 32 bits");
  refused([] { decimal(9, 2'000'000'000); }, "a scale whose text is 2 GB");
  refused([] { decimal(9, 0, TypeId::kInt32); }, "decimal int32");
  refused([] { fixed_size_binary(-1); }, "negative width");
  refused([] { fixed_size_list(int32_field("a"), -1); }, "negative size");
  refused([] { list(int32_field("a"), TypeId::kMap); }, "list that is a map");
  refused([] { list({.name = "a", .type = nullptr}); }, "list of nothing");
  refused([] { map_of_entries(int32_field("entries")); }, "map of integers");
  refused([] { dictionary(primitive(TypeId::kDouble), primitive(TypeId::kUtf8)); }, "double indices");
  refused([] { dense_union({int32_field("a")}, {}); }, "union without ids");
  refused([] { dense_union({int32_field("a"), int32_field("b")}, {1, 1}); }, "repeated id");
  refused([] { sparse_union({int32_field("a")}, {-1}); }, "negative id");
  refused([] { run_end_encoded({.name = "e", .type = primitive(TypeId::kUInt32)}, int32_field("v")); }, "uint ends");
  refused([] { Schema({{.name = "a", .type = nullptr}}); }, "column without type");
}

TEST(DataType, NestsToTheLimitAndNoFurther) {
  DataTypePtr type = primitive(TypeId::kInt8);
  for (int depth = 2; depth <= kMaxTypeDepth; ++depth) type = list({.name = "item", .type = type});
  EXPECT_EQ(type->depth(), kMaxTypeDepth);
  EXPECT_THROW(list({.name = "item", .type = type}), Error);
  EXPECT_THROW(dictionary(primitive(TypeId::kInt8), type), Error);
}

TEST(DataType, WidthsAreThoseOfTheValuesBuffer) {
  EXPECT_EQ(primitive(TypeId::kBool)->byte_width(), 0);
  EXPECT_EQ(primitive(TypeId::kHalfFloat)->byte_width(), 2);
  EXPECT_EQ(primitive(TypeId::kIntervalDayTime)->byte_width(), 8);
  EXPECT_EQ(primitive(TypeId::kIntervalMonthDayNano)->byte_width(), 16);
  EXPECT_EQ(decimal(76, 0, TypeId::kDecimal256)->byte_width(), 32);
  EXPECT_EQ(fixed_size_binary(7)->byte_width(), 7);
  EXPECT_EQ(primitive(TypeId::kUtf8)->byte_width(), 0);
  EXPECT_EQ(dictionary(primitive(TypeId::kUInt16), primitive(TypeId::kUtf8))->byte_width(), 2);
}

TEST(Schema, FindsTheFirstFieldOfAName) {
  Schema schema({int32_field("a"), int32_field("b"), int32_field("a")}, {{"k", "v"}});
  EXPECT_EQ(schema.index_of("a"), 0U);
  EXPECT_EQ(schema.index_of("b"), 1U);
  EXPECT_EQ(schema.index_of("c"), std::nullopt);
  EXPECT_EQ(schema.to_string(), "a: int32\nb: int32\na: int32\n");
  Schema other({int32_field("a"), int32_field("b"), int32_field("a")});
  EXPECT_TRUE(schema.equals(other));
  EXPECT_FALSE(schema.equals(other, true));
}

}  // namespace
}  // namespace frazil
