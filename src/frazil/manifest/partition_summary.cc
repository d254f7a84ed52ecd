#include "frazil/manifest/partition_summary.h"

namespace frazil::manifest {

namespace {

template <typename T>
bool is_zero(const spec::Literal& value) {
  const T* number = std::get_if<T>(&value.value());
  return number != nullptr && *number == 0;
}

// -0.0 and 0.0 are one value here; readers that order them prune with the wider bound and lose nothing.
spec::Literal with_zero(const spec::Literal& value, bool negative) {
  if (is_zero<float>(value)) return {value.type(), negative ? -0.0F : 0.0F};
  if (is_zero<double>(value)) return {value.type(), negative ? -0.0 : 0.0};
  return value;
}

}  // namespace

PartitionSummaries::PartitionSummaries(const spec::Type& partition_type) : fields_(partition_type.fields().size()) {}

void PartitionSummaries::Field::update(const spec::Literal& value) {
  if (value.is_null()) {
    contains_null = true;
    return;
  }
  if (value.is_nan()) {
    contains_nan = true;
    return;
  }
  if (const Uuid* uuid = std::get_if<Uuid>(&value.value())) {
    if (!java_lower || compare_java_uuid(*uuid, *java_lower) < 0) java_lower = *uuid;
    if (!java_upper || compare_java_uuid(*uuid, *java_upper) > 0) java_upper = *uuid;
  }
  if (!lower || spec::compare(value, *lower) < 0) lower = value;
  if (!upper || spec::compare(value, *upper) > 0) upper = value;
}

void PartitionSummaries::update(std::span<const spec::Literal> partition) {
  for (size_t i = 0; i < fields_.size(); ++i) fields_[i].update(partition[i]);
}

std::optional<std::vector<FieldSummary>> PartitionSummaries::finish() const {
  std::vector<FieldSummary> summaries;
  summaries.reserve(fields_.size());
  for (const Field& field : fields_) {
    if (field.java_lower &&
        (*field.java_lower != field.lower->as<Uuid>() || *field.java_upper != field.upper->as<Uuid>()))
      return std::nullopt;
    FieldSummary summary;
    summary.contains_null = field.contains_null;
    summary.contains_nan = field.contains_nan;
    if (field.lower) summary.lower_bound = spec::bound_to_bytes(with_zero(*field.lower, true));
    if (field.upper) summary.upper_bound = spec::bound_to_bytes(with_zero(*field.upper, false));
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace frazil::manifest
