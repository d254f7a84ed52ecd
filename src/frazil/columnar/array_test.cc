#include "frazil/columnar/array.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

TEST(Array, SlicesShareMemoryAndKnowTheirNulls) {
  ArrayPtr array = make_int32({1, std::nullopt, 3, std::nullopt, 5});
  EXPECT_EQ(array->null_count, 2);
  ArrayPtr middle = array->slice(1, 3);
  EXPECT_EQ(to_string(*middle), "[null, 3, null]");
  EXPECT_EQ(middle->buffers[1].data(), array->buffers[1].data());
  EXPECT_EQ(middle->null_count, kUnknownNullCount);
  EXPECT_EQ(middle->count_nulls(), 2);
  EXPECT_EQ(to_string(*middle->slice(1, 2)), "[3, null]");
  EXPECT_EQ(array->slice(5, 0)->length, 0);
  EXPECT_EQ(make_int32({1, 2})->slice(1, 1)->null_count, 0);
  for (auto [from, count] : {std::pair<int64_t, int64_t>{-1, 1}, {0, -1}, {0, 6}, {6, 0}, {3, INT64_MAX}}) {
    EXPECT_THROW((void)array->slice(from, count), Error) << from << ", " << count;
  }
}

TEST(Array, ReadsBytesOfEveryForm) {
  const std::string longer = "longer than twelve bytes";
  for (TypeId id : {TypeId::kUtf8, TypeId::kLargeUtf8, TypeId::kUtf8View, TypeId::kBinary, TypeId::kLargeBinary,
                    TypeId::kBinaryView}) {
    ArrayPtr array = make_bytes(primitive(id), {"x", "", longer, std::nullopt, "twelve bytes"})->slice(1, 4);
    validate_full(*array);
    EXPECT_EQ(array->bytes_value(0), "");
    EXPECT_EQ(array->bytes_value(1), longer);
    EXPECT_TRUE(array->is_null(2));
    EXPECT_EQ(array->bytes_value(3), "twelve bytes");
  }
  EXPECT_EQ(make_bytes(fixed_size_binary(2), {"ab", "cd"})->slice(1, 1)->bytes_value(0), "cd");
  EXPECT_THROW((void)make_int32({1})->bytes_value(0), Error);
}

TEST(Array, ListRangesCountFromTheChildsOffset) {
  DataTypePtr type = list({.name = "item", .type = primitive(TypeId::kInt32)});
  ArrayPtr elements = make_int32({9, 9, 1, 2, 3})->slice(2, 3);
  ArrayPtr array = make_list(type, {2, std::nullopt, 0, 1}, elements);
  validate_full(*array);
  EXPECT_EQ(array->slice(3, 1)->list_range(0), (std::pair<int64_t, int64_t>(2, 1)));
  EXPECT_EQ(to_string(*array), "[[1,2], null, [], [3]]");
}

TEST(Array, TypesWithoutValidityBufferSayWhatIsNull) {
  MemoryPool pool;
  ArrayPtr nulls = make_null_array(primitive(TypeId::kNull), 3, pool);
  EXPECT_TRUE(nulls->is_null(0));
  EXPECT_EQ(nulls->count_nulls(), 3);
  // buffers[0] of a union holds type ids; they must not be read as validity.
  DataTypePtr type = sparse_union({{.name = "a", .type = primitive(TypeId::kInt32)}}, {8});
  ArrayPtr sparse = make_null_array(type, 3, pool);
  EXPECT_TRUE(sparse->is_valid(0));
  EXPECT_EQ(sparse->count_nulls(), 0);
  EXPECT_TRUE(is_logical_null(*sparse, 0));
}

TEST(RecordBatch, HoldsColumnsOfOneLengthAndTheSchemasTypes) {
  RecordBatch batch = make_batch({{"a", make_int32({1, 2, 3})}, {"b", make_utf8({"x", std::nullopt, "z"})}});
  EXPECT_EQ(batch.row_count(), 3);
  EXPECT_EQ(to_string(batch.slice(1, 2)), "a: int32 = [2, 3]\nb: utf8 = [null, \"z\"]\n");
  EXPECT_EQ(batch.buffer_bytes(), 12U + 16U + 2U + 1U);
  SchemaPtr schema = batch.schema();
  EXPECT_THROW(RecordBatch(schema, 2, batch.columns()), Error);
  EXPECT_THROW(RecordBatch(schema, 3, {batch.column(0)}), Error);
  EXPECT_THROW(RecordBatch(schema, 3, {batch.column(1), batch.column(0)}), Error);
  EXPECT_THROW(RecordBatch(schema, 3, {batch.column(0), nullptr}), Error);
  EXPECT_THROW(RecordBatch(nullptr, 0, {}), Error);
  EXPECT_THROW((void)batch.slice(2, 2), Error);
  EXPECT_EQ(RecordBatch(Schema::make({}), 5, {}).slice(1, 3).row_count(), 3);
}

RC_GTEST_PROP(Array, SlicesHoldTheValuesOfTheWhole, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  ArrayPtr whole = random.with_offsets(*random.array(random.type(), random.below(40)));
  validate_full(*whole);
  const int64_t from = random.below(whole->length + 1);
  const int64_t count = random.below(whole->length - from + 1);
  ArrayPtr part = whole->slice(from, count);
  validate_full(*part);
  int64_t nulls = 0;
  for (int64_t i = 0; i < count; ++i) {
    RC_ASSERT(value_to_json(*part, i) == value_to_json(*whole, from + i));
    nulls += part->is_null(i);
  }
  RC_ASSERT(part->count_nulls() == nulls);
}

}  // namespace
}  // namespace frazil
