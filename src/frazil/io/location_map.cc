#include "frazil/io/location_map.h"

#include <algorithm>

#include "frazil/base/error.h"
#include "frazil/io/uri.h"

namespace frazil {

namespace {

bool starts_like_a_location(std::string_view text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         (!text.empty() && parse_location(text).is_uri);
}

// Where "OLD=NEW" is split.
size_t split_position(std::string_view rule) {
  for (size_t at = rule.find('='); at != std::string_view::npos; at = rule.find('=', at + 1)) {
    if (starts_like_a_location(rule.substr(at + 1))) return at;
  }
  return rule.find('=');
}

}  // namespace

void LocationMap::add(std::string_view old_prefix, std::string_view new_prefix) {
  if (old_prefix.empty() || new_prefix.empty()) {
    throw_error(ErrorKind::kInvalidArgument, "a location is mapped from a prefix to a prefix, not '{}' to '{}'",
                old_prefix, new_prefix);
  }
  Rule rule{location_key(old_prefix), std::string(new_prefix)};
  while (rule.new_prefix.size() > 1 && rule.new_prefix.back() == '/') rule.new_prefix.pop_back();
  std::erase_if(rules_, [&](const Rule& other) { return other.old_prefix == rule.old_prefix; });
  const auto shorter = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& other) {
    return other.old_prefix.size() < rule.old_prefix.size();
  });
  rules_.insert(shorter, std::move(rule));
}

void LocationMap::add_rule(std::string_view rule) {
  const size_t split = split_position(rule);
  if (split == std::string_view::npos || split == 0 || split + 1 == rule.size()) {
    throw_error(ErrorKind::kInvalidArgument, "a location is mapped by OLD=NEW, not '{}'", rule);
  }
  add(rule.substr(0, split), rule.substr(split + 1));
}

std::string LocationMap::apply(std::string_view location) const {
  if (rules_.empty()) return std::string(location);
  const std::string key = location_key(location);
  for (const Rule& rule : rules_) {
    if (!key.starts_with(rule.old_prefix)) continue;
    std::string_view rest = std::string_view(key).substr(rule.old_prefix.size());
    const bool on_border = rest.empty() || rest.starts_with('/') || rule.old_prefix.ends_with('/');
    if (!on_border) continue;
    std::string mapped = rest.empty() ? rule.new_prefix : join_location(rule.new_prefix, rest);
    if (location.ends_with('/') && !mapped.ends_with('/')) mapped += '/';  // a folder stays recognisable as one
    return mapped;
  }
  return std::string(location);
}

}  // namespace frazil
