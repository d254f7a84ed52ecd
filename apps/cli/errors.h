// How failures leave the program: one line or one JSON object on stderr, and an exit code by kind (cli.md).
#pragma once

#include <exception>
#include <string>

#include "output.h"

#include "frazil/base/error.h"

namespace frazil::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitInterrupted = 130;

int exit_code(ErrorKind kind);

// "frazil: what failed; where; why (what to do)", and below it, two spaces in, what the message shows of a text
std::string error_line(const Error& error, bool color);
// {"kind": ..., "message": ..., "hint": ..., "context": [...]}, innermost context first.
std::string error_json(const Error& error);

// Prints what is being thrown to stderr and gives the exit code. Called in a catch block. A closed pipe prints nothing.
int report_current_exception(OutputFormat format, bool color) noexcept;

}  // namespace frazil::cli
