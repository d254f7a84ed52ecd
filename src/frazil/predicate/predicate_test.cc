#include "frazil/predicate/predicate.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/predicate/parse.h"
#include "frazil/predicate/random_predicates_test.h"

namespace frazil::predicate {
namespace {

bool has_negation(const Predicate& predicate) {
  const auto& form = predicate.node().form;
  const std::vector<Predicate>* operands = nullptr;
  if (const auto* group = std::get_if<Conjunction>(&form)) operands = &group->operands;
  if (const auto* group = std::get_if<Disjunction>(&form)) operands = &group->operands;
  if (operands != nullptr) return std::any_of(operands->begin(), operands->end(), has_negation);
  return std::holds_alternative<Negation>(form);
}

TEST(Predicate, MovesNotIntoTheTests) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"NOT (a = 1 AND b < 2)", "a != 1 OR b >= 2"},
      {"NOT (a = 1 OR NOT b <= 2)", "a != 1 AND b <= 2"},
      {"NOT a IN (1, 2)", "a NOT IN (1, 2)"},
      {"NOT (a IS NULL OR b IS NOT NAN)", "a IS NOT NULL AND b IS NAN"},
      {"NOT a STARTS WITH 'x'", "a NOT STARTS WITH 'x'"},
      {"NOT NOT NOT (a > 1 AND TRUE)", "a <= 1 OR FALSE"},
      // A disjunction that becomes a conjunction joins the one around it.
      {"a = 1 AND NOT (b = 2 OR c = 3)", "a = 1 AND b != 2 AND c != 3"},
  };
  for (const auto& [text, rewritten] : kCases) EXPECT_EQ(rewrite_not(parse(text)).to_text(), rewritten) << text;
}

RC_GTEST_PROP(Predicate, KeepsEveryTruthWhenRewritten, (uint64_t seed)) {
  test::RandomPredicates random(seed);
  const RecordBatch batch = random.batch(20);
  const Predicate predicate = random.predicate(*batch.schema(), 4);
  const Predicate without_not = rewrite_not(predicate);
  const Predicate simple = simplify(predicate);
  RC_ASSERT(!has_negation(without_not));
  RC_ASSERT(simple.node().size <= without_not.node().size);
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const test::Truth expected = test::evaluate_row(predicate, batch, row);
    RC_ASSERT(test::evaluate_row(without_not, batch, row) == expected);
    RC_ASSERT(test::evaluate_row(simple, batch, row) == expected);
    test::Truth all = test::Truth::kTrue;
    for (const Predicate& each : conjuncts(simple)) all = std::min(all, test::evaluate_row(each, batch, row));
    RC_ASSERT(all == expected);
  }
}

TEST(Predicate, FoldsConstantsAndRepetitions) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"a = 1 AND TRUE", "a = 1"},
      {"a = 1 AND FALSE", "FALSE"},
      {"a = 1 OR TRUE", "TRUE"},
      {"a = 1 OR FALSE OR b = 2", "a = 1 OR b = 2"},
      {"NOT (a = 1 AND NOT FALSE)", "a != 1"},
      {"a IN () OR b = 2", "b = 2"},
      {"a NOT IN ()", "TRUE"},
      {"a = 1 AND a = 1", "a = 1"},
      {"TRUE AND NOT FALSE", "TRUE"},
      // Neither is certain where a is null.
      {"a = 1 OR a != 1", "a = 1 OR a != 1"},
  };
  for (const auto& [text, simple] : kCases) EXPECT_EQ(simplify(parse(text)).to_text(), simple) << text;
}

TEST(Predicate, ListsItsColumnsOnce) {
  EXPECT_EQ(column_names(parse("b.c = 1 OR a IS NULL AND NOT (b.c IN (1) OR \"b.c\" IS NAN)")),
            (std::vector<ColumnName>{ColumnName(std::vector<std::string>{"b", "c"}), "a", "b.c"}));
}

TEST(Predicate, MakersBoundDepthAndRefuseNonsense) {
  Predicate nested = is_null("a");
  EXPECT_THROW(
      {
        for (int i = 0; i < 1'000'000; ++i) nested = not_(nested);
      },
      Error);
  EXPECT_EQ(nested.node().depth, kMaxDepth);
  EXPECT_EQ(parse(nested.to_text()), nested);
  EXPECT_THROW(is_null(ColumnName(std::vector<std::string>{})), Error);
  EXPECT_THROW(is_null("\xff"), Error);
  EXPECT_THROW(starts_with("a", "\xff"), Error);
  EXPECT_THROW(compare("a", Comparator::kEqual, Literal(std::string("\xff"))), Error);
  EXPECT_THROW(compare("a", Comparator::kEqual, Number{"1 OR TRUE"}), Error);
  for (const char* text : {"", "-", ".", "1e", "e5", "1.2.3", " 1", "0x1", "1_0", "NaN"})
    EXPECT_THROW(number(text), Error) << text;
  EXPECT_EQ(all_of({}).to_text(), "TRUE");
  EXPECT_EQ(any_of({}).to_text(), "FALSE");
  EXPECT_EQ(Predicate(), always(true));
}

TEST(Predicate, ToldApartByEveryPart) {
  const char* const kTexts[] = {"TRUE",
                                "FALSE",
                                "a = 1",
                                "a = 1.0",
                                "a != 1",
                                "b = 1",
                                "a = '1'",
                                "a IN (1)",
                                "a IN (1, 2)",
                                "a NOT IN (1)",
                                "a IS NULL",
                                "a IS NOT NULL",
                                "a IS NAN",
                                "a STARTS WITH '1'",
                                "a STARTS WITH '2'",
                                "NOT a = 1",
                                "a = 1 AND b = 1",
                                "a = 1 OR b = 1",
                                "b = 1 AND a = 1",
                                "a = DOUBLE '0'",
                                "a = DOUBLE '-0.0'",
                                "a = DATE '1970-01-01'",
                                "a = TIMESTAMP '1970-01-01'",
                                "a = TIMESTAMPTZ '1970-01-01'",
                                "a.b = 1",
                                "\"a.b\" = 1"};
  for (const char* left : kTexts) {
    for (const char* right : kTexts) EXPECT_EQ(parse(left) == parse(right), left == right) << left << " " << right;
  }
  EXPECT_EQ(Double{std::numeric_limits<double>::quiet_NaN()}, Double{-std::numeric_limits<double>::quiet_NaN()});
}

}  // namespace
}  // namespace frazil::predicate
