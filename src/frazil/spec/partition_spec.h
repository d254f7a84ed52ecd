// Partition specs (spec, "Partitioning"; JSON: "Appendix C").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frazil/json/value.h"
#include "frazil/spec/schema.h"
#include "frazil/spec/transform.h"

namespace frazil::spec {

// v1 fields without ids are numbered from here on, in order.
inline constexpr int32_t kFirstPartitionFieldId = 1000;

struct PartitionField {
  std::vector<int32_t> source_ids;  // one; several for a multi-argument transform (v3)
  int32_t field_id = 0;
  std::string name;
  Transform transform;
  json::Object extra;

  int32_t source_id() const { return source_ids.front(); }
  // A transform that Frazil does not know, or of several arguments: read past, projected to true, never written with.
  bool is_opaque() const { return transform.is_unknown() || source_ids.size() != 1; }
  bool operator==(const PartitionField& other) const;  // without `extra`
};

struct PartitionSpec {
  int32_t spec_id = 0;
  std::vector<PartitionField> fields;
  json::Object extra;

  // No fields, or only void ones.
  bool is_unpartitioned() const;
  // 999 if there are none.
  int32_t highest_field_id() const;
  const PartitionField* find(int32_t field_id) const;
  // The struct of partition values: field ids and names of this spec, all optional. Where the source column is gone
  // from the schema or the transform is opaque, the type is `unknown`: take it from the manifest's Avro schema.
  TypePtr partition_type(const Schema& schema) const;
  // "day(ts), bucket[16](user.id)"; ids instead of names for columns that are gone.
  std::string to_string(const Schema& schema) const;
  bool operator==(const PartitionSpec& other) const;
};

// Whether two tuples of one spec are the same partition, as deletes find their data files: floats by their bits, with all
// NaNs equal, so that -0.0 and 0.0 are two partitions. Values of opaque transforms count too. (Literal's == is that of
// filters, where -0.0 = 0.0.)
bool same_partition(std::span<const Literal> left, std::span<const Literal> right);

// "k1=v1/k2=v2" with names and values URL-encoded, as data files' folders are named. `values`: one a field.
std::string partition_path(const PartitionSpec& spec, std::span<const Literal> values);

// {"spec-id": I, "fields": [...]}. Throws CorruptError with the rule that is broken. Fields without ids get ids from
// 1000 on, in order, if none has one.
PartitionSpec partition_spec_from_json(const json::Value& value);
// The array of fields alone: v1's "partition-spec", and the metadata of manifests.
PartitionSpec partition_spec_from_fields_json(const json::Value& fields, int32_t spec_id);
json::Value partition_spec_to_json(const PartitionSpec& spec);
json::Value partition_fields_to_json(const PartitionSpec& spec);

}  // namespace frazil::spec
