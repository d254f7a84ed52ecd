#include "frazil/predicate/evaluate.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/random_predicates_test.h"

namespace frazil::predicate {
namespace {

using Rows = std::vector<int64_t>;

Rows rows_of(const Selection& selection) {
  Rows rows;
  for (int64_t row = 0; row < selection.row_count(); ++row) {
    if (selection.is_selected(row)) rows.push_back(row);
  }
  EXPECT_EQ(selection.selected_count(), static_cast<int64_t>(rows.size()));
  return rows;
}

Rows select(const RecordBatch& batch, std::string_view text) {
  MemoryPool pool;
  return rows_of(evaluate(bind_predicate(parse(text), batch.schema()), batch, pool));
}

// ---- Against the slow meaning ----

RC_GTEST_PROP(Evaluate, FindsTheRowsOfTheRowByRowMeaning, (uint64_t seed)) {
  test::RandomPredicates random(seed);
  const RecordBatch batch = random.batch(random.pick(std::vector<int64_t>{0, 1, 63, 64, 65, 130, 200}));
  validate_full(batch);
  MemoryPool pool;
  for (int i = 0; i < 10; ++i) {
    const Predicate predicate = random.predicate(*batch.schema());
    const Selection is_true = evaluate(bind_predicate(predicate, batch.schema()), batch, pool);
    const Selection is_false = evaluate(bind_predicate(not_(predicate), batch.schema()), batch, pool);
    Rows some;
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      const test::Truth expected = test::evaluate_row(predicate, batch, row);
      const test::Truth actual = is_true.is_selected(row)    ? test::Truth::kTrue
                                 : is_false.is_selected(row) ? test::Truth::kFalse
                                                             : test::Truth::kUnknown;
      if (expected != actual) {
        RC_LOG() << predicate.to_text() << "\nrow " << row << " of " << to_string(batch.slice(row, 1)) << "expected "
                 << static_cast<int>(expected) << " got " << static_cast<int>(actual);
        RC_FAIL("another truth");
      }
      RC_ASSERT(!(is_true.is_selected(row) && is_false.is_selected(row)));
      if (random.coin(2)) some.push_back(row);
    }
    // Among candidates, and on a slice.
    MutableBuffer words = pool.allocate_zeroed((static_cast<size_t>(batch.row_count()) + 63) / 64 * 8);
    for (int64_t row : some) set_bit(words.as<uint8_t>(), static_cast<size_t>(row));
    const Selection candidates(std::move(words).freeze(), batch.row_count());
    const Selection among = evaluate(bind_predicate(predicate, batch.schema()), batch, candidates, pool);
    const int64_t from = random.below(batch.row_count() + 1);
    const Selection sliced =
        evaluate(bind_predicate(predicate, batch.schema()), batch.slice(from, batch.row_count() - from), pool);
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      RC_ASSERT(among.is_selected(row) == (candidates.is_selected(row) && is_true.is_selected(row)));
      if (row >= from) RC_ASSERT(sliced.is_selected(row - from) == is_true.is_selected(row));
    }
  }
}

// ---- Three-valued logic ----

TEST(Evaluate, ConnectsTruthsAsKleeneDoes) {
  // a and b: true, false, unknown in all nine combinations.
  const std::optional<bool> kTruths[] = {true, false, std::nullopt};
  std::vector<std::optional<bool>> a;
  std::vector<std::optional<bool>> b;
  for (auto x : kTruths) {
    for (auto y : kTruths) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const RecordBatch batch = make_batch({{"a", make_bool(a)}, {"b", make_bool(b)}});
  // Rows: TT TF TU FT FF FU UT UF UU
  EXPECT_EQ(select(batch, "a AND b"), (Rows{0}));
  EXPECT_EQ(select(batch, "NOT (a AND b)"), (Rows{1, 3, 4, 5, 7}));
  EXPECT_EQ(select(batch, "a OR b"), (Rows{0, 1, 2, 3, 6}));
  EXPECT_EQ(select(batch, "NOT (a OR b)"), (Rows{4}));
  EXPECT_EQ(select(batch, "NOT a"), (Rows{3, 4, 5}));
  EXPECT_EQ(select(batch, "NOT NOT a"), (Rows{0, 1, 2}));
  EXPECT_EQ(select(batch, "a != TRUE OR a IS NULL"), (Rows{3, 4, 5, 6, 7, 8}));
}

// reports.md P23: delete where x = 2 and x != 2 both leave the null row.
TEST(Evaluate, P23ComparisonsAreNeverTrueForNull) {
  const RecordBatch batch = make_batch({{"x", make_int64({1, 2, std::nullopt})}});
  EXPECT_EQ(select(batch, "x = 2"), (Rows{1}));
  EXPECT_EQ(select(batch, "x != 2"), (Rows{0}));
  EXPECT_EQ(select(batch, "NOT (x = 2)"), (Rows{0}));
  EXPECT_EQ(select(batch, "x NOT IN (2, 3)"), (Rows{0}));
  EXPECT_EQ(select(batch, "NOT (x IN (2, 3))"), (Rows{0}));
  EXPECT_EQ(select(batch, "NOT (x < 1e30)"), (Rows{}));
  EXPECT_EQ(select(batch, "NOT (x = 1.5)"), (Rows{0, 1}));
}

// reports.md W10: for a column that a file lacks, all rows are null: only IS NULL matches.
TEST(Evaluate, W10ANullColumnMatchesIsNullAlone) {
  MemoryPool pool;
  for (const DataTypePtr& type : {primitive(TypeId::kInt64), primitive(TypeId::kNull), primitive(TypeId::kUtf8View)}) {
    const bool is_text = type->id() == TypeId::kUtf8View;
    const RecordBatch batch = make_batch({{"c", make_null_array(type, 3, pool)}});
    EXPECT_EQ(select(batch, "c IS NULL"), (Rows{0, 1, 2}));
    EXPECT_EQ(select(batch, "c IS NOT NULL"), (Rows{}));
    EXPECT_EQ(select(batch, is_text ? "c = '1'" : "c = 1"), (Rows{}));
    EXPECT_EQ(select(batch, is_text ? "NOT (c = '1')" : "NOT (c = 1)"), (Rows{}));
    EXPECT_EQ(select(batch, "c IN ()"), (Rows{}));
    EXPECT_EQ(select(batch, is_text ? "c NOT IN ('1', '2')" : "c NOT IN (1, 2)"), (Rows{}));
    // Nothing is compared, so nothing is unknown.
    EXPECT_EQ(select(batch, "c NOT IN ()"), (Rows{0, 1, 2}));
  }
}

// reports.md W22: optional s { required a }: rows (null), ({1}).
TEST(Evaluate, W22ARequiredFieldOfANullStructIsNull) {
  const DataTypePtr type = struct_({{.name = "a", .type = primitive(TypeId::kInt64), .nullable = false}});
  const RecordBatch batch = make_batch({{"s", make_struct(type, {make_int64({0, 1})}, {false, true})}});
  EXPECT_EQ(select(batch, "s.a IS NULL"), (Rows{0}));
  EXPECT_EQ(select(batch, "s.a = 0"), (Rows{}));
  EXPECT_EQ(select(batch, "s.a < 5"), (Rows{1}));
  EXPECT_EQ(select(batch, "s IS NULL"), (Rows{0}));
}

// ---- NaN and zeros (interop.md 10) ----

TEST(Evaluate, NanIsEqualToItselfAndGreaterThanEverything) {
  const RecordBatch batch = make_batch({{"x", make_double({NAN, -NAN, INFINITY, 1.0, -INFINITY, std::nullopt})}});
  EXPECT_EQ(select(batch, "x > 1"), (Rows{0, 1, 2}));
  EXPECT_EQ(select(batch, "x >= 1"), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(select(batch, "x < 1"), (Rows{4}));
  EXPECT_EQ(select(batch, "x <= 1"), (Rows{3, 4}));
  EXPECT_EQ(select(batch, "x != 1"), (Rows{0, 1, 2, 4}));
  EXPECT_EQ(select(batch, "NOT (x < 1)"), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(select(batch, "x NOT IN (1, 2)"), (Rows{0, 1, 2, 4}));
  EXPECT_EQ(select(batch, "x = DOUBLE 'NaN'"), (Rows{0, 1}));
  EXPECT_EQ(select(batch, "x != DOUBLE 'NaN'"), (Rows{2, 3, 4}));
  EXPECT_EQ(select(batch, "x < DOUBLE 'NaN'"), (Rows{2, 3, 4}));
  EXPECT_EQ(select(batch, "x <= DOUBLE 'NaN'"), (Rows{0, 1, 2, 3, 4}));
  EXPECT_EQ(select(batch, "x > DOUBLE 'NaN'"), (Rows{}));
  EXPECT_EQ(select(batch, "x IN (1, DOUBLE 'NaN')"), (Rows{0, 1, 3}));
  EXPECT_EQ(select(batch, "x IS NAN"), (Rows{0, 1}));
  EXPECT_EQ(select(batch, "x IS NOT NAN"), (Rows{2, 3, 4, 5}));
  EXPECT_EQ(select(batch, "x >= 1e400"), (Rows{0, 1, 2}));
  EXPECT_EQ(select(batch, "x <= 1e400"), (Rows{3, 4}));
  EXPECT_EQ(select(batch, "x < -1e400"), (Rows{4}));
}

// reports.md P20.
TEST(Evaluate, P20TheZerosAreEqual) {
  const RecordBatch doubles = make_batch({{"d", make_double({-0.0, 0.0, 1.0, -1.0})}});
  EXPECT_EQ(select(doubles, "d = 0"), (Rows{0, 1}));
  EXPECT_EQ(select(doubles, "d = -0.0"), (Rows{0, 1}));
  EXPECT_EQ(select(doubles, "d >= 0"), (Rows{0, 1, 2}));
  EXPECT_EQ(select(doubles, "d < 0"), (Rows{3}));
  EXPECT_EQ(select(doubles, "d IN (0, 7)"), (Rows{0, 1}));
  EXPECT_EQ(select(doubles, "d NOT IN (DOUBLE '-0.0', 7)"), (Rows{2, 3}));
  const RecordBatch halves = make_batch({{"h", make_fixed<uint16_t>(primitive(TypeId::kHalfFloat), {0, 0x8000, 1})}});
  EXPECT_EQ(select(halves, "h = 0"), (Rows{0, 1}));
}

// ---- Layouts ----

TEST(Evaluate, TestsADictionaryOnceAValueAndNeverItsUnusedOnes) {
  const DataTypePtr type = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  // A dictionary with a null and a repeated value.
  const ArrayPtr values = make_utf8({"a", std::nullopt, "b", "a", "unused"});
  const RecordBatch batch = make_batch({{"x", make_dictionary(type, {0, 1, 2, 3, std::nullopt, 2}, values)}});
  EXPECT_EQ(select(batch, "x = 'a'"), (Rows{0, 3}));
  EXPECT_EQ(select(batch, "x != 'a'"), (Rows{2, 5}));
  EXPECT_EQ(select(batch, "x IS NULL"), (Rows{1, 4}));
  EXPECT_EQ(select(batch, "x STARTS WITH 'b'"), (Rows{2, 5}));
}

TEST(Evaluate, ComparesTextAsUnsignedBytes) {
  for (TypeId id : {TypeId::kUtf8, TypeId::kLargeUtf8, TypeId::kUtf8View}) {
    const RecordBatch batch = make_batch(
        {{"x", make_bytes(primitive(id), {"", "a", "abcdefghijklm", "abcdefghijkln", "\u00e9", std::nullopt})}});
    EXPECT_EQ(select(batch, "x > 'z'"), (Rows{4}));
    EXPECT_EQ(select(batch, "x = 'abcdefghijklm'"), (Rows{2}));
    EXPECT_EQ(select(batch, "x != 'abcdefghijklm'"), (Rows{0, 1, 3, 4}));
    EXPECT_EQ(select(batch, "x LIKE 'abcdefghijkl%'"), (Rows{2, 3}));
    EXPECT_EQ(select(batch, "x NOT LIKE 'a%'"), (Rows{0, 4}));
    EXPECT_EQ(select(batch, "x LIKE '%'"), (Rows{0, 1, 2, 3, 4}));
    EXPECT_EQ(select(batch, "x IN ('', 'abcdefghijkln', 'no')"), (Rows{0, 3}));
    EXPECT_EQ(select(batch, "x = ''"), (Rows{0}));
  }
}

TEST(Evaluate, FindsTwoHundredThousandValuesOfIn) {
  // Far apart, so that a hash table holds them; then close together in a bitmap.
  for (const int64_t step : {int64_t{1'000'003}, int64_t{3}}) {
    std::vector<Literal> values;
    for (int64_t i = 0; i < 200'000; ++i) values.push_back(integer((i - 100'000) * step));
    std::vector<std::optional<int64_t>> cells;
    Rows expected;
    for (int64_t i = -2'000; i < 2'000; ++i) {
      cells.emplace_back(i * step + (i % 2));
      if (i % 2 == 0) expected.push_back(i + 2'000);
    }
    const RecordBatch batch = make_batch({{"x", make_int64(cells)}});
    MemoryPool pool;
    EXPECT_EQ(rows_of(evaluate(bind_predicate(is_in("x", std::move(values)), batch.schema()), batch, pool)), expected);
  }
}

TEST(Evaluate, RefusesABatchOfAnotherSchema) {
  const RecordBatch batch = make_batch({{"x", make_int64({1})}});
  const RecordBatch other = make_batch({{"x", make_int32({1})}});
  const RecordBatch wider = make_batch({{"x", make_int64({1})}, {"y", make_int32({1})}});
  MemoryPool pool;
  const BoundPredicate bound = bind_predicate(parse("x = 1"), batch.schema());
  EXPECT_THROW(evaluate(bound, other, pool), Error);
  EXPECT_THROW(evaluate(bound, batch, Selection::all(2, pool), pool), Error);
  EXPECT_EQ(rows_of(evaluate(bound, wider, pool)), (Rows{0}));
  EXPECT_EQ(rows_of(evaluate(bound, batch, Selection::none(1, pool), pool)), (Rows{}));
}

TEST(Evaluate, TakesItsBitmapsFromThePool) {
  std::vector<std::optional<int64_t>> cells(1'000'000, 5);
  const RecordBatch batch = make_batch({{"x", make_int64(cells)}});
  MemoryPool pool;
  const Selection selection =
      evaluate(bind_predicate(parse("x = 5 AND x < 7 AND x IS NOT NULL"), batch.schema()), batch, pool);
  EXPECT_EQ(selection.selected_count(), 1'000'000);
  EXPECT_GE(pool.stats().held_peak_bytes, 125'000U);
  MemoryPool small({.budget_bytes = 64 << 10});
  EXPECT_THROW(evaluate(bind_predicate(parse("x = 5"), batch.schema()), batch, small), MemoryLimitError);
}

}  // namespace
}  // namespace frazil::predicate
