// LocationMap: finds tables that were moved or copied. Each rule says that what metadata calls OLD is now at NEW.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frazil {

class LocationMap {
 public:
  // What is at or below `old_prefix` is looked for below `new_prefix`. A later rule for the same prefix replaces the
  // earlier. Throws Error(kInvalidArgument) if either is empty.
  void add(std::string_view old_prefix, std::string_view new_prefix);
  // "OLD=NEW", as on the command line. Where OLD holds '=' itself (".../day=1"), the split is before the first part
  // that starts like a location: '/', "./", "../" or a scheme. Throws Error(kInvalidArgument).
  void add_rule(std::string_view rule);

  // By the longest OLD that ends on a segment border: /a/b covers /a/b and /a/b/c, not /a/bc. The forms of one local
  // path ("/a", "file:/a", "file:///a") are equal. What no rule covers comes back as it is. The result is not mapped
  // again.
  std::string apply(std::string_view location) const;
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    std::string old_prefix;  // in the form of comparable() in the .cc
    std::string new_prefix;
  };
  std::vector<Rule> rules_;  // the longest old_prefix first
};

}  // namespace frazil
