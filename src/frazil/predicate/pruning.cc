#include "frazil/predicate/pruning.h"

#include <algorithm>
#include <string_view>

#include "frazil/base/bits.h"
#include "frazil/predicate/narrow.h"

namespace frazil::predicate {

namespace {

// What a test can give among the rows of a unit; two bits make a Pruning.
struct Outcome {
  bool may_match = true;
  bool may_fail = true;  // false or unknown

  bool decided() const { return !may_match || !may_fail; }
};

constexpr Outcome kUndecided{true, true};

// ColumnStatistics with what follows from them.
struct Facts {
  const Value* lower = nullptr;
  const Value* upper = nullptr;
  bool may_be_null = true;
  bool may_be_nan = true;
  bool may_be_number = true;  // neither null nor NaN

  bool may_be_valid() const { return may_be_nan || may_be_number; }
};

const Value* bound(const std::optional<Value>& value, ValueKind kind) {
  return value && !is_nan(*value) && kind_of(*value) == kind ? &*value : nullptr;
}

Facts facts_of(const ColumnStatistics& statistics, ValueKind kind) {
  Facts facts;
  facts.lower = bound(statistics.lower, kind);
  facts.upper = bound(statistics.upper, kind);
  if (facts.lower != nullptr && facts.upper != nullptr && compare(*facts.lower, *facts.upper) > 0) {
    facts.lower = facts.upper = nullptr;
  }
  facts.may_be_nan = kind == ValueKind::kFloating && statistics.nan_count != 0;
  facts.may_be_null = statistics.null_count != 0;
  if (statistics.row_count) {
    const int64_t rows = *statistics.row_count;
    const int64_t nulls = statistics.null_count.value_or(0);
    const int64_t nans = kind == ValueKind::kFloating ? statistics.nan_count.value_or(0) : 0;
    // Counts that pass the rows are broken; they prove nothing.
    if (nulls <= rows && nans <= rows - nulls) {
      if (nulls == rows) facts.may_be_nan = false;
      if (nulls + nans == rows) facts.may_be_number = false;
    }
  }
  return facts;
}

bool starts_with(const Value& value, std::string_view prefix) {
  return std::get<std::string>(value).starts_with(prefix);
}

class Pruner {
 public:
  Pruner(const BoundPredicate& predicate, ColumnStatisticsSource& source, MemoryPool& pool)
      : columns_(predicate.columns()), source_(source), pool_(pool) {}

  Outcome ask(const BoundNode& node) {
    return std::visit([&](const auto& form) { return ask_form(form); }, node.form);
  }

 private:
  Outcome ask_form(bool value) const { return {value, !value}; }

  Outcome ask_form(const BoundAnd& group) {
    Outcome all{true, false};
    for (const BoundNode& operand : group.operands) {
      const Outcome outcome = ask(operand);
      if (!outcome.may_match) return {false, true};
      all.may_fail = all.may_fail || outcome.may_fail;
    }
    return all;
  }

  Outcome ask_form(const BoundOr& group) {
    Outcome any{false, true};
    for (const BoundNode& operand : group.operands) {
      const Outcome outcome = ask(operand);
      if (!outcome.may_fail) return {true, false};
      any.may_match = any.may_match || outcome.may_match;
    }
    return any;
  }

  Outcome ask_form(const BoundTest& test) {
    const BoundColumn& column = columns_[test.column];
    const ColumnStatistics statistics = source_.statistics(column);
    if (statistics.row_count == 0) return {false, true};
    const Facts facts = facts_of(statistics, value_kind(*column.field.type));
    Outcome outcome = ask_values(test, facts);
    if (outcome.decided()) return outcome;
    if (test.kind == TestKind::kEqual || test.kind == TestKind::kIn) {
      if (!may_contain_any(test, facts, column)) return {false, true};
    }
    return ask_distinct_values(test, facts, column);
  }

  // By bounds and counts alone.
  static Outcome ask_values(const BoundTest& test, const Facts& facts) {
    switch (test.kind) {
      case TestKind::kNull:
        return {facts.may_be_null, facts.may_be_valid()};
      case TestKind::kNotNull:
        return {facts.may_be_valid(), facts.may_be_null};
      case TestKind::kNan:
        return {facts.may_be_nan, facts.may_be_null || facts.may_be_number};
      case TestKind::kNotNan:
        return {facts.may_be_null || facts.may_be_number, facts.may_be_nan};
      default:
        break;
    }
    // Numbers within the bounds, NaN by its place in the order, null never.
    const Outcome numbers = facts.may_be_number ? ask_numbers(test, facts) : Outcome{false, false};
    const bool nan_matches = matches_nan(test);
    return {numbers.may_match || (facts.may_be_nan && nan_matches),
            numbers.may_fail || (facts.may_be_nan && !nan_matches) || facts.may_be_null};
  }

  static bool matches_nan(const BoundTest& test) {
    switch (test.kind) {
      case TestKind::kNotEqual:
      case TestKind::kGreater:
      case TestKind::kGreaterOrEqual:
        return true;
      case TestKind::kIn:
        return test.set->contains_nan();
      case TestKind::kNotIn:
        return !test.set->contains_nan();
      default:
        return false;
    }
  }

  static Outcome negated(Outcome outcome) { return {outcome.may_fail, outcome.may_match}; }

  // Of values between the bounds, at least one of which there is.
  static Outcome ask_numbers(const BoundTest& test, const Facts& facts) {
    const Value* lower = facts.lower;
    const Value* upper = facts.upper;
    switch (test.kind) {
      case TestKind::kNotEqual:
        return negated(ask_equal(test.value, facts));
      case TestKind::kEqual:
        return ask_equal(test.value, facts);
      case TestKind::kGreaterOrEqual:
      case TestKind::kLess: {
        const Outcome less{lower == nullptr || compare(*lower, test.value) < 0,
                           upper == nullptr || compare(*upper, test.value) >= 0};
        return test.kind == TestKind::kLess ? less : negated(less);
      }
      case TestKind::kGreater:
      case TestKind::kLessOrEqual: {
        const Outcome less_or_equal{lower == nullptr || compare(*lower, test.value) <= 0,
                                    upper == nullptr || compare(*upper, test.value) > 0};
        return test.kind == TestKind::kLessOrEqual ? less_or_equal : negated(less_or_equal);
      }
      case TestKind::kIn:
        return ask_in(*test.set, facts);
      case TestKind::kNotIn:
        return negated(ask_in(*test.set, facts));
      case TestKind::kStartsWith:
        return ask_prefix(test.value, facts);
      case TestKind::kNotStartsWith:
        return negated(ask_prefix(test.value, facts));
      default:
        return kUndecided;
    }
  }

  static Outcome ask_equal(const Value& value, const Facts& facts) {
    const bool above_lower = facts.lower == nullptr || compare(*facts.lower, value) <= 0;
    const bool below_upper = facts.upper == nullptr || compare(value, *facts.upper) <= 0;
    if (!above_lower || !below_upper) return {false, true};
    const bool only_one = facts.lower != nullptr && facts.upper != nullptr && compare(*facts.lower, *facts.upper) == 0;
    return {true, !only_one};
  }

  static Outcome ask_in(const ValueSet& set, const Facts& facts) {
    if (set.values().empty()) return {false, true};  // IN (NaN, NaN) was
    const Value& low = facts.lower != nullptr ? *facts.lower : set.values().front();
    const Value& high = facts.upper != nullptr ? *facts.upper : set.values().back();
    if (!set.overlaps(low, high)) return {false, true};
    const bool only_one = facts.lower != nullptr && facts.upper != nullptr && compare(*facts.lower, *facts.upper) == 0;
    return {true, !only_one};
  }

  // Values with the prefix p lie from p up to what begins with p and goes on with the greatest bytes.
  static Outcome ask_prefix(const Value& prefix_value, const Facts& facts) {
    const std::string_view prefix = std::get<std::string>(prefix_value);
    if (facts.lower != nullptr) {
      const std::string_view lower = std::get<std::string>(*facts.lower);
      if (lower.substr(0, prefix.size()) > prefix) return {false, true};
    }
    if (facts.upper != nullptr && std::get<std::string>(*facts.upper) < prefix) return {false, true};
    const bool all = facts.lower != nullptr && facts.upper != nullptr && starts_with(*facts.lower, prefix) &&
                     starts_with(*facts.upper, prefix);
    return {true, !all};
  }

  bool may_contain_any(const BoundTest& test, const Facts& facts, const BoundColumn& column) {
    if (test.kind == TestKind::kEqual) return source_.may_contain(column, test.value);
    if (test.set->contains_nan() && facts.may_be_nan) return true;
    size_t probes = 0;
    for (const Value& value : test.set->values()) {
      if (!ask_equal(value, facts).may_match) continue;
      if (++probes > kMaxProbes || source_.may_contain(column, value)) return true;
    }
    return false;
  }

  Outcome ask_distinct_values(const BoundTest& test, const Facts& facts, const BoundColumn& column) {
    // These kinds are about nulls, which distinct values say nothing of.
    if (test.kind == TestKind::kNull || test.kind == TestKind::kNotNull) return kUndecided;
    const ArrayPtr values = source_.distinct_values(column);
    if (values == nullptr) return kUndecided;
    const bool negate = test.kind == TestKind::kNotNan;
    BoundTest asked = test;
    if (negate) asked.kind = TestKind::kNan;
    MutableBuffer valid = pool_.allocate_zeroed(words_for(values->length) * 8);
    fill_bits(valid.as<uint8_t>(), 0, static_cast<size_t>(values->length), true);
    const ArrayRange range{values.get(), 0, values->length};
    narrow_to_valid(range, valid.as<uint64_t>(), pool_);
    const size_t valid_count = count_set_bits(valid.as<uint8_t>(), 0, static_cast<size_t>(values->length));
    narrow_to_true(range, asked, valid.as<uint64_t>(), pool_);
    const size_t true_count = count_set_bits(valid.as<uint8_t>(), 0, static_cast<size_t>(values->length));
    // A dictionary may hold values that no row has, so that of both outcomes each may still be none.
    const Outcome outcome{true_count != 0, true_count != valid_count};
    if (negate) return {outcome.may_fail || facts.may_be_null, outcome.may_match};
    return {outcome.may_match, outcome.may_fail || facts.may_be_null};
  }

  const std::vector<BoundColumn>& columns_;
  ColumnStatisticsSource& source_;
  MemoryPool& pool_;
};

}  // namespace

Pruning may_match(const BoundPredicate& predicate, ColumnStatisticsSource& source, MemoryPool& pool) {
  const Outcome outcome = Pruner(predicate, source, pool).ask(predicate.root());
  if (!outcome.may_match) return Pruning::kNoRow;
  return outcome.may_fail ? Pruning::kSomeRows : Pruning::kAllRows;
}

}  // namespace frazil::predicate
