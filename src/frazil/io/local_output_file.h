// Writing one local file: a temporary beside it, then its name at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frazil/io/file_system.h"

namespace frazil {

// `location` is what the caller calls the file, `path` its name for the system. Creates missing folders.
std::unique_ptr<OutputFile> open_local_output(std::string location, const std::string& path);

// Throws IoError of errno: "cannot open '/x': No such file or directory".
[[noreturn]] void throw_system_error(std::string_view verb, std::string_view path);

}  // namespace frazil
