#include "frazil/predicate/parse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/predicate/random_predicates_test.h"

namespace frazil::predicate {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.message();
  }
  return "no error";
}

TEST(Parse, GivesTheTreeThatTheGrammarSays) {
  const struct {
    std::string_view text;
    std::string_view tree;  // to_text()
  } kCases[] = {
      // Comparisons
      {"a = 1", "a = 1"},
      {"a == 1", "a = 1"},
      {"a<>1", "a != 1"},
      {"a != +1", "a != 1"},
      {"a<-5", "a < -5"},
      {"a >= 1.50", "a >= 1.50"},
      {"a > 1e5", "a > 1e5"},
      {"a > -.5E-3", "a > -.5E-3"},
      {"a = 5.", "a = 5."},
      {"5 < a", "a > 5"},
      {"5 >= a", "a <= 5"},
      {"'x' = a", "a = 'x'"},
      {"TRUE = a", "a = TRUE"},
      {"a = false", "a = FALSE"},
      {"\ta\n=\r\n1 ", "a = 1"},
      // Constants and bare columns
      {"true", "TRUE"},
      {"FALSE or TRUE", "FALSE OR TRUE"},
      {"active", "active = TRUE"},
      {"NOT active AND (b)", "NOT active = TRUE AND b = TRUE"},
      // Precedence
      {"a=1 or b=2 and not c=3", "a = 1 OR b = 2 AND NOT c = 3"},
      {"(a=1 or b=2) and c=3", "(a = 1 OR b = 2) AND c = 3"},
      {"not (a=1 and b=2)", "NOT (a = 1 AND b = 2)"},
      {"not a=1 and b=2", "NOT a = 1 AND b = 2"},
      {"not not a=1", "NOT NOT a = 1"},
      {"(a=1 and b=2) and (c=3 and d=4)", "a = 1 AND b = 2 AND c = 3 AND d = 4"},
      {"((((a = 1))))", "a = 1"},
      // BETWEEN keeps its AND
      {"a between 1 and 2 and b = 3", "a >= 1 AND a <= 2 AND b = 3"},
      {"a not between 1 and 2", "a < 1 OR a > 2"},
      {"a between 1 and 2 or b = 3", "a >= 1 AND a <= 2 OR b = 3"},
      // Sets
      {"a in (1, 2,3)", "a IN (1, 2, 3)"},
      {"a NOT IN ('x')", "a NOT IN ('x')"},
      {"a in ()", "a IN ()"},
      {"a in (1, 'x', true, DATE '2026-11-01')", "a IN (1, 'x', TRUE, DATE '2026-11-01')"},
      // NULL, NaN
      {"a is null", "a IS NULL"},
      {"a IS NOT NULL", "a IS NOT NULL"},
      {"a is nan", "a IS NAN"},
      {"nan is not NaN", "nan IS NOT NAN"},
      // Prefixes
      {"a starts with 'x'", "a STARTS WITH 'x'"},
      {"starts not starts with 'x'", "starts NOT STARTS WITH 'x'"},
      {"a like 'abc%'", "a STARTS WITH 'abc'"},
      {"a not like 'abc%'", "a NOT STARTS WITH 'abc'"},
      {"a like 'abc'", "a = 'abc'"},
      {"a not like 'abc'", "a != 'abc'"},
      {"a like '%'", "a STARTS WITH ''"},
      {R"(a like '10\%%')", "a STARTS WITH '10%'"},
      {R"(a like 'a\_b\\%')", R"(a STARTS WITH 'a_b\')"},
      {R"(a like 'a\b%')", R"(a STARTS WITH 'a\b')"},
      {"a like '50!%%' escape '!'", "a STARTS WITH '50%'"},
      {R"(a like 'a\%' escape '')", R"(a STARTS WITH 'a\')"},
      // Strings
      {"a = 'it''s'", "a = 'it''s'"},
      {"a = ''", "a = ''"},
      {"a = '\u65e5\u672c'", "a = '\u65e5\u672c'"},
      {"a = 'line\nbreak'", "a = 'line\nbreak'"},
      // Names
      {"a.b.c = 1", "a.b.c = 1"},
      {"\"a.b\".\"c d\" = 1", "\"a.b\".\"c d\" = 1"},
      {"\"plain\" = 1", "plain = 1"},
      {"\"and\" = 1", "\"and\" = 1"},
      {"\"q\"\"q\" = 1", "\"q\"\"q\" = 1"},
      {"\"\" = 1", "\"\" = 1"},
      {"_x$1 = 1", "_x$1 = 1"},
      {"gr\u00f6\u00dfe > 1", "gr\u00f6\u00dfe > 1"},
      {"a.in = 1", "a.\"in\" = 1"},
      // Names that are types elsewhere
      {"date >= DATE '2026-11-01'", "date >= DATE '2026-11-01'"},
      {"timestamp is null", "timestamp IS NULL"},
      {"x = X'00FF'", "x = X'00ff'"},
      {"uuid = UUID 'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "uuid = UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7'"},
      {"time", "time = TRUE"},
      // Typed literals
      {"a = x ''", "a = X''"},
      {"a = date '-0044-03-15'", "a = DATE '-0044-03-15'"},
      {"a = TIME '22:31'", "a = TIME '22:31:00'"},
      {"a = TIME '22:31:08.000000001'", "a = TIME '22:31:08.000000001'"},
      {"a = TIMESTAMP '2026-11-01'", "a = TIMESTAMP '2026-11-01 00:00:00'"},
      {"a = TIMESTAMP '2026-11-01T12:30:00.5'", "a = TIMESTAMP '2026-11-01 12:30:00.5'"},
      {"a = TIMESTAMP '2026-11-01 12:30:00+02:00'", "a = TIMESTAMP '2026-11-01 10:30:00+00:00'"},
      {"a = TIMESTAMPTZ '2026-11-01 12:30:00'", "a = TIMESTAMP '2026-11-01 12:30:00+00:00'"},
      {"a = timestamp with time zone '2026-11-01 12:30:00Z'", "a = TIMESTAMP '2026-11-01 12:30:00+00:00'"},
      {"a = timestamp without time zone '2026-11-01 12:30'", "a = TIMESTAMP '2026-11-01 12:30:00'"},
      {"a = TIMESTAMP '1969-12-31 23:59:59.999999999'", "a = TIMESTAMP '1969-12-31 23:59:59.999999999'"},
      {"a = TIMESTAMP '+12345-01-01 00:00:00.1Z'", "a = TIMESTAMP '+12345-01-01 00:00:00.1+00:00'"},
      {"a = DOUBLE 'nan'", "a = DOUBLE 'NaN'"},
      {"a = DOUBLE '-inf'", "a = DOUBLE '-Infinity'"},
      {"a = DOUBLE '0.1'", "a = DOUBLE '0.1'"},
      {"a = DOUBLE '-0.0'", "a = DOUBLE '-0.0'"},
  };
  for (const auto& [text, tree] : kCases) {
    Predicate predicate;
    ASSERT_NO_THROW(predicate = parse(text)) << text << "\n" << error_of(text);
    EXPECT_EQ(predicate.to_text(), tree) << text;
    EXPECT_EQ(parse(tree), predicate) << text;
  }
}

// PyIceberg 0.12, expressions/parser.py: what its own tests and documentation write.
TEST(Parse, AcceptsPyIcebergsRowFilters) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"foo == 'data'", "foo = 'data'"},
      {"\"foo\" <> 1.0", "foo != 1.0"},
      {"foo.bar > 10", "foo.bar > 10"},
      {"0 <= foo", "foo >= 0"},
      {"foo in (5, 6, 7)", "foo IN (5, 6, 7)"},
      {"foo IS NOT NAN", "foo IS NOT NAN"},
      {"foo LIKE 'data%'", "foo STARTS WITH 'data'"},
      {"foo NOT LIKE 'data'", "foo != 'data'"},
      {R"(foo LIKE '\%data%')", "foo STARTS WITH '%data'"},
      {"foo between 1 and 3", "foo >= 1 AND foo <= 3"},
      {"not (foo = 1 or bar = 2)", "NOT (foo = 1 OR bar = 2)"},
      {"(id > 5 AND state = 'closed') OR id IS NULL", "id > 5 AND state = 'closed' OR id IS NULL"},
      {"true", "TRUE"},
  };
  for (const auto& [text, tree] : kCases) EXPECT_EQ(parse(text).to_text(), tree) << text;
}

TEST(Parse, PointsAtWhatIsWrong) {
  const struct {
    std::string_view text;
    std::string_view message;
  } kCases[] = {
      {"id >= AND x = 1",
       "predicate, column 7: expected a value, found AND\n"
       "  id >= AND x = 1\n"
       "        ^"},
      {"", "predicate, column 1: expected a test of a column, found the end\n  \n  ^"},
      {"a = 1 b = 2", "predicate, column 7: expected AND, OR or the end, found b\n  a = 1 b = 2\n        ^"},
      {"(a = 1", "predicate, column 7: expected AND, OR or ')', found the end\n  (a = 1\n        ^"},
      {"a = 1)", "predicate, column 6: expected AND, OR or the end, found )\n  a = 1)\n       ^"},
      {"a = 'x", "predicate, column 5: string without its closing '\n  a = 'x\n      ^"},
      {"\"a = 1", "predicate, column 1: quoted name without its closing \"\n  \"a = 1\n  ^"},
      {"a = 1x", "predicate, column 5: not a number: 1x\n  a = 1x\n      ^"},
      {"a = 1.2.3", "predicate, column 5: not a number: 1.2.3\n  a = 1.2.3\n      ^"},
      {"a = 1e", "predicate, column 5: not a number: 1e\n  a = 1e\n      ^"},
      {"a ; b", "predicate, column 3: unexpected character ;\n  a ; b\n    ^"},
      {"a = b",
       "predicate, column 5: expected a value (text stands in single quotes, columns cannot be compared with each "
       "other), found b\n  a = b\n      ^"},
      {"a = NULL",
       "predicate, column 5: nothing is equal to NULL or compares with it: use IS NULL\n  a = NULL\n      ^"},
      {"1 = 2", "predicate, column 5: expected a column, found 2\n  1 = 2\n      ^"},
      {"1", "predicate, column 2: expected a comparison with a column, found the end\n  1\n   ^"},
      {"a IS 5", "predicate, column 6: expected NULL, NAN or NOT, found 5\n  a IS 5\n       ^"},
      {"a IS NOT 5", "predicate, column 10: expected NULL or NAN, found 5\n  a IS NOT 5\n           ^"},
      {"a NOT = 5", "predicate, column 7: expected IN, BETWEEN, LIKE or STARTS WITH, found =\n  a NOT = 5\n        ^"},
      {"a IN 5", "predicate, column 6: expected '(', found 5\n  a IN 5\n       ^"},
      {"a IN (5 6)", "predicate, column 9: expected ',' or ')', found 6\n  a IN (5 6)\n          ^"},
      {"a BETWEEN 5 OR 6", "predicate, column 13: expected AND, found OR\n  a BETWEEN 5 OR 6\n              ^"},
      {"a LIKE 'x%y'",
       "predicate, column 8: LIKE takes '%' at the end of the pattern alone: other places cannot be searched yet\n"
       "  a LIKE 'x%y'\n         ^"},
      {"a LIKE 'x_y%'",
       "predicate, column 8: LIKE takes no wildcard '_': write \\_ for the character\n  a LIKE 'x_y%'\n         ^"},
      {"a = DATE '2026-02-30'",
       "predicate, column 10: expected a date like '2026-11-01', found '2026-02-30'\n  a = DATE '2026-02-30'\n"
       "           ^"},
      {"a = X'0'",
       "predicate, column 6: expected an even number of hexadecimal digits, found '0'\n  a = X'0'\n       ^"},
      {"a = TIMESTAMP 'now'",
       "predicate, column 15: expected a timestamp like '2026-11-01 12:30:00.5' or '2026-11-01T12:30:00+02:00', found "
       "'now'\n  a = TIMESTAMP 'now'\n                ^"},
      {"a. = 1", "predicate, column 4: expected a name, found =\n  a. = 1\n     ^"},
      // Columns count characters, and lines are told apart.
      {"\u65e5\u672c = ?", "predicate, column 6: unexpected character ?\n  \u65e5\u672c = ?\n       ^"},
      {"a = 1\nAND b = ", "predicate, line 2, column 9: expected a value, found the end\n  AND b = \n          ^"},
  };
  for (const auto& [text, message] : kCases) EXPECT_EQ(error_of(text), message) << text;
}

TEST(Parse, ShowsAWindowOfALongText) {
  const std::string text = "a = " + std::string(200, '1') + " ? " + std::string(200, 'b');
  const std::string message = error_of(text);
  EXPECT_LT(message.size(), 400U);
  EXPECT_NE(message.find("column 206: unexpected character ?"), std::string::npos) << message;
  const size_t caret = message.rfind('^') - message.rfind('\n');
  const size_t line = message.find('\n');
  EXPECT_EQ(message[line + caret], '?') << message;
}

TEST(Parse, BoundsDepthAndSize) {
  EXPECT_EQ(parse(std::string(kMaxDepth, '(') + "a=1" + std::string(kMaxDepth, ')')).to_text(), "a = 1");
  EXPECT_NE(error_of(std::string(1'000'000, '(')).find("parentheses nest deeper than 250"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 1'000'000; ++i) nots += "NOT ";
  EXPECT_NE(error_of(nots + "a").find("more than 250 times NOT"), std::string::npos);
  std::string nested = "a";
  for (uint32_t i = 0; i < 200; ++i) nested = "(b OR (NOT " + nested + "))";
  EXPECT_NE(error_of(nested).find("nest"), std::string::npos);
  // Long ones are no deep ones.
  std::string text = "a = 0";
  for (int i = 1; i < 100'000; ++i) text += " OR a = " + std::to_string(i);
  EXPECT_EQ(parse(text).node().depth, 2U);
  EXPECT_EQ(parse(text).node().size, 200'001U);
  std::string path = "a";
  for (int i = 0; i < 1'000; ++i) path += ".a";
  EXPECT_NE(error_of(path).find("more than 250 names"), std::string::npos);
  std::string values = "a IN (1";
  for (int i = 1; i < 2'000'000; ++i) values += ",1";
  EXPECT_NE(error_of(values + ")").find("more than 2000000 tests and values"), std::string::npos);
  EXPECT_NE(error_of(std::string(kMaxTextBytes + 1, ' ')).find("is longer than"), std::string::npos);
}

TEST(Parse, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(error_of("a = '\xff'"), "the predicate is not UTF-8 at byte 5: \\xff'");
  EXPECT_EQ(error_of(std::string_view("a\0 = 1", 6)),
            "predicate, column 2: unexpected character \\x00\n  a  = 1\n   ^");
}

RC_GTEST_PROP(Parse, ReadsWhatToTextWrites, (uint64_t seed)) {
  test::RandomPredicates random(seed);
  const RecordBatch batch = random.batch(0);
  for (int i = 0; i < 20; ++i) {
    const Predicate predicate = random.predicate(*batch.schema(), 5);
    const std::string text = predicate.to_text();
    RC_LOG() << text;
    RC_ASSERT(parse(text) == predicate);
    RC_ASSERT(parse(text).to_text() == text);
  }
}

RC_GTEST_PROP(Parse, ReadsAnyNameAndString, (std::string name, std::string value)) {
  if (!is_valid_utf8(name) || !is_valid_utf8(value)) return;
  const Predicate predicate = all_of({compare(ColumnName(name), Comparator::kEqual, Literal(value)),
                                      starts_with(ColumnName(std::vector<std::string>{name, value}), value)});
  RC_ASSERT(parse(predicate.to_text()) == predicate);
}

// Any text gives a tree or an error that says where.
RC_GTEST_PROP(Parse, SurvivesRandomTokens, (uint64_t seed)) {
  static const std::vector<std::string> kTokens = {
      "a",    "\"b\"", ".",         "=",    "<",    "!=",   "(",       ")",      ",",      "and",         "or",
      "not",  "in",    "is",        "null", "nan",  "like", "between", "starts", "with",   "'x%'",        "1",
      "-1.5", "date",  "timestamp", "time", "zone", "x",    "'00'",    "true",   "escape", "'2026-01-01'"};
  test::RandomPredicates random(seed);
  std::string text;
  for (int64_t i = random.below(14); i >= 0; --i) text += random.pick(kTokens) + (random.coin(5) ? "" : " ");
  try {
    const Predicate predicate = parse(text);
    RC_ASSERT(parse(predicate.to_text()) == predicate);
  } catch (const Error& error) {
    RC_ASSERT(error.message().find("column ") != std::string::npos);
  }
}

}  // namespace
}  // namespace frazil::predicate
