#include "frazil/columnar/filter.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

// The slow way: value by value through a builder.
ArrayPtr reference(const ArrayPtr& array, const std::vector<bool>& wanted, MemoryPool& pool) {
  auto builder = make_builder(array->type, pool);
  for (int64_t i = 0; i < array->length; ++i) {
    if (wanted[static_cast<size_t>(i)]) builder->append_from(*array, i);
  }
  return builder->finish();
}

std::vector<bool> random_choice(RandomArrays& random, size_t count) {
  // Mean runs from 1 to 40, so that both ways of copying are taken.
  const int64_t run_max = 1 + random.below(40);
  const bool begins_wanted = random.coin(2);
  std::vector<bool> wanted;
  while (wanted.size() < count) {
    wanted.insert(wanted.end(), static_cast<size_t>(1 + random.below(run_max)), begins_wanted != random.coin(2));
  }
  wanted.resize(count);
  return wanted;
}

std::vector<uint8_t> bitmap(const std::vector<bool>& wanted, size_t offset) {
  std::vector<uint8_t> bits(bytes_for_bits(wanted.size() + offset), 0xA5);
  if (bits.empty()) bits.push_back(0);
  for (size_t i = 0; i < wanted.size(); ++i) assign_bit(bits.data(), offset + i, wanted[i]);
  return bits;
}

std::vector<IndexRange> ranges_of(const std::vector<bool>& wanted) {
  std::vector<IndexRange> ranges;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) ranges.push_back({static_cast<int64_t>(i), static_cast<int64_t>(i) + 1});  // they touch
  }
  return ranges;
}

RC_GTEST_PROP(Filter, EqualsTheSlowReferenceForAnyType, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  const DataTypePtr type = random.type();
  const auto count = random.below(200);
  ArrayPtr array = random.array(type, count);
  if (random.coin(2)) array = random.with_offsets(*array);
  const std::vector<bool> wanted = random_choice(random, static_cast<size_t>(count));
  const ArrayPtr expected = reference(array, wanted, pool);
  const ArrayPtr actual = filter(array, bitmap(wanted, 5).data(), 5, pool);
  validate_full(*actual);
  RC_LOG() << type->to_string();
  RC_ASSERT(difference(*expected, *actual, {.exact_floats = true}) == "");
  RC_ASSERT(actual->count_nulls() == expected->count_nulls());
  const ArrayPtr taken = take_ranges(array, ranges_of(wanted), pool);
  validate_full(*taken);
  RC_ASSERT(difference(*expected, *taken, {.exact_floats = true}) == "");
}

TEST(Filter, HandlesEachPlainTypeWithShortAndLongRuns) {
  MemoryPool pool;
  RandomArrays random(7, pool);
  for (int id = 0; id < kTypeIdCount; ++id) {
    DataTypePtr type;
    for (int attempt = 0; attempt < 10'000 && (type == nullptr || static_cast<int>(type->id()) != id); ++attempt) {
      type = random.type(1);
    }
    ASSERT_EQ(static_cast<int>(type->id()), id);
    for (const size_t run : {size_t{1}, size_t{3}, size_t{70}}) {
      const ArrayPtr array = random.array(type, 500);
      std::vector<bool> wanted;
      for (size_t i = 0; i < 500; ++i) wanted.push_back(i / run % 2 == 1);
      const ArrayPtr actual = filter(array, bitmap(wanted, 0).data(), 0, pool);
      validate_full(*actual);
      EXPECT_EQ(difference(*reference(array, wanted, pool), *actual, {.exact_floats = true}), "")
          << type->to_string() << ", runs of " << run;
    }
  }
}

TEST(Filter, SharesWhatItNeedNotCopy) {
  MemoryPool pool;
  const ArrayPtr array = make_int32({1, 2, {}, 4, 5});
  const uint8_t all = 0x1F;
  EXPECT_EQ(filter(array, &all, 0, pool), array);
  const uint8_t middle = 0b01110;
  const ArrayPtr slice = filter(array, &middle, 0, pool);
  EXPECT_EQ(slice->buffers[1].data(), array->buffers[1].data());
  EXPECT_EQ(difference(*slice, *make_int32({2, {}, 4})), "");
  const uint8_t few = 0b00110;
  const ArrayPtr copied = filter(array, &few, 0, pool);
  EXPECT_NE(copied->buffers[1].data(), array->buffers[1].data() + 4) << "two of five do not hold on to the others";
  EXPECT_EQ(difference(*copied, *make_int32({2, {}})), "");
  const uint8_t none = 0xE0;
  EXPECT_EQ(filter(array, &none, 0, pool)->length, 0);

  const ArrayPtr encoded = make_dictionary(frazil::dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8)),
                                           {0, 1, {}, 0}, make_utf8({"a", "b"}));
  const uint8_t first_and_last = 0b1001;
  const ArrayPtr filtered = filter(encoded, &first_and_last, 0, pool);
  EXPECT_EQ(filtered->dictionary, encoded->dictionary);
  EXPECT_EQ(filtered->null_count, 0);
  EXPECT_TRUE(filtered->buffers[0].empty()) << "no validity without nulls";
}

TEST(Filter, FiltersEveryColumnOfABatch) {
  MemoryPool pool;
  const RecordBatch batch = make_batch({{"a", make_int64({1, 2, 3, 4})}, {"b", make_utf8({"x", {}, "yy", "z"})}});
  const uint8_t bits = 0b1010 << 2;
  const RecordBatch expected = make_batch({{"a", make_int64({2, 4})}, {"b", make_utf8({{}, "z"})}});
  EXPECT_EQ(difference(filter(batch, &bits, 2, pool), expected), "");
  const IndexRange ranges[] = {{1, 2}, {3, 4}};
  EXPECT_EQ(difference(take_ranges(batch, ranges, pool), expected), "");
  const RecordBatch no_columns(Schema::make({}), 9, {});
  const IndexRange three[] = {{0, 1}, {5, 7}};
  EXPECT_EQ(take_ranges(no_columns, three, pool).row_count(), 3);
}

TEST(Filter, RefusesRangesThatAreNoneOfTheArray) {
  MemoryPool pool;
  const ArrayPtr array = make_int32({1, 2, 3});
  for (const std::vector<IndexRange>& ranges :
       {std::vector<IndexRange>{{0, 4}}, {{2, 1}}, {{1, 3}, {2, 3}}, {{-1, 1}}, {{5, 5}}}) {
    EXPECT_THROW(take_ranges(array, ranges, pool), Error);
  }
}

TEST(Filter, TakesItsMemoryFromThePool) {
  MemoryPool pool({.budget_bytes = size_t{64} << 10});
  MemoryPool source;
  RandomArrays random(3, source);
  const ArrayPtr array = random.array(primitive(TypeId::kInt64), 100'000);
  std::vector<bool> wanted;
  for (size_t i = 0; i < 100'000; ++i) wanted.push_back(i % 2 == 0);
  EXPECT_THROW(filter(array, bitmap(wanted, 0).data(), 0, pool), MemoryLimitError);
}

}  // namespace
}  // namespace frazil
