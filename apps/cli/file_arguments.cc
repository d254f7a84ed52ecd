#include "file_arguments.h"

#include <memory>
#include <string_view>

#include <glob.h>

#include "frazil/base/error.h"

namespace frazil::cli {

std::vector<std::string> expand_patterns(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    if (argument.find_first_of("*?[") == std::string::npos) {
      paths.push_back(argument);
      continue;
    }
    glob_t found{};
    const std::unique_ptr<glob_t, void (*)(glob_t*)> freed(&found, globfree);
    if (glob(argument.c_str(), 0, nullptr, &found) != 0) {
      throw_error(ErrorKind::kNotFound, "no file fits the pattern '{}'", argument);
    }
    paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  return paths;
}

void add_file_context(Error& error, const std::string& path) {
  if (std::string_view(error.what()).find(path) == std::string_view::npos) error.add_context(path);
}

}  // namespace frazil::cli
