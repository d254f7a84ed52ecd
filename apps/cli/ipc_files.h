// What the verbs of `frazil ipc` have in common: FILE arguments, "-" among them, opened in whichever format they have.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"

#include "frazil/ipc/reader.h"

namespace frazil::cli {

class Session;

// FILE...
void add_ipc_files(Command& command, std::vector<std::string>& files);

// Whatever is done with what is read may look at every value: all of it is checked. "-" is standard input. Errors name the path.
std::unique_ptr<ipc::Reader> open_ipc(Session& session, const std::string& path, ipc::ReadOptions options = {});

// The same with the columns of these names, in this order; none: all of them. Throws Error(kNotFound).
std::unique_ptr<BatchStream> open_ipc_columns(Session& session, const std::string& path,
                                              const std::vector<std::string>& columns);

// "file", "stream"
std::string_view ipc_format_name(ipc::Format format);

// Calls `work` with one path after the other; errors then name it.
using IpcVisitor = std::function<void(const std::string& path, size_t index, size_t count)>;
void for_each_ipc(Session& session, const std::vector<std::string>& arguments, const IpcVisitor& work);

}  // namespace frazil::cli
