#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kNanFloat = std::numeric_limits<float>::quiet_NaN();

TEST(Equals, NansAreEqualAndSoAreTheZeros) {
  EXPECT_TRUE(equals(*make_double({kNan, 0.0}), *make_double({-kNan, -0.0})));
  EXPECT_TRUE(equals(*make_float({kNanFloat, 0.0F}), *make_float({-kNanFloat, -0.0F})));
  auto halves = [](std::vector<std::optional<uint16_t>> bits) {
    return make_fixed(primitive(TypeId::kHalfFloat), bits);
  };
  EXPECT_TRUE(equals(*halves({0x7E00, 0x0000}), *halves({0xFE01, 0x8000})));
  EXPECT_FALSE(equals(*halves({0x7C00}), *halves({0x7E00}))) << "infinity is not NaN";
  EXPECT_FALSE(equals(*halves({0x3C00}), *halves({0xBC00}))) << "1 is not -1";
  const EqualOptions exact{.exact_floats = true};
  EXPECT_TRUE(equals(*make_double({kNan}), *make_double({kNan}), exact));
  EXPECT_FALSE(equals(*make_double({kNan}), *make_double({-kNan}), exact));
  EXPECT_FALSE(equals(*make_double({0.0}), *make_double({-0.0}), exact));
}

TEST(Equals, ValuesUnderNullsDoNotMatter) {
  auto left = std::make_shared<Array>(*make_int32({1, std::nullopt}));
  auto right = std::make_shared<Array>(*left);
  right->buffers[1] = make_int32({1, 77})->buffers[1];
  EXPECT_TRUE(equals(*left, *right));
  EXPECT_FALSE(equals(*left, *make_int32({1, 0})));
  EXPECT_FALSE(equals(*make_int32({1, 0}), *left));
}

TEST(Equals, DictionariesCompareByWhatTheyStandFor) {
  DataTypePtr type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  ArrayPtr left = make_dictionary(type, {0, 1, std::nullopt, 0}, make_utf8({"x", "y"}));
  ArrayPtr right = make_dictionary(type, {2, 0, 1, 2}, make_utf8({"y", std::nullopt, "x"}));
  EXPECT_TRUE(equals(*left, *right)) << difference(*left, *right);
  EXPECT_EQ(difference(*left, *make_dictionary(type, {0, 0, 0, 0}, make_utf8({"x"}))), "[1]: \"y\" != \"x\"");
}

TEST(Equals, RunsCompareByWhatTheyStandFor) {
  MemoryPool pool;
  DataTypePtr type = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                     {.name = "values", .type = primitive(TypeId::kInt32)});
  RunEndBuilder one(type, pool);
  one.values().as<FixedWidthBuilder>().append<int32_t>(5);
  one.append_run(3);
  RunEndBuilder three(type, pool);
  for (int i = 0; i < 3; ++i) {
    three.values().as<FixedWidthBuilder>().append<int32_t>(5);
    three.append_run(1);
  }
  EXPECT_EQ(difference(*one.finish(), *three.finish()), "");
}

TEST(Difference, NamesThePlace) {
  EXPECT_EQ(difference(*make_int32({1, 2}), *make_int32({1, 2})), "");
  EXPECT_EQ(difference(*make_int32({1, 2}), *make_int32({1, std::nullopt})), "[1]: 2 != null");
  EXPECT_EQ(difference(*make_int32({1, 2}), *make_int32({1})), "lengths differ: 2 != 1");
  EXPECT_EQ(difference(*make_int32({1}), *make_int64({1})), "types differ: int32 != int64");
  DataTypePtr inner = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}});
  DataTypePtr type = list({.name = "item", .type = inner});
  auto nested = [&](std::vector<std::optional<int32_t>> values) {
    const auto count = static_cast<int64_t>(values.size());
    return make_list(type, {count}, make_struct(inner, {make_int32(values)}));
  };
  EXPECT_EQ(difference(*nested({1, 2}), *nested({1, 3})), "[0][1].a: 2 != 3");
  EXPECT_EQ(difference(*nested({1, 2}), *nested({1})), "[0]: 2 elements != 1: [{\"a\":1},{\"a\":2}] != [{\"a\":1}]");
  RecordBatch left = make_batch({{"n", make_int32({1})}, {"s", make_utf8({"x"})}});
  RecordBatch right = make_batch({{"n", make_int32({1})}, {"s", make_utf8({"y"})}});
  EXPECT_EQ(difference(left, right), "column 's' [0]: \"x\" != \"y\"");
  EXPECT_FALSE(equals(left, right));
  EXPECT_TRUE(equals(left, left.slice(0, 1)));
  EXPECT_EQ(difference(left, left.slice(0, 0)), "column 'n' lengths differ: 1 != 0");
}

TEST(Equals, MetadataCountsOnlyWhenAsked) {
  Field plain{.name = "a", .type = primitive(TypeId::kInt32)};
  Field marked = plain;
  marked.metadata = {{"k", "v"}};
  ArrayPtr left = make_struct(struct_({plain}), {make_int32({1})});
  ArrayPtr right = make_struct(struct_({marked}), {make_int32({1})});
  EXPECT_TRUE(equals(*left, *right));
  EXPECT_FALSE(equals(*left, *right, {.compare_metadata = true}));
  EXPECT_EQ(difference(*left, *right, {.compare_metadata = true}), "types differ in nested metadata: struct<a: int32>");
}

RC_GTEST_PROP(Equals, OffsetsDoNotMatterAndTextIsEqualToo, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  ArrayPtr array = random.array(random.type(), random.below(30));
  ArrayPtr moved = random.with_offsets(*array);
  validate_full(*moved);
  RC_ASSERT(difference(*array, *moved) == "");
  RC_ASSERT(equals(*array, *moved));
  RC_ASSERT(to_string(*array, 1000) == to_string(*moved, 1000));
}

RC_GTEST_PROP(Equals, FindsOneChangedValue, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  DataTypePtr type = random.type();
  ArrayPtr array = random.array(type, 1 + random.below(20));
  const int64_t place = random.below(array->length);
  auto builder = make_builder(type, pool);
  for (int64_t i = 0; i < array->length; ++i) {
    if (i == place) {
      random.append(*builder);
    } else {
      builder->append_from(*array, i);
    }
  }
  ArrayPtr changed = builder->finish();
  // Texts that differ are values that differ, but for unions: the same text may come from another child.
  if (value_to_json(*array, place) == value_to_json(*changed, place)) return;
  if (value_to_json(*array, place).find("0.0") != std::string::npos) return;  // the zeros are equal
  RC_ASSERT(!equals(*array, *changed));
  RC_ASSERT(difference(*array, *changed).starts_with("[" + std::to_string(place) + "]"));
}

}  // namespace
}  // namespace frazil
