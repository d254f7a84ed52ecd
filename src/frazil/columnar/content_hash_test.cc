#include "frazil/columnar/content_hash.h"

#include <bit>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/columnar/builders.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

std::string hash_of(std::initializer_list<RecordBatch> batches) {
  ContentHash hash;
  for (const RecordBatch& batch : batches) {
    validate_full(batch);
    hash.add(batch);
  }
  return hash.to_string() + " " + std::to_string(hash.rows());
}

RecordBatch flat_batch() {
  return make_batch({{"i", make_int64({1, std::nullopt, -3})},
                     {"d", make_double({0.0, -0.0, std::bit_cast<double>(uint64_t{0x7FF8000000000001})})},
                     {"s", make_utf8({"", std::nullopt, "row_2"})},
                     {"b", make_bool({true, false, std::nullopt})}});
}

// Expected: tests/content_hash/content_hash.py with pyarrow 26.0.1, which builds the same batches.
TEST(ContentHash, OfFlatColumnsIsTheOneOfAnotherImplementation) {
  EXPECT_EQ(hash_of({flat_batch()}), "2ae455487cf1d1f1 3");
}

TEST(ContentHash, OfNestedColumnsIsTheOneOfAnotherImplementation) {
  const DataTypePtr numbers = list({.name = "item", .type = primitive(TypeId::kInt16)});
  const DataTypePtr pairs = map({.name = "key", .type = primitive(TypeId::kUtf8), .nullable = false},
                                {.name = "value", .type = primitive(TypeId::kInt32)});
  const DataTypePtr points =
      struct_({{.name = "x", .type = primitive(TypeId::kInt32)}, {.name = "y", .type = primitive(TypeId::kUtf8)}});
  const ArrayPtr entries = make_struct(pairs->children()[0].type, {make_utf8({"k", "l"}), make_int32({1, {}})});
  EXPECT_EQ(
      hash_of({make_batch(
          {{"l", make_list(numbers, {2, 0, std::nullopt}, make_fixed<int16_t>(primitive(TypeId::kInt16), {1, {}}))},
           {"m", make_list(pairs, {2, 0, std::nullopt}, entries)},
           {"t", make_struct(points, {make_int32({1, {}, {}}), make_utf8({"a", "", {}})}, {true, true, false})}})}),
      "5cb0e95163b53139 3");
}

// The first rows fill the block of a row to its end and one past it, the third goes past it alone.
TEST(ContentHash, OfRowsLongerThanTheBlockIsTheOneOfAnotherImplementation) {
  EXPECT_EQ(
      hash_of({make_batch({{"s", make_utf8({std::string(2037, 'a'), std::string(2039, 'b'), std::string(5000, 'c')})},
                           {"n", make_int32({1, 2, 3})}})}),
      "b165a0cc368697a7 3");
}

TEST(ContentHash, OfNoRowsIsZero) {
  EXPECT_EQ(hash_of({}), "0000000000000000 0");
  EXPECT_EQ(hash_of({make_batch({{"i", make_int64({})}})}), "0000000000000000 0");
}

TEST(ContentHash, CatchesWhatAWrongEngineDoes) {
  const auto batch = [](const std::vector<std::optional<int64_t>>& ids,
                        const std::vector<std::optional<std::string>>& labels) {
    return make_batch({{"id", make_int64(ids)}, {"label", make_utf8(labels)}});
  };
  const std::string right = hash_of({batch({1, 2, 3}, {"a", "b", "c"})});
  EXPECT_NE(hash_of({batch({1, 2, 4}, {"a", "b", "c"})}), right) << "one value changed";
  EXPECT_NE(hash_of({batch({1, 2, 3}, {"b", "a", "c"})}), right) << "two values of a column swapped between rows";
  EXPECT_NE(hash_of({batch({1, 1, 3}, {"a", "a", "c"})}), right) << "a row twice, another dropped";
  EXPECT_NE(hash_of({batch({1, 2, std::nullopt}, {"a", "b", "c"})}), right) << "a value became null";
  EXPECT_NE(hash_of({batch({1, 2}, {"a", "b"})}), right) << "a row dropped";
  EXPECT_EQ(hash_of({batch({3}, {"c"}), batch({1, 2}, {"a", "b"})}), right) << "the same rows in another order";
}

TEST(ContentHash, TellsTextsAndColumnsApartThatReadTheSameInARow) {
  EXPECT_NE(hash_of({make_batch({{"a", make_utf8({"ab"})}, {"b", make_utf8({"c"})}})}),
            hash_of({make_batch({{"a", make_utf8({"a"})}, {"b", make_utf8({"bc"})}})}));
  EXPECT_NE(hash_of({make_batch({{"a", make_int32({1})}, {"b", make_int32({std::nullopt})}})}),
            hash_of({make_batch({{"a", make_int32({std::nullopt})}, {"b", make_int32({1})}})}));
  EXPECT_NE(hash_of({make_batch({{"a", make_double({0.0})}})}), hash_of({make_batch({{"a", make_double({-0.0})}})}));
}

// A null of a dictionary, by its index or by its value, is a null.
TEST(ContentHash, SeesThroughDictionaries) {
  const DataTypePtr type = dictionary(primitive(TypeId::kUInt8), primitive(TypeId::kLargeUtf8));
  const ArrayPtr values = make_bytes(primitive(TypeId::kLargeUtf8), {"x", std::nullopt, "y"});
  EXPECT_EQ(hash_of({make_batch({{"s", make_dictionary(type, {2, 1, std::nullopt, 0}, values)}})}),
            hash_of({make_batch({{"s", make_utf8({"y", std::nullopt, std::nullopt, "x"})}})}));
}

RC_GTEST_PROP(ContentHash, DependsOnTheRowsAndNotOnTheirOrderOffsetsOrBatches, ()) {
  MemoryPool pool;
  RandomArrays random(*rc::gen::arbitrary<uint64_t>(), pool);
  const DataTypePtr left = random.type();
  const DataTypePtr right = random.type();
  const int64_t rows = random.below(20);
  const RecordBatch batch = make_batch({{"l", random.array(left, rows)}, {"r", random.array(right, rows)}});
  ContentHash whole;
  whole.add(batch);

  const int64_t cut = rows == 0 ? 0 : random.below(rows + 1);
  const RecordBatch moved(batch.schema(), rows,
                          {random.with_offsets(*batch.column(0)), random.with_offsets(*batch.column(1))});
  ContentHash parts;
  for (int64_t r = rows - 1; r >= cut; --r) parts.add(moved.slice(r, 1));
  ContentHash rest;
  rest.add(moved.slice(0, cut));
  parts.add(rest);
  RC_ASSERT(parts.sum() == whole.sum());
  RC_ASSERT(parts.rows() == rows);
}

}  // namespace
}  // namespace frazil
