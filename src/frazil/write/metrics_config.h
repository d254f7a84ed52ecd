// Which metrics of which columns go into manifests, by table property (as Iceberg Java's MetricsConfig has it).
//
//   write.metadata.metrics.default                      none | counts | truncate(N) | full     truncate(16)
//   write.metadata.metrics.column.<full name>           the same, for one column or nested field
//   write.metadata.metrics.max-inferred-column-defaults 100
//
// Of schemas with more fields than the last, and no default set, only so many have metrics: a struct's own leaves come
// before those of its structs, lists and maps. Columns that the table is sorted by, in an order that their transform
// keeps, have at least truncate(16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/spec/schema.h"
#include "frazil/spec/sort_order.h"
#include "frazil/spec/table_metadata.h"

namespace frazil::write {

struct MetricsMode {
  enum class Kind : uint8_t {
    kNone,      // nothing
    kCounts,    // sizes and counts
    kTruncate,  // and bounds, strings and binary cut to `length` characters or bytes
    kFull,      // and whole bounds
  };
  Kind kind = Kind::kTruncate;
  int32_t length = 16;  // kTruncate

  bool has_counts() const { return kind != Kind::kNone; }
  bool has_bounds() const { return kind >= Kind::kTruncate; }
  // Bytes that a writer must keep of bounds so that nothing is lost here: a code point has up to four.
  size_t bound_bytes() const;
  bool operator==(const MetricsMode&) const = default;
};

// "none", "counts", "truncate(16)", "full", in any case. Throws Error(kInvalidArgument).
MetricsMode parse_metrics_mode(std::string_view text);

// Immutable; a mode for each field of a schema.
class MetricsConfig {
 public:
  // Throws Error(kInvalidArgument) naming the property for a value that is none of the above. Properties of columns that
  // the schema does not have are passed over: columns come and go.
  static MetricsConfig from_properties(const spec::Properties& properties, const spec::Schema& schema,
                                       const spec::SortOrder& sort_order = {});

  // Of a field of any level; of an id that the schema does not have: none.
  MetricsMode mode(int32_t field_id) const;

 private:
  const MetricsMode* find(int32_t field_id) const;

  std::vector<std::pair<int32_t, MetricsMode>> modes_;  // by id
};

}  // namespace frazil::write
