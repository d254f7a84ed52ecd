#include "frazil/write/sort_rows.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/take.h"
#include "frazil/runtime/random.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::write {
namespace {

using spec::Literal;
using spec::Transform;
using spec::TypeKind;

struct Column {
  spec::TypePtr type;
  Transform transform;
};

std::vector<Column> columns() {
  return {{spec::primitive(TypeKind::kInt), Transform::identity()},
          {spec::primitive(TypeKind::kLong), Transform::truncate(10)},
          {spec::primitive(TypeKind::kLong), Transform::bucket(4)},
          {spec::primitive(TypeKind::kDouble), Transform::identity()},
          {spec::primitive(TypeKind::kFloat), Transform::identity()},
          {spec::primitive(TypeKind::kBoolean), Transform::identity()},
          {spec::decimal(20, 2), Transform::identity()},
          {spec::decimal(20, 2), Transform::truncate(7)},
          {spec::primitive(TypeKind::kTimestamp), Transform::month()},
          {spec::primitive(TypeKind::kString), Transform::identity()},
          {spec::primitive(TypeKind::kString), Transform::truncate(2)},
          {spec::primitive(TypeKind::kString), Transform::bucket(3)},
          {spec::primitive(TypeKind::kUuid), Transform::identity()},
          {spec::primitive(TypeKind::kBinary), Transform::truncate(1)},
          {spec::primitive(TypeKind::kDate), Transform::year()},
          {spec::primitive(TypeKind::kLong), Transform::always_null()}};
}

Literal literal(const spec::TypePtr& type, SeededRandom& random) {
  const auto number = static_cast<int64_t>(random.below(60)) - 30;
  switch (type->kind()) {
    case TypeKind::kBoolean:
      return Literal(type, number > 0);
    case TypeKind::kInt:
      return Literal(type, static_cast<int32_t>(number));
    case TypeKind::kDate:
      return Literal(type, static_cast<int32_t>(number * 100));
    case TypeKind::kFloat: {
      const float all[] = {-0.0F,
                           0.0F,
                           std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::infinity(),
                           1.5F,
                           -1.5F};
      return Literal(type, all[random.below(7)]);
    }
    case TypeKind::kDouble: {
      const double all[] = {
          -0.0, 0.0,   std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1.5,
          -1.5, -1e300};
      return Literal(type, all[random.below(7)]);
    }
    case TypeKind::kDecimal:
      return Literal(type, Int128{number});
    case TypeKind::kString:
    case TypeKind::kBinary:
      return Literal(type, std::string(random.below(4), static_cast<char>('a' + random.below(3))));
    case TypeKind::kUuid: {
      Uuid uuid;
      uuid.bytes[0] = static_cast<std::byte>(random.below(256));
      return Literal(type, uuid);
    }
    default:
      return Literal(type, type->kind() == TypeKind::kLong ? number : number * 1'000'000'000'000);
  }
}

// The spec's order of two values that are not null.
std::strong_ordering compare_keys(const Literal& left, const Literal& right) {
  if (std::holds_alternative<bool>(left.value())) return left.as<bool>() <=> right.as<bool>();
  if (std::holds_alternative<float>(left.value())) return std::strong_order(left.as<float>(), right.as<float>());
  if (std::holds_alternative<double>(left.value())) return std::strong_order(left.as<double>(), right.as<double>());
  return spec::compare(left, right);
}

RC_GTEST_PROP(RowSorter, OrdersLikeTheSpecAndKeepsTies, (uint64_t seed)) {
  MemoryPool pool;
  SeededRandom random(seed);
  std::vector<spec::NestedField> fields;
  spec::SortOrder order;
  order.order_id = 1;
  std::vector<std::vector<Literal>> keys;
  std::vector<ArrayPtr> arrays;
  const size_t rows = random.below(200);
  for (size_t f = 0; f < 1 + seed % 3; ++f) {
    const Column column = columns()[random.below(columns().size())];
    spec::NestedField field;
    field.id = static_cast<int32_t>(f + 1);
    field.name = message("c{}", f);
    field.type = column.type;
    fields.push_back(field);
    spec::SortField sort;
    sort.source_ids = {field.id};
    sort.transform = column.transform;
    sort.direction = random.below(2) == 0 ? spec::SortDirection::kAscending : spec::SortDirection::kDescending;
    sort.null_order = random.below(2) == 0 ? spec::NullOrder::kNullsFirst : spec::NullOrder::kNullsLast;
    order.fields.push_back(sort);
    auto builder = make_builder(spec::to_arrow_type(*column.type), pool);
    keys.emplace_back();
    for (size_t r = 0; r < rows; ++r) {
      const Literal value = random.below(6) == 0 ? Literal::null(column.type) : literal(column.type, random);
      builder->append_from(*spec::make_constant_array(value, 1, pool), 0);
      keys.back().push_back(column.transform.apply(value));
    }
    arrays.push_back(builder->finish());
  }
  const spec::Schema schema(fields);
  std::vector<uint32_t> expected(rows);
  std::iota(expected.begin(), expected.end(), 0U);
  std::sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
    for (size_t f = 0; f < keys.size(); ++f) {
      const Literal& left = keys[f][a];
      const Literal& right = keys[f][b];
      const bool nulls_first = order.fields[f].null_order == spec::NullOrder::kNullsFirst;
      if (left.is_null() != right.is_null()) return left.is_null() == nulls_first;
      if (left.is_null()) continue;
      const auto result = compare_keys(left, right);
      if (result != 0) return (result < 0) == (order.fields[f].direction == spec::SortDirection::kAscending);
    }
    return a < b;
  });
  const std::vector<ArrayPtr> sorted = RowSorter(order, schema).sort(arrays, pool);
  RC_LOG() << order.to_string(schema);
  for (size_t f = 0; f < arrays.size(); ++f) {
    RC_ASSERT(difference(*sorted[f], *take(*arrays[f], expected, pool), {.exact_floats = true}) == "");
  }
}

TEST(RowSorter, RefusesWhatItCannotSortBy) {
  spec::NestedField field;
  field.id = 1;
  field.name = "a";
  field.type = spec::primitive(TypeKind::kLong);
  const spec::Schema schema({field});
  spec::SortOrder order;
  order.fields.emplace_back();
  order.fields[0].source_ids = {1};
  order.fields[0].transform = Transform::parse("zorder");
  EXPECT_THROW(RowSorter(order, schema), Error);
  order.fields[0].transform = Transform::hour();
  EXPECT_THROW(RowSorter(order, schema), Error);
  order.fields[0].transform = Transform::identity();
  order.fields[0].source_ids = {7};
  EXPECT_THROW(RowSorter(order, schema), Error);
}

}  // namespace
}  // namespace frazil::write
