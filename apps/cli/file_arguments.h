// FILES on the command line.
#pragma once

#include <string>
#include <vector>

namespace frazil {
class Error;
}

namespace frazil::cli {

// Each argument, or the files that it stands for if it has the characters of a pattern (* ? [), sorted. Throws
// Error(kNotFound) for a pattern that no file fits.
std::vector<std::string> expand_patterns(const std::vector<std::string>& arguments);

// Says which file failed, unless the error does already.
void add_file_context(Error& error, const std::string& path);

}  // namespace frazil::cli
