// Predicates bound to a schema: columns resolved, literals in the columns' own form, NOT moved into the tests, so that
// a row is wanted exactly where AND and OR over the tests' "true" say so. (Unknown and false then need no distinction:
// without NOT neither turns into true.)
//
// Literals are compared exactly with what is in the column, never rounded:
//
//   column                  takes                         x = 1.5 on integers
//   integers                numbers, DOUBLE               never; x < 1.5 is x <= 1; x < 1e30 is every x that is not null
//   decimals                numbers, DOUBLE, strings      '14.20'; as integers, at the column's scale
//   floats                  numbers, DOUBLE               rounded to the column's float, as SQL does: 0.1 finds 0.1f;
//                                                         beyond the largest float only infinities and NaN are greater
//   bool                    TRUE, FALSE
//   date, timestamp         DATE, TIMESTAMP, strings      a date is its midnight; digits finer than the unit count
//   time                    TIME, strings
//   utf8                    strings
//   binary, fixed           X'..'
//   uuid (arrow.uuid)       UUID, strings, X'..'          a fixed-size binary of 16 takes UUID '..' too
//   null                    everything                    never
//
// A timestamp without zone takes no literal with a zone; one with a zone takes literals without as UTC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/predicate/predicate.h"
#include "frazil/predicate/value.h"

namespace frazil::predicate {

struct BoundColumn {
  // Field indices from the schema's fields down through structs: {2} is the third column, {2, 0} its first field.
  std::vector<size_t> path;
  // As the schema spells it: a.b
  std::string name;
  Field field;
};

// The values of an IN list, prepared for looking up. Immutable, shared.
class ValueSet {
 public:
  // Of one kind, in any order; repeated ones and the zeros become one. Throws Error(kInternal) for mixed kinds.
  explicit ValueSet(std::vector<Value> values);
  ~ValueSet();
  ValueSet(const ValueSet&) = delete;
  ValueSet& operator=(const ValueSet&) = delete;

  ValueKind kind() const { return kind_; }
  // Ascending, without NaN.
  const std::vector<Value>& values() const { return values_; }
  bool contains_nan() const { return contains_nan_; }
  bool contains(const Value& value) const;
  // Whether a value of [low, high] is in it. O(log n).
  bool overlaps(const Value& low, const Value& high) const;

  // For evaluate(): hash tables or bitmaps by kind.
  struct Index;
  const Index& index() const { return *index_; }

 private:
  std::vector<Value> values_;
  ValueKind kind_ = ValueKind::kNone;
  bool contains_nan_ = false;
  std::unique_ptr<const Index> index_;
};

// What is asked of a column. All but kNull, kNotNull and kNotNan are never true for null.
enum class TestKind : uint8_t {
  kNull,
  kNotNull,
  kNan,
  kNotNan,  // true for null
  kEqual,   // `value`
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,  // `set`
  kNotIn,
  kStartsWith,  // `value`, bytes
  kNotStartsWith,
};

// On values that are not NaN unless it is one of kNan, kNotNan (bind_predicate() turns x = NaN into kNan).
struct BoundTest {
  size_t column = 0;  // of BoundPredicate::columns()
  TestKind kind = TestKind::kNotNull;
  Value value;
  std::shared_ptr<const ValueSet> set;
};

struct BoundNode;
struct BoundAnd {
  std::vector<BoundNode> operands;
};
struct BoundOr {
  std::vector<BoundNode> operands;
};
struct BoundNode {
  std::variant<bool, BoundAnd, BoundOr, BoundTest> form;
};

class BoundPredicate {
 public:
  BoundPredicate(SchemaPtr schema, std::vector<BoundColumn> columns, BoundNode root)
      : schema_(std::move(schema)),
        columns_(std::move(columns)),
        root_(std::make_shared<const BoundNode>(std::move(root))) {}

  const SchemaPtr& schema() const { return schema_; }
  // Each column that the tests read, once.
  const std::vector<BoundColumn>& columns() const { return columns_; }
  const BoundNode& root() const { return *root_; }
  bool always_true() const { return std::get_if<bool>(&root_->form) != nullptr && std::get<bool>(root_->form); }
  bool always_false() const { return std::get_if<bool>(&root_->form) != nullptr && !std::get<bool>(root_->form); }

 private:
  SchemaPtr schema_;
  std::vector<BoundColumn> columns_;
  std::shared_ptr<const BoundNode> root_;
};

struct BindOptions {
  // False: names that differ in ASCII case alone are the same; an exact match wins, several others are an error.
  bool case_sensitive = true;
};

// Throws Error(kNotFound) for a column that does not exist, Error(kInvalidArgument) naming column and type where the
// test does not fit them. Constants are folded; the operands of AND and OR stand in order of cost. O(size log size).
BoundPredicate bind_predicate(const Predicate& predicate, SchemaPtr schema, const BindOptions& options = {});

// Of a tree that the caller bound or rewrote, without the columns that none of its tests reads. Requires that they fit
// the schema.
BoundPredicate make_bound_predicate(SchemaPtr schema, std::vector<BoundColumn> columns, BoundNode root);

}  // namespace frazil::predicate
