// Sort orders (spec, "Sorting"; JSON: "Appendix C").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/transform.h"

namespace frazil::spec {

enum class SortDirection : uint8_t { kAscending, kDescending };
enum class NullOrder : uint8_t { kNullsFirst, kNullsLast };

struct SortField {
  std::vector<int32_t> source_ids;  // one; several for a multi-argument transform (v3)
  Transform transform;
  SortDirection direction = SortDirection::kAscending;
  NullOrder null_order = NullOrder::kNullsFirst;
  json::Object extra;

  int32_t source_id() const { return source_ids.front(); }
  bool operator==(const SortField& other) const;  // without `extra`
};

// Order id 0 is the unsorted order and has no fields.
struct SortOrder {
  int32_t order_id = 0;
  std::vector<SortField> fields;
  json::Object extra;

  bool is_unsorted() const { return fields.empty(); }
  // "ts desc nulls last, bucket[16](id) asc nulls first"
  std::string to_string(const Schema& schema) const;
  bool operator==(const SortOrder& other) const;
};

SortOrder sort_order_from_json(const json::Value& value);
json::Value sort_order_to_json(const SortOrder& order);

}  // namespace frazil::spec
