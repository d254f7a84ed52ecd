// Predicates: which rows are wanted, as a tree over named columns that knows no schema yet. Made by parse() from text
// or by the makers below; bind_predicate() turns one into a test on typed columns.
//
// A predicate is true, false or unknown for a row (SQL's three-valued logic), and a row is wanted where it is true.
//
//   form               is unknown                true otherwise
//   TRUE, FALSE        never
//   AND, OR, NOT       Kleene: unknown AND false = false, unknown OR true = true, NOT unknown = unknown
//   column op literal  where the column is null  by the order of values below
//   IN, NOT IN         where the column is null  IN (): false everywhere; NOT IN (): true everywhere, for null too
//   IS [NOT] NULL      never
//   IS [NOT] NAN       never                     null is not NaN (as Iceberg Java and Spark have it)
//   [NOT] STARTS WITH  where the column is null  the value begins with these bytes
//
// Order of values: NaN = NaN and NaN is greater than everything; -0.0 = +0.0 (Iceberg Java, Spark, DuckDB; PyIceberg
// over Arrow compares as IEEE 754 does). Text and bytes compare as unsigned bytes; UUIDs too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frazil/base/uuid.h"

namespace frazil::predicate {

// A tree nests at most this deep, so that every recursion over it, its destruction too, is bounded.
inline constexpr uint32_t kMaxDepth = 250;
// Nodes and literals of one tree.
inline constexpr size_t kMaxSize = 2'000'000;

// {"a", "b"} is field b of the struct column a. Parts are names as they are, with any characters.
struct ColumnName {
  std::vector<std::string> parts;

  ColumnName() = default;
  // One part: a name with dots is one column, not a path.
  ColumnName(std::string name) { parts.push_back(std::move(name)); }
  ColumnName(const char* name) : ColumnName(std::string(name)) {}
  explicit ColumnName(std::vector<std::string> names) : parts(std::move(names)) {}
  bool operator==(const ColumnName&) const = default;
  // As parse() reads it: a.b, "a.b", "select".
  std::string to_text() const;
};

// ---- Literals ----

// An exact decimal number of any size, kept as its text until bind_predicate() knows what it is compared with.
//   number := ['-'] (digits ['.' digits*] | '.' digits) [(e|E) [+-] digits]
struct Number {
  std::string text;
  bool operator==(const Number&) const = default;
};
// A binary floating-point number: what programs hand over, and NaN and the infinities. Equal by bits, but every NaN is
// one.
struct Double {
  double value = 0;
  bool operator==(const Double& other) const;
};
struct Binary {
  std::string bytes;
  bool operator==(const Binary&) const = default;
};
struct Date {
  int32_t days = 0;  // since 1970-01-01
  bool operator==(const Date&) const = default;
};
struct Time {
  int64_t nanoseconds = 0;  // since midnight, less than a day
  bool operator==(const Time&) const = default;
};
struct Timestamp {
  int64_t seconds = 0;      // since 1970-01-01T00:00:00, in UTC if has_zone
  int32_t nanoseconds = 0;  // 0..999'999'999, added
  bool has_zone = false;
  bool operator==(const Timestamp&) const = default;
};
using Literal = std::variant<bool, Number, Double, std::string, Binary, Date, Time, Timestamp, Uuid>;

Literal integer(int64_t value);
// Throws Error(kInvalidArgument) unless the text is a number of the grammar; a '+' in front is dropped.
Literal number(std::string_view text);
// As parse() reads it: 14.20, 'it''s', X'00ff', DATE '2026-11-01', DOUBLE 'NaN', ...
std::string to_text(const Literal& literal);

// ---- The tree ----

enum class Comparator : uint8_t { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };
// "=", "!=", "<", ...
std::string_view to_string(Comparator comparator);
// NOT (x < 5) is x >= 5: the order of values is total.
Comparator negated(Comparator comparator);
// 5 < x is x > 5.
Comparator mirrored(Comparator comparator);

struct Node;

// A shared, immutable tree. Cheap to copy.
class Predicate {
 public:
  // TRUE.
  Predicate();
  explicit Predicate(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  const Node& node() const { return *node_; }

  // As parse() reads it, giving an equal tree.
  std::string to_text() const;
  // The same tree: forms, names, literals.
  bool operator==(const Predicate& other) const;

 private:
  std::shared_ptr<const Node> node_;
};

struct Constant {
  bool value = true;
};
// At least two operands, none of them a Conjunction itself.
struct Conjunction {
  std::vector<Predicate> operands;
};
struct Disjunction {
  std::vector<Predicate> operands;
};
struct Negation {
  Predicate operand;
};
struct Comparison {
  ColumnName column;
  Comparator comparator = Comparator::kEqual;
  Literal value;
};
struct InList {
  ColumnName column;
  std::vector<Literal> values;
  bool negated = false;
};
struct IsNull {
  ColumnName column;
  bool negated = false;
};
struct IsNan {
  ColumnName column;
  bool negated = false;
};
struct StartsWith {
  ColumnName column;
  std::string prefix;
  bool negated = false;
};

struct Node {
  std::variant<Constant, Conjunction, Disjunction, Negation, Comparison, InList, IsNull, IsNan, StartsWith> form;
  uint32_t depth = 1;
  size_t size = 1;  // nodes and literals
};

// Makers. All throw Error(kInvalidArgument) beyond kMaxDepth or kMaxSize, for a column without a name, and for text that
// is not UTF-8.
Predicate always(bool value);
// TRUE for none, the operand itself for one. Conjunctions among the operands are spliced in.
Predicate all_of(std::vector<Predicate> operands);
// FALSE for none.
Predicate any_of(std::vector<Predicate> operands);
Predicate not_(Predicate operand);
Predicate compare(ColumnName column, Comparator comparator, Literal value);
Predicate is_in(ColumnName column, std::vector<Literal> values, bool negated = false);
Predicate is_null(ColumnName column, bool negated = false);
Predicate is_nan(ColumnName column, bool negated = false);
Predicate starts_with(ColumnName column, std::string prefix, bool negated = false);

// ---- Rewriting ----

// The same three-valued truth for every row without any Negation: NOT moves to the leaves, each of which has its
// negation in the closed set. O(size).
Predicate rewrite_not(const Predicate& predicate);
// rewrite_not, and constants folded: x AND FALSE = FALSE, x OR FALSE = x; repeated operands are dropped.
Predicate simplify(const Predicate& predicate);
// The operands of a conjunction, or the predicate alone: each may be evaluated on its own, one after the other.
std::vector<Predicate> conjuncts(const Predicate& predicate);
// Every column that it names, each once, in order of appearance.
std::vector<ColumnName> column_names(const Predicate& predicate);

}  // namespace frazil::predicate
