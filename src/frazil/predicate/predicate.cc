#include "frazil/predicate/predicate.h"

#include <algorithm>
#include <set>

#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/predicate/literal_text.h"

namespace frazil::predicate {

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

void check_text(std::string_view text, const char* what) {
  if (!is_valid_utf8(text)) throw_error(ErrorKind::kInvalidArgument, "{} is not UTF-8: {}", what, excerpt(text));
}

void check_column(const ColumnName& column) {
  if (column.parts.empty()) throw_error(ErrorKind::kInvalidArgument, "a test without a column");
  for (const std::string& part : column.parts) check_text(part, "column name");
}

void check_literal(const Literal& literal) {
  if (const auto* text = std::get_if<std::string>(&literal)) check_text(*text, "string");
  if (const auto* number = std::get_if<Number>(&literal); number != nullptr && !is_number(number->text)) {
    throw_error(ErrorKind::kInvalidArgument, "not a number: '{}'", excerpt(number->text));
  }
}

Predicate make(Node node) {
  if (node.depth > kMaxDepth) throw_error(ErrorKind::kInvalidArgument, "predicate nests deeper than {}", kMaxDepth);
  if (node.size > kMaxSize) {
    throw_error(ErrorKind::kInvalidArgument, "predicate has more than {} tests and values", kMaxSize);
  }
  return Predicate(std::make_shared<const Node>(std::move(node)));
}

template <typename Form>
Predicate make_group(std::vector<Predicate> operands) {
  std::vector<Predicate> flat;
  flat.reserve(operands.size());
  Node node;
  for (Predicate& operand : operands) {
    if (const auto* group = std::get_if<Form>(&operand.node().form)) {
      flat.insert(flat.end(), group->operands.begin(), group->operands.end());
    } else {
      flat.push_back(std::move(operand));
    }
  }
  for (const Predicate& operand : flat) {
    node.depth = std::max(node.depth, operand.node().depth + 1);
    node.size += operand.node().size;
  }
  node.form = Form{std::move(flat)};
  return make(std::move(node));
}

// How tightly the text of a form holds together: an operand that binds weaker than its parent needs parentheses.
enum Binding { kOr, kAnd, kNot, kPrimary };

Binding binding(const Predicate& predicate) {
  return std::visit(Overloaded{[](const Disjunction&) { return kOr; }, [](const Conjunction&) { return kAnd; },
                               [](const Negation&) { return kNot; }, [](const auto&) { return kPrimary; }},
                    predicate.node().form);
}

void append(std::string& out, const Predicate& predicate, Binding at_least);

void append_group(std::string& out, const std::vector<Predicate>& operands, std::string_view word, Binding at_least) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0) out += word;
    append(out, operands[i], at_least);
  }
}

struct AppendText {
  std::string& out;

  void operator()(const Constant& form) const { out += form.value ? "TRUE" : "FALSE"; }
  void operator()(const Conjunction& form) const { append_group(out, form.operands, " AND ", kNot); }
  void operator()(const Disjunction& form) const { append_group(out, form.operands, " OR ", kAnd); }
  void operator()(const Negation& form) const {
    out += "NOT ";
    append(out, form.operand, kNot);
  }
  void operator()(const Comparison& form) const {
    out += form.column.to_text();
    out += ' ';
    out += to_string(form.comparator);
    out += ' ';
    out += predicate::to_text(form.value);
  }
  void operator()(const InList& form) const {
    out += form.column.to_text();
    out += form.negated ? " NOT IN (" : " IN (";
    for (size_t i = 0; i < form.values.size(); ++i) {
      if (i != 0) out += ", ";
      out += predicate::to_text(form.values[i]);
    }
    out += ')';
  }
  void operator()(const IsNull& form) const {
    out += form.column.to_text();
    out += form.negated ? " IS NOT NULL" : " IS NULL";
  }
  void operator()(const IsNan& form) const {
    out += form.column.to_text();
    out += form.negated ? " IS NOT NAN" : " IS NAN";
  }
  void operator()(const StartsWith& form) const {
    out += form.column.to_text();
    out += form.negated ? " NOT STARTS WITH " : " STARTS WITH ";
    out += predicate::to_text(Literal(form.prefix));
  }
};

void append(std::string& out, const Predicate& predicate, Binding at_least) {
  const bool parentheses = binding(predicate) < at_least;
  if (parentheses) out += '(';
  std::visit(AppendText{out}, predicate.node().form);
  if (parentheses) out += ')';
}

struct SameForm {
  bool operator()(const Constant& left, const Constant& right) const { return left.value == right.value; }
  bool operator()(const Conjunction& left, const Conjunction& right) const { return left.operands == right.operands; }
  bool operator()(const Disjunction& left, const Disjunction& right) const { return left.operands == right.operands; }
  bool operator()(const Negation& left, const Negation& right) const { return left.operand == right.operand; }
  bool operator()(const Comparison& left, const Comparison& right) const {
    return left.column == right.column && left.comparator == right.comparator && left.value == right.value;
  }
  bool operator()(const InList& left, const InList& right) const {
    return left.column == right.column && left.negated == right.negated && left.values == right.values;
  }
  bool operator()(const IsNull& left, const IsNull& right) const {
    return left.column == right.column && left.negated == right.negated;
  }
  bool operator()(const IsNan& left, const IsNan& right) const {
    return left.column == right.column && left.negated == right.negated;
  }
  bool operator()(const StartsWith& left, const StartsWith& right) const {
    return left.column == right.column && left.negated == right.negated && left.prefix == right.prefix;
  }
  template <typename Left, typename Right>
  bool operator()(const Left&, const Right&) const {
    return false;
  }
};

Predicate push_not(const Predicate& predicate, bool negate);

std::vector<Predicate> push_not(const std::vector<Predicate>& operands, bool negate) {
  std::vector<Predicate> out;
  out.reserve(operands.size());
  for (const Predicate& operand : operands) out.push_back(push_not(operand, negate));
  return out;
}

// Kleene's logic keeps De Morgan's laws, and each test's negation is unknown exactly where the test is.
Predicate push_not(const Predicate& predicate, bool negate) {
  return std::visit(
      Overloaded{
          [&](const Conjunction& form) {
            return negate ? any_of(push_not(form.operands, true)) : all_of(push_not(form.operands, false));
          },
          [&](const Disjunction& form) {
            return negate ? all_of(push_not(form.operands, true)) : any_of(push_not(form.operands, false));
          },
          [&](const Negation& form) { return push_not(form.operand, !negate); },
          [&](const Constant& form) { return negate ? always(!form.value) : predicate; },
          [&](const Comparison& form) {
            return negate ? compare(form.column, negated(form.comparator), form.value) : predicate;
          },
          [&](const InList& form) { return negate ? is_in(form.column, form.values, !form.negated) : predicate; },
          [&](const IsNull& form) { return negate ? is_null(form.column, !form.negated) : predicate; },
          [&](const IsNan& form) { return negate ? is_nan(form.column, !form.negated) : predicate; },
          [&](const StartsWith& form) {
            return negate ? starts_with(form.column, form.prefix, !form.negated) : predicate;
          }},
      predicate.node().form);
}

const bool* constant(const Predicate& predicate) {
  const auto* form = std::get_if<Constant>(&predicate.node().form);
  return form == nullptr ? nullptr : &form->value;
}

// `absorbing` decides alone (FALSE in AND); its opposite says nothing.
std::vector<Predicate> fold(const std::vector<Predicate>& operands, bool absorbing);

Predicate fold(const Predicate& predicate) {
  if (const auto* form = std::get_if<Conjunction>(&predicate.node().form)) return all_of(fold(form->operands, false));
  if (const auto* form = std::get_if<Disjunction>(&predicate.node().form)) return any_of(fold(form->operands, true));
  if (const auto* form = std::get_if<InList>(&predicate.node().form); form != nullptr && form->values.empty()) {
    return always(form->negated);
  }
  return predicate;
}

// Repeated operands are looked for among this many: enough for people, and programs with longer lists pay nothing.
constexpr size_t kRepeatsMax = 32;

std::vector<Predicate> fold(const std::vector<Predicate>& operands, bool absorbing) {
  std::vector<Predicate> out;
  for (const Predicate& operand : operands) {
    Predicate folded = fold(operand);
    if (const bool* value = constant(folded)) {
      if (*value == absorbing) return {std::move(folded)};
    } else if (out.size() > kRepeatsMax || std::find(out.begin(), out.end(), folded) == out.end()) {
      out.push_back(std::move(folded));
    }
  }
  return out;
}

using SeenNames = std::set<std::vector<std::string>>;

void collect_columns(const Predicate& predicate, SeenNames& seen, std::vector<ColumnName>& names) {
  auto collect_all = [&](const std::vector<Predicate>& operands) {
    for (const Predicate& operand : operands) collect_columns(operand, seen, names);
  };
  std::visit(Overloaded{[](const Constant&) {}, [&](const Conjunction& form) { collect_all(form.operands); },
                        [&](const Disjunction& form) { collect_all(form.operands); },
                        [&](const Negation& form) { collect_columns(form.operand, seen, names); },
                        [&](const auto& form) {
                          if (seen.insert(form.column.parts).second) names.push_back(form.column);
                        }},
             predicate.node().form);
}

}  // namespace

std::string_view to_string(Comparator comparator) {
  constexpr std::string_view kNames[] = {"=", "!=", "<", "<=", ">", ">="};
  return kNames[static_cast<size_t>(comparator)];
}

Comparator negated(Comparator comparator) {
  constexpr Comparator kNegated[] = {Comparator::kNotEqual, Comparator::kEqual,       Comparator::kGreaterOrEqual,
                                     Comparator::kGreater,  Comparator::kLessOrEqual, Comparator::kLess};
  return kNegated[static_cast<size_t>(comparator)];
}

Comparator mirrored(Comparator comparator) {
  constexpr Comparator kMirrored[] = {Comparator::kEqual,          Comparator::kNotEqual, Comparator::kGreater,
                                      Comparator::kGreaterOrEqual, Comparator::kLess,     Comparator::kLessOrEqual};
  return kMirrored[static_cast<size_t>(comparator)];
}

Predicate::Predicate() : Predicate(always(true)) {}

std::string Predicate::to_text() const {
  std::string out;
  append(out, *this, kOr);
  return out;
}

bool Predicate::operator==(const Predicate& other) const {
  return node_ == other.node_ || std::visit(SameForm{}, node_->form, other.node_->form);
}

Predicate always(bool value) {
  return make({.form = Constant{value}});
}

Predicate all_of(std::vector<Predicate> operands) {
  if (operands.empty()) return always(true);
  if (operands.size() == 1) return std::move(operands[0]);
  return make_group<Conjunction>(std::move(operands));
}

Predicate any_of(std::vector<Predicate> operands) {
  if (operands.empty()) return always(false);
  if (operands.size() == 1) return std::move(operands[0]);
  return make_group<Disjunction>(std::move(operands));
}

Predicate not_(Predicate operand) {
  const uint32_t depth = operand.node().depth + 1;
  const size_t size = operand.node().size + 1;
  return make({.form = Negation{std::move(operand)}, .depth = depth, .size = size});
}

Predicate compare(ColumnName column, Comparator comparator, Literal value) {
  check_column(column);
  check_literal(value);
  return make({.form = Comparison{std::move(column), comparator, std::move(value)}, .size = 2});
}

Predicate is_in(ColumnName column, std::vector<Literal> values, bool negated) {
  check_column(column);
  for (const Literal& value : values) check_literal(value);
  const size_t size = values.size() + 1;
  return make({.form = InList{std::move(column), std::move(values), negated}, .size = size});
}

Predicate is_null(ColumnName column, bool negated) {
  check_column(column);
  return make({.form = IsNull{std::move(column), negated}});
}

Predicate is_nan(ColumnName column, bool negated) {
  check_column(column);
  return make({.form = IsNan{std::move(column), negated}});
}

Predicate starts_with(ColumnName column, std::string prefix, bool negated) {
  check_column(column);
  check_text(prefix, "prefix");
  return make({.form = StartsWith{std::move(column), std::move(prefix), negated}, .size = 2});
}

Predicate rewrite_not(const Predicate& predicate) {
  return push_not(predicate, false);
}

Predicate simplify(const Predicate& predicate) {
  return fold(rewrite_not(predicate));
}

std::vector<Predicate> conjuncts(const Predicate& predicate) {
  const auto* form = std::get_if<Conjunction>(&predicate.node().form);
  return form == nullptr ? std::vector<Predicate>{predicate} : form->operands;
}

std::vector<ColumnName> column_names(const Predicate& predicate) {
  std::vector<ColumnName> names;
  SeenNames seen;
  collect_columns(predicate, seen, names);
  return names;
}

}  // namespace frazil::predicate
