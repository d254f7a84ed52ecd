// What a manifest list says of the partitions in a manifest (Iceberg spec, "Manifest Lists", struct field_summary).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "frazil/manifest/manifest_list.h"
#include "frazil/spec/literal.h"
#include "frazil/spec/type.h"

namespace frazil::manifest {

// Collects over the tuples of a manifest, deleted entries too, as Iceberg Java does: whole bounds, without nulls and NaN.
class PartitionSummaries {
 public:
  // `partition_type`: a struct.
  explicit PartitionSummaries(const spec::Type& partition_type);

  // One value a field, each of its field's type or null.
  void update(std::span<const spec::Literal> partition);

  // One a field. Zeros are -0.0 as lower and 0.0 as upper bound: the manifest then matches whatever order a reader has.
  // Nothing where a uuid's bounds are not the same for unsigned bytes, which the specification has, and for the signed
  // halves that Iceberg Java compares: a field without bounds would say to Java that no value is there, so the whole list
  // is left out.
  std::optional<std::vector<FieldSummary>> finish() const;

 private:
  struct Field {
    bool contains_null = false;
    bool contains_nan = false;
    std::optional<spec::Literal> lower;
    std::optional<spec::Literal> upper;
    // uuids: by Java's order.
    std::optional<Uuid> java_lower;
    std::optional<Uuid> java_upper;

    void update(const spec::Literal& value);
  };
  std::vector<Field> fields_;
};

}  // namespace frazil::manifest
