#include "frazil/predicate/pruning.h"

#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/random_predicates_test.h"

namespace frazil::predicate {
namespace {

class TestSource final : public ColumnStatisticsSource {
 public:
  ColumnStatistics statistics(const BoundColumn& column) override {
    asked.push_back(column.name);
    const auto found = known.find(column.name);
    return found == known.end() ? ColumnStatistics{} : found->second;
  }
  bool may_contain(const BoundColumn& column, const Value& value) override {
    ++probes;
    return !bloom || bloom(column, value);
  }
  ArrayPtr distinct_values(const BoundColumn& column) override {
    const auto found = dictionaries.find(column.name);
    return found == dictionaries.end() ? nullptr : found->second;
  }

  std::map<std::string, ColumnStatistics> known;
  std::function<bool(const BoundColumn&, const Value&)> bloom;
  std::map<std::string, ArrayPtr> dictionaries;
  std::vector<std::string> asked;
  int probes = 0;
};

Pruning prune(std::string_view text, const DataTypePtr& type, const ColumnStatistics& statistics) {
  MemoryPool pool;
  TestSource source;
  source.known["x"] = statistics;
  return may_match(bind_predicate(parse(text), Schema::make({{.name = "x", .type = type}})), source, pool);
}

constexpr Pruning kNo = Pruning::kNoRow;
constexpr Pruning kSome = Pruning::kSomeRows;
constexpr Pruning kAll = Pruning::kAllRows;

void check(const DataTypePtr& type, const ColumnStatistics& statistics,
           std::initializer_list<std::pair<std::string_view, Pruning>> cases) {
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(static_cast<int>(prune(text, type, statistics)), static_cast<int>(expected)) << text;
  }
}

TEST(Pruning, ComparesWithBounds) {
  const ColumnStatistics kStatistics{.lower = int64_t{10}, .upper = int64_t{20}, .row_count = 100, .null_count = 0};
  check(primitive(TypeId::kInt64), kStatistics,
        {{"x = 9", kNo},
         {"x = 10", kSome},
         {"x = 21", kNo},
         {"x = 15", kSome},
         {"x != 9", kAll},
         {"x != 15", kSome},
         {"x < 10", kNo},
         {"x < 11", kSome},
         {"x < 21", kAll},
         {"x <= 9", kNo},
         {"x <= 10", kSome},
         {"x <= 20", kAll},
         {"x > 20", kNo},
         {"x > 19", kSome},
         {"x > 9", kAll},
         {"x >= 21", kNo},
         {"x >= 20", kSome},
         {"x >= 10", kAll},
         {"x IN (1, 2, 30)", kNo},
         {"x IN (1, 12, 30)", kSome},
         {"x NOT IN (1, 2)", kAll},
         {"x NOT IN (1, 12)", kSome},
         {"x IS NULL", kNo},
         {"x IS NOT NULL", kAll},
         {"x > 5 AND x < 30", kAll},
         {"x > 5 AND x < 15", kSome},
         {"x > 5 AND x < 9", kNo},
         {"x < 5 OR x > 30", kNo},
         {"x < 5 OR x > 15", kSome},
         {"x < 5 OR x > 1", kAll},
         {"NOT (x < 10)", kAll},
         {"TRUE", kAll},
         {"FALSE", kNo}});
  const ColumnStatistics kOne{.lower = int64_t{7}, .upper = int64_t{7}, .row_count = 3, .null_count = 0};
  check(primitive(TypeId::kInt64), kOne,
        {{"x = 7", kAll}, {"x != 7", kNo}, {"x IN (7, 8)", kAll}, {"x NOT IN (7, 8)", kNo}, {"x IN (6, 8)", kNo}});
}

TEST(Pruning, ANullIsNeverCertainToMatch) {
  ColumnStatistics statistics{.lower = int64_t{10}, .upper = int64_t{20}, .row_count = 100, .null_count = 1};
  check(primitive(TypeId::kInt64), statistics,
        {{"x < 21", kSome}, {"x < 10", kNo}, {"x IS NULL", kSome}, {"x IS NOT NULL", kSome}, {"x != 5", kSome}});
  statistics.null_count = 100;
  check(primitive(TypeId::kInt64), statistics,
        {{"x < 21", kNo}, {"x != 5", kNo}, {"x NOT IN (1, 2)", kNo}, {"x IS NULL", kAll}, {"x IS NOT NULL", kNo}});
}

// reports.md P16: counts are absent, or say nothing of this column.
TEST(Pruning, P16AbsentCountsAndBoundsAreUnknown) {
  for (const char* text : {"x IS NULL", "x IS NOT NULL", "x = 5", "x != 5", "x < 5", "x >= 5", "x IN (1, 2)",
                           "x NOT IN (1, 2)", "x IS NAN", "x IS NOT NAN"}) {
    EXPECT_EQ(prune(text, primitive(TypeId::kDouble), {}), kSome) << text;
    EXPECT_EQ(prune(text, primitive(TypeId::kDouble), {.row_count = 10}), kSome) << text;
  }
  check(primitive(TypeId::kInt64), {.lower = int64_t{10}, .upper = int64_t{20}},
        {{"x < 21", kSome}, {"x < 10", kNo}, {"x IS NULL", kSome}});
  // Counts that cannot be prove nothing.
  check(primitive(TypeId::kInt64), {.row_count = 10, .null_count = 11}, {{"x = 5", kSome}, {"x IS NOT NULL", kSome}});
}

// reports.md P27.
TEST(Pruning, P27BoundsInTheWrongOrderAreIgnored) {
  const ColumnStatistics swapped{.lower = int64_t{20}, .upper = int64_t{10}, .row_count = 5, .null_count = 0};
  check(primitive(TypeId::kInt64), swapped, {{"x = 15", kSome}, {"x = 50", kSome}, {"x < 5", kSome}});
}

// reports.md P19, interop.md 10: bounds exclude NaN, which is greater than everything.
TEST(Pruning, P19NanIsOutsideTheBounds) {
  ColumnStatistics statistics{.lower = 1.0, .upper = 2.0, .row_count = 10, .null_count = 0};
  check(primitive(TypeId::kDouble), statistics,
        {{"x > 5", kSome},
         {"x >= 5", kSome},
         {"x != 1", kSome},
         {"x NOT IN (1, 2)", kSome},
         {"x < 1", kNo},
         {"x = 5", kNo},
         {"x < 5", kSome},
         {"x > 0", kAll},
         {"x IS NAN", kSome},
         {"x IN (5, DOUBLE 'NaN')", kSome}});
  statistics.nan_count = 0;
  check(primitive(TypeId::kDouble), statistics,
        {{"x > 5", kNo},
         {"x >= 5", kNo},
         {"x != 1", kSome},
         {"x < 5", kAll},
         {"x > 0", kAll},
         {"x IS NAN", kNo},
         {"x IS NOT NAN", kAll},
         {"x IN (5, DOUBLE 'NaN')", kNo}});
  statistics.nan_count = 10;
  check(primitive(TypeId::kDouble), statistics,
        {{"x > 5", kAll}, {"x < 5", kNo}, {"x = 1", kNo}, {"x != 1", kAll}, {"x IS NAN", kAll}, {"x IS NOT NAN", kNo}});
  // One value and perhaps NaN.
  const ColumnStatistics one{.lower = 1.0, .upper = 1.0, .row_count = 10, .null_count = 0};
  check(primitive(TypeId::kDouble), one, {{"x != 1", kSome}, {"x = 1", kSome}});
  // A bound that is NaN counts as absent.
  const ColumnStatistics broken{.lower = 1.0, .upper = std::nan(""), .row_count = 10, .null_count = 0, .nan_count = 0};
  check(primitive(TypeId::kDouble), broken, {{"x > 5", kSome}, {"x < 1", kNo}});
}

// reports.md P20.
TEST(Pruning, P20ZeroBoundsCoverBothZeros) {
  for (const double lower : {-0.0, 0.0}) {
    for (const double upper : {-0.0, 0.0}) {
      const ColumnStatistics zero{.lower = lower, .upper = upper, .row_count = 4, .null_count = 0, .nan_count = 0};
      check(primitive(TypeId::kDouble), zero,
            {{"x = 0", kAll}, {"x = -0.0", kAll}, {"x >= 0", kAll}, {"x < 0", kNo}, {"x IN (-0.0, 5)", kAll}});
    }
  }
}

// reports.md W23: a leaf below a struct counts the struct's nulls; a count of 0 for it would lose rows.
TEST(Pruning, W23NullsOfALeafIncludeThoseOfItsStructs) {
  MemoryPool pool;
  TestSource source;
  source.known["s.d"] = {.lower = 1.0, .upper = 1.0, .row_count = 3, .null_count = 2, .nan_count = 0};
  const SchemaPtr schema =
      Schema::make({{.name = "s", .type = struct_({{.name = "d", .type = primitive(TypeId::kDouble)}})}});
  EXPECT_EQ(may_match(bind_predicate(parse("s.d IS NULL"), schema), source, pool), kSome);
  EXPECT_EQ(may_match(bind_predicate(parse("s.d = 1"), schema), source, pool), kSome);
  EXPECT_EQ(may_match(bind_predicate(parse("s.d = 2"), schema), source, pool), kNo);
  EXPECT_EQ(may_match(bind_predicate(parse("s IS NULL"), schema), source, pool), kSome);
}

TEST(Pruning, TakesCutOffBoundsOfText) {
  // Values "abcd..." to "abcz...", cut to two characters and incremented.
  const ColumnStatistics cut{.lower = std::string("ab"), .upper = std::string("ac"), .row_count = 2, .null_count = 0};
  check(primitive(TypeId::kUtf8), cut,
        {{"x = 'abcd'", kSome},
         {"x = 'aa'", kNo},
         {"x = 'ad'", kNo},
         {"x STARTS WITH 'a'", kAll},
         {"x STARTS WITH 'ab'", kSome},
         {"x STARTS WITH 'abc'", kSome},
         {"x STARTS WITH 'ac'", kSome},
         {"x STARTS WITH 'ad'", kNo},
         {"x STARTS WITH 'aa'", kNo},
         {"x STARTS WITH 'A'", kNo},
         {"x NOT STARTS WITH 'a'", kNo},
         {"x NOT STARTS WITH 'b'", kAll},
         {"x NOT STARTS WITH 'ab'", kSome}});
  const ColumnStatistics half{.lower = std::string("b"), .row_count = 2, .null_count = 0};
  check(primitive(TypeId::kUtf8), half, {{"x STARTS WITH 'a'", kNo}, {"x STARTS WITH 'c'", kSome}, {"x < 'b'", kNo}});
}

TEST(Pruning, AUnitWithoutRowsMatchesNothing) {
  check(primitive(TypeId::kInt64), {.row_count = 0, .null_count = 0},
        {{"x IS NULL", kNo}, {"x IS NOT NULL", kNo}, {"x = 1", kNo}, {"x != 1", kNo}});
}

TEST(Pruning, AsksBloomFiltersForEqualityInsideTheBounds) {
  MemoryPool pool;
  TestSource source;
  source.known["x"] = {.lower = int64_t{0}, .upper = int64_t{100}, .row_count = 9, .null_count = 0};
  source.bloom = [](const BoundColumn&, const Value& value) { return std::get<int64_t>(value) == 42; };
  const SchemaPtr schema = Schema::make({{.name = "x", .type = primitive(TypeId::kInt64)}});
  auto ask = [&](std::string_view text) { return may_match(bind_predicate(parse(text), schema), source, pool); };
  EXPECT_EQ(ask("x = 41"), kNo);
  EXPECT_EQ(ask("x = 42"), kSome);
  EXPECT_EQ(ask("x IN (1, 2, 3)"), kNo);
  EXPECT_EQ(ask("x IN (1, 42)"), kSome);
  source.probes = 0;
  EXPECT_EQ(ask("x IN (-1, 500)"), kNo);
  EXPECT_EQ(ask("x = 500"), kNo);
  EXPECT_EQ(ask("x != 41 AND x < 50 AND x NOT IN (1, 2)"), kSome);
  EXPECT_EQ(source.probes, 0);
  // Long lists are not probed to their end.
  source.known["x"] = {};
  std::vector<Literal> integers;
  for (int64_t i = 0; i < 50'000; ++i) integers.push_back(integer(1'000 + i));
  source.bloom = [](const BoundColumn&, const Value&) { return false; };
  EXPECT_EQ(may_match(bind_predicate(is_in("x", integers), schema), source, pool), kSome);
  EXPECT_EQ(source.probes, static_cast<int>(kMaxProbes));
}

TEST(Pruning, TestsDistinctValues) {
  MemoryPool pool;
  TestSource source;
  source.known["x"] = {.row_count = 9, .null_count = 0};
  source.dictionaries["x"] = make_utf8({"a", "ab", "c"});
  const SchemaPtr schema = Schema::make({{.name = "x", .type = primitive(TypeId::kUtf8)}});
  auto ask = [&](std::string_view text) { return may_match(bind_predicate(parse(text), schema), source, pool); };
  EXPECT_EQ(ask("x = 'b'"), kNo);
  EXPECT_EQ(ask("x = 'a'"), kSome);
  EXPECT_EQ(ask("x < 'd'"), kAll);
  EXPECT_EQ(ask("x LIKE 'b%'"), kNo);
  EXPECT_EQ(ask("x NOT IN ('a', 'ab', 'c')"), kNo);
  source.known["x"].null_count = 1;
  EXPECT_EQ(ask("x < 'd'"), kSome);
  EXPECT_EQ(ask("x IS NULL"), kSome);
}

TEST(Pruning, StopsAtTheFirstDecision) {
  MemoryPool pool;
  TestSource source;
  source.known["a"] = {.lower = int64_t{0}, .upper = int64_t{1}, .row_count = 9, .null_count = 0};
  const SchemaPtr schema = Schema::make(
      {{.name = "a", .type = primitive(TypeId::kInt64)}, {.name = "b", .type = primitive(TypeId::kInt64)}});
  EXPECT_EQ(may_match(bind_predicate(parse("a = 5 AND b = 1"), schema), source, pool), kNo);
  EXPECT_EQ(may_match(bind_predicate(parse("a < 5 OR b = 1"), schema), source, pool), kAll);
  EXPECT_EQ(source.asked, (std::vector<std::string>{"a", "a"}));
}

// ---- Soundness ----

// Statistics of a column as a writer would leave them: true, but with parts missing and text cut off.
ColumnStatistics statistics_of(const RecordBatch& batch, const ColumnName& name, test::RandomPredicates& random) {
  ColumnStatistics out{.row_count = batch.row_count(), .null_count = 0, .nan_count = 0};
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const auto cell = test::find_cell(batch, name, row);
    if (!cell) {
      ++*out.null_count;
      continue;
    }
    if (value_kind(*cell->array->type) == ValueKind::kNone) continue;
    const Value value = *value_at(*cell->array, cell->index);
    if (is_nan(value)) {
      ++*out.nan_count;
      continue;
    }
    if (!out.lower || compare(value, *out.lower) < 0) out.lower = value;
    if (!out.upper || compare(value, *out.upper) > 0) out.upper = value;
  }
  if (out.lower && kind_of(*out.lower) == ValueKind::kBytes && random.coin(2)) {
    auto& lower = std::get<std::string>(*out.lower);
    auto& upper = std::get<std::string>(*out.upper);
    lower.resize(std::min<size_t>(lower.size(), 1));
    if (upper.size() > 1 && static_cast<unsigned char>(upper[0]) < 0x7f) {
      upper.resize(1);
      ++upper[0];
    }
  }
  if (out.lower == Value(0.0) && random.coin(2)) out.lower = Value(random.coin(2) ? -0.0 : 0.0);
  if (random.coin(4)) out.lower.reset();
  if (random.coin(4)) out.upper.reset();
  if (random.coin(4)) out.null_count.reset();
  if (random.coin(3)) out.nan_count.reset();
  if (random.coin(4)) out.row_count.reset();
  return out;
}

ColumnName name_of(const BoundColumn& column) {
  return column_names(parse(column.name + " IS NULL"))[0];
}

class TrueSource final : public ColumnStatisticsSource {
 public:
  TrueSource(const RecordBatch& batch, test::RandomPredicates& random) : batch_(batch), random_(random) {}
  ColumnStatistics statistics(const BoundColumn& column) override {
    return statistics_of(batch_, name_of(column), random_);
  }
  // The truth, or at times true though it is not there.
  bool may_contain(const BoundColumn& column, const Value& value) override {
    const ArrayPtr values = distinct(column);
    for (int64_t i = 0; i < values->length; ++i) {
      if (compare(*value_at(*values, i), value) == 0) return true;
    }
    return random_.coin(3);
  }
  ArrayPtr distinct_values(const BoundColumn& column) override { return random_.coin(2) ? distinct(column) : nullptr; }

 private:
  // Not made distinct, which nothing relies on.
  ArrayPtr distinct(const BoundColumn& column) {
    const ColumnName name = name_of(column);
    std::unique_ptr<ArrayBuilder> builder;
    for (int64_t row = 0; row < batch_.row_count(); ++row) {
      const auto cell = test::find_cell(batch_, name, row);
      if (!cell) continue;
      if (builder == nullptr) builder = make_builder(cell->array->type, pool_);
      builder->append_from(*cell->array, cell->index);
    }
    if (builder != nullptr) return builder->finish();
    return make_null_array(primitive(TypeId::kNull), 0, pool_);
  }

  const RecordBatch& batch_;
  test::RandomPredicates& random_;
  MemoryPool pool_;
};

RC_GTEST_PROP(Pruning, IsNeverWrong, (uint64_t seed)) {
  test::RandomPredicates random(seed);
  const RecordBatch batch = random.batch(random.pick(std::vector<int64_t>{0, 1, 1, 2, 3, 5, 20}));
  MemoryPool pool;
  for (int i = 0; i < 30; ++i) {
    const Predicate predicate = random.predicate(*batch.schema(), 2);
    TrueSource source(batch, random);
    const Pruning pruning = may_match(bind_predicate(predicate, batch.schema()), source, pool);
    int64_t matches = 0;
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      if (test::evaluate_row(predicate, batch, row) == test::Truth::kTrue) ++matches;
    }
    RC_LOG() << predicate.to_text() << "\n" << to_string(batch);
    if (pruning == kNo) RC_ASSERT(matches == 0);
    if (pruning == kAll) RC_ASSERT(matches == batch.row_count());
  }
}

}  // namespace
}  // namespace frazil::predicate
