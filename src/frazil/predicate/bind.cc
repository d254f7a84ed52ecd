#include "frazil/predicate/bind.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/predicate/coerce.h"
#include "frazil/predicate/literal_text.h"

namespace frazil::predicate {

namespace {

// Through dictionaries and runs.
const DataType* stored_type(const DataType* type) {
  if (type->id() == TypeId::kDictionary) return stored_type(type->value_type().get());
  if (type->id() == TypeId::kRunEndEncoded) return stored_type(type->children()[1].type.get());
  return type;
}

// Relative cost of a test a row, from predicate_bench.cc: cheap ones go first, so that others see fewer rows.
int test_cost(TestKind kind, const DataType& type) {
  if (kind == TestKind::kNull || kind == TestKind::kNotNull) return 0;
  switch (value_kind(type)) {
    case ValueKind::kBool:
      return 1;
    case ValueKind::kSigned:
    case ValueKind::kUnsigned:
    case ValueKind::kFloating:
      return kind == TestKind::kIn || kind == TestKind::kNotIn ? 3 : 2;
    case ValueKind::kDecimal:
    case ValueKind::kWideDecimal:
      return kind == TestKind::kIn || kind == TestKind::kNotIn ? 6 : 4;
    default:
      return kind == TestKind::kIn || kind == TestKind::kNotIn ? 12 : 8;
  }
}

class Binder {
 public:
  Binder(const Schema& schema, const BindOptions& options) : schema_(schema), options_(options) {}

  BoundNode bind(const Predicate& predicate) {
    return std::visit([&](const auto& form) { return bind_form(form); }, predicate.node().form);
  }
  std::vector<BoundColumn> take_columns() { return std::move(columns_); }

 private:
  // ---- Columns ----

  // Names that fit, an exact one alone if it is among them.
  std::vector<size_t> find_fields(const std::vector<Field>& fields, const std::string& name) const {
    std::vector<size_t> exact;
    std::vector<size_t> alike;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == name) {
        exact.push_back(i);
      } else if (equal_words(fields[i].name, name)) {
        alike.push_back(i);
      }
    }
    if (!exact.empty() || options_.case_sensitive) return exact;
    return alike;
  }

  [[noreturn]] void throw_not_found(const std::vector<Field>& fields, const ColumnName& name, size_t depth) const {
    const std::string& part = name.parts[depth];
    const std::string text = excerpt(name.to_text());
    const bool whole = depth == 0;
    Error error(ErrorKind::kNotFound,
                whole ? message("column {} does not exist", text)
                      : message("column {} does not exist: there is no field '{}'", text, excerpt(part)));
    std::string dotted;
    for (const std::string& each : name.parts) dotted += (dotted.empty() ? "" : ".") + each;
    if (name.parts.size() > 1 && schema_.index_of(dotted)) {
      error.set_hint(message("write {} for the column of that name", ColumnName(dotted).to_text()));
      throw error;
    }
    std::string names;
    for (const Field& field : fields) {
      if (equal_words(field.name, part)) {
        error.set_hint(message("names differ in upper and lower case: {}", ColumnName(field.name).to_text()));
        throw error;
      }
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + ColumnName(field.name).to_text();
    }
    if (!names.empty()) error.set_hint("there are " + excerpt(names, 200));
    throw error;
  }

  size_t resolve(const ColumnName& name) {
    if (auto known = resolved_.find(name.parts); known != resolved_.end()) return known->second;
    BoundColumn column;
    const std::vector<Field>* fields = &schema_.fields();
    std::vector<std::string> spelled;
    for (size_t depth = 0; depth < name.parts.size(); ++depth) {
      const std::vector<size_t> found = find_fields(*fields, name.parts[depth]);
      if (found.empty()) throw_not_found(*fields, name, depth);
      if (found.size() > 1) {
        throw_error(ErrorKind::kInvalidArgument, "column {} is ambiguous: {} fields have that name",
                    excerpt(name.to_text()), found.size());
      }
      column.path.push_back(found[0]);
      column.field = (*fields)[found[0]];
      spelled.push_back(column.field.name);
      if (depth + 1 == name.parts.size()) break;
      if (column.field.type->id() != TypeId::kStruct) {
        throw_error(ErrorKind::kInvalidArgument, "column {} cannot be reached: {} is {}, not a struct",
                    excerpt(name.to_text()), excerpt(ColumnName(spelled).to_text()), column.field.type->to_string());
      }
      fields = &(*fields)[found[0]].type->children();
    }
    column.name = ColumnName(std::move(spelled)).to_text();
    // Another spelling may have found the same column.
    size_t index = 0;
    while (index < columns_.size() && columns_[index].path != column.path) ++index;
    if (index == columns_.size()) columns_.push_back(std::move(column));
    resolved_.emplace(name.parts, index);
    return index;
  }

  const DataType& type_of(size_t column) const { return *stored_type(columns_[column].field.type.get()); }

  // ---- Tests ----

  static BoundNode test(size_t column, TestKind kind, Value value = {}) {
    return {BoundTest{column, kind, std::move(value), nullptr}};
  }
  static BoundNode neither_null_nor_nan(size_t column) {
    return {BoundAnd{{test(column, TestKind::kNotNull), test(column, TestKind::kNotNan)}}};
  }

  // Throws for columns whose values cannot be compared; false for the null type, whose tests are all unknown.
  bool check_comparable(size_t column) const {
    const DataType& type = type_of(column);
    if (type.id() == TypeId::kNull) return false;
    if (value_kind(type) == ValueKind::kNone) {
      throw_error(ErrorKind::kInvalidArgument, "column {} of type {} can only be tested for NULL",
                  columns_[column].name, columns_[column].field.type->to_string());
    }
    return true;
  }

  Position position(size_t column, const Literal& literal) const {
    return coerce(literal, columns_[column].field, type_of(column), columns_[column].name);
  }

  static BoundNode compare_with(size_t column, Comparator comparator, Position position) {
    using enum Comparator;
    const bool is_nan_literal = position.kind == Position::kExact && predicate::is_nan(position.value);
    switch (position.kind) {
      case Position::kBelowAll:
        if (comparator == kEqual || comparator == kLess || comparator == kLessOrEqual) return {false};
        return test(column, TestKind::kNotNull);
      case Position::kAboveAll:
        if (comparator == kEqual || comparator == kGreater || comparator == kGreaterOrEqual) return {false};
        return test(column, TestKind::kNotNull);
      case Position::kBetween:
        if (comparator == kEqual) return {false};
        if (comparator == kNotEqual) return test(column, TestKind::kNotNull);
        if (comparator == kLess) comparator = kLessOrEqual;
        if (comparator == kGreaterOrEqual) comparator = kGreater;
        break;
      case Position::kExact:
        break;
    }
    if (is_nan_literal) {
      if (comparator == kGreater) return {false};
      if (comparator == kLessOrEqual) return test(column, TestKind::kNotNull);
      if (comparator == kEqual || comparator == kGreaterOrEqual) return test(column, TestKind::kNan);
      return neither_null_nor_nan(column);
    }
    constexpr TestKind kKinds[] = {TestKind::kEqual,       TestKind::kNotEqual, TestKind::kLess,
                                   TestKind::kLessOrEqual, TestKind::kGreater,  TestKind::kGreaterOrEqual};
    return test(column, kKinds[static_cast<size_t>(comparator)], std::move(position.value));
  }

  BoundNode bind_form(const Constant& form) { return {form.value}; }

  BoundNode bind_form(const Comparison& form) {
    const size_t column = resolve(form.column);
    if (!check_comparable(column)) return {false};
    return compare_with(column, form.comparator, position(column, form.value));
  }

  BoundNode bind_form(const InList& form) {
    const size_t column = resolve(form.column);
    if (form.values.empty()) return {form.negated};
    if (!check_comparable(column)) return {false};
    std::vector<Value> values;
    for (const Literal& literal : form.values) {
      Position place = position(column, literal);
      if (place.kind == Position::kExact) values.push_back(std::move(place.value));
    }
    if (values.empty()) return form.negated ? test(column, TestKind::kNotNull) : BoundNode{false};
    if (values.size() == 1) {
      return compare_with(column, form.negated ? Comparator::kNotEqual : Comparator::kEqual,
                          {Position::kExact, std::move(values[0])});
    }
    auto set = std::make_shared<const ValueSet>(std::move(values));
    return {BoundTest{column, form.negated ? TestKind::kNotIn : TestKind::kIn, {}, std::move(set)}};
  }

  BoundNode bind_form(const IsNull& form) {
    return test(resolve(form.column), form.negated ? TestKind::kNotNull : TestKind::kNull);
  }

  BoundNode bind_form(const IsNan& form) {
    const size_t column = resolve(form.column);
    const DataType& type = type_of(column);
    if (type.id() == TypeId::kNull) return {form.negated};
    if (!is_floating(type.id())) {
      throw_error(ErrorKind::kInvalidArgument, "column {} of type {} has no NaN", columns_[column].name,
                  type.to_string());
    }
    return test(column, form.negated ? TestKind::kNotNan : TestKind::kNan);
  }

  BoundNode bind_form(const StartsWith& form) {
    const size_t column = resolve(form.column);
    const TypeId id = type_of(column).id();
    if (id == TypeId::kNull) return {false};
    if (id != TypeId::kUtf8 && id != TypeId::kLargeUtf8 && id != TypeId::kUtf8View) {
      throw_error(ErrorKind::kInvalidArgument, "column {} of type {} has no prefixes: it is not text",
                  columns_[column].name, type_of(column).to_string());
    }
    if (form.prefix.empty()) return form.negated ? BoundNode{false} : test(column, TestKind::kNotNull);
    return test(column, form.negated ? TestKind::kNotStartsWith : TestKind::kStartsWith, form.prefix);
  }

  // ---- AND, OR ----

  int cost(const BoundNode& node) const {
    if (const auto* leaf = std::get_if<BoundTest>(&node.form)) return test_cost(leaf->kind, type_of(leaf->column));
    auto sum = [&](const std::vector<BoundNode>& operands) {
      int total = 1;
      for (const BoundNode& operand : operands) total = std::min(total + cost(operand), 1'000);
      return total;
    };
    if (const auto* group = std::get_if<BoundAnd>(&node.form)) return sum(group->operands);
    if (const auto* group = std::get_if<BoundOr>(&node.form)) return sum(group->operands);
    return 0;
  }

  // `absorbing` decides alone.
  template <typename Group>
  BoundNode bind_group(const std::vector<Predicate>& operands, bool absorbing) {
    std::vector<BoundNode> bound;
    bool absorbed = false;
    for (const Predicate& operand : operands) {
      BoundNode node = bind(operand);  // all of them, so that errors do not depend on constants
      if (const bool* value = std::get_if<bool>(&node.form)) {
        absorbed = absorbed || *value == absorbing;
      } else if (auto* group = std::get_if<Group>(&node.form)) {
        for (BoundNode& each : group->operands) bound.push_back(std::move(each));
      } else {
        bound.push_back(std::move(node));
      }
    }
    if (absorbed) return {absorbing};
    if (bound.empty()) return {!absorbing};
    if (bound.size() == 1) return std::move(bound[0]);
    std::vector<std::pair<int, size_t>> order;  // by cost, then as written
    for (size_t i = 0; i < bound.size(); ++i) order.emplace_back(cost(bound[i]), i);
    std::sort(order.begin(), order.end());
    Group group;
    for (const auto& [unused, index] : order) group.operands.push_back(std::move(bound[index]));
    return {std::move(group)};
  }

  BoundNode bind_form(const Conjunction& form) { return bind_group<BoundAnd>(form.operands, false); }
  BoundNode bind_form(const Disjunction& form) { return bind_group<BoundOr>(form.operands, true); }
  BoundNode bind_form(const Negation&) { throw_error(ErrorKind::kInternal, "NOT was not rewritten"); }

  const Schema& schema_;
  const BindOptions& options_;
  std::vector<BoundColumn> columns_;
  std::map<std::vector<std::string>, size_t> resolved_;
};

// Marks the columns that tests read and gives them new numbers.
void mark_columns(const BoundNode& node, std::vector<bool>& used) {
  if (const auto* leaf = std::get_if<BoundTest>(&node.form)) used[leaf->column] = true;
  if (const auto* group = std::get_if<BoundAnd>(&node.form)) {
    for (const BoundNode& operand : group->operands) mark_columns(operand, used);
  }
  if (const auto* group = std::get_if<BoundOr>(&node.form)) {
    for (const BoundNode& operand : group->operands) mark_columns(operand, used);
  }
}

void renumber_columns(BoundNode& node, const std::vector<size_t>& numbers) {
  if (auto* leaf = std::get_if<BoundTest>(&node.form)) leaf->column = numbers[leaf->column];
  if (auto* group = std::get_if<BoundAnd>(&node.form)) {
    for (BoundNode& operand : group->operands) renumber_columns(operand, numbers);
  }
  if (auto* group = std::get_if<BoundOr>(&node.form)) {
    for (BoundNode& operand : group->operands) renumber_columns(operand, numbers);
  }
}

}  // namespace

BoundPredicate make_bound_predicate(SchemaPtr schema, std::vector<BoundColumn> columns, BoundNode root) {
  std::vector<bool> used(columns.size(), false);
  mark_columns(root, used);
  std::vector<BoundColumn> kept;
  std::vector<size_t> numbers(columns.size(), 0);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!used[i]) continue;
    numbers[i] = kept.size();
    kept.push_back(std::move(columns[i]));
  }
  renumber_columns(root, numbers);
  return {std::move(schema), std::move(kept), std::move(root)};
}

BoundPredicate bind_predicate(const Predicate& predicate, SchemaPtr schema, const BindOptions& options) {
  Binder binder(*schema, options);
  BoundNode root = binder.bind(rewrite_not(predicate));
  // Folding may have left no test of a column.
  return make_bound_predicate(std::move(schema), binder.take_columns(), std::move(root));
}

}  // namespace frazil::predicate
