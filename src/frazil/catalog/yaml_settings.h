// The strict subset of YAML that configurations are written in: maps, lists and scalars, all scalars text. Anchors,
// aliases, tags, merge keys, several documents and a key given twice are refused, as PyIceberg's reader refuses them: a
// small file cannot grow large, and nothing is guessed ("no" stays "no").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frazil::catalog {

// One scalar with the keys that lead to it; the items of a list count as keys "0", "1", ...
struct YamlSetting {
  std::vector<std::string> path;
  std::string value;
  size_t line = 0;  // counts from 1
};

// In the order of the file; empty for an empty one. `file` is named in errors. Throws Error(kInvalidArgument) with the
// line. At most 16 levels and 10,000 scalars.
std::vector<YamlSetting> parse_yaml_settings(std::string_view text, std::string_view file);

}  // namespace frazil::catalog
