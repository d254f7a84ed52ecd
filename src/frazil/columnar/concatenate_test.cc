#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

ErrorKind kind_of(auto action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kInternal;
}

TEST(Concatenate, UnifiesDictionaries) {
  MemoryPool pool;
  DataTypePtr type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  ArrayPtr left = make_dictionary(type, {0, 1}, make_utf8({"x", "y"}));
  ArrayPtr right = make_dictionary(type, {2, std::nullopt, 0, 1}, make_utf8({"y", std::nullopt, "z", "unused"}));
  ArrayPtr whole = concatenate(std::vector{left, right}, pool);
  validate_full(*whole);
  EXPECT_EQ(to_string(*whole), "[\"x\", \"y\", \"z\", null, \"y\", null]");
  EXPECT_EQ(to_string(*whole->dictionary), "[\"x\", \"y\", \"z\"]");
  EXPECT_EQ(whole->count_nulls(), 2);
  // The same dictionary stays as it is.
  ArrayPtr same = concatenate(std::vector{left, left->slice(1, 1)}, pool);
  EXPECT_EQ(same->dictionary, left->dictionary);
}

TEST(Concatenate, UnifiesNestedDictionariesBySettingThemBehindEachOther) {
  MemoryPool pool;
  DataTypePtr pair = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}});
  DataTypePtr type = dictionary(primitive(TypeId::kUInt8), pair);
  ArrayPtr left = make_dictionary(type, {0}, make_struct(pair, {make_int32({1})}));
  ArrayPtr right = make_dictionary(type, {1, 0}, make_struct(pair, {make_int32({2, 3})}));
  ArrayPtr whole = concatenate(std::vector{left, right}, pool);
  validate_full(*whole);
  EXPECT_EQ(to_string(*whole), "[{\"a\":1}, {\"a\":3}, {\"a\":2}]");
}

TEST(Concatenate, SaysWhenOffsetsOrIndicesAreFull) {
  MemoryPool pool;
  // 2^31 - 1 bytes that are never touched: one buffer, referred to by many arrays.
  auto big = std::make_shared<Array>(*make_binary({""}));
  const std::vector<int32_t> offsets = {0, 1 << 30};
  big->buffers[1] = Buffer::from_string({reinterpret_cast<const char*>(offsets.data()), 8});
  MutableBuffer data = pool.allocate(1 << 30);
  big->buffers[2] = std::move(data).freeze();
  validate(*big);
  EXPECT_EQ(kind_of([&] { concatenate(std::vector<ArrayPtr>{big, big}, pool); }), ErrorKind::kUnsupported);

  DataTypePtr type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kInt32));
  DictionaryBuilder low(type, pool);
  DictionaryBuilder high(type, pool);
  for (int32_t i = 0; i < 100; ++i) low.append(i);
  for (int32_t i = 28; i < 128; ++i) high.append(i);
  ArrayPtr first = low.finish();
  EXPECT_EQ(concatenate(std::vector{first, high.finish()}, pool)->dictionary->length, 128);
  for (int32_t i = 29; i < 129; ++i) high.append(i);
  ArrayPtr second = high.finish();
  EXPECT_EQ(kind_of([&] { concatenate(std::vector{first, second}, pool); }), ErrorKind::kUnsupported);

  DataTypePtr run_type = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                         {.name = "values", .type = primitive(TypeId::kInt32)});
  RunEndBuilder runs(run_type, pool);
  runs.values().as<FixedWidthBuilder>().append<int32_t>(1);
  runs.append_run(20'000);
  ArrayPtr run = runs.finish();
  EXPECT_EQ(kind_of([&] { concatenate(std::vector{run, run}, pool); }), ErrorKind::kUnsupported);
  EXPECT_EQ(concatenate(std::vector{run, run->slice(5, 12'000)}, pool)->length, 32'000);
}

TEST(Concatenate, RefusesNothingAndDifferentTypes) {
  MemoryPool pool;
  EXPECT_EQ(kind_of([&] { concatenate({}, pool); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([&] { concatenate(std::vector{make_int32({1}), make_int64({1})}, pool); }),
            ErrorKind::kInvalidArgument);
  ArrayPtr only = make_int32({1});
  EXPECT_EQ(concatenate(std::vector{only}, pool), only);
}

RC_GTEST_PROP(Concatenate, JoinsPiecesToTheWhole, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  DataTypePtr type = random.type();
  // Pieces of one array, some of them moved, so that dictionaries and children differ.
  ArrayPtr whole = random.array(type, random.below(60));
  std::vector<ArrayPtr> parts;
  for (int64_t from = 0; from < whole->length || parts.empty();) {
    const int64_t count = random.below(whole->length - from + 1);
    ArrayPtr part = whole->slice(from, count);
    parts.push_back(random.coin(2) ? random.with_offsets(*part) : part);
    from += count;
  }
  ArrayPtr joined = concatenate(parts, pool);
  validate_full(*joined);
  RC_ASSERT(difference(*whole, *joined) == "");
}

TEST(MakeNullArray, MakesNullsOfEveryType) {
  MemoryPool pool;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomArrays random(seed, pool);
    DataTypePtr type = random.type();
    for (int64_t length : {0, 1, 9}) {
      ArrayPtr array = make_null_array(type, length, pool);
      ASSERT_EQ(array->length, length);
      ASSERT_NO_THROW(validate_full(*array)) << type->to_string();
      for (int64_t i = 0; i < length; ++i) ASSERT_TRUE(is_logical_null(*array, i)) << type->to_string();
    }
  }
}

TEST(MakeNullArray, KeepsToItsBudgetAndBounds) {
  MemoryPool pool({.budget_bytes = 1 << 20});
  DataTypePtr wide = fixed_size_list({.name = "item", .type = primitive(TypeId::kInt64)}, 1 << 30);
  EXPECT_EQ(kind_of([&] { make_null_array(wide, 1 << 20, pool); }), ErrorKind::kMemoryLimit);
  EXPECT_EQ(kind_of([&] { make_null_array(wide, INT64_MAX / 2, pool); }), ErrorKind::kMemoryLimit);
  EXPECT_EQ(kind_of([&] { make_null_array(primitive(TypeId::kInt8), -1, pool); }), ErrorKind::kInvalidArgument);
  // A wide struct of nulls takes the memory of its widest child.
  std::vector<Field> fields(1000, {.name = "f", .type = primitive(TypeId::kInt64)});
  EXPECT_EQ(make_null_array(struct_(fields), 10'000, pool)->children.size(), 1000U);
}

}  // namespace
}  // namespace frazil
