// FILES on the command line.
#pragma once

#include <string>
#include <vector>

namespace frazil::cli {

// Each argument, or the files that it stands for if it has the characters of a pattern (* ? [), sorted. Throws
// Error(kNotFound) for a pattern that no file fits.
std::vector<std::string> expand_patterns(const std::vector<std::string>& arguments);

}  // namespace frazil::cli
