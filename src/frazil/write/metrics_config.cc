#include "frazil/write/metrics_config.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>

#include "frazil/base/error.h"

namespace frazil::write {

namespace {

constexpr std::string_view kDefaultKey = "write.metadata.metrics.default";
constexpr std::string_view kColumnPrefix = "write.metadata.metrics.column.";
constexpr std::string_view kMaxInferredKey = "write.metadata.metrics.max-inferred-column-defaults";
constexpr int64_t kMaxInferred = 100;
constexpr MetricsMode kNoMetrics = {.kind = MetricsMode::Kind::kNone, .length = 0};

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

MetricsMode read_mode(std::string_view key, std::string_view text) {
  try {
    return parse_metrics_mode(text);
  } catch (Error& error) {
    error.add_context(message("property '{}'", key));
    throw;
  }
}

bool is_leaf(const spec::Type& type) {
  return !type.is_nested();
}

// As Iceberg Java counts the fields of a schema for the limit: leaves and structs, without the lists and maps themselves.
int64_t count_fields(const spec::Type& type) {
  int64_t count = 0;
  if (type.is_map()) {
    if (is_leaf(*type.value().type)) return count_fields(*type.key().type) + 2;
    return count_fields(*type.key().type) + count_fields(*type.value().type);
  }
  for (const spec::NestedField& field : type.fields()) {
    if (is_leaf(*field.type) || (type.is_struct() && field.type->is_struct())) ++count;
    count += count_fields(*field.type);
  }
  return count;
}

// The ids of the first `limit` leaves, a level's own before what is nested in it.
void collect_leaves(const spec::Type& type, size_t limit, std::vector<int32_t>& ids) {
  for (const spec::NestedField& field : type.fields()) {
    if (ids.size() < limit && is_leaf(*field.type)) ids.push_back(field.id);
  }
  for (const spec::NestedField& field : type.fields()) {
    if (ids.size() < limit) collect_leaves(*field.type, limit, ids);
  }
}

void collect_all(const spec::Type& type, std::vector<int32_t>& ids) {
  for (const spec::NestedField& field : type.fields()) {
    ids.push_back(field.id);
    collect_all(*field.type, ids);
  }
}

}  // namespace

size_t MetricsMode::bound_bytes() const {
  switch (kind) {
    case Kind::kNone:
    case Kind::kCounts:
      return 0;
    case Kind::kTruncate:
      return 4 * static_cast<size_t>(length);
    case Kind::kFull:
      break;
  }
  return std::numeric_limits<size_t>::max();
}

MetricsMode parse_metrics_mode(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "none") return kNoMetrics;
  if (lower == "counts") return {.kind = MetricsMode::Kind::kCounts, .length = 0};
  if (lower == "full") return {.kind = MetricsMode::Kind::kFull, .length = 0};
  constexpr std::string_view kTruncate = "truncate(";
  if (lower.starts_with(kTruncate) && lower.ends_with(')')) {
    const auto length =
        parse_integer(std::string_view(lower).substr(kTruncate.size(), lower.size() - kTruncate.size() - 1));
    if (length && *length > 0 && *length <= std::numeric_limits<int32_t>::max())
      return {.kind = MetricsMode::Kind::kTruncate, .length = static_cast<int32_t>(*length)};
  }
  throw_error(ErrorKind::kInvalidArgument, "'{}' is no metrics mode: none, counts, truncate(N), full", text);
}

MetricsConfig MetricsConfig::from_properties(const spec::Properties& properties, const spec::Schema& schema,
                                             const spec::SortOrder& sort_order) {
  std::optional<MetricsMode> configured;
  int64_t max_inferred = kMaxInferred;
  std::map<std::string_view, MetricsMode> columns;  // by full name
  for (const auto& [key, value] : properties) {
    if (key == kDefaultKey) configured = read_mode(key, value);
    if (key.starts_with(kColumnPrefix)) {
      columns.insert_or_assign(std::string_view(key).substr(kColumnPrefix.size()), read_mode(key, value));
    }
    if (key == kMaxInferredKey) {
      const auto number = parse_integer(value);
      if (!number || *number < 0)
        throw_error(ErrorKind::kInvalidArgument, "property '{}' is '{}', no number of columns", key, value);
      max_inferred = *number;
    }
  }
  const bool is_limited = !configured && count_fields(*schema.as_struct()) > max_inferred;
  const MetricsMode standard = configured.value_or(is_limited ? kNoMetrics : MetricsMode{});

  std::map<int32_t, MetricsMode> modes;
  std::vector<int32_t> ids;
  collect_all(*schema.as_struct(), ids);
  for (const int32_t id : ids) modes.emplace(id, standard);
  if (is_limited) {
    std::vector<int32_t> first;
    collect_leaves(*schema.as_struct(), static_cast<size_t>(max_inferred), first);
    for (const int32_t id : first) modes[id] = MetricsMode{};
  }
  for (const spec::SortField& field : sort_order.fields) {
    if (!field.transform.preserves_order() || !modes.contains(field.source_id())) continue;
    modes[field.source_id()] = standard.has_bounds() ? standard : MetricsMode{};
  }
  if (!columns.empty()) {
    for (auto& [id, mode] : modes) {
      if (const auto found = columns.find(schema.full_name(id)); found != columns.end()) mode = found->second;
    }
  }
  MetricsConfig config;
  config.modes_.assign(modes.begin(), modes.end());
  return config;
}

const MetricsMode* MetricsConfig::find(int32_t field_id) const {
  const auto found = std::lower_bound(modes_.begin(), modes_.end(), field_id,
                                      [](const auto& entry, int32_t id) { return entry.first < id; });
  return found != modes_.end() && found->first == field_id ? &found->second : nullptr;
}

MetricsMode MetricsConfig::mode(int32_t field_id) const {
  const MetricsMode* found = find(field_id);
  return found != nullptr ? *found : kNoMetrics;
}

}  // namespace frazil::write
