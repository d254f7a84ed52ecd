// An OutputFile on a descriptor that is open already: a pipe, standard output. What is written is on its way at once:
// nothing waits for publish(), and abort() takes nothing back.
#pragma once

#include <memory>
#include <string>

#include "frazil/io/file_system.h"

namespace frazil {

// Borrows `descriptor`. `name` stands for it in messages. Writing to a pipe that nobody reads is an IoError with EPIPE
// where the signal is ignored.
std::unique_ptr<OutputFile> open_descriptor_output(int descriptor, std::string name);

}  // namespace frazil
