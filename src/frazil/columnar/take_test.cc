#include "frazil/columnar/take.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

RC_GTEST_PROP(Take, EqualsValueByValueForAnyType, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  DataTypePtr type = random.type();
  ArrayPtr array = random.array(type, 1 + random.below(150));
  if (random.coin(2)) array = random.with_offsets(*array);
  std::vector<uint32_t> positions(static_cast<size_t>(random.below(300)));
  for (uint32_t& position : positions) position = static_cast<uint32_t>(random.below(array->length));
  ArrayPtr taken = take(*array, positions, pool);
  validate_full(*taken);
  auto expected = make_builder(type, pool);
  for (uint32_t position : positions) expected->append_from(*array, position);
  RC_LOG() << type->to_string();
  RC_ASSERT(difference(*taken, *expected->finish(), {.exact_floats = true}) == "");
}

TEST(Take, LeavesOutWhatNullsHide) {
  MemoryPool pool;
  auto lists = std::make_shared<Array>(
      *make_list(list({.name = "item", .type = primitive(TypeId::kInt32)}), {2, 3, 1}, make_int32({1, 2, 3, 4, 5, 6})));
  auto with_null = std::make_shared<Array>(*lists);
  const uint8_t valid = 0b101;
  with_null->buffers[0] = pool.copy(std::as_bytes(std::span(&valid, 1)));
  with_null->null_count = 1;
  const uint32_t positions[] = {2, 1, 0};
  ArrayPtr taken = take(*with_null, positions, pool);
  validate_full(*taken);
  EXPECT_EQ(taken->children[0]->length, 3);
  EXPECT_EQ(taken->null_count, 1);
}

TEST(Take, RefusesRunsThatTheirEndsCannotCount) {
  MemoryPool pool;
  auto builder =
      make_builder(run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                   {.name = "values", .type = primitive(TypeId::kInt32)}),
                   pool);
  builder->as<RunEndBuilder>().values().as<FixedWidthBuilder>().append<int32_t>(7);
  builder->as<RunEndBuilder>().append_run(10);
  ArrayPtr runs = builder->finish();
  std::vector<uint32_t> positions(32'768, 3);
  EXPECT_THROW(take(*runs, positions, pool), Error);
  positions.pop_back();
  EXPECT_EQ(take(*runs, positions, pool)->length, 32'767);
}

}  // namespace
}  // namespace frazil
