// What statistics say about a predicate without reading rows: row groups, pages, files, manifests. Never wrong: kNoRow
// and kAllRows are proved for every set of rows that fits the statistics; what is unknown counts as possible.
#pragma once

#include <cstdint>
#include <optional>

#include "frazil/columnar/array.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/predicate/bind.h"
#include "frazil/predicate/value.h"

namespace frazil::predicate {

enum class Pruning : uint8_t {
  kNoRow,  // no row can match: skip
  kSomeRows,
  kAllRows,  // every row matches: no need to evaluate
};

// About one column in one unit of rows. All optional: absent means unknown.
struct ColumnStatistics {
  // Bounds of the values that are neither null nor NaN: lower <= every such value <= upper. They need not be values of
  // the column: cut-off bounds of text are as good, because nothing here takes a bound for an extreme. A bound that is
  // NaN counts as absent, and lower > upper (a broken or foreign writer) makes both absent.
  // Left out by the caller wherever the file's order may not be that of predicate.h: legacy signed min/max of text,
  // unknown column orders, bounds of uuids in Java's order.
  std::optional<Value> lower = {};
  std::optional<Value> upper = {};
  std::optional<int64_t> row_count = {};   // nulls and NaN included: Iceberg's value_count
  std::optional<int64_t> null_count = {};  // rows whose value, or a struct around it, is null
  std::optional<int64_t> nan_count = {};   // absent: a float column may have any
};

// What the caller knows; asked only for columns that decide. Each may read (a dictionary page, a Bloom filter) and
// throw.
class ColumnStatisticsSource {
 public:
  virtual ~ColumnStatisticsSource() = default;
  // Called for every test that is reached.
  virtual ColumnStatistics statistics(const BoundColumn& column) = 0;
  // Whether the column may have this value: Bloom filters. Called for = and for each value of IN that the bounds admit
  // (at most kMaxProbes of them), never with NaN; 0.0 stands for -0.0 too, so probe both.
  virtual bool may_contain(const BoundColumn&, const Value&) { return true; }
  // Every distinct value of the column that is not null, or nullptr if that is not known: a dictionary whose chunk has
  // no page in another encoding. Any type that the column's values can be tested in; the column's own, as a rule.
  // Called after bounds and may_contain() left the test undecided.
  virtual ArrayPtr distinct_values(const BoundColumn&) { return nullptr; }
};

inline constexpr size_t kMaxProbes = 1'000;

// Short-circuits: AND stops at the first kNoRow, OR at the first kAllRows. The pool gives one bit a distinct value, no
// more.
Pruning may_match(const BoundPredicate& predicate, ColumnStatisticsSource& source, MemoryPool& pool);

}  // namespace frazil::predicate
